"""Lengths that must be equal, where only the run knows whether they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.graph import Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType, lengths_of, tensor
from whorl.ops.core.base import check_types, unify_lengths
from whorl.ops.native.index_maps import fit

Part = tuple[int, int]


class Fitting(Op, frozen=True):
    """A tensor; fails where one of its `axes` is not as long as axes of others, which are (input, axis), in sum."""

    axes: tuple[tuple[int, tuple[Part, ...]], ...]
    abstract: ClassVar[bool] = True
    any_length = True

    def infer(self, x: Fact, *others: Fact) -> TensorType:
        type, types = tensor(x), [tensor(other) for other in others]
        shape = [*lengths_of(type)]
        for axis, parts in self.axes:
            needed = [lengths_of(types[n])[k] for n, k in parts]
            shape[axis] = unify_lengths(f"the length of axis {axis}", sum(needed[1:], needed[0]), shape[axis])
        return type.with_shape(tuple(shape))

    def run(self, x: np.ndarray, *others: np.ndarray) -> np.ndarray:
        check_types(self, x, *others)
        return x

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        shape = lengths_of(outputs[0])
        return [replace(inputs[0], shape=shape)] if fit(k, inputs[0].shape, shape) else None


def fitted(build: Builder, x: Value, lengths: Mapping[int, Sequence[tuple[Value, int]]]) -> Value:
    """A tensor with axes that are as long as others in sum, by the names of these: itself where it is known to be."""
    own = lengths_of(tensor(x))
    others: dict[Value, int] = {}
    axes: list[tuple[int, tuple[Part, ...]]] = []
    for axis, parts in lengths.items():
        needed = [lengths_of(tensor(y))[n] for y, n in parts]
        if not _is_open(own[axis], sum(needed[1:], needed[0])):
            continue
        axes.append((axis, tuple((others.setdefault(y, len(others)), n) for y, n in parts)))
    return build.add(Fitting(tuple(axes)), x, *others) if axes else x


def _is_open(own: Dim, needed: Dim) -> bool:
    """Whether lengths may be equal or not."""
    return own != needed and not (isinstance(own, int) and isinstance(needed, int))
