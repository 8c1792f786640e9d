"""Regions as kernel statements: nodes one after the other, branches, and loops inside a program."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import BOOL, BY_NAME, INT64, name_of
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.kernel.program import TRUE, Buffer, Expr, Swap, Var, When, While
from whorl.lowering.builder import Index, KernelBuilder, Unsupported, View
from whorl.ops.control import Collected, If, Loop, Scanned

NATIVE = frozenset(
    BY_NAME[name]
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "bfloat16", "float32", "float64"),
    )
)
"""The element types that have native code."""
INNER_TRIPS = 1 << 24
"""The largest bound of a loop inside, so that a program answers in time when it is asked to stop."""


def fixed_type(type: Type, what: str) -> TensorType:
    """A tensor type with numbers for lengths and an element type with native code, or Unsupported."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        raise Unsupported(f"{what} is {type}")
    if not all(isinstance(d, int) for d in type.shape):
        raise Unsupported(f"the shape of {what} changes or is not known: {type}")
    if type.dtype not in NATIVE:
        raise Unsupported(f"{what} is {name_of(type.dtype)}")
    return type


def sizes(type: TensorType) -> tuple[int, ...]:
    assert not isinstance(type.shape, AnyShape)
    return tuple(int(d) for d in type.shape)  # type: ignore[arg-type]


Place = Var | tuple[Buffer, Buffer]
"""Where a carried value lives: a register for one element, else the current buffer and the next one."""
Target = tuple[View, Buffer, Index]
"""A tensor, the buffer it goes to, and the index there that comes before its own."""


def refuse_parts(op: Loop) -> None:
    """Loops that no ONNX file says have no native form."""
    if op.last or any(how.keep_axis for how in op.scanned) or not all(how.stack for how in op.collected):
        raise Unsupported("it keeps slice axes, concatenates, or gives last values")


def enter_body(op: Loop, body: Region, i: Var, k: KernelBuilder) -> dict[Value, View]:
    """The views of a body's first two arguments: the iteration number, and a condition that holds."""
    number, go_on, *_ = op.split(body.arguments)
    ones = [(1,) * len(sizes(fixed_type(v.type, v.name))) for v in (number, go_on)]
    return {number: k.scalar(i, ones[0]), go_on: k.scalar(TRUE, ones[1])}


def first_element(view: View, k: KernelBuilder) -> Expr:
    """The element of a tensor that has only one."""
    return view.at((k.const(0),) * len(view.shape))


def kept_value(view: View, k: KernelBuilder) -> Expr:
    """The one element of a tensor, in a register that no later assignment changes."""
    value = first_element(view, k)
    if isinstance(value, Var) and not value.once:
        copy = k.variable(value.dtype)
        k.assign(copy, value)
        return copy
    return k.let(value)


def require_kept_shapes(results: Sequence[View], states: Sequence[Value]) -> None:
    """Refuse a carried value whose shape changes: its memory has one size."""
    for view, state in zip(results, states, strict=True):
        if view.shape != sizes(fixed_type(state.type, f"carried value {state.name!r}")):
            raise Unsupported(f"carried value {state.name!r} changes its shape")


def change_together(
    results: Sequence[View], places: Sequence[Place], elements: Sequence[Target], k: KernelBuilder
) -> None:
    """Put the results of an iteration into their places: all are computed before any place changes."""
    targets, registers = list(elements), []
    for view, place in zip(results, places, strict=True):
        if isinstance(place, Var):
            registers.append((place, kept_value(view, k)))
        else:
            targets.append((view, place[1], ()))
    fill_all(k, targets)
    for place, value in registers:
        k.assign(place, value)
    for place in places:
        if not isinstance(place, Var):
            k.block.append(Swap(*place))


def fill_all(k: KernelBuilder, targets: Sequence[Target]) -> None:
    """Compute tensors into buffers, those of one shape in one nest, so that what they share is computed once."""
    groups: dict[tuple[int, ...], list[Target]] = {}
    for target in targets:
        groups.setdefault(target[0].shape, []).append(target)
    for shape, members in groups.items():
        with k.nest(shape) as index:
            values = [k.let(view.at(index)) for view, _, _ in members]
            for value, (_, buffer, prefix) in zip(values, members, strict=True):
                k.store(buffer, (*prefix, *index), value)


