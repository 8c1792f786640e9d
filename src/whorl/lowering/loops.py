"""A Loop of the IR as one kernel program: carried values in registers or two buffers, the body fused into nests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import BOOL, INT64, name_of
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.kernel.program import TRUE, Assign, Buffer, Expr, Program, Swap, Var, When, While
from whorl.lowering.builder import Index, KernelBuilder, Unsupported, View
from whorl.ops.control import If, Loop

NATIVE = frozenset(
    np.dtype(t) for t in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
)
"""The element types that have native code."""
INNER_TRIPS = 1 << 24
"""The largest bound of a loop inside, so that a program answers in time when it is asked to stop."""


@dataclass
class LoopProgram:
    """A program for one Loop node at fixed shapes, and where its values lie among the program's buffers.

    Scalars: the next iteration, the one to stop before, whether to go on. Buffers, in order: two for each carried value (the
    current one first), scanned, captured, collected.
    """

    program: Program
    carried: list[TensorType]
    collected: list[TensorType]
    captured: list[int]
    """Positions of the captured operands that the program reads from memory."""


def lower_loop(node: Node, captured: Sequence[np.ndarray | None]) -> LoopProgram:
    """The kernel program of a Loop whose values all have known shapes. `captured` gives values fixed in the program.

    Raises Unsupported with the reason where something in it has no native form.
    """
    return _LoopLowering(node, captured).lower()


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


class _LoopLowering:
    def __init__(self, node: Node, captured: Sequence[np.ndarray | None]) -> None:
        assert isinstance(node.op, Loop)
        self.node, self.op, self.body = node, node.op, node.regions[0]
        self.fixed = captured
        self.k = KernelBuilder()

    def lower(self) -> LoopProgram:
        op, body, k = self.op, self.body, self.k
        if op.last or any(how.keep_axis for how in op.scanned) or not all(how.stack for how in op.collected):
            raise Unsupported("it has parts that no ONNX loop has")
        number, go_on, states, slices, copies = op.split(body.arguments)
        i, stop, go = Var(INT64, "i", False), Var(INT64, "stop", False), Var(BOOL, "go", False)
        env: dict[Value, View] = {}
        env[number] = k.scalar(i, (1,) * len(sizes(fixed_type(number.type, "the iteration number"))))
        env[go_on] = k.scalar(TRUE, (1,) * len(sizes(fixed_type(go_on.type, "the condition"))))
        carried = [fixed_type(s.type, f"carried value {s.name!r}") for s in states]
        pairs = [self._pair(s.name, t) for s, t in zip(states, carried, strict=True)]
        registers = [k.variable(t.dtype, "c", once=False) if math.prod(sizes(t)) == 1 else None for t in carried]
        for state, type, register, (current, _) in zip(states, carried, registers, pairs, strict=True):
            env[state] = k.scalar(register, sizes(type)) if register is not None else k.view_of(current)
        scanned = [self._scanned(s, i, env) for s in slices]
        positions = self._captured(copies, env)
        elements = body.results[1 + op.carried :]
        collected = [fixed_type(v.type, f"collected value {v.name!r}") for v in elements]
        outs = [Buffer(f"out{n}", t.dtype, (None, *sizes(t))) for n, t in enumerate(collected)]
        loop = While([], k.apply("and", go, k.compare("lt", i, stop)))
        with k.into(loop.body):
            self._body(env, i, go, pairs, registers, outs)
        statements = [*self._enter(registers, pairs, carried), *k.block, loop, *self._leave(registers, pairs, carried)]
        buffers = [b for pair in pairs for b in pair] + scanned + [self.memory[n] for n in positions] + outs
        program = Program([i, stop, go], buffers, k.scratch, statements, k.calls)
        return LoopProgram(program, carried, collected, positions)

    def _pair(self, name: str, type: TensorType) -> tuple[Buffer, Buffer]:
        shape = sizes(type)
        return Buffer(f"{name}.now", type.dtype, shape), Buffer(f"{name}.next", type.dtype, shape)

    def _scanned(self, argument: Value, i: Var, env: dict[Value, View]) -> Buffer:
        type = fixed_type(argument.type, f"slice {argument.name!r}")
        buffer = Buffer(f"{argument.name}.rows", type.dtype, (None, *sizes(type)))
        env[argument] = self.k.view_of(buffer, sizes(type), (i,))
        return buffer

    def _captured(self, copies: Sequence[Value], env: dict[Value, View]) -> list[int]:
        """Captured values: those with one fixed element are numbers in the code, the others lie in memory."""
        self.memory: dict[int, Buffer] = {}
        positions = []
        for n, (argument, value) in enumerate(zip(copies, self.fixed, strict=True)):
            type = fixed_type(argument.type, f"captured value {argument.name!r}")
            if value is not None and value.size == 1:
                number = self.k.const(value.reshape(-1)[0].item(), type.dtype)
                env[argument] = self.k.scalar(number, sizes(type), argument.known)
                continue
            positions.append(n)
            buffer = self.memory[n] = Buffer(f"{argument.name}.in", type.dtype, sizes(type))
            self.k.fixed.add(buffer)
            view = self.k.view_of(buffer)
            env[argument] = View(view.dtype, view.shape, view.at, 1, buffer, argument.known)
        return positions

    def _enter(self, registers: list[Var | None], pairs: list, carried: list[TensorType]) -> list:
        return [
            Assign(r, self.k.load(now, (self.k.const(0),) * len(sizes(t))))
            for r, (now, _), t in zip(registers, pairs, carried, strict=True)
            if r is not None
        ]

    def _leave(self, registers: list[Var | None], pairs: list, carried: list[TensorType]) -> list:
        statements: list = []
        with self.k.into(statements):
            for r, (now, _), t in zip(registers, pairs, carried, strict=True):
                if r is not None:
                    self.k.store(now, (self.k.const(0),) * len(sizes(t)), r)
        return statements

    def _body(
        self,
        env: dict[Value, View],
        i: Var,
        go: Var,
        pairs: list[tuple[Buffer, Buffer]],
        registers: list[Var | None],
        outs: list[Buffer],
    ) -> None:
        """One iteration: everything is computed into next buffers and outputs first, then the values change together."""
        k, op = self.k, self.op
        results = lower_region(self.body, env, k)
        answer, states, elements = results[0], results[1 : 1 + op.carried], results[1 + op.carried :]
        honoured = self.node.inputs[1] is not None
        zero = k.const(0)
        stop = k.let(_copied(k, answer.at((zero,) * len(answer.shape)))) if honoured else TRUE
        targets: list[tuple[View, Buffer, Index]] = []
        fresh = []
        for view, (_, after), register in zip(states, pairs, registers, strict=True):
            if register is not None:
                fresh.append((register, k.let(_copied(k, view.at((zero,) * len(view.shape))))))
            else:
                targets.append((view, after, ()))
        targets += [(view, out, (i,)) for view, out in zip(elements, outs, strict=True)]
        fill_all(k, targets)
        for register, value in fresh:
            k.assign(register, value)
        for (now, after), register in zip(pairs, registers, strict=True):
            if register is None:
                k.block.append(Swap(now, after))
        k.assign(i, k.add(i, k.const(1)))
        k.assign(go, stop)


def _copied(k: KernelBuilder, value: Expr) -> Expr:
    """A register's value that survives a change of the register itself."""
    if isinstance(value, Var) and not value.once:
        var = k.variable(value.dtype)
        k.assign(var, value)
        return var
    return value


