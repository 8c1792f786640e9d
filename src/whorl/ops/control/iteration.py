"""A running loop: the slices it hands out, the values it carries, and the elements it joins at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir.dtypes import STRING, name_of
from whorl.ir.types import UNRANKED, AnyShape, TensorType
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.core.base import detach, one_element


class Iteration:
    """One execution of a Loop.

    `while (arguments := iteration.next()) is not None: iteration.take(body(*arguments))`; what is left then is
    `state`, `last` and `collected()`. `ranks` are those that the body declares for its iteration number and condition.
    """

    def __init__(self, op: Loop, inputs: Sequence[Any], ranks: tuple[int, int]) -> None:
        trip, condition, carried, scanned, self.captured = op.split(inputs)
        self.op, self.state, self.index = op, carried, 0
        self.last: list[Any] = []
        self.elements: list[list[np.ndarray]] = [[] for _ in op.collected]
        self.stops = condition is not None
        self.go_on = bool(one_element(condition, "the condition")) if self.stops else True
        pairs, whole = zip(scanned, op.scanned, strict=True), not op.slices_suffice
        self.rows = [_slices(x, how, k, whole) for k, (x, how) in enumerate(pairs)]
        self.trip = None if trip is None else max(0, int(one_element(trip, "the trip count")))
        self.bound = _bound(self.trip, self.rows, op.slices_suffice)
        self._shapes = (1,) * ranks[0], (1,) * ranks[1]

    def next(self) -> list[Any] | None:
        """The arguments of the next iteration, or None when the loop is over. Errors: those of `require_slices`."""
        i = self.index
        if self.is_over:
            self.require_slices()
            return None
        number, go_on = np.full(self._shapes[0], i, np.int64), np.full(self._shapes[1], True)
        return [number, go_on, *self.state, *(rows[i, ...] for rows in self.rows), *self.captured]

    def take(self, results: Sequence[Any]) -> None:
        """What the body gave in this iteration."""
        op, first = self.op, 1 + self.op.carried
        answer = bool(one_element(results[0], "the body's condition"))
        self.go_on = answer or not self.stops
        state = list(results[1:first])
        if op.keep_shapes:
            _check_shapes(self.state, state)
        self.state, self.last = state, list(results[first : first + op.last])
        elements = zip(self.elements, results[first + op.last :], op.collected, strict=True)
        for k, (values, element, how) in enumerate(elements):
            if values:
                _check_element(k, values[0], element)
            else:
                _check_part(k, element, how)
            values.append(detach(element))
        self.index += 1

    def accepts(self, rows: Sequence[np.ndarray]) -> bool:
        """Whether it may collect elements of the shapes of these rows."""
        try:
            for k, (x, how) in enumerate(zip(rows, self.op.collected, strict=True)):
                _check_part(k, x[0, ...], how)
        except RunError:
            return False
        return True

    @property
    def is_over(self) -> bool:
        return not self.go_on or (self.bound is not None and self.index >= self.bound)

    def require_slices(self) -> None:
        """Of a loop that is over: whether it did not stop for want of slices. Errors: RunError."""
        if not self.op.slices_suffice or not self.go_on or (self.trip is not None and self.index >= self.trip):
            return
        number, rows = next((n, rows) for n, rows in enumerate(self.rows) if len(rows) == self.index)
        raise RunError(
            f"iteration {self.index} takes a slice of scanned input {number}, which has {len(rows)}",
            fix="let the trip count or the condition end the loop before its slices do",
        )

    def collected(self, rows: Sequence[np.ndarray] = ()) -> list[np.ndarray]:
        """The collected elements joined; only after at least one iteration.

        `rows` are those of iterations that ran elsewhere after the ones taken here, stacked on a first axis.
        """
        if not rows:
            return [_join(values, how) for values, how in zip(self.elements, self.op.collected, strict=True)]
        pairs = zip(self.elements, rows, self.op.collected, strict=True)
        return [_join_rows(values, more, how) for values, more, how in pairs]


def empty_collected(collected: TensorType, how: Collected) -> np.ndarray:
    """What zero iterations collect: length 0, and 0 for every other dim that nobody proved."""
    declared = how.declared.shape if how.declared is not None else UNRANKED
    if not isinstance(declared, AnyShape):
        declared = how.collected_type(TensorType(collected.dtype, declared), 0).shape
    shape = declared if isinstance(collected.shape, AnyShape) else collected.shape
    if isinstance(shape, AnyShape):
        return np.zeros(0, collected.dtype)
    fallback = declared if not isinstance(declared, AnyShape) and len(declared) == len(shape) else (0,) * len(shape)
    sizes = [a if isinstance(a, int) else b if isinstance(b, int) else 0 for a, b in zip(shape, fallback, strict=True)]
    sizes[how.axis % len(sizes)] = 0
    return np.zeros(sizes, collected.dtype) if collected.dtype != STRING else np.empty(sizes, object)


def _bound(trip: int | None, rows: Sequence[np.ndarray], may_differ: bool) -> int | None:
    lengths = [len(r) for r in rows]
    if len(set(lengths)) > 1 and not may_differ:
        shown = ", ".join(map(str, lengths))
        raise RunError(f"the scanned inputs have different lengths: {shown}", fix="scan values of one length")
    return min([*([] if trip is None else [trip]), *lengths], default=None)


def _slices(value: np.ndarray, how: Scanned, index: int, whole: bool) -> np.ndarray:
    """The value with its slices as items: `result[i]` is what iteration i sees; nothing may be left if `whole`."""
    if not -value.ndim <= how.axis < value.ndim:
        raise RunError(f"scanned input {index} has shape {list(value.shape)} and no axis {how.axis}")
    axis = how.axis % value.ndim
    rows = np.moveaxis(value, axis, 0)
    if how.keep_axis:
        count, rest = divmod(rows.shape[0], how.part)
        if rest and whole:
            raise RunError(
                f"each iteration must be the same size: length ({rows.shape[0]}) of axis {axis} of scanned input "
                f"{index} is not divisible by step ({how.part})",
                fix="pad the value to a multiple of the part",
            )
        parts = rows[: count * how.part].reshape(count, how.part, *rows.shape[1:])
        rows = np.moveaxis(parts, 1, axis + 1)
    return rows[::-1] if how.reverse else rows


def _join(elements: list[np.ndarray], how: Collected) -> np.ndarray:
    ordered = elements[::-1] if how.reverse else elements
    axis, stacks = _collected_axis(elements[0].shape, how)
    return np.stack(ordered, axis) if stacks else np.concatenate(ordered, axis)


def _join_rows(elements: list[np.ndarray], rows: np.ndarray, how: Collected) -> np.ndarray:
    stacked = np.concatenate([np.stack(elements), rows]) if elements else rows
    ordered, (axis, stacks) = stacked[::-1] if how.reverse else stacked, _collected_axis(stacked.shape[1:], how)
    moved = np.ascontiguousarray(np.moveaxis(ordered, 0, axis) if axis else ordered)
    if stacks:
        return moved
    return moved.reshape(*moved.shape[:axis], moved.shape[axis] * moved.shape[axis + 1], *moved.shape[axis + 2 :])


def _collected_axis(shape: Sequence[int], how: Collected) -> tuple[int, bool]:
    """The axis along which elements of a shape are joined, and whether it is new."""
    stacks = how.stacks(len(shape))
    rank = len(shape) + stacks
    if not -rank <= how.axis < rank:
        raise RunError(f"collected elements of shape {list(shape)} cannot be joined along axis {how.axis}")
    return how.axis % rank, stacks


def _check_element(index: int, first: np.ndarray, element: np.ndarray) -> None:
    if element.shape == first.shape and element.dtype == first.dtype:
        return
    raise RunError(
        f"collected value {index} is {name_of(element.dtype)}{list(element.shape)}, "
        f"{name_of(first.dtype)}{list(first.shape)} in the first iteration",
        fix="give elements of one shape, or carry a sequence",
    )


def _check_part(index: int, element: np.ndarray, how: Collected) -> None:
    """An element to concatenate has as many rows as the loop says."""
    axis, stacks = _collected_axis(element.shape, how)
    if how.part is None or stacks or element.shape[axis] == how.part:
        return
    raise RunError(
        f"collected value {index} has incorrect output shape[axis] after iteration for concatenation. "
        f"{how.part} is expected, but actual: {element.shape[axis]}",
        fix=f"give elements with {how.part} rows along axis {axis}",
    )


def _check_shapes(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> None:
    for k, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.shape != new.shape:
            raise RunError(
                f"state {k} changes shape from {list(old.shape)} to {list(new.shape)}, which a Scan may not",
                fix="carry it in a Loop",
            )
