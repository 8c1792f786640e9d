"""Tensors as ops see them while they are lowered: an expression for the element at an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import overload

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.native.expressions import Buffer, Expr

Index = tuple[Expr, ...]
"""One int64 expression an axis."""


class View(Struct, frozen=True, eq=False):
    """A tensor: `at(index)` is the expression of an element. `cost` counts the operations of one.

    A length is a number, or a dim whose names stand for lengths at run time.

    `buffer` is set where the elements simply lie in memory, row-major; `flat`, where an element can be had by its
    row-major position just as well. `known` are the elements of a small integer tensor: numbers, and dims.
    """

    dtype: np.dtype
    shape: tuple[Dim, ...]
    at: Callable[[Index], Expr]
    cost: int = 0
    buffer: Buffer | None = None
    known: np.ndarray | None = None
    flat: Callable[[Expr], Expr] | None = None

    @property
    def size(self) -> Dim:
        return dims.product(self.shape)

    @property
    def is_fixed(self) -> bool:
        """Whether every length is a number."""
        return all(isinstance(n, int) for n in self.shape)

    @property
    def fixed_shape(self) -> tuple[int, ...]:
        """The shape of a tensor whose lengths are all numbers, as ops without `any_length` see them."""
        return tuple(fixed(n) for n in self.shape)

    @property
    def fixed_size(self) -> int:
        """The number of elements of a tensor whose lengths are all numbers."""
        return fixed(self.size)


def fixed(length: Dim) -> int:
    """A length that is a number. Errors: TypeError if it is a dim."""
    if not isinstance(length, int):
        raise TypeError(f"the length {length} is not fixed")
    return length


class Operands(Sequence[View]):
    """The views of an op's inputs. Reading one that is left out is a TypeError; `optional` gives None for it."""

    def __init__(self, views: Iterable[View | None]) -> None:
        self._views = tuple(views)

    def __len__(self) -> int:
        return len(self._views)

    @overload
    def __getitem__(self, index: int) -> View: ...
    @overload
    def __getitem__(self, index: slice) -> Operands: ...
    def __getitem__(self, index: int | slice) -> View | Operands:
        if isinstance(index, slice):
            return Operands(self._views[index])
        view = self._views[index]
        if view is None:
            raise TypeError(f"input {index} is left out")
        return view

    def optional(self, index: int) -> View | None:
        """The view of an input that may be left out, or not be there at all."""
        return self._views[index] if index < len(self._views) else None

    def present(self) -> list[View]:
        """The inputs that are not left out."""
        return [view for view in self._views if view is not None]