def fill_all(k: KernelBuilder, targets: Sequence[tuple[View, Buffer, Index]]) -> None:
    """Compute tensors into buffers, those of one shape in one nest, so that what they share is computed once."""
    groups: dict[tuple[int, ...], list[tuple[View, Buffer, Index]]] = {}
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
    condition = env[node.inputs[0]]  # type: ignore[index]
    places = _places(node, k)
    when = When(k.let(condition.at((k.const(0),) * len(condition.shape))))
    for region, block in zip(node.regions, (when.then, when.other), strict=True):
        inner = {a: env[v] for a, v in zip(region.arguments, node.inputs[1:], strict=True) if v is not None}
        with k.into(block):
            _put(lower_region(region, inner, k), places, k)
    k.block.append(when)
    return _as_views(node, places, k)


def _put(views: Sequence[View], places: Sequence[Var | Buffer], k: KernelBuilder) -> None:
    """Store results into their places, all of them computed before any place changes."""
    zero = k.const(0)
    targets, fresh = [], []
    for view, place in zip(views, places, strict=False):
        if isinstance(place, Buffer):
            if view.shape != place.shape:
                raise Unsupported("branches give different shapes")
            targets.append((view, place, ()))
        else:
            fresh.append((place, k.let(_copied(k, view.at((zero,) * len(view.shape))))))
    fill_all(k, targets)
    for place, value in fresh:
        k.assign(place, value)


