"""Rerolling: equal blocks of a graph, one after the other, become a loop over their weights, and are lowered once.

A model of thirty layers has thirty times the same nodes on other constants. What differs is stacked, so that a block
reads its row; what a block gives to the next is carried. Thirty blocks then take the time of one to lower and compile.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import ClassVar, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from whorl.ir.constants import Constant, FixedArray, as_array
from whorl.ir.dtypes import STRING, is_float
from whorl.ir.graph import Node, Op, Region, Value
from whorl.ir.guards import is_array, is_list, is_tuple
from whorl.ir.types import TensorType
from whorl.ops.control.flow import Loop

LEAST_BLOCKS, LEAST_PERIOD, LEAST_SAVED = 4, 8, 100
"""Blocks, nodes of a block, and nodes that are not lowered, from which a loop over blocks is worth it."""
MOST_BYTES = 1 << 26
"""Constants that are copied to lie side by side."""
_PERIODS, _CUTS = 3, 3
"""Lengths of a block, and nodes that it may begin with, that are tried."""
_SMALL = 64
"""Elements of a constant that is compared with others."""
T = TypeVar("T")
Stacking = Callable[[Sequence[FixedArray]], FixedArray]


class Repeat(Op, frozen=True):
    """A region `count` times: its results are its first inputs the next time, then come rows of stacked constants."""

    abstract: ClassVar[bool] = True

    count: int
    carried: int
    stacked: int

    def split(self, values: Sequence[T]) -> tuple[Sequence[T], Sequence[T], Sequence[T]]:
        """Carried, stacked and captured ones among the node's inputs or the region's arguments."""
        end = self.carried + self.stacked
        return values[: self.carried], values[self.carried : end], values[end:]


def reroll(region: Region, stack: Stacking) -> bool:
    """Make the longest sequence of equal blocks a Repeat; whether there is one. `stack` puts arrays side by side.

    Blocks are equal that have the same ops on values of the same types, whose lengths have the same names. Nobody
    reads what they give but the next one.
    """
    nodes = [node for node in region.nodes if not isinstance(node.op, Constant)]
    if len(nodes) < LEAST_SAVED:
        return False
    graph = _Graph(region, nodes)
    for start, period, count in _sequences(graph):
        plan = graph.plan(start, period, count)
        if plan is not None and plan.bytes <= MOST_BYTES:
            _replace(region, graph, plan, stack)
            return True
    return False


# ---- where blocks repeat ---------------------------------------------------------------------------------------


def _sequences(graph: _Graph) -> Iterator[tuple[int, int, int]]:
    """The first node, length and number of blocks that may be equal, those that save most first."""
    forms: dict[Hashable, int] = {}
    numbers = [forms.setdefault(_form(node), len(forms)) for node in graph.nodes]
    runs = [each for period in _periods(numbers) for each in _runs(numbers, period)]
    for begin, end, period in sorted(runs, key=lambda each: each[0] - each[1])[:_PERIODS]:
        cuts = sorted(range(begin, begin + period), key=lambda start: (graph.crossing(start + period, period), start))
        for start in cuts[:_CUTS]:
            count = (end - start) // period
            for first, number in ((start, count), (start, count - 1), (start + period, count - 1)):
                if number >= LEAST_BLOCKS and (number - 1) * period >= LEAST_SAVED:
                    yield first, period, number


def _periods(numbers: Sequence[int]) -> list[int]:
    """Distances at which nodes of one form most often follow each other."""
    last: dict[int, int] = {}
    distances = Counter[int]()
    for position, number in enumerate(numbers):
        if number in last:
            distances[position - last[number]] += 1
        last[number] = position
    return [period for period, _ in distances.most_common(2 * _PERIODS) if period >= LEAST_PERIOD]


def _runs(numbers: Sequence[int], period: int) -> Iterator[tuple[int, int, int]]:
    """Where nodes are of the form of those a period later: begin, end, and the period."""
    begin = 0
    for position in range(len(numbers) - period + 1):
        is_end = position == len(numbers) - period or numbers[position] != numbers[position + period]
        if is_end and position - begin >= LEAST_SAVED:
            yield begin, position + period, period
        if is_end:
            begin = position + 1


def _form(node: Node) -> Hashable:
    """What nodes have in common that do the same to other values of the same types."""
    op = _without_declared(node.op)
    attributes = tuple(_attribute(getattr(op, name)) for name in op.__struct_fields__)
    results = tuple((v.type, None if v.known is None else str(v.known.tolist())) for v in node.outputs)
    return type(node.op), attributes, results, len(node.inputs), tuple(map(_form_of_region, node.regions))


def _without_declared(op: Op) -> Op:
    """A loop without what the file said of collected values, whose types are known now, under names of its own."""
    if not isinstance(op, Loop) or not op.collected:
        return op
    return replace(op, collected=tuple(replace(how, declared=None) for how in op.collected))


def _form_of_region(region: Region) -> Hashable:
    numbers = {value: n for n, value in enumerate(region.arguments)}
    lines = list[Hashable]([tuple(v.type for v in region.arguments)])
    for node in region.nodes:
        lines.append((_form(node), tuple(-1 if v is None else numbers[v] for v in node.inputs)))
        numbers.update({v: len(numbers) + n for n, v in enumerate(node.outputs)})
    return (*lines, tuple(numbers[v] for v in region.results))


def _attribute(value: object) -> Hashable:
    """A field of an op. The text of a number tells 0.0 from -0.0, which `==` does not; that of an array is rounded and
    shortened, and that of a lazy one need not tell its elements, so such a one is equal to itself alone."""
    if is_array(value):
        return value.dtype, value.shape, value.tobytes() if value.dtype != STRING else str(value.tolist())
    if is_tuple(value) or is_list(value):
        return is_tuple(value), tuple(map(_attribute, value))
    if isinstance(value, Struct):
        return type(value), tuple(_attribute(getattr(value, name)) for name in value.__struct_fields__)
    return id(value) if hasattr(value, "numpy") else (type(value), repr(value))


# ---- what blocks read ------------------------------------------------------------------------------------------


class _Plan(Struct, frozen=True):
    """Blocks that are equal: for each operand of the first one, where it comes from.

    `carried` are results of a block that the next one reads, by their positions, with the first values of these;
    `stacked` constants of all blocks, `captured` what all blocks read.
    """

    start: int
    period: int
    count: int
    operands: dict[tuple[int, int], Hashable]
    carried: dict[tuple[int, int], Value]
    stacked: dict[tuple[Value | None, ...], tuple[FixedArray, ...]]
    captured: dict[Value, None]

    @property
    def bytes(self) -> int:
        return sum(_size(x) * x.dtype.itemsize for arrays in self.stacked.values() for x in arrays)


class _Graph:
    """The nodes of a region that are no constants, by the values that they give and read."""

    def __init__(self, region: Region, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.made = {v: (n, v.index) for n, node in enumerate(nodes) for v in node.outputs}
        self.readers: defaultdict[Value | None, list[int]] = defaultdict(list)
        for n, node in enumerate(nodes):
            for value in node.inputs:
                self.readers[value].append(n)
        for value in region.results:
            self.readers[value].append(len(nodes))

    def crossing(self, cut: int, period: int) -> int:
        """Values that the nodes of a period before a cut give to those behind it."""
        values = (v for node in self.nodes[max(0, cut - period) : cut] for v in node.outputs)
        return sum(max(self.readers.get(v, (0,))) >= cut for v in values)

    def plan(self, start: int, period: int, count: int) -> _Plan | None:
        """How such blocks become one; None where they are not equal."""
        plan = _Plan(start, period, count, {}, {}, {}, {})
        for n, node in enumerate(self.nodes[start : start + period]):
            for m in range(len(node.inputs)):
                column = tuple(self.nodes[start + n + block * period].inputs[m] for block in range(count))
                if not self._locate(plan, (n, m), column):
                    return None
        return plan if self._ends_in_carried(plan) else None

    def _locate(self, plan: _Plan, operand: tuple[int, int], column: tuple[Value | None, ...]) -> bool:
        """Note where an operand comes from, by that of every block; False where it is not the same for all."""
        first, second = column[0], column[1]
        if first is None or second is None:
            return not any(column)
        if all(value is first for value in column) or _are_equal(column):
            plan.captured[first] = None
            plan.operands[operand] = first
            return True
        arrays = _stackable(column)
        if arrays:
            plan.stacked[column] = arrays
            plan.operands[operand] = column
            return True
        position, index = self.made.get(second, (-1, 0))
        behind = plan.start + plan.period - position
        made = [self.made.get(value, (-1, 0)) if value is not None else (-1, 0) for value in column]
        expected = [(position + (n - 1) * plan.period, index) for n in range(len(column))]
        source = (plan.period - behind, index) if behind > 0 else (-behind, index)
        if behind <= 0:
            plan.operands[operand] = source
            return made == expected
        if behind > plan.period or made[1:] != expected[1:] or made[0][0] >= plan.start:
            return False
        state = self.nodes[plan.start + source[0]].outputs[index]
        plan.operands[operand] = ("carried", *source)
        return first.type == state.type and plan.carried.setdefault(source, first) is first

    def _ends_in_carried(self, plan: _Plan) -> bool:
        """Whether nobody else reads what blocks give, but what the last one would give to a next one."""
        for block in range(plan.count):
            begin = plan.start + block * plan.period
            for n, node in enumerate(self.nodes[begin : begin + plan.period]):
                for value in node.outputs:
                    is_carried = (n, value.index) in plan.carried
                    end = begin + (2 if is_carried else 1) * plan.period
                    is_last = is_carried and block == plan.count - 1
                    if not is_last and any(reader >= end for reader in self.readers.get(value, ())):
                        return False
        return bool(plan.carried)


def _are_equal(column: Sequence[Value | None]) -> bool:
    """Whether small constants are the same."""
    arrays = _constants(column)
    first = arrays[0] if arrays else None
    return first is not None and _size(first) <= _SMALL and len({_attribute(as_array(x)) for x in arrays}) == 1


def _stackable(column: Sequence[Value | None]) -> tuple[FixedArray, ...]:
    """Constants of one type that may lie side by side; of few integers, which may be lengths and axes, none."""
    arrays = _constants(column)
    alike = len({(x.dtype, x.shape) for x in arrays}) == 1
    if not alike or not (size := _size(arrays[0])):
        return ()
    return arrays if is_float(arrays[0].dtype) or size > _SMALL else ()


def _size(value: FixedArray) -> int:
    return math.prod(value.shape)


def _constants(column: Sequence[Value | None]) -> tuple[FixedArray, ...]:
    owners = [value.owner for value in column if value is not None]
    ops = [node.op for node in owners if isinstance(node, Node)]
    if len(ops) < len(column) or not all(isinstance(op, Constant) for op in ops):
        return ()
    return tuple(op.value for op in ops if isinstance(op, Constant) and op.value.dtype != STRING)


# ---- the loop --------------------------------------------------------------------------------------------------


def _replace(region: Region, graph: _Graph, plan: _Plan, stack: Stacking) -> None:
    """Let the first block be the body of a Repeat, and drop the others."""
    block = graph.nodes[plan.start : plan.start + plan.period]
    body = Region("block")
    states = {source: _argument(body, block[source[0]].outputs[source[1]]) for source in plan.carried}
    values: dict[Hashable, Value] = {("carried", *source): argument for source, argument in states.items()}
    stacks = [_stack(arrays, stack) for arrays in plan.stacked.values()]
    values |= {column: _argument(body, column[0]) for column in plan.stacked if column[0] is not None}
    values |= {value: body.add_argument(value.name, value.type, value.known) for value in plan.captured}
    values |= {(n, v.index): v for n, node in enumerate(block) for v in node.outputs}
    for n, node in enumerate(block):
        node.inputs = [None if v is None else values[plan.operands[n, m]] for m, v in enumerate(node.inputs)]
    body.nodes, body.results = list(block), [values[source] for source in plan.carried]
    inputs = [*plan.carried.values(), *(node.outputs[0] for node in stacks), *plan.captured]
    repeat = Node(Repeat(plan.count, len(plan.carried), len(stacks)), inputs, (body,), "blocks")
    repeat.outputs = [Value(v.name, v.type, repeat, n) for n, v in enumerate(body.results)]
    last, end = plan.start + (plan.count - 1) * plan.period, plan.start + plan.count * plan.period
    results = {graph.nodes[last + n].outputs[m]: v for (n, m), v in zip(plan.carried, repeat.outputs, strict=True)}
    constants = [node for node in region.nodes if isinstance(node.op, Constant)]
    region.nodes = [*constants, *graph.nodes[: plan.start], *stacks, repeat, *graph.nodes[end:]]
    region.replace_uses(results)


def _argument(body: Region, value: Value) -> Value:
    return body.add_argument(value.name, value.type)


def _stack(arrays: Sequence[FixedArray], stack: Stacking) -> Node:
    array = stack(arrays)
    node = Node(Constant(array), [], (), "weights")
    node.outputs = [Value("weights", TensorType(array.dtype, tuple(array.shape)), node, 0)]
    return node
