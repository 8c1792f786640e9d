"""If and Loop, the only control flow: their inputs, outputs and type rules. `ops.iteration` runs the loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, is_integer, name_of
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.infer import escape
from whorl.ir.types import UNRANKED, AnyShape, Fact, Known, TensorType, Type, join, tensor
from whorl.ops.core.base import normal_axis

if TYPE_CHECKING:
    from whorl.ir.infer import Inference


class If(Op, frozen=True):
    """Runs `then_branch` or `else_branch`. Inputs: condition, then the values that both branches take as arguments.

    Outputs may differ in shape, rank and optional contents between the branches. Source: ONNX If-25.
    """

    polymorphic = True

    def infer_regions(self, node: Node, inference: Inference) -> tuple[Type, ...]:
        condition, *captured = node.inputs
        check_one(condition, BOOL, "the condition")
        visible = inference.visible(node)
        for region in node.regions:
            pass_captured(region.arguments, captured)
            inference.region(region)
        then, other = (region.results for region in node.regions)
        if len(then) != len(other):
            raise TypeRuleError(f"then_branch gives {len(then)} values, else_branch {len(other)}")
        predicate = None if condition is None else known_bool(condition)
        failing = [surely_fails(region) for region in node.regions]
        if predicate is None and any(failing):
            predicate = failing[1]
        if predicate is None and condition is not None and [v.type for v in then] != [v.type for v in other]:
            predicate = inference.decide(node, condition)
        if predicate is not None:
            return tuple(escape(value.type, visible) for value in (then if predicate else other))
        return tuple(
            _common(a.type, b.type, visible, f"output {k} is {a.type} in then_branch and {b.type} in else_branch")
            for k, (a, b) in enumerate(zip(then, other, strict=True))
        )


class Scanned(Struct, frozen=True):
    """How a scanned input is cut: `part` rows along `axis` an iteration, the last first if `reverse`.

    With `keep_axis` the slice keeps the axis (OpenVINO), else it drops it (ONNX; `part` is 1).
    """

    axis: int = 0
    reverse: bool = False
    keep_axis: bool = False
    part: int = 1

    def slice_type(self, type: TensorType) -> TensorType:
        """The type of one slice."""
        if isinstance(type.shape, AnyShape):
            return type
        axis = normal_axis(self.axis, len(type.shape), "scanned axis")
        sliced = (self.part,) if self.keep_axis else ()
        return type.with_shape(type.shape[:axis] + sliced + type.shape[axis + 1 :])

    def length(self, type: TensorType) -> Dim:
        """The number of slices."""
        if isinstance(type.shape, AnyShape):
            return UNKNOWN
        return dims.call("floor", type.shape[normal_axis(self.axis, len(type.shape))], self.part)


class Collected(Struct, frozen=True):
    """How elements are joined: stacked on a new `axis`, or concatenated along an existing one; prepended if `reverse`.

    Scalars are stacked in any case. `part`: the rows along `axis` that each concatenated element must have.
    `declared` is the element's type as the file gives it: it fills dims of a zero-trip result that nobody can prove.
    """

    axis: int = 0
    reverse: bool = False
    stack: bool = True
    declared: TensorType | None = None
    part: int | None = None

    def stacks(self, rank: int) -> bool:
        """Whether elements of a rank are stacked."""
        return self.stack or not rank

    def collected_type(self, element: TensorType, length: Dim) -> TensorType:
        """The type of `length` elements joined."""
        if isinstance(element.shape, AnyShape):
            return element
        stacks = self.stacks(len(element.shape))
        axis = normal_axis(self.axis, len(element.shape) + stacks, "collected axis")
        before, after = element.shape[:axis], element.shape[axis + (not stacks) :]
        if stacks:
            return element.with_shape((*before, length, *after))
        rows = element.shape[axis] if self.part is None else self.part
        return element.with_shape((*before, rows * length, *after))


class Loop(Op, frozen=True):
    """`for i in 0, 1, ... while i < trip and go_on: body`.

    The body runs only while `go_on` holds, so what it sees of it is true.

    Inputs: trip count or None, condition or None (what the body answers is then ignored), `carried` initial values, one
    value for each of `scanned`, then captured values. The body takes (i, go_on, *carried, *slices, *captured) and gives
    (go_on, *carried, *last, *elements). Outputs: final carried, values of the last iteration, collected.
    A negative trip count is 0; with scanned inputs, which have one length and fall into whole parts, the smaller of
    trip count and length rules. `slices_suffice`: they need neither, and the loop fails where slices run out before
    it ends otherwise.
    `keep_shapes`: carried values may not change shape.
    Sources: ONNX Loop-25, Scan-25; OpenVINO Loop-5, TensorIterator-1.
    """

    polymorphic = True

    carried: int = 0
    scanned: tuple[Scanned, ...] = ()
    collected: tuple[Collected, ...] = ()
    last: int = 0
    keep_shapes: bool = False
    slices_suffice: bool = False

    def split(self, inputs: Sequence[Any]) -> tuple[Any, Any, list[Any], list[Any], list[Any]]:
        """Inputs, or arguments of the body, as (trip or i, condition, carried, scanned, captured)."""
        first, second = 2 + self.carried, 2 + self.carried + len(self.scanned)
        return inputs[0], inputs[1], list(inputs[2:first]), list(inputs[first:second]), list(inputs[second:])

    def infer_regions(self, node: Node, inference: Inference) -> tuple[Type, ...]:
        (body,) = node.regions
        trip, condition, carried, scanned, captured = self.split(node.inputs)
        _, go_on, states, slices, copies = self.split(body.arguments)
        visible = inference.visible(node)
        if trip is not None:
            check_one(trip, None, "the trip count")
        if condition is not None:
            check_one(condition, BOOL, "the condition")
        go_on.known = np.full((1,) * (tensor(go_on).rank or 0), True, object)
        expected = 1 + self.carried + self.last + len(self.collected)
        if len(body.results) != expected:
            raise TypeRuleError(f"the body gives {len(body.results)} values, expected {expected}")
        if len(body.arguments) != len(node.inputs):
            raise TypeRuleError(f"the body takes {len(body.arguments)} values, expected {len(node.inputs)}")
        for argument, value, how in zip(slices, scanned, self.scanned, strict=True):
            inference.set_type(argument, how.slice_type(tensor(value, "a scanned input")))
        pass_captured(copies, captured)
        self._widen_to_fixpoint(node, states, carried, inference)
        check_one(body.results[0], BOOL, "the body's condition")
        return self._output_types(body, states, visible, self.length(node))

    def _widen_to_fixpoint(self, node: Node, states: list[Value], initial: list[Value], inference: Inference) -> None:
        (body,) = node.regions
        first = inference.first_visit(node)
        for k, (state, value) in enumerate(zip(states, initial, strict=True)):
            if first:
                state.type = value.type
            else:
                _widen(inference, state, value.type, k)
        results = body.results[1 : 1 + self.carried]
        changed = True
        while changed:
            inference.region(body)
            pairs = enumerate(zip(states, results, strict=True))
            changed = any([_widen(inference, state, self._next(state, result), k) for k, (state, result) in pairs])

    def _next(self, state: Value, result: Value) -> Type:
        """The type of a carried value after an iteration; where `run` checks its shape, that is the shape it had."""
        if self.keep_shapes and isinstance(state.type, TensorType) and isinstance(result.type, TensorType):
            return result.type.with_shape(state.type.shape)
        return result.type

    def _output_types(self, body: Region, states: list[Value], visible: set[str], length: Dim) -> tuple[Type, ...]:
        extra = body.results[1 + self.carried :]
        types = [escape(value.type, visible) for value in (*states, *extra[: self.last])]
        for value, how in zip(extra[self.last :], self.collected, strict=True):
            element = Known(escape(tensor(value, "a collected value"), visible))
            types.append(how.collected_type(tensor(element), length))
        return tuple(types)

    def may_stop(self, node: Node) -> bool:
        """Whether the condition may end the loop before its trip count and its slices do."""
        condition = node.inputs[1]
        return condition is not None and not (known_bool(condition) and known_bool(node.regions[0].results[0]))

    def length(self, node: Node) -> Dim:
        """The number of iterations as a dim; unknown where the condition may end the loop early."""
        trip, condition, _, scanned, _ = self.split(node.inputs)
        if condition is not None and known_bool(condition) is False:
            return 0
        if self.may_stop(node):
            return UNKNOWN
        counts = [] if trip is None else [_at_least_zero(trip)]
        lengths = [how.length(tensor(x)) for x, how in zip(scanned, self.scanned, strict=True)]
        counts += lengths if self.slices_suffice else lengths[:1]
        return dims.call("min", *counts) if counts else UNKNOWN


def first_captured(node: Node) -> int:
    """The index of the first operand that the regions of a node capture."""
    match node.op:
        case If():
            return 1
        case Loop(carried=carried, scanned=scanned):
            return 2 + carried + len(scanned)
        case _:
            pass
    return len(node.inputs)


def check_one(fact: Fact | None, dtype: np.dtype | None, what: str) -> None:
    """Refuse a trip count or condition that is not one element of the right type (None: any integer)."""
    type = tensor(fact, what) if fact is not None else TensorType(BOOL)
    if type.dtype != dtype if dtype is not None else not is_integer(type.dtype):
        raise TypeRuleError(f"{what} is {type}, expected {'an integer' if dtype is None else name_of(dtype)}")
    size = UNKNOWN if isinstance(type.shape, AnyShape) else dims.product(type.shape)
    if isinstance(size, int) and size != 1:
        raise TypeRuleError(f"{what} is {type}, expected one element", fix="pass a scalar or a tensor of one element")


def known_bool(fact: Fact) -> bool | None:
    """The value of a bool of one element, where inference knows it."""
    if fact.known is None or fact.known.size != 1 or not isinstance(fact.known.flat[0], bool):
        return None
    return fact.known.flat[0]


def surely_fails(region: Region) -> bool:
    """Whether no run of a region has results."""
    return any(node.op.always_fails for node in region.nodes)


def pass_captured(arguments: Sequence[Value], captured: Sequence[Fact | None]) -> None:
    """A captured argument is the captured value: its type and its known elements."""
    if len(arguments) != len(captured):
        raise TypeRuleError(f"the region takes {len(arguments)} captured values, {len(captured)} are given")
    for argument, value in zip(arguments, captured, strict=True):
        if value is not None:
            argument.type, argument.known = value.type, value.known


def _at_least_zero(trip: Fact) -> Dim:
    """A trip count as a number of iterations, where its value is known."""
    count = trip.known.flat[0] if trip.known is not None and trip.known.size == 1 else UNKNOWN
    if isinstance(count, dims.Linear) and count.constant >= 0 and all(k > 0 for _, k in count.terms):
        return count
    return dims.call("max", count, 0)


def _common(a: Type, b: Type, visible: set[str], problem: str) -> Type:
    try:
        return escape(join(a, b), visible)
    except TypeRuleError:
        raise TypeRuleError(problem, fix="give both branches one element type") from None


def _widen(inference: Inference, state: Value, result: Type, index: int) -> bool:
    """Widen the type of a carried argument until it also holds `result`; whether that changed it."""
    old = state.type
    try:
        wide = join(old, result)
    except TypeRuleError:
        raise TypeRuleError(f"carried value {index} is {old} before an iteration and {result} after it") from None
    before, after = (t.shape if isinstance(t, TensorType) else UNRANKED for t in (old, wide))
    if isinstance(wide, TensorType) and not isinstance(before, AnyShape) and not isinstance(after, AnyShape):
        pairs = zip(before, after, strict=True)
        wide = wide.with_shape(tuple(x if inference.is_own(state, x) else y for x, y in pairs))
    if wide == old:
        return False
    inference.set_type(state, wide)
    return True
