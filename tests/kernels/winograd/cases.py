"""Convolutions by Winograd's kernels, beside what they are by definition."""

from __future__ import annotations

import numpy as np

from kernels.runs import draw, run_kernel
from whorl.kernels.table import KERNELS
from whorl.kernels.winograd.layout import transform_filters
from whorl.llvm.module import Machine


class Case:
    """The operands of a convolution of an image by filters [features, channels, 3, 3]."""

    def __init__(self, image: tuple[int, int], features: int, channels: int, dtype: np.dtype) -> None:
        self.kernel = ("winograd_convolution", "winograd_convolution_sum")[features % 2]
        self.numbers = [features, channels, features % 3 and 1, *image]
        extents = KERNELS[self.kernel].meaning.extents(self.numbers, dtype)
        made, transformed, planes, x, _, bias, limits, *added = extents
        self.x = draw(dtype, x)
        self.filters = draw(dtype, features * channels * 9).reshape(features, channels, 3, 3)
        self.rest = [draw(dtype, bias), np.array([-1, 2], dtype)[:limits], *(draw(dtype, size) for size in added)]
        self.y, self.t, self.planes = (np.full(size, np.nan, dtype) for size in (made, transformed, planes))

    def run(
        self, target: Machine | None = None, parts: tuple[tuple[int, int], ...] = (), is_over: bool = False
    ) -> np.ndarray:
        """The result; memory to work in has numbers, since a sum of NaN would be computed again without it."""
        self.t[:] = self.planes[:] = 1e3
        if not is_over:
            self.y[:] = np.nan
        run_kernel(self.kernel, self._arrays(), self.numbers, target, parts)
        return self.y.copy()

    def _arrays(self) -> list[np.ndarray]:
        packed = transform_filters(self.filters.reshape(1, len(self.filters), -1))[0]
        return [self.y, self.t, self.planes, self.x, packed, *self.rest]

    def meant(self) -> np.ndarray:
        """What the kernel means."""
        KERNELS[self.kernel].meaning.run(self._arrays(), self.numbers)
        return self.y.copy()

    def expected(self) -> np.ndarray:
        """By the definition of a convolution, in double precision; taps outside the image take no part."""
        features, channels, bounded, rows, columns = self.numbers
        image = np.pad(self.x.reshape(channels, rows, columns).astype(np.float64), ((0, 0), (1, 1), (1, 1)))
        is_inside = np.pad(np.ones((rows, columns), bool), 1)
        sums = np.zeros((features, rows, columns))
        for i, j in np.ndindex(3, 3):
            window = slice(i, i + rows), slice(j, j + columns)
            products = np.einsum("fc,crw->frw", self.filters[:, :, i, j].astype(np.float64), image[:, *window])
            sums += np.where(is_inside[window], products, 0)
        bias, limits, *added = self.rest
        sums = sums.reshape(features, -1) + bias[:, None] + (added[0].reshape(features, -1) if added else 0)
        return (np.clip(sums, *limits) if bounded else sums).reshape(-1)
