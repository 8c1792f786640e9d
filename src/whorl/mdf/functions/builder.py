"""Operands of an expression while it becomes nodes: numbers that are known, values, and lists of both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import UnsupportedError
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT64, INT64
from whorl.ir.graph import Op, Value
from whorl.ir.types import TensorType, tensor
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal
from whorl.ops.elementwise.logic import Not
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Unsqueeze

Known = bool | int | float | str | np.ndarray | np.generic | None
Operand = Value | Known | list["Operand"] | tuple["Operand", ...] | slice | type
"""A value of a region, what is known before the run, or a list or tuple of both."""
_LAST = np.iinfo(np.int64)


class NodeBuilder:
    """Converts operands to values, and adds nodes through a builder."""

    def __init__(self, build: Builder) -> None:
        self.build = build

    def add(self, op: Op, *inputs: Value) -> Value:
        return self.build.add(op, *inputs)

    def compute(self, op: Op, *operands: Operand) -> Value:
        """An op over operands as float64."""
        return self.add(op, *map(self.number, operands))

    def type(self, value: Value) -> TensorType:
        return tensor(value)

    def rank(self, value: Value) -> int:
        rank = self.type(value).rank
        if rank is None:
            raise UnsupportedError("the rank of an operand is not known before the run")
        return rank

    def axes(self, axis: int | Sequence[int]) -> Value:
        return self.build.int64(*np.atleast_1d(np.asarray(axis, np.int64)).tolist())

    def is_truth(self, value: Value) -> bool:
        return self.type(value).dtype == BOOL

    def value(self, part: Operand) -> Value:
        """A part as a value: numbers are float64, truth values bool, lists are joined along a new first axis."""
        if isinstance(part, Value):
            return part
        if isinstance(part, list | tuple) and any(isinstance(entry, Value | list | tuple) for entry in part):
            return self.stack([self.value(entry) for entry in part])
        array = np.asarray(part)
        if array.dtype.kind not in "biuf":
            raise UnsupportedError(f"{str(part)[:60]!r} is no number", fix="run the model by the interpreter")
        return self.build.constant(array if array.dtype == BOOL else array.astype(FLOAT64))

    def number(self, part: Operand) -> Value:
        """A part as float64."""
        value = self.value(part)
        return value if self.type(value).dtype == FLOAT64 else self.add(Cast(to=FLOAT64), value)

    def truth(self, part: Operand) -> Value:
        """Whether a part counts as true, element by element: all numbers but zero do."""
        value = self.value(part)
        if self.is_truth(value):
            return value
        return self.add(Not(), self.add(Equal(), self.number(value), self.build.constant(np.array(0.0))))

    def whole(self, part: Operand) -> Value:
        """A part as int64, for places in arrays."""
        if not isinstance(part, Value):
            return self.build.constant(np.asarray(part, np.int64))
        return part if self.type(part).dtype == INT64 else self.add(Cast(to=INT64), part)

    def alike(self, left: Operand, right: Operand) -> tuple[Value, Value]:
        """Two parts of one element type: truth values stay so only where both are."""
        a, b = self.value(left), self.value(right)
        return (a, b) if self.is_truth(a) and self.is_truth(b) else (self.number(a), self.number(b))

    def stack(self, values: list[Value], axis: int = 0) -> Value:
        """Values of one shape joined along a new axis."""
        if not all(map(self.is_truth, values)):
            values = [self.number(value) for value in values]
        return self.add(Concat(axis=axis), *(self.add(Unsqueeze(), value, self.build.int64(axis)) for value in values))

    def item(self, part: Operand, index: Operand) -> Operand:
        """`part[index]` for whole numbers, slices, None, and one computed index."""
        if isinstance(part, list | tuple) and isinstance(index, int | slice):
            return part[index]
        entries = index if isinstance(index, tuple) else (index,)
        value, axis = self.value(part), 0
        for entry in entries:
            if isinstance(entry, slice):
                value = self.cut(value, axis, entry)
                axis += 1
            elif entry is None:
                value = self.add(Unsqueeze(), value, self.build.int64(axis))
                axis += 1
            else:
                value = self.gather(value, axis, entry, len(entries))
        return value

    def gather(self, value: Value, axis: int, entry: Operand, count: int) -> Value:
        is_mask = isinstance(entry, bool) or (isinstance(entry, Value) and self.is_truth(entry))
        is_list = isinstance(entry, list | tuple | np.ndarray) and np.asarray(entry).ndim > 0
        if is_mask or (count > 1 and is_list) or (is_list and np.asarray(entry).dtype == BOOL):
            raise UnsupportedError("an index of truth values or several lists is not compiled")
        return self.add(Gather(axis=axis), value, self.whole(entry))

    def cut(self, value: Value, axis: int, bounds: slice) -> Value:
        step = 1 if bounds.step is None else int(bounds.step)
        low, high = (0, _LAST.max) if step > 0 else (_LAST.max, _LAST.min)
        start = low if bounds.start is None else int(bounds.start)
        stop = high if bounds.stop is None else int(bounds.stop)
        if (start, stop, step) == (0, _LAST.max, 1):
            return value
        return self.add(Slice(), value, *map(self.build.int64, (start, stop, axis, step)))
