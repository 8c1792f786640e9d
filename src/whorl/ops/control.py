"""If and Loop: the only control flow, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim, Linear
from whorl.ir.dtypes import BOOL, INT64, is_integer, name_of
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import escape, names_of
from whorl.ir.op import Op
from whorl.ir.types import (
    UNRANKED,
    AnyShape,
    Fact,
    OptionalType,
    Shape,
    TensorType,
    Type,
    join,
    meet,
    same_kind,
    tensor,
)
from whorl.ops.base import normal_axis, one_element

InferRegion = Callable[[Region], None]
CallRegion = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class If(Op):
    """Runs `then_branch` or `else_branch`. Inputs: condition, then the values both branches take as arguments.

    Outputs may differ in shape, rank and optional contents between the branches. Source: ONNX If-25.
    """

    def infer_regions(self, node: Node, infer_region: InferRegion) -> tuple[Type, ...]:
        condition, *captured = node.inputs
        assert condition is not None
        _check_one(condition, BOOL, "condition")
        for region in node.regions:
            _pass_captured(region.arguments, captured)
            infer_region(region)
        then, other = (region.results for region in node.regions)
        if len(then) != len(other):
            raise TypeRuleError(f"then_branch gives {len(then)} values, else_branch {len(other)}")
        visible = names_of(node.inputs)
        return tuple(
            _join(a.type, b.type, visible, f"output {k} differs between the branches")
            for k, (a, b) in enumerate(zip(then, other, strict=True))
        )


@dataclass(frozen=True)
class Scanned:
    """How a scanned input is cut: one slice of `part` rows along `axis` an iteration, last first if `reverse`.

    With `keep_axis` the slice keeps the axis (OpenVINO), else it is dropped (ONNX, `part` 1).
    """

    axis: int = 0
    reverse: bool = False
    keep_axis: bool = False
    part: int = 1


@dataclass(frozen=True)
class Collected:
    """How elements are joined: stacked on a new `axis`, or concatenated along an existing one; prepended if `reverse`.

    `declared` is the element's type as the file gives it; it fills dims of a zero-trip result that nobody can prove.
    """

    axis: int = 0
    reverse: bool = False
    stack: bool = True
    declared: TensorType | None = None


@dataclass(frozen=True)
class Loop(Op):
    """`for i in 0, 1, ... while i < trip and go_on: body`.

    Inputs: trip count or None, condition or None (the body's condition is then ignored), `carried` initial values,
    one value for each of `scanned`, then captured values. The body takes (i, go_on, *carried, *slices, *captured) and
    gives (go_on, *carried, *last, *elements). Outputs: final carried, `last` values of the last iteration, collected.
    Trip counts are 64-bit and a negative one is 0; with scanned inputs the shorter of trip count and length rules.
    """

    carried: int = 0
    scanned: tuple[Scanned, ...] = ()
    collected: tuple[Collected, ...] = ()
    last: int = 0

    def split(self, inputs: Sequence[Any]) -> tuple[Any, Any, list[Any], list[Any], list[Any]]:
        """Inputs as (trip count, condition, carried, scanned, captured)."""
        first, second = 2 + self.carried, 2 + self.carried + len(self.scanned)
        return inputs[0], inputs[1], list(inputs[2:first]), list(inputs[first:second]), list(inputs[second:])

    # ---- types -------------------------------------------------------------------------------------------------

    def infer_regions(self, node: Node, infer_region: InferRegion) -> tuple[Type, ...]:
        """Carried types are widened until the body reproduces them; the rest follows from one more look."""
        (body,) = node.regions
        trip, condition, carried, scanned, captured = self.split(node.inputs)
        if trip is not None:
            _check_one(trip, None, "trip count")
        if condition is not None:
            _check_one(condition, BOOL, "condition")
        _, go_on, states, slices, copies = self.split(body.arguments)
        go_on.known = condition.known if condition is not None else None
        visible = names_of(node.inputs)
        for argument, value, how in zip(slices, scanned, self.scanned, strict=True):
            argument.type = how_slice(value, how)
        _pass_captured(copies, captured)
        widener = infer_region.__self__ if hasattr(infer_region, "__self__") else None
        del widener
        self._fixpoint(body, states, carried, visible, infer_region)
        return self._output_types(body, states, visible, self.length(trip, condition, scanned, body))

    def _fixpoint(
        self, body: Region, states: list[Value], initial: list[Value], visible: set[str], infer_region: InferRegion
    ) -> None:
        results = body.results[1 : 1 + self.carried]
        for state, value in zip(states, initial, strict=True):
            state.type = value.type
        while True:
            infer_region(body)
            if not any([_widen(s, r.type, visible, k) for k, (s, r) in enumerate(zip(states, results, strict=True))]):
                return

    def _output_types(self, body: Region, states: list[Value], visible: set[str], length: Dim) -> tuple[Type, ...]:
        types = [escape(state.type, visible) for state in states]
        extra = body.results[1 + self.carried :]
        if len(extra) != self.last + len(self.collected):
            raise TypeRuleError(f"the body gives {1 + self.carried + len(extra)} values, expected {1 + self.carried + self.last + len(self.collected)}")
        types += [escape(value.type, visible) for value in extra[: self.last]]
        for value, how in zip(extra[self.last :], self.collected, strict=True):
            types.append(escape(joined_type(tensor(value, "a collected value"), how, length), visible))
        return tuple(types)

    def length(self, trip: Fact | None, condition: Fact | None, scanned: Sequence[Fact], body: Region) -> Dim:
        """The number of iterations as a dim; unknown where the condition may end the loop early."""
        answer = body.results[0]
        stops = condition is not None and not (
            _is_true(condition) and (_is_true(answer) or answer is body.arguments[1])
        )
        counts = [_trip_dim(trip)] if trip is not None else []
        counts += [_scan_length(x, how) for x, how in zip(scanned, self.scanned, strict=True)][:1]
        if stops or not counts:
            return UNKNOWN
        return counts[0] if len(counts) == 1 else dims.call("min", *counts)

    # ---- meaning -----------------------------------------------------------------------------------------------

    def run_loop(self, inputs: Sequence[Any], ranks: tuple[int, int], call: CallRegion) -> LoopResult:
        """Run the loop: `call(i, go_on, *carried, *slices, *captured)` is one iteration of the body.

        `ranks` are those of the iteration number and the condition that the body declares.
        """
        trip, condition, carried, scanned, captured = self.split(inputs)
        bound = None if trip is None else max(0, int(one_element(trip, "the trip count")))
        sequences = [_Slices(x, how, k) for k, (x, how) in enumerate(zip(scanned, self.scanned, strict=True))]
        bound = _shortest(bound, sequences)
        go_on = True if condition is None else bool(one_element(condition, "the condition"))
        shapes = (1,) * ranks[0], (1,) * ranks[1]
        state, last = list(carried), [None] * self.last
        elements: list[list[Any]] = [[] for _ in self.collected]
        kinds = [_kind(value) for value in state]
        i = 0
        while go_on and (bound is None or i < bound):
            head = np.full(shapes[0], i, np.int64), np.full(shapes[1], go_on, np.bool_)
            answer, *rest = call(i, *head, *state, *(s.at(i) for s in sequences), *captured)
            state = rest[: self.carried]
            for k, (before, value) in enumerate(zip(kinds, state, strict=True)):
                kinds[k] = _same_kind(before, value, k)
            last = rest[self.carried : self.carried + self.last]
            for k, (held, element) in enumerate(zip(elements, rest[self.carried + self.last :], strict=True)):
                _check_element(held, element, k)
                held.append(element)
            value = bool(one_element(answer, "the body's condition"))
            go_on = value or condition is None
            i += 1
        return LoopResult(i, state, last, elements)


@dataclass
class LoopResult:
    """What a loop leaves: iterations done, final carried and last values, and the elements to be joined."""

    iterations: int
    carried: list[Any]
    last: list[Any]
    elements: list[list[Any]]