def lower_region(region: Region, env: dict[Value, View], k: KernelBuilder) -> list[View]:
    """The results of a region whose arguments have views."""
    uses = _uses(region)
    for node in region.nodes:
        outputs = lower_node(node, env, k)
        for value, view in zip(node.outputs, outputs, strict=False):
            known = value.known if value.known is not None else view.known
            view = View(view.dtype, view.shape, view.at, view.cost, view.buffer, known)
            env[value] = k.cheap(view) if uses.get(value, 0) > 1 or view.size == 1 else view
    return [env[value] for value in region.results]


def _uses(region: Region) -> dict[Value, int]:
    counts: dict[Value, int] = {}
    for value in (*region.results, *(v for node in region.nodes for v in node.inputs)):
        if value is not None:
            counts[value] = counts.get(value, 0) + 1
    return counts


def lower_node(node: Node, env: dict[Value, View], k: KernelBuilder) -> Sequence[View]:
    """The views of a node's outputs; nested loops and branches write statements first."""
    match node.op:
        case Constant():
            return [_constant(as_array(node.op.value), node.outputs[0], k)]
        case If():
            return _lower_if(node, env, k)
        case Loop():
            return _lower_inner(node, node.op, env, k)
    for value in node.outputs:
        fixed_type(value.type, f"{value.name!r}")
    inputs = [None if value is None else env[value] for value in node.inputs]
    views = node.op.lower(k, inputs, [v.type for v in node.outputs])
    if views is not None:
        return views
    if not node.op.pure:
        raise Unsupported(f"{node.op.name} is not pure and has no native form")
    return k.run_op(node.op, inputs, [fixed_type(v.type, f"{v.name!r}") for v in node.outputs])


def _constant(array: np.ndarray, value: Value, k: KernelBuilder) -> View:
    type = fixed_type(value.type, f"constant {value.name!r}")
    if array.size != 1:
        raise Unsupported(f"constant {value.name!r} has more than one element")
    return k.scalar(k.const(array.reshape(-1)[0].item(), type.dtype), sizes(type), value.known)


def _places(node: Node, k: KernelBuilder) -> list[Var | Buffer]:
    """Where the outputs of a branch or an inner loop are put: a register for one element, else scratch memory."""
    types = [fixed_type(v.type, f"{v.name!r}") for v in node.outputs]
    return [
        k.variable(t.dtype, "r", once=False) if math.prod(sizes(t)) == 1 else k.temporary(t.dtype, sizes(t))
        for t in types
    ]


def _as_views(node: Node, places: list[Var | Buffer], k: KernelBuilder) -> list[View]:
    return [
        k.scalar(place, sizes(v.type)) if isinstance(place, Var) else k.view_of(place)  # type: ignore[arg-type]
        for v, place in zip(node.outputs, places, strict=True)
    ]


def _lower_if(node: Node, env: dict[Value, View], k: KernelBuilder) -> list[View]:
    condition, *captured = node.inputs
    assert condition is not None
    places = _places(node, k)
    when = When(k.let(first_element(env[condition], k)))
    for region, block in zip(node.regions, (when.then, when.other), strict=True):
        inner = {a: env[v] for a, v in zip(region.arguments, captured, strict=True) if v is not None}
        with k.into(block):
            _put(lower_region(region, inner, k), places, k)
    k.block.append(when)
    return _as_views(node, places, k)


def _put(views: Sequence[View], places: Sequence[Var | Buffer], k: KernelBuilder) -> None:
    """Store the results of a branch."""
    targets: list[Target] = []
    for view, place in zip(views, places, strict=False):
        if isinstance(place, Var):
            k.assign(place, kept_value(view, k))
        elif view.shape != place.shape:
            raise Unsupported("branches give different shapes")
        else:
            targets.append((view, place, ()))
    fill_all(k, targets)


