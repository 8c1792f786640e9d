"""A loop inside what is computed for many rows: all rows go through one loop, each as far as it would alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.ops.control.flow import Loop
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Greater, Less
from whorl.ops.elementwise.logic import And
from whorl.ops.movement.axes import Concat
from whorl.ops.reduce.reductions import ReduceMax, ReduceSum
from whorl.passes.rules.conditions import same_type
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.vectorize.batched import (
    Batched,
    CannotVectorize,
    as_scalar,
    give_all_rows,
    lengths_of,
    row_count,
)
from whorl.passes.vectorize.speculation import choose, harmless

BatchRegion = Callable[[Region, Sequence[Batched], Builder], list[Batched]]
"""Adds what a region computes for all rows of its arguments, and gives its results."""


class InnerLoop:
    """A loop, its operands for all rows, and what adds the nodes of its body."""

    def __init__(self, node: Node, operands: Sequence[Batched | None], build: Builder, batch: BatchRegion) -> None:
        assert isinstance(node.op, Loop)
        self.node, self.op, self.body, self.build, self.batch = node, node.op, node.regions[0], build, batch
        self.trip, self.condition, self.carried, self.scanned, self.captured = self.op.split(operands)
        pairs = zip(self.op.scanned, self.scanned, strict=True)
        self.sliced = tuple(replace(how, axis=x.axis(how.axis)) for how, x in pairs)
        self.rows = row_count(operands, build)

    def outputs(self) -> list[Batched]:
        """What the loop gives for all rows. Errors: CannotVectorize."""
        if any(x is not None and x.is_mapped for x in (self.trip, self.condition)):
            return self._uneven()
        states, region, results = self._even_body()
        if self.condition is not None and results[0].is_mapped:
            return self._uneven()
        return self._even(states, region, results)

    def _region(self, states: Sequence[Batched], more: Sequence[Batched] = ()) -> tuple[Region, list[Batched], Builder]:
        """A body for all rows without nodes, its arguments, and what adds to it; `more` are arguments of its own."""
        region = Region(self.body.name)
        number, go_on, old_states, slices, _ = self.op.split(self.body.arguments)
        first = [Batched(region.add_argument(v.name, v.type, v.known), is_mapped=False) for v in (number, go_on)]
        own = [
            Batched(region.add_argument(old.name, _state_type(old.type, x)), x.is_mapped)
            for old, x in zip(old_states, states, strict=False)
        ]
        extra = [Batched(region.add_argument(x.value.name, x.value.type), x.is_mapped) for x in states[len(own) :]]
        pieces: list[Batched] = []
        for old, x, how in zip(slices, self.scanned, self.sliced, strict=True):
            type = how.slice_type(tensor_type(x.value))
            pieces.append(Batched(region.add_argument(old.name, type), x.is_mapped))
        captured = [
            Batched(region.add_argument(x.value.name, x.value.type, x.value.known), x.is_mapped)
            for x in (*self.captured, *more)
        ]
        return region, [*first, *own, *extra, *pieces, *captured], Builder(region, self.build.inference)

    # ---- rows that go on alike -------------------------------------------------------------------------------

    def _even_body(self) -> tuple[list[Batched], Region, list[Batched]]:
        """The carried values, of which no more than have to differ by row, and the body with its results."""
        states = list(self.carried)
        while True:
            region, arguments, inner = self._region(states)
            results = self.batch(self.body, arguments, inner)
            pairs = list(zip(states, results[1:], strict=False))
            wider = [k for k, (state, result) in enumerate(pairs) if result.is_mapped and not state.is_mapped]
            if not wider:
                break
            for k in wider:
                states[k] = Batched(give_all_rows(states[k], self.rows, self.build))
        carried = [self._next(x, result, arguments, inner) for x, result in pairs]
        return states, region, [results[0], *carried, *results[1 + len(states) :]]

    def _next(self, state: Batched, result: Batched, arguments: Sequence[Batched], inner: Builder) -> Batched:
        """A carried value after an iteration, with rows where it has them before."""
        if result.is_mapped or not state.is_mapped:
            return result
        return Batched(give_all_rows(result, row_count(arguments, inner), inner))

    def _even(self, states: Sequence[Batched], region: Region, results: Sequence[Batched]) -> list[Batched]:
        op, go_on, count = self.op, results[0], self.op.carried
        for k, (state, result) in enumerate(zip(states, results[1:], strict=False)):
            if op.keep_shapes and not same_type(state.value.type, result.value.type):
                raise CannotVectorize(f"{self.node.title} may change the shape of carried value {k}")
        inner = Builder(region, self.build.inference)
        ends = inner.constant(np.array(True)) if go_on.is_mapped else go_on.value
        region.results = [ends, *(x.value for x in results[1:])]
        collected = tuple(
            replace(how, axis=x.is_mapped + how.axis % (x.rank + how.stacks(x.rank)), declared=None)
            for how, x in zip(op.collected, results[1 + count + op.last :], strict=True)
        )
        outer = [None if x is None else x.value for x in (self.trip, self.condition)]
        outer += [x.value for x in (*states, *self.scanned, *self.captured)]
        values = self._add(replace(op, scanned=self.sliced, collected=collected), outer, region)
        flags = [x.is_mapped for x in (*states, *results[1 + count :])]
        return [Batched(value, is_mapped) for value, is_mapped in zip(values, flags, strict=True)]

    def _add(self, op: Loop, inputs: list[Value | None], region: Region, *more: str) -> list[Value]:
        self.build.inference.visited.clear()
        names = [*(value.name for value in self.node.outputs), *more]
        return self.build.add_many(op, inputs, names, [region], self.node.name)

    # ---- rows that end apart ---------------------------------------------------------------------------------

    def _uneven(self) -> list[Batched]:
        """The loop goes on while one of the rows does; those that have ended keep what they carry."""
        self._require_that_rows_may_wait()
        op, build = self.op, self.build
        states = [Batched(give_all_rows(x, self.rows, build)) for x in self.carried]
        trips = self._trips()
        going = self._going(trips)
        more = [] if trips is None else [trips]
        region, arguments, inner = self._region([*states, going], more)
        self._write_body(region, arguments, trips is not None, inner)
        limit = None if trips is None else _largest(trips, build)
        outer = [limit, _any(going, build), *(x.value for x in states), going.value]
        outer += [x.value for x in (*self.scanned, *self.captured, *more)]
        values = self._add(replace(op, carried=op.carried + 1, scanned=self.sliced), outer, region, "going")
        return [Batched(value) for value in values[:-1]]

    def _require_that_rows_may_wait(self) -> None:
        title, op = self.node.title, self.op
        if op.collected or op.last:
            raise CannotVectorize(f"{title} collects a different number of values for each row")
        if op.slices_suffice:
            raise CannotVectorize(f"{title} ends at a different iteration for each row, and its slices may not suffice")
        self.body = harmless(self.body, f"{title} ends at a different iteration for each row", self.build.inference)

    def _trips(self) -> Batched | None:
        """The trip count of each row."""
        if self.trip is None:
            return None
        count = as_scalar(self.trip, self.build)
        wide = self.build.add(Cast(INT64), give_all_rows(count, self.rows, self.build), name="trips")
        return Batched(wide)

    def _going(self, trips: Batched | None) -> Batched:
        """Whether each row begins."""
        build, going = self.build, None
        if self.condition is not None:
            going = give_all_rows(as_scalar(self.condition, build), self.rows, build)
        if trips is not None:
            some = build.add(Greater(), trips.value, build.constant(np.array(0)), name="going")
            going = some if going is None else build.add(And(), going, some, name="going")
        assert going is not None
        return Batched(going)

    def _write_body(self, region: Region, arguments: Sequence[Batched], has_trips: bool, inner: Builder) -> None:
        """The body, and the choice between what a row carries after the iteration and before it."""
        count, body = self.op.carried, self.body
        before, going = arguments[2 : 2 + count], arguments[2 + count]
        own = [*arguments[: 2 + count], *arguments[3 + count :]]
        answer, *after = self.batch(body, own[: len(body.arguments)], inner)
        rows = row_count(arguments, inner)
        pairs = enumerate(zip(after, before, strict=True))
        chosen = [choose(going, *pair, f"carried value {k}", inner).value for k, pair in pairs]
        goes_on = going.value
        if self.condition is not None:
            goes_on = inner.add(And(), goes_on, give_all_rows(as_scalar(answer, inner), rows, inner), name="going")
        if has_trips:
            number = inner.add(Add(), as_scalar(arguments[0], inner).value, inner.constant(np.array(1)), name="done")
            goes_on = inner.add(And(), goes_on, inner.add(Less(), number, arguments[-1].value), name="going")
        region.results = [_any(Batched(goes_on), inner), *chosen, goes_on]


def _state_type(old: Type, x: Batched) -> Type:
    """The type of a carried value in the body, for all rows where it differs by row."""
    if not x.is_mapped or not isinstance(old, TensorType) or isinstance(old.shape, AnyShape):
        return old if not x.is_mapped else x.value.type
    return old.with_shape((lengths_of(x.value)[0], *old.shape))


def _any(flags: Batched, build: Builder) -> Value:
    """Whether one of the flags is set."""
    numbers = build.add(Cast(INT64), flags.value, name="going")
    total = build.add(ReduceSum(keepdims=0), numbers, build.int64(0), name="going")
    return build.add(Greater(), total, build.constant(np.array(0)), name="goes_on")


def _largest(trips: Batched, build: Builder) -> Value:
    """The largest trip count, 0 where there are no rows."""
    numbers = build.add(Concat(0), build.int64(0), trips.value, name="trips")
    return build.add(ReduceMax(keepdims=0), numbers, build.int64(0), name="trips")
