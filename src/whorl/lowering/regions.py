"""Regions as kernel statements: nodes one after the other, branches, and loops inside a program.

Memory is taken over where nothing reads it later, with a name of its own (`kernel.ownership`): a Concat or
SequenceInsert behind a carried value writes behind its end, where it lies, so that a cache of keys which grows by a row
an iteration costs that row; a Scatter writes over its first input. What was to be read from there lazily is
materialised before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from whorl.ir import dims
from whorl.ir.constants import Constant, FixedArray, as_array
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.infer import region_title
from whorl.ir.native.expressions import FALSE, TRUE, Buffer, Expr, Var
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import TensorType, lengths_of
from whorl.kernel.program import Statement, When, While
from whorl.lowering.builder import KernelBuilder
from whorl.lowering.collecting import Rows, bound_of, limit_of, require_end, require_most, within_most
from whorl.lowering.conditionals import Storage, result_storage, store_results, view_of_storage
from whorl.lowering.expressions import Unsupported, contained
from whorl.lowering.native_types import fixed_type, is_fixed, is_single, sizes
from whorl.lowering.readers import Readers
from whorl.lowering.rerolling import Repeat
from whorl.lowering.storage import (
    GrowableBuffers,
    StateStorage,
    carried_view,
    commit_iteration,
    first_element,
    growable_scratch,
    memory_type,
    require_same_shapes,
    snapshot,
    snapshot_element,
)
from whorl.ops.control.flow import If, Loop, Scanned, known_bool, surely_fails
from whorl.ops.elementwise.arithmetic import Identity


def enter_body(op: Loop, body: Region, i: Var, k: KernelBuilder) -> dict[Value, View]:
    """The views of a body's first two arguments: the iteration number, and a condition that holds."""
    number, go_on, *_ = op.split(body.arguments)
    ones = [(1,) * len(sizes(fixed_type(v.type, v.name))) for v in (number, go_on)]
    return {number: k.scalar(i, ones[0]), go_on: k.scalar(TRUE, ones[1])}


def lower_body(body: Region, env: dict[Value, View], k: KernelBuilder, carried: int) -> list[View]:
    """The results of a loop's body, whose `carried` values may change where they lie."""
    states = body.arguments[2 : 2 + carried]
    return lower_region(body, env, k, dict(zip(body.results[1 : 1 + carried], map(env.get, states), strict=True)))


def lower_region(
    region: Region, env: dict[Value, View], k: KernelBuilder, becoming: Mapping[Value, View | None] | None = None
) -> list[View]:
    """The results of a region whose arguments have views.

    `becoming` says of results what they become the next value of, behind whose end they may put elements.
    """
    uses, ends = _uses(region)
    readers = Readers.of(region)
    appended = _appended(becoming or {})
    for position, node in enumerate(region.nodes):
        owned = _handed_memory(node, position, env, ends, k) if isinstance(node.op, If) else {}
        over = node.op.overwrites
        reused = set[Buffer]() if over is None else _reusable_memory(node, over, position, env, ends, k)
        k.readers = readers.first.get(node.inputs[0], ()) if node.inputs and node.inputs[0] is not None else ()
        grown = [appended.get(value) for value in node.outputs]
        k.may_reuse, k.may_append = reused, grown[0].buffer if grown and grown[0] is not None else None
        try:
            with contained(), k.failing_at(node.title, k.around):
                made = _lower_if(node, env, k, grown, owned) if isinstance(node.op, If) else lower_node(node, env, k)
                outputs = [k.failing_as(node.title, view) for view in made]
        except Unsupported as reason:
            raise reason.at(node) from None
        k.may_reuse, k.may_append = set(), None
        reused |= {b for b in map(k.memory_of, owned.values()) if sum(view.buffer is b for view in outputs) == 1}
        for value, view in zip(node.outputs, outputs, strict=False):
            known = value.known if value.known is not None else view.known
            view = k.name_lengths(memory_type(value, k), replace(view, known=known))
            env[value] = readers.materialise(value, view, k) if uses.get(value, 0) > 1 or view.size == 1 else view
            k.own(value, env[value], reused)
    return [env[value] for value in region.results]


def _appended(becoming: Mapping[Value, View | None]) -> dict[Value, View]:
    """The values that become the next ones of others, each with that one, behind whose end it may put elements."""
    appended: dict[Value, View] = {}
    for result, state in becoming.items():
        while isinstance(result.owner, Node) and isinstance(result.owner.op, Identity):
            source = result.owner.inputs[0]
            assert source is not None
            result = source
        if state is not None and state.buffer is not None and state.buffer.grows:
            appended[result] = state
    return appended


