"""Loops inside a program: how often they run at most, and the memory of what they collect.

A slice that keeps its axis is an offset into its tensor, a value of the last iteration is a carried one that the body
does not read, a concatenated element is a row of the memory that elements are stacked in: OpenVINO's forms need no
copy.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim, Linear
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import Index, View
from whorl.ir.types import AnyShape, TensorType, lengths_of
from whorl.lowering.builder import KernelBuilder
from whorl.lowering.expressions import Unsupported
from whorl.lowering.statements import ITERATIONS, LENGTHS
from whorl.lowering.storage import Target, first_element, memory_type, require_lengths
from whorl.ops.control.flow import Collected, Loop

ENDLESS = (1 << 63) - 1
"""Iterations that no loop ever has had."""
LIKELY_TRIPS = 1 << 24
"""A trip count beyond which a loop with a condition surely ends by that."""


class Rows(Struct, frozen=True):
    """What an inner loop collects, an iteration a row of memory; `bound` rows, or as many as come.

    `part` is the number of its own rows that an element has along the axis; 0 where the axis is new.
    """

    buffer: Buffer
    type: TensorType
    how: Collected
    bound: Dim | None
    part: int = 0

    @staticmethod
    def of(value: Value, how: Collected, bound: int | Linear | None, k: KernelBuilder) -> Rows:
        """Memory for what a loop gives as `value`."""
        type = memory_type(value, k, "collected value ")
        shape, part = list(lengths_of(type)), 0
        axis = how.axis % len(shape)
        length = shape.pop(axis)
        if not how.stack:
            part = _part(value, how)
            shape[axis:axis] = [part] if part else []
        if not all(map(k.is_available, shape)):
            raise Unsupported(f"{_title(value)} collects elements whose lengths only the run knows")
        known = k.shape_in_run(shape)
        if known is not None and bound is not None and k.in_run(bound) is not None and length == bound * (part or 1):
            return Rows(k.temporary(type.dtype, (bound, *known)), type, how, bound, part)
        sizes = [n if isinstance(n, int) else k.let(k.length(n), "n") for n in shape]
        buffer = Buffer(k.fresh("rows"), type.dtype, (None, *sizes), True)
        k.add_scratch(buffer)
        return Rows(buffer, type, how, None, part)

    def target(self, view: View, i: Expr, k: KernelBuilder) -> Target:
        """Where the element of an iteration goes, in memory that is there then."""
        shape = self.buffer.shape[1:]
        require_lengths(view.shape, shape, k)
        if self.bound is None:
            elements = reduce(k.mul, (n if isinstance(n, Expr) else k.const(n or 0) for n in shape), k.const(1))
            k.reserve_count(self.buffer, k.mul(k.add(i, k.const(1)), elements))
        return view, self.buffer, (i,)

    def view(self, count: Expr, k: KernelBuilder) -> View:
        """The joined elements once all are there."""
        shape, axis, part = list(lengths_of(self.type)), self.how.axis % len(lengths_of(self.type)), self.part
        length = shape[axis]
        rows = k.mul(count, k.const(part or 1))
        if self.bound is None and isinstance(length, int):
            k.fail_unless(k.compare("eq", rows, k.const(length)), LENGTHS)
        elif self.bound is None:
            k.name_length(length, rows)
        if axis == 0 and not self.how.reverse and not part:
            return k.view_of(self.buffer, shape)

        def at(index: Index) -> Expr:
            row, inside = self._locate_row(index[axis], k)
            if self.how.reverse:
                row = k.sub(k.sub(count, k.const(1)), row)
            return k.load(self.buffer, (row, *index[:axis], *inside, *index[axis + 1 :]))

        return k.view(self.type.dtype, shape, at, 1)

    def _locate_row(self, index: Expr, k: KernelBuilder) -> tuple[Expr, tuple[Expr, ...]]:
        """The element that holds a joined row, and the row's index in it."""
        if self.part < 2:
            return index, (k.const(0),) * self.part
        part = k.const(self.part)
        number = k.let(k.div(index, part))
        return number, (k.sub(index, k.mul(number, part)),)


def _title(value: Value) -> str:
    """The loop that gives a value, for messages."""
    assert isinstance(value.owner, Node)
    return value.owner.title


def _part(value: Value, how: Collected) -> int:
    """The rows of an element that is concatenated; 0 for a scalar, which is stacked."""
    assert isinstance(value.owner, Node) and isinstance(value.owner.op, Loop)
    element = value.owner.regions[0].results[1 + value.index].type
    if not isinstance(element, TensorType) or isinstance(element.shape, AnyShape):
        raise Unsupported(f"what is concatenated is {element}")
    if how.stacks(len(element.shape)):
        return 0
    part = element.shape[how.axis % len(element.shape)] if how.part is None else how.part
    if not isinstance(part, int) or part < 1:
        raise Unsupported(f"{_title(value)} concatenates elements whose lengths only the run knows")
    return part


