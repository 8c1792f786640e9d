"""Loop-invariant code motion: what captured values alone decide is computed once, before the loop.

A node that may fail is hoisted only where an iteration surely runs it: a loop of no iterations must not fail. The ops
say which do not (`totality`). What takes long is computed only if there is an iteration (`guard`), and what takes much
memory remains in the loop (`hoisted_memory`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.graph import Node, Region, Value
from whorl.ops.control.flow import Loop, first_captured
from whorl.passes.context import Context
from whorl.passes.guard import add_guard, add_guarded, can_guard, copy_nodes
from whorl.passes.hoisted_memory import affordable, is_light
from whorl.passes.rules.pattern import is_constant
from whorl.passes.simplify_loop import iterations
from whorl.passes.totality import Totality


def hoist_invariants(node: Node, before: Region, context: Context) -> None:
    """Compute once, before a loop, what is the same in all its iterations; before an If only what is constant.

    A node that might fail is moved only where an iteration surely runs it. New nodes go to the end of `before`.
    """
    for region in node.regions:
        may_fail = not context.options.keep_errors
        moved = affordable(region, _invariants(node, region, may_fail), context.options.hoisted_bytes)
        if moved and context.may_edit("hoist_invariants"):
            _hoist(node, region, moved, Builder(before, context.inference))


def invariant_nodes(
    region: Region, outer: Iterable[Value | None], may_move: Callable[[Node], bool]
) -> tuple[list[Node], set[Value | None]]:
    """The nodes that outer values alone decide and that may move, in order; and all invariant values."""
    invariant = {None, *outer}
    nodes: list[Node] = []
    for node in region.nodes:
        if invariant.issuperset(node.inputs) and may_move(node):
            nodes.append(node)
            invariant.update(node.outputs)
    return nodes, invariant


def _invariants(node: Node, region: Region, may_fail: bool) -> list[Node]:
    """The nodes to hoist: they read captured values (for branches, constant ones) and constants.

    `may_fail`: also those that may, where an iteration surely runs them.
    """
    first = first_captured(node)
    offset = len(region.arguments) - len(node.inputs)
    is_loop = isinstance(node.op, Loop)
    fewest, most = iterations(node) if is_loop else (0, 1)
    may_be_heavy = not is_loop or fewest > 0 or can_guard(node)
    captured = region.arguments[first + offset :]
    outer = {v for v in captured if is_loop or is_constant(node.inputs[v.index - offset])}
    constants = {v for inner in region.nodes if isinstance(inner.op, Constant) for v in inner.outputs}
    totality = Totality()

    def may_move(inner: Node) -> bool:
        is_own = constants.issuperset(v for v in inner.inputs if v is not None)
        if is_own or not inner.op.pure:
            return False
        if may_fail and fewest > 0 and not inner.regions:
            return True
        return totality.is_total(inner) and (may_be_heavy or is_light(inner))

    return invariant_nodes(region, outer | constants, may_move)[0] if most else []


def _hoist(node: Node, region: Region, moved: Sequence[Node], build: Builder) -> None:
    """Move nodes of a region before the node of the region, which then captures what its regions use of them."""
    values = _outer_values(node, region, moved, build)
    hoisted = set(moved)
    region.nodes = [inner for inner in region.nodes if inner not in hoisted]
    used = region.used_values()
    results = [value for inner in moved for value in inner.outputs if value in used]
    _compute_before(node, moved, results, values, build)
    inside: dict[Value, Value] = {}
    for value in results:
        node.inputs.append(values[value])
        for each in node.regions:
            argument = each.add_argument(value.name, values[value].type, values[value].known)
            if each is region:
                inside[value] = argument
    region.replace_uses(inside)


def _outer_values(node: Node, region: Region, moved: Sequence[Node], build: Builder) -> dict[Value, Value]:
    """What the captured arguments are outside of the region, and copies of its constants that moved nodes read."""
    offset = len(region.arguments) - len(node.inputs)
    values: dict[Value, Value] = {}
    for argument in region.arguments:
        outer = node.inputs[argument.index - offset] if argument.index >= offset else None
        if outer is not None:
            values[argument] = outer
    made = {value for inner in moved for value in inner.outputs}
    for value in (v for inner in moved for v in inner.inputs if v is not None):
        if value not in values and value not in made and isinstance(value.owner, Node):
            values[value] = build.add(value.owner.op, name=value.name)
    return values


def _compute_before(
    node: Node, moved: Sequence[Node], results: Sequence[Value], values: dict[Value, Value], build: Builder
) -> None:
    """Add copies of nodes: what takes long under a guard, where the loop may have no iteration.

    What constants alone decide needs none: it can be folded.
    """
    if not isinstance(node.op, Loop) or iterations(node)[0] > 0:
        copy_nodes(moved, values, build)
        return
    heavy: set[Value | None] = set()
    fixed: set[Value | None] = {None, *(inner for inner, outer in values.items() if is_constant(outer))}
    guarded: list[Node] = []
    for inner in moved:
        if fixed.issuperset(inner.inputs):
            fixed.update(inner.outputs)
            copy_nodes([inner], values, build)
        elif is_light(inner) and heavy.isdisjoint(inner.inputs):
            copy_nodes([inner], values, build)
        else:
            guarded.append(inner)
            heavy.update(inner.outputs)
    if guarded:
        guard = add_guard(node, build)
        title = f"{node.name or node.outputs[0].name}.invariants"
        add_guarded(guarded, values, [value for value in results if value in heavy], guard, build, title)