def _uses(region: Region) -> tuple[dict[Value, int], dict[Value, int]]:
    """How often each value is read, and the position of the last node that does."""
    counts: dict[Value, int] = {}
    ends: dict[Value, int] = {}
    for position, values in enumerate((*(node.inputs for node in region.nodes), region.results)):
        for value in values:
            if value is not None:
                counts[value], ends[value] = counts.get(value, 0) + 1, position
    return counts, ends


def _handed_memory(
    node: Node, position: int, env: dict[Value, View], ends: dict[Value, int], k: KernelBuilder
) -> dict[int, Buffer]:
    """The memory of what an If captures, by the input's number, where a branch may write over it."""
    captured = {n: [r.arguments[n - 1] for r in node.regions] for n in range(1, len(node.inputs))}
    pairs = {n: zip(node.regions, arguments, strict=True) for n, arguments in captured.items()}
    written = [n for n, each in pairs.items() if any(_writes_over(argument, region) for region, argument in each)]
    return {n: buffer for n in written for buffer in _reusable_memory(node, n, position, env, ends, k)}


def _writes_over(value: Value, region: Region) -> bool:
    """Whether a node of a region, or of a branch inside, may write its result over a value."""
    for node in region.nodes:
        if node.op.overwrites is not None and value in node.inputs[node.op.overwrites : node.op.overwrites + 1]:
            return True
        numbers = [n for n, each in enumerate(node.inputs) if n and each is value and isinstance(node.op, If)]
        if any(_writes_over(inner.arguments[n - 1], inner) for inner in node.regions for n in numbers):
            return True
    return False


def _reusable_memory(
    node: Node, number: int, position: int, env: dict[Value, View], ends: dict[Value, int], k: KernelBuilder
) -> set[Buffer]:
    """The memory of an input, if nobody reads that later: what was to be read there is read now."""
    value = node.inputs[number] if number < len(node.inputs) else None
    if (
        value is None
        or ends[value] > position
        or node.inputs.count(value) > 1
        or (buffer := k.owned_by(value, env[value])) is None
    ):
        return set()
    for other, view in env.items():
        if ends.get(other, -1) >= position and other is not value and view.buffer is None and k.reads(view, buffer):
            env[other] = k.materialise(view)
    return {buffer}


def lower_node(node: Node, env: dict[Value, View], k: KernelBuilder) -> Sequence[View]:
    """The views of a node's outputs; nested loops and branches write statements first."""
    match node.op:
        case Constant():
            return [_constant(node.op.value, node.outputs[0], k)]
        case Loop():
            return _lower_inner(node, node.op, env, k)
        case Repeat():
            return _lower_repeat(node, node.op, env, k)
        case _:
            pass
    types = [memory_type(value, k) for value in node.outputs]
    inputs = [None if value is None else env[value] for value in node.inputs]
    fixed = all(x is None or x.is_fixed for x in inputs) and all(is_fixed(t) for t in types)
    views = _native_form(node.op, k, inputs, types, fixed)
    if views is not None:
        return views
    if not node.op.can_repeat:
        raise Unsupported(f"{node.op.name} is not pure and has no native form")
    known = [x.shape for x in inputs if x is not None] + [lengths_of(t) for t in types]
    if all(k.shape_in_run(shape) is not None for shape in known):
        return k.run_op(node.op, inputs, types)
    if any(not isinstance(v.type, TensorType) for v in (*node.inputs, *node.outputs) if v is not None):
        raise Unsupported(f"{node.op.name} has no native form for sequences")
    return k.run_any(node.op, inputs, types)


def _native_form(
    op: Op, k: KernelBuilder, inputs: Sequence[View | None], types: Sequence[TensorType], fixed: bool
) -> Sequence[View] | None:
    """What `lower` gives; where it asks for a length that is not known yet, or gives one, it has written nothing."""
    if fixed:
        return op.lower(k, Operands(inputs), types)
    if not op.any_length:
        return None
    statements: list[Statement] = []
    try:
        with k.into(statements):
            views = op.lower(k, Operands(inputs), types)
    except Unsupported:
        return None
    if views is not None and not all(k.is_available(n) for view in views for n in view.shape):
        return None
    k.block += statements
    return views


def _constant(array: FixedArray, value: Value, k: KernelBuilder) -> View:
    type = fixed_type(value.type, f"constant {value.name!r}")
    if math.prod(array.shape) != 1:
        return k.constant(array, type, value.known)
    return k.scalar(k.const(as_array(array).reshape(-1)[0].item(), type.dtype), sizes(type), value.known)