def _lower_inner(node: Node, op: Loop, env: dict[Value, View], k: KernelBuilder) -> list[View]:
    """A Loop inside a program; where it collects, its bound is a number, so that rows have their place in advance."""
    refuse_parts(op)
    trip, condition, carried, scanned, captured = op.split(node.inputs)
    body, joined = node.regions[0], node.outputs[op.carried :]
    _, _, states, slices, copies = op.split(body.arguments)
    bound = _bound(trip, scanned, op, env)
    if bound is None and joined:
        raise Unsupported("an inner loop collects as many elements as only the run knows")
    limit = k.const(bound) if bound is not None else _computed_bound(trip, env, k)
    i, go = k.variable(INT64, "i", once=False), k.variable(BOOL, "go", once=False)
    inner = enter_body(op, body, i, k)
    places = [_carried_place(s, env[v], inner, k) for s, v in zip(states, carried, strict=True)]
    for argument, value, how in zip(slices, scanned, op.scanned, strict=True):
        inner[argument] = _slice(env[value], how, i, k)
    inner.update({a: env[v] for a, v in zip(copies, captured, strict=True) if v is not None})
    outs = [_collected_place(v, bound or 0, how, k) for v, how in zip(joined, op.collected, strict=False)]
    k.assign(i, k.const(0))
    k.assign(go, TRUE if condition is None else first_element(env[condition], k))
    loop = While([], k.apply("and", go, k.compare("lt", i, limit)))
    with k.into(loop.body):
        results = lower_region(body, inner, k)
        require_kept_shapes(results[1 : 1 + op.carried], states)
        answer = TRUE if condition is None else kept_value(results[0], k)
        _collect(results[1 + op.carried :], outs, op, bound or 0, i, k)
        change_together(results[1 : 1 + op.carried], places, (), k)
        k.assign(i, k.add(i, k.const(1)))
        k.assign(go, answer)
    k.block.append(loop)
    states_after = [
        k.scalar(place, sizes(fixed_type(s.type, s.name))) if isinstance(place, Var) else k.view_of(place[0])
        for s, place in zip(states, places, strict=True)
    ]
    return [*states_after, *(k.view_of(out) for out in outs)]


def _bound(trip: Value | None, scanned: Sequence[Value], op: Loop, env: dict[Value, View]) -> int | None:
    """How often an inner loop runs at most; None where only the run knows."""
    lengths = [env[v].shape[how.axis % len(env[v].shape)] for v, how in zip(scanned, op.scanned, strict=True)]
    if len(set(lengths)) > 1:
        raise Unsupported("the scanned inputs of an inner loop have different lengths")
    known = None if trip is None else env[trip].known if env[trip].known is not None else trip.known
    number = known.flat[0] if known is not None and known.size == 1 else None
    if isinstance(number, int):
        lengths = [max(0, number), *lengths[:1]]
    elif (trip is None and not lengths) or (trip is not None and lengths):
        raise Unsupported("an inner loop has no bound that is known before it runs")
    if lengths and min(lengths) > INNER_TRIPS:
        raise Unsupported(f"an inner loop may run {min(lengths)} times")
    return min(lengths) if lengths else None


def _computed_bound(trip: Value | None, env: dict[Value, View], k: KernelBuilder) -> Expr:
    """A trip count computed by the program; one that is too large fails, so that the program answers in time."""
    assert trip is not None
    count = k.let(first_element(env[trip], k))
    k.fail_unless(k.compare("le", count, k.const(INNER_TRIPS)))
    return count


def _carried_place(state: Value, initial: View, inner: dict[Value, View], k: KernelBuilder) -> Place:
    """Where a carried value of an inner loop lives, holding its initial value."""
    type = fixed_type(state.type, f"carried value {state.name!r}")
    if math.prod(sizes(type)) == 1:
        register = k.variable(type.dtype, "c", once=False)
        k.assign(register, first_element(initial, k))
        inner[state] = k.scalar(register, sizes(type))
        return register
    now, after = (k.temporary(type.dtype, sizes(type)) for _ in range(2))
    k.fixed -= {now, after}
    k.fill(now, initial)
    inner[state] = k.view_of(now)
    return now, after


def _slice(view: View, how: Scanned, i: Expr, k: KernelBuilder) -> View:
    axis = how.axis % len(view.shape)
    row = k.sub(k.const(view.shape[axis] - 1), i) if how.reverse else i
    shape = view.shape[:axis] + view.shape[axis + 1 :]
    return View(view.dtype, shape, lambda index: view.at((*index[:axis], row, *index[axis:])), view.cost)


def _collected_place(value: Value, bound: int, how: Collected, k: KernelBuilder) -> Buffer:
    type = fixed_type(value.type, f"collected value {value.name!r}")
    shape = sizes(type)
    if shape[how.axis % len(shape)] != bound:
        raise Unsupported("the length that an inner loop collects is not known")
    return k.temporary(type.dtype, shape)


def _collect(views: Sequence[View], outs: Sequence[Buffer], op: Loop, bound: int, i: Expr, k: KernelBuilder) -> None:
    """Store the elements of one iteration in their rows."""
    for view, out, how in zip(views, outs, op.collected, strict=False):
        row = k.sub(k.const(bound - 1), i) if how.reverse else i
        axis = how.axis % len(out.shape)
        with k.nest(view.shape) as index:
            k.store(out, (*index[:axis], row, *index[axis:]), view.at(index))
