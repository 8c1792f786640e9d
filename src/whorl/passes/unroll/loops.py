"""Unrolls a loop: copies of its body one after the other, each under a predicate where the loop may end early.

Every copy computes; a false predicate keeps the old state. So the body must be safe to run where the loop would have
ended.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field

from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.control.flow import Collected, Loop, known_bool
from whorl.ops.elementwise.arithmetic import Add, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Less, Where
from whorl.ops.elementwise.logic import And
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.shapes import Reshape, Unsqueeze
from whorl.passes.evaluate import Stopped, empty_collections
from whorl.passes.inline import inline
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.simplify_loop import iterations, may_refuse, slice_at
from whorl.passes.unroll.clamping import speculatable
from whorl.passes.unroll.legality import CannotUnroll, require_same_type, require_unseeded

NEVER = 1 << 62
"""A limit that no run gets to: exporters write the largest integer where nothing bounds a loop."""


def unroll_loop(node: Node, build: Builder, max_iterations: int, max_nodes: int) -> list[Value]:
    """The outputs of a loop without the loop. Errors: CannotUnroll."""
    assert isinstance(node.op, Loop)
    fewest, limit = iterations(node)
    count = _count(node, limit, max_iterations, max_nodes)
    if may_refuse(node):
        raise CannotUnroll("its scanned inputs may not fit each other or the trip count")
    if count == 0:
        return _zero_trip_outputs(node, build)
    if count > 1:
        require_unseeded(node.regions[0])
    if fewest == count:
        run = _Unrolled(node, node.regions[0], build, None)
    else:
        body = speculatable(node.regions[0], build.inference)
        run = _Unrolled(node, body, build, _Predicates(node, build, known_first=fewest > 0))
    for index in range(count):
        run.step(index)
    return run.outputs()


def _count(node: Node, limit: float, max_iterations: int, max_nodes: int) -> int:
    """How many copies of the body to make."""
    if limit >= NEVER:
        raise CannotUnroll("the number of its iterations is known only when it runs")
    if limit > max_iterations:
        raise CannotUnroll(f"it may run {int(limit)} times, more than {max_iterations}", iterations=int(limit))
    if limit * len(node.regions[0].nodes) > max_nodes:
        raise CannotUnroll(f"{int(limit)} copies of its body are more nodes than a program may have")
    return int(limit)


def _zero_trip_outputs(node: Node, build: Builder) -> list[Value]:
    """The outputs of a loop of no iterations."""
    op = node.op
    assert isinstance(op, Loop)
    if op.last:
        raise CannotUnroll("it never runs, so there is no last value")
    try:
        empty = empty_collections(node)
    except Stopped as stopped:
        raise CannotUnroll(str(stopped)) from None
    carried = [value for value in node.inputs[2 : 2 + op.carried] if value is not None]
    return [
        *carried,
        *(build.constant(array, v.name) for array, v in zip(empty, node.outputs[op.carried :], strict=False)),
    ]


class _Predicates:
    """The predicate of each copy: whether the loop gets to this iteration. None stands for one that is surely true.

    A predicate includes all before it: once false, it stays false, though later copies compute a condition again.
    """

    def __init__(self, node: Node, build: Builder, known_first: bool) -> None:
        assert isinstance(node.op, Loop)
        self.build, self.known_first = build, known_first
        trip, self.condition, *_ = node.op.split(node.inputs)
        self.trip = None if trip is None else _scalar(build.add(Cast(INT64), trip, name="trips"), build)
        self.flag: Value | None = None
        self.flags: list[Value | None] = []

    def enter(self, index: int, condition: Value | None) -> Value | None:
        """The predicate of iteration `index`, by the condition that the one before computed."""
        build = self.build
        condition = self.condition if index == 0 else condition
        parts = [] if self.flag is None else [self.flag]
        if self.condition is not None and condition is not None and known_bool(condition) is not True:
            parts.append(_scalar(condition, build))
        if self.trip is not None and self.trip.known is None:
            parts.append(build.add(Less(), build.constant(np.array(index, INT64)), self.trip, name="in_time"))
        if index == 0 and self.known_first:
            parts = []
        self.flag = None
        for part in parts:
            self.flag = part if self.flag is None else build.add(And(), self.flag, part, name="goes_on")
        self.flags.append(self.flag)
        return self.flag

    def count(self) -> Value:
        """The number of true predicates, as a vector of one."""
        build = self.build
        always = sum(flag is None for flag in self.flags)
        total = build.int64(always)
        for flag in self.flags:
            if flag is not None:
                total = build.add(Add(), total, build.add(Cast(INT64), flag, name="one_more"), name="done")
        return total


def _scalar(value: Value, build: Builder) -> Value:
    """A value of one element without axes."""
    return value if tensor_type(value).shape == () else build.add(Reshape(), value, build.int64(), name=value.name)


class _Unrolled(Struct):
    """Copies of a body, as they are made; `body` is for those that may not run."""

    node: Node
    body: Region
    build: Builder
    predicates: _Predicates | None
    state: list[Value] = field(default_factory=list[Value])
    last: list[Value] = field(default_factory=list[Value])
    elements: list[list[Value]] = field(default_factory=list[list[Value]])
    condition: Value | None = None

    def __post_init__(self) -> None:
        op = self.op
        _, _, carried, _, _ = op.split(self.node.inputs)
        self.state = [value for value in carried if value is not None]
        self.elements = [[] for _ in op.collected]

    @property
    def op(self) -> Loop:
        assert isinstance(self.node.op, Loop)
        return self.node.op

    def step(self, index: int) -> None:
        """One more copy of the body."""
        op, build = self.op, self.build
        flag = None if self.predicates is None else self.predicates.enter(index, self.condition)
        body = self.node.regions[0] if flag is None else self.body
        _, _, _, scanned, captured = op.split(self.node.inputs)
        slices = [slice_at(x, how, index, build) for x, how in zip(scanned, op.scanned, strict=True)]
        if any(value is None for value in slices):
            raise CannotUnroll("where its slices lie is known only when it runs")
        ranks = [tensor_type(value).rank or 0 for value in body.arguments[:2]]
        number = build.constant(np.full((1,) * ranks[0], index, INT64), "iteration")
        go_on = build.constant(np.full((1,) * ranks[1], True), "keep_going")
        arguments = [number, go_on, *self.state, *slices, *captured]
        results = inline(body, [value for value in arguments if value is not None], build)
        first = 1 + op.carried
        self.condition = results[0]
        self.state = [
            self._next_state(flag, a, b, k) for k, (a, b) in enumerate(zip(self.state, results[1:], strict=False))
        ]
        new = results[first : first + op.last]
        if flag is not None and not self.last and new:
            raise CannotUnroll("it may never run, and then there is no last value")
        self.last = [self._select(flag, a, b, "a last value") for a, b in zip(self.last or new, new, strict=True)]
        for k, element in enumerate(results[first + op.last :]):
            self._collect(k, element)

    def _next_state(self, flag: Value | None, old: Value, new: Value, k: int) -> Value:
        if self.op.keep_shapes:
            require_same_type(old, new, f"carried value {k}")
        return self._select(flag, old, new, f"carried value {k}")

    def _select(self, flag: Value | None, old: Value, new: Value, what: str) -> Value:
        """The new value if the iteration runs, else the old one."""
        if flag is None or new is old:
            return new
        require_same_type(old, new, what)
        return self.build.add(Where(), flag, new, old, name=new.name)

    def _collect(self, k: int, element: Value) -> None:
        how, elements = self.op.collected[k], self.elements[k]
        type = element.type
        if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
            raise CannotUnroll(f"the shape of collected value {k} is known only when it runs")
        if elements:
            require_same_type(elements[0], element, f"collected value {k}")
        elif not how.stacks(len(type.shape)) and how.part is not None and type.shape[how.axis] != how.part:
            raise CannotUnroll(f"collected value {k} may not have the {how.part} rows that it must have")
        elements.append(element)

    def outputs(self) -> list[Value]:
        """The outputs of the loop."""
        op = self.op
        names = [value.name for value in self.node.outputs[op.carried + op.last :]]
        pairs = zip(self.elements, op.collected, names, strict=False)
        return [*self.state, *self.last, *(self._concatenate(elements, how, name) for elements, how, name in pairs)]

    def _concatenate(self, elements: Sequence[Value], how: Collected, name: str) -> Value:
        """The elements of the iterations that run, concatenated."""
        build = self.build
        rank = tensor_type(elements[0]).rank or 0
        axis = how.axis % (rank + how.stacks(rank))
        parts = (
            [build.add(Unsqueeze(), x, build.int64(axis), name=x.name) for x in elements]
            if how.stacks(rank)
            else elements
        )
        ordered = list(parts)[::-1] if how.reverse else list(parts)
        concatenated = build.add(Concat(axis), *ordered, name=name)
        if self.predicates is None or all(flag is None for flag in self.predicates.flags):
            return concatenated
        rows = tensor_type(parts[0]).shape
        assert isinstance(rows, tuple)
        part = rows[axis]
        if not isinstance(part, int):
            raise CannotUnroll("how many rows an iteration collects is known only when it runs")
        return self._cut(concatenated, axis, part, len(elements), how.reverse, name)

    def _cut(self, concatenated: Value, axis: int, rows: int, count: int, reverse: bool, name: str) -> Value:
        """The rows of the iterations that run: the first ones; the last ones where each is put in front."""
        assert self.predicates is not None
        build, done = self.build, self.predicates.count()
        size = build.add(Mul(), done, build.int64(rows), name="rows")
        if not reverse:
            return build.add(Slice(), concatenated, build.int64(0), size, build.int64(axis), name=name)
        total = build.int64(rows * count)
        start = build.add(Sub(), total, size, name="start")
        return build.add(Slice(), concatenated, start, total, build.int64(axis), name=name)
