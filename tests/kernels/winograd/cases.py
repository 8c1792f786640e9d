"""Convolutions by the kernels of Winograd's form, beside what they are by definition."""

from __future__ import annotations

import numpy as np

from kernels.runs import draw, run_kernel
from whorl.kernels.table import KERNELS
from whorl.kernels.winograd.layout import transform_filters
from whorl.kernels.winograd.meaning import patches_of
from whorl.llvm.module import Machine


class Case:
    """The operands of a convolution of an image by filters [features, channels, 3, 3], in one kernel or two."""

    def __init__(self, image: tuple[int, int], features: int, channels: int, dtype: np.dtype) -> None:
        self.suffix = "_sum" * (features % 2)
        self.numbers = [features, channels, features % 3 and 1, *image]
        extents = KERNELS[f"winograd_convolution{self.suffix}"].meaning.extents(self.numbers, dtype)
        made, transformed, planes, x, _, bias, limits, *added = extents
        self.x = draw(dtype, x)
        self.filters = draw(dtype, features * channels * 9).reshape(features, channels, 3, 3)
        self.rest = [draw(dtype, bias), np.array([-1, 2], dtype)[:limits], *(draw(dtype, size) for size in added)]
        self.y, self.t, self.planes = (np.full(size, np.nan, dtype) for size in (made, transformed, planes))

    def run(
        self,
        target: Machine | None = None,
        parts: tuple[tuple[int, int], ...] = (),
        is_one: bool = True,
        is_over: bool = False,
    ) -> np.ndarray:
        for array in (self.y, self.t, self.planes)[is_over:]:
            array[:] = np.nan
        packed = transform_filters(self.filters.reshape(1, len(self.filters), -1))[0]
        operands, image = [self.x, packed, *self.rest], self.numbers[1:2] + self.numbers[3:]
        if is_one:
            made = [self.y, self.t, self.planes, *operands]
            run_kernel(f"winograd_convolution{self.suffix}", made, self.numbers, target, parts)
        else:
            t = np.full(KERNELS["winograd_transform"].meaning.extents(image, self.x.dtype)[0], np.nan, self.x.dtype)
            run_kernel("winograd_transform", [t, self.planes, self.x], image, target, parts)
            self._check_patches(t)
            run_kernel(f"winograd_products{self.suffix}", [self.y, t, *operands], self.numbers, target, parts)
        return self.y.copy()

    def _check_patches(self, t: np.ndarray) -> None:
        """All elements of patches are transformed: results that are not finite would be computed again without."""
        channels, rows, columns = self.numbers[1:2] + self.numbers[3:]
        meant, count = t.copy(), (rows + 1) // 2 * ((columns + 1) // 2)
        KERNELS["winograd_transform"].meaning.run([meant, self.planes, self.x], [channels, rows, columns])
        made, expected = (
            patches_of(each, channels).transpose(0, 3, 1, 2).reshape(-1, 16, channels)[:count] for each in (t, meant)
        )
        np.testing.assert_array_equal(made, expected)

    def meant(self) -> np.ndarray:
        """What the kernel for all means."""
        packed = transform_filters(self.filters.reshape(1, len(self.filters), -1))[0]
        arrays = [self.y, self.t, self.planes, self.x, packed, *self.rest]
        KERNELS[f"winograd_convolution{self.suffix}"].meaning.run(arrays, self.numbers)
        return self.y.copy()

    def expected(self) -> np.ndarray:
        """By the definition of a convolution, in double precision."""
        features, channels, bounded, rows, columns = self.numbers
        image = np.zeros((channels, rows + 2, columns + 2))
        image[:, 1:-1, 1:-1] = self.x.reshape(channels, rows, columns)
        sums = np.zeros((features, rows, columns))
        for i, j in np.ndindex(3, 3):
            part = image[:, i : i + rows, j : j + columns]
            sums += np.einsum("fc,crw->frw", self.filters[:, :, i, j].astype(np.float64), part)
        bias, limits, *added = self.rest
        sums = sums.reshape(features, -1) + bias[:, None] + (added[0].reshape(features, -1) if added else 0)
        return (np.clip(sums, *limits) if bounded else sums).reshape(-1)