def _lower_if(
    node: Node, env: dict[Value, View], k: KernelBuilder, grown: Sequence[View | None], owned: Mapping[int, Buffer]
) -> list[View]:
    """The results of an If; behind the ends of `grown` it may put what these become, and write over `owned` memory."""
    condition = node.inputs[0]
    assert condition is not None
    answer = known_bool(condition)
    if answer is not None:
        return _lower_branch(node, 0 if answer else 1, env, k, grown, owned)
    types = [memory_type(v, k) for v in node.outputs]
    when = When(k.let(first_element(env[condition], k)))
    ends: list[tuple[list[Statement], list[View]]] = []
    for n, block in enumerate((when.then, when.other)):
        with k.into(block):
            if surely_fails(node.regions[n]):
                _fail_in_branch(node, n, k)
            else:
                ends.append((block, _lower_branch(node, n, env, k, grown, owned)))
    written = [replace(env[v], buffer=k.memory_of(b)) for n, b in owned.items() if (v := node.inputs[n]) is not None]
    storages: list[Storage] = []
    for n, type in enumerate(types):
        views, state = [views[n] for _, views in ends], grown[n]
        own = [state] if state is not None and all(view.buffer is state.buffer for view in views) else []
        storages.append(result_storage(type, views, [*own, *written], k))
    for block, views in ends:
        with k.into(block):
            store_results(views, storages, k)
    k.block.append(when)
    return [view_of_storage(storage, t, k) for storage, t in zip(storages, types, strict=True)]


def _fail_in_branch(node: Node, number: int, k: KernelBuilder) -> None:
    (cause,) = node.regions[number].nodes
    with k.failing_at(cause.title, (*k.around, (region_title(node, number), None))):
        k.fail_unless(FALSE, "its inputs are of types that it refuses")


def _lower_branch(
    node: Node,
    number: int,
    env: dict[Value, View],
    k: KernelBuilder,
    grown: Sequence[View | None],
    owned: Mapping[int, Buffer],
) -> list[View]:
    region, captured = node.regions[number], node.inputs[1:]
    inner = {a: env[v] for a, v in zip(region.arguments, captured, strict=True) if v is not None}
    k.owners.update((buffer, region.arguments[n - 1]) for n, buffer in owned.items())
    with k.failing_at(node.title, (*k.around, (region_title(node, number), None))):
        return lower_region(region, inner, k, dict(zip(region.results, grown, strict=True)))


def _lower_inner(node: Node, op: Loop, env: dict[Value, View], k: KernelBuilder) -> list[View]:
    """A Loop inside a program; where it collects as many rows as only the run knows, their memory grows."""
    trip, condition, carried, scanned, captured = op.split(node.inputs)
    body, first = node.regions[0], op.carried + op.last
    last, collected = node.outputs[op.carried : first], node.outputs[first:]
    _, _, states, slices, copies = op.split(body.arguments)
    bound = bound_of(node, op, env, k)
    limit = limit_of(bound, trip, env, k)
    allowed = within_most(limit, condition is not None, k)
    i, go = k.variable(INT64, "i", once=False), k.variable(BOOL, "go", once=False)
    inner = enter_body(op, body, i, k)
    types = [memory_type(s, k, "carried value ") for s in states]
    storages = [_carried_storage(s, t, env[v], inner, k) for s, t, v in zip(states, types, carried, strict=True)]
    types += [memory_type(v, k, "last value ") for v in last]
    storages += [_last_storage(t, k) for t in types[op.carried :]]
    for argument, value, how in zip(slices, scanned, op.scanned, strict=True):
        inner[argument] = _slice(env[value], how, i, k)
    inner.update({a: env[v] for a, v in zip(copies, captured, strict=True) if v is not None})
    rows = [Rows.of(v, how, bound, k) for v, how in zip(collected, op.collected, strict=False)]
    k.assign(i, k.const(0))
    k.assign(go, TRUE if condition is None else first_element(env[condition], k))
    loop = While([], k.apply("and", go, k.compare("lt", i, allowed)))
    with k.repeating(loop.body), k.failing_at(node.title, (*k.around, (region_title(node, 0), i))):
        results = lower_body(body, inner, k, op.carried)
        after = results[1 : 1 + len(storages)]
        require_same_shapes(after, types, storages, op.carried if op.keep_shapes else 0, k)
        answer = TRUE if condition is None else snapshot_element(results[0], k)
        elements = [out.target(view, i, k) for view, out in zip(results[1 + first :], rows, strict=False)]
        commit_iteration(after, storages, elements, k)
        k.assign(i, k.add(i, k.const(1)))
        k.assign(go, answer)
    k.block.append(loop)
    require_most(limit, allowed, (i, go), k)
    require_end(node, op, bound, (i, go), env, k)
    if last:
        k.fail_unless(k.compare("gt", i, k.const(0)), "no iteration ran")
    count = snapshot(i, k)
    views = [carried_view(storage, t, k) for t, storage in zip(types, storages, strict=True)]
    return [*views, *(out.view(count, k) for out in rows)]