def bound_of(node: Node, op: Loop, env: dict[Value, View], k: KernelBuilder) -> int | Linear | None:
    """How often an inner loop runs at most: a number or a dim; None where only its trip count or condition tells."""
    lengths = _slice_counts(node, op, env, k)
    number = _number(node.inputs[0], env)
    if not lengths and _ends_by_condition(node, number):
        return None
    if not lengths and isinstance(length := op.length(node), Linear) and k.in_run(length) is not None:
        return length
    if isinstance(number, int) and all(isinstance(n, int) for n in lengths):
        lengths = [max(0, number), *lengths]
    if len(lengths) > 1 and not all(isinstance(n, int) for n in lengths):
        if len(set(lengths)) > 1:
            raise Unsupported(f"what {node.title} scans has lengths that only the run knows")
        lengths = lengths[:1]
    return None if not lengths else min(lengths) if isinstance(lengths[0], int) else lengths[0]


def _ends_by_condition(node: Node, number: int | None) -> bool:
    """Whether a loop that has a condition may run so often that its trip count says no more than none would."""
    return number is not None and number > LIKELY_TRIPS and node.inputs[1] is not None


def _slice_counts(node: Node, op: Loop, env: dict[Value, View], k: KernelBuilder) -> list[Any]:
    """The number of slices of each scanned input, checked as far as they must agree."""
    counts: list[Dim] = []
    for value, how in zip(op.split(node.inputs)[3], op.scanned, strict=True):
        length = env[value].shape[how.axis % len(env[value].shape)]
        counts.append(dims.call("floor", length, how.part))
        rest = dims.call("mod", length, how.part)
        if rest != 0 and not op.slices_suffice:
            if isinstance(rest, int):
                raise Unsupported(f"what {node.title} scans does not fall into whole parts")
            k.fail_unless(k.compare("eq", k.length(rest), k.const(0)), LENGTHS)  # type: ignore[arg-type]
    if len(set(counts)) > 1 and not op.slices_suffice:
        raise Unsupported(f"the scanned inputs of {node.title} have different lengths")
    return counts


def _number(trip: Value | None, env: dict[Value, View]) -> int | None:
    """A trip count that is known."""
    known = None if trip is None else env[trip].known if env[trip].known is not None else trip.known
    number = known.flat[0] if known is not None and known.size == 1 else None
    return number if isinstance(number, int) else None


def _is_known_as(length: Dim, trip: Value) -> bool:
    """Whether a trip count is a length of the run."""
    return trip.known is not None and trip.known.size == 1 and trip.known.flat[0] == length


def limit_of(bound: int | Linear | None, trip: Value | None, env: dict[Value, View], k: KernelBuilder) -> Expr:
    """The most iterations, computed by the program; a loop without a trip count may have any number."""
    number = _number(trip, env)
    if isinstance(bound, int) and (trip is None or number is not None):
        return k.const(bound)
    if bound is None and number is not None:
        return k.const(number)
    counts = [] if bound is None else [k.length(bound)]
    is_bound = bound is not None and (number is not None or (trip is not None and _is_known_as(bound, trip)))
    if trip is not None and not is_bound:
        counts.append(k.cast(first_element(env[trip], k), INT64))
    if not counts:
        return k.const(ENDLESS)
    return k.let(counts[0] if len(counts) == 1 else k.apply("min", *counts))


def within_most(limit: Expr, stops: bool, k: KernelBuilder) -> Expr:
    """The limit as far as a run may go; the program fails where more iterations are surely wanted.

    A loop that `stops` by its condition may want fewer, which `require_most` looks at once it is over.
    """
    most = k.most_iterations
    if most is None or ((number := k.number(limit)) is not None and number <= most):
        return limit
    if stops:
        return k.let(k.apply("min", limit, k.const(most)))
    k.fail_unless(k.compare("le", limit, k.const(most)), ITERATIONS)
    return limit


def require_most(limit: Expr, allowed: Expr, state: tuple[Var, Var], k: KernelBuilder) -> None:
    """Fail after a loop that goes on beyond what a run may do."""
    i, go = state
    if allowed is limit:
        return
    ends = k.apply("or", k.compare("lt", i, allowed), k.compare("ge", i, limit))
    k.fail_unless(k.apply("or", k.apply("not", go), ends), ITERATIONS)


def require_end(
    node: Node,
    op: Loop,
    bound: int | Linear | None,
    state: tuple[Var, Var],
    env: dict[Value, View],
    k: KernelBuilder,
) -> None:
    """Fail after a loop that stopped for want of slices."""
    trip, _, _, scanned, _ = op.split(node.inputs)
    i, go = state
    number = _number(trip, env)
    if not op.slices_suffice or not scanned:
        return
    if isinstance(number, int) and bound == max(0, number):
        return
    if trip is None:
        k.fail_unless(k.apply("not", go))
        return
    over = k.compare("ge", i, k.cast(first_element(env[trip], k), INT64))
    k.fail_unless(k.apply("or", k.apply("not", go), over))