def _lower_inner(node: Node, op: Loop, env: dict[Value, View], k: KernelBuilder) -> list[View]:
    """A Loop inside a program: its bound is a number, so that what it collects has its place in advance."""
    trip, condition, carried, scanned, captured = op.split(node.inputs)
    number, go_on, states, slices, copies = op.split(node.regions[0].arguments)
    if op.last or any(how.keep_axis for how in op.scanned) or not all(how.stack for how in op.collected):
        raise Unsupported("an inner loop has parts that no ONNX loop has")
    bound = _bound(trip, scanned, op, env)
    zero = k.const(0)
    i, go = k.variable(INT64, "i", once=False), k.variable(BOOL, "go", once=False)
    k.assign(i, zero)
    first = TRUE if condition is None else env[condition].at((zero,) * len(env[condition].shape))
    inner: dict[Value, View] = {}
    inner[number] = k.scalar(i, (1,) * len(sizes(fixed_type(number.type, "the iteration number"))))
    inner[go_on] = k.scalar(TRUE, (1,) * len(sizes(fixed_type(go_on.type, "the condition"))))
    places = _carried_places(states, [env[v] for v in carried], inner, k)
    for argument, value, how in zip(slices, scanned, op.scanned, strict=True):
        inner[argument] = _slice(env[value], how.axis, how.reverse, i, k)
    inner.update({a: env[v] for a, v in zip(copies, captured, strict=True) if v is not None})
    outs = [_collected_place(v, bound, how.axis, k) for v, how in zip(node.outputs[op.carried :], op.collected, strict=False)]
    k.assign(go, first)
    loop = While([], k.apply("and", go, k.compare("lt", i, k.const(bound))))
    with k.into(loop.body):
        _inner_body(node, op, inner, i, go, places, outs, bound, k)
    k.block.append(loop)
    views = [k.scalar(p, env[v].shape) if isinstance(p, Var) else k.view_of(p[0]) for p, v in zip(places, carried, strict=True)]
    return [*views, *(k.view_of(out) for out in outs)]


Place = Var | tuple[Buffer, Buffer]


def _bound(trip: Value | None, scanned: Sequence[Value], op: Loop, env: dict[Value, View]) -> int:
    counts = []
    if trip is not None:
        known = env[trip].known if env[trip].known is not None else trip.known
        if known is None or known.size != 1 or not isinstance(known.flat[0], int):
            raise Unsupported("the trip count of an inner loop is not a constant")
        counts.append(max(0, known.flat[0]))
    counts += [env[v].shape[how.axis % len(env[v].shape)] for v, how in zip(scanned, op.scanned, strict=True)]
    if not counts or min(counts) > INNER_TRIPS:
        raise Unsupported("an inner loop has no bound")
    if len(set(counts[trip is not None :])) > 1:
        raise Unsupported("scanned inputs of an inner loop have different lengths")
    return min(counts)


def _carried_places(
    states: Sequence[Value], initial: Sequence[View], inner: dict[Value, View], k: KernelBuilder
) -> list[Place]:
    places: list[Place] = []
    zero = k.const(0)
    for state, view in zip(states, initial, strict=True):
        type = fixed_type(state.type, f"carried value {state.name!r}")
        if view.size == 1 and math.prod(sizes(type)) == 1:
            register = k.variable(type.dtype, "c", once=False)
            k.assign(register, view.at((zero,) * len(view.shape)))
            inner[state] = k.scalar(register, sizes(type))
            places.append(register)
        else:
            now, after = (k.temporary(type.dtype, sizes(type)) for _ in range(2))
            k.fill(now, view)
            inner[state] = k.view_of(now)
            places.append((now, after))
    return places


def _slice(view: View, axis: int, reverse: bool, i: Expr, k: KernelBuilder) -> View:
    axis %= len(view.shape)
    row = k.sub(k.const(view.shape[axis] - 1), i) if reverse else i
    shape = view.shape[:axis] + view.shape[axis + 1 :]
    return View(view.dtype, shape, lambda index: view.at((*index[:axis], row, *index[axis:])), view.cost)


def _collected_place(value: Value, bound: int, axis: int, k: KernelBuilder) -> Buffer:
    type = fixed_type(value.type, f"collected value {value.name!r}")
    shape = sizes(type)
    if shape[axis % len(shape)] != bound:
        raise Unsupported("the length that an inner loop collects is not known")
    return k.temporary(type.dtype, shape)


def _inner_body(
    node: Node, op: Loop, inner: dict[Value, View], i: Var, go: Var, places: list[Place], outs: list[Buffer], bound: int, k: KernelBuilder
) -> None:
    zero = k.const(0)
    results = lower_region(node.regions[0], inner, k)
    answer = results[0]
    stop = TRUE if node.inputs[1] is None else k.let(_copied(k, answer.at((zero,) * len(answer.shape))))
    targets, fresh = [], []
    for view, place in zip(results[1 : 1 + op.carried], places, strict=True):
        if isinstance(place, Var):
            fresh.append((place, k.let(_copied(k, view.at((zero,) * len(view.shape))))))
        else:
            targets.append((view, place[1], ()))
    fill_all(k, targets)
    for view, out, how in zip(results[1 + op.carried :], outs, op.collected, strict=False):
        row = k.sub(k.const(bound - 1), i) if how.reverse else i
        axis = how.axis % len(out.shape)
        with k.nest(view.shape) as index:
            k.store(out, (*index[:axis], row, *index[axis:]), view.at(index))
    for place, value in fresh:
        k.assign(place, value)
    for place in places:
        if not isinstance(place, Var):
            k.block.append(Swap(*place))
    k.assign(i, k.add(i, k.const(1)))
    k.assign(go, stop)