def _lower_repeat(node: Node, op: Repeat, env: dict[Value, View], k: KernelBuilder) -> list[View]:
    """Equal blocks one after the other; where one fails, the interpreter runs its nodes as they were."""
    (initial, stacks, captured), body = op.split(node.inputs), node.regions[0]
    states, rows, copies = op.split(body.arguments)
    types = [memory_type(state, k) for state in states]
    inner = {a: env[v] for a, v in zip(copies, captured, strict=True) if v is not None}
    pairs = zip(states, types, initial, strict=True)
    storages = [_carried_storage(s, t, env[v], inner, k) for s, t, v in pairs if v is not None]
    i = k.variable(INT64, "block", once=False)
    for row, stack in zip(rows, stacks, strict=True):
        buffer = None if stack is None else env[stack].buffer
        assert buffer is not None, "constants of several blocks lie in memory"
        inner[row] = k.view_of(buffer, lengths_of(memory_type(row, k)), (i,))
    k.assign(i, k.const(0))
    loop = While([], k.compare("lt", i, k.const(op.count)), of_blocks=True)
    with k.repeating(loop.body):
        results = lower_region(body, inner, k)
        require_same_shapes(results, types, storages, op.carried, k)
        commit_iteration(results, storages, (), k)
        k.assign(i, k.add(i, k.const(1)))
    k.block.append(loop)
    return [carried_view(storage, t, k) for t, storage in zip(types, storages, strict=True)]


def _carried_storage(
    state: Value, type: TensorType, initial: View, inner: dict[Value, View], k: KernelBuilder
) -> StateStorage:
    """Where a carried value of an inner loop lives, holding its initial value."""
    if is_single(type):
        register = k.variable(type.dtype, "c", once=False)
        k.assign(register, first_element(initial, k))
        inner[state] = k.scalar(register, lengths_of(type))
        return register
    storage = _new_storage(type, k)
    if isinstance(storage, GrowableBuffers):
        for axis, register in storage.lengths.items():
            k.assign(register, k.length(initial.shape[axis]))
        k.reserve(storage.now, initial.shape)
    now = storage.now if isinstance(storage, GrowableBuffers) else storage[0]
    k.fill(now, initial)
    inner[state] = k.view_of(now, lengths_of(type))
    k.owners[now] = state
    return storage


def _new_storage(type: TensorType, k: KernelBuilder) -> tuple[Buffer, Buffer] | GrowableBuffers:
    if not all(map(k.is_available, lengths_of(type))):
        return growable_scratch(k, type)
    now, after = (k.temporary(type.dtype, lengths_of(type)) for _ in range(2))
    k.fixed -= {now, after}
    return now, after


def _last_storage(type: TensorType, k: KernelBuilder) -> StateStorage:
    """Where the value of the last iteration so far lives."""
    if is_single(type):
        register = k.variable(type.dtype, "last", once=False)
        k.assign(register, k.const(False if type.dtype == BOOL else 0, type.dtype))
        return register
    storage = _new_storage(type, k)
    if isinstance(storage, GrowableBuffers):
        for register in storage.lengths.values():
            k.assign(register, k.const(0))
    return storage


def _slice(view: View, how: Scanned, i: Expr, k: KernelBuilder) -> View:
    axis = how.axis % len(view.shape)
    number = i
    if how.reverse:
        count = dims.call("floor", view.shape[axis], how.part)
        number = k.sub(k.length(count - 1), i)  # type: ignore[arg-type]
    before, after = view.shape[:axis], view.shape[axis + 1 :]
    if not how.keep_axis:
        return View(view.dtype, before + after, lambda at: view.at((*at[:axis], number, *at[axis:])), view.cost)
    start = k.mul(number, k.const(how.part))

    def at(index: Index) -> Expr:
        return view.at((*index[:axis], k.add(start, index[axis]), *index[axis + 1 :]))

    return View(view.dtype, (*before, how.part, *after), at, view.cost)
