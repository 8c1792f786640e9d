"""Constants of programs that are computed when a program is first bound, not while it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.constants import FixedArray, as_array
from whorl.ir.elements.base import Leaf
from whorl.ir.elements.file_views import FileArray, FileView, array_in_file, file_view_of
from whorl.ir.graph import Op, as_values


class Computed(Struct, frozen=True):
    """What an op gives for arrays that lie in files; without an op, the arrays side by side."""

    op: Op | None
    inputs: tuple[Origin, ...]
    dtype: np.dtype
    shape: tuple[int, ...]


Origin = FileView | Computed
"""What an array can be had from again, in another process too."""


class DeferredArray:
    """A row-major array that is computed once, when it is asked for, from `inputs` by `op`: see `Computed`."""

    def __init__(
        self,
        dtype: np.dtype,
        shape: tuple[int, ...],
        compute: Callable[[], np.ndarray],
        op: Op | None = None,
        inputs: Sequence[FixedArray] = (),
    ) -> None:
        self.dtype, self.shape, self.op, self.inputs = dtype, shape, op, inputs
        self._compute = compute
        self._array: np.ndarray | None = None

    def numpy(self) -> np.ndarray:
        array = self._array
        if array is None:
            array = self._array = np.ascontiguousarray(self._compute())
        return array

    def move_to(self, array: np.ndarray) -> None:
        """Let another array that holds the same be this one from now on."""
        self._array = array

    @staticmethod
    def by(op: Op, inputs: Sequence[FixedArray], dtype: np.dtype, shape: tuple[int, ...]) -> DeferredArray:
        """What an op gives."""
        return DeferredArray(dtype, shape, lambda: run_on_arrays(op, inputs)[0], op, inputs)

    @staticmethod
    def side_by_side(arrays: Sequence[FixedArray]) -> DeferredArray:
        """Arrays of one type; those that are laid out first become its rows, and lie nowhere else."""

        def compute() -> np.ndarray:
            stack = np.empty((len(arrays), *arrays[0].shape), arrays[0].dtype)
            for array, row in zip(arrays, stack, strict=True):
                row[...] = as_array(array)
                if isinstance(array, DeferredArray):
                    array.move_to(row)
            return stack

        return DeferredArray(arrays[0].dtype, (len(arrays), *arrays[0].shape), compute, None, arrays)


def run_on_arrays(op: Op, inputs: Sequence[FixedArray]) -> tuple[np.ndarray, ...]:
    """The results of a pure op."""
    with np.errstate(all="ignore"):
        return as_values(op.run(*map(as_array, inputs)))


def origin_of(array: FixedArray) -> Origin | None:
    """What an array can be had from again; None for what neither lies in a file nor is laid out from there."""
    if isinstance(array, np.ndarray | Leaf | FileArray):
        return file_view_of(as_array(array))
    if not isinstance(array, DeferredArray):
        return None
    origins = [origin_of(each) for each in array.inputs]
    known = tuple(each for each in origins if each is not None)
    return Computed(array.op, known, array.dtype, array.shape) if len(known) == len(origins) > 0 else None


def array_from(origin: Origin) -> FixedArray:
    """The array again, with the same bits. Raises OSError or ValueError where a file is another one now."""
    if isinstance(origin, FileView):
        return array_in_file(origin)
    inputs = [array_from(each) for each in origin.inputs]
    if origin.op is None:
        return DeferredArray.side_by_side(inputs)
    return DeferredArray.by(origin.op, inputs, origin.dtype, origin.shape)
