"""The edit that makes values of bodies and branches outputs of a model, in ops that every engine has.

A value of one shape in all iterations is collected by its loops, which costs its bytes. Of all others a body keeps a
log: tensors of one dimension to which it appends, carried through every loop and branch around it. The header of a log
has the iteration numbers of each record and the lengths that are not known; its data are the elements, a tensor for
each element type. A sequence is logged as the elements of its items and the shapes of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.ir.build import UNTYPED
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import INT64, STRING
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.infer import escape, names_of
from whorl.ir.types import AnyShape, SequenceType, TensorType
from whorl.ops.control.flow import Collected, If, Loop
from whorl.ops.elementwise.arithmetic import Identity, Mod, Sub
from whorl.ops.elementwise.comparison import Equal, GreaterOrEqual, Less
from whorl.ops.elementwise.logic import And, Or
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.shapes import Shape
from whorl.ops.sequence.sequences import SequenceAt, SequenceLength
from whorl.passes.expose.adding import HINT, Captures, add, add_output, complete_outputs, constant, flat
from whorl.passes.expose.carrying import carry
from whorl.passes.expose.scopes import NamedValue, Scope
from whorl.passes.expose.windows import Span, Window


class Part(Struct, frozen=True):
    """A tensor in a log: the lengths that are known (None for others), or None where not even the rank is."""

    dtype: np.dtype
    shape: tuple[int | None, ...] | None


class Exposed(Struct, frozen=True):
    """A value that is an output now.

    `loops`: the paths of the loops around it, of which the last `stacked` are axes of the tensor. `outputs`: its own
    output alone, or the header of its log and one for each element type. `parts` are all tensors of that log, of which
    those from `first` on are this value: one for a tensor, elements and shapes for a sequence.
    """

    path: str
    loops: tuple[str, ...]
    outputs: tuple[str, ...]
    stacked: int = 0
    parts: tuple[Part, ...] = ()
    first: int = 0
    is_sequence: bool = False


class _Target(Struct, eq=False):
    """A value on its way: the value that stands for it in `scope`, after `stacked` loops collected it."""

    named: NamedValue
    value: Value
    scope: Scope
    type: TensorType | None
    stacked: int = 0


def expose(
    module: Module, targets: Sequence[NamedValue], window: Window | None = None, when: NamedValue | None = None
) -> list[Exposed]:
    """Add outputs for values of the module, in place, and say which; its own outputs stay as they are.

    `retype` has to follow, after all edits.

    `window` says which iterations are recorded, `when` a truth value of a body around all targets that decides it.
    """
    return _Edit(module, window or {}, when).run(targets)


class _Edit:
    """One edit of one module."""

    def __init__(self, module: Module, window: Window, when: NamedValue | None) -> None:
        self.module, self.window, self.when = module, window, when
        self._captures = Captures()

    def run(self, targets: Sequence[NamedValue]) -> list[Exposed]:
        climbed = [self._climb(each) for each in targets]
        exposed: dict[NamedValue, Exposed] = {}
        logs: dict[Scope, list[_Target]] = {}
        for target in climbed:
            if target.scope.around is None:
                name = add_output(self.module, target.value)
                loops = tuple(scope.path for scope in target.named.scope.loops)
                exposed[target.named] = Exposed(target.named.path, loops, (name,), len(loops))
            else:
                logs.setdefault(target.scope, []).append(target)
        for scope, members in logs.items():
            exposed |= self._log(scope, members)
        return [exposed[each] for each in targets]

    def _climb(self, named: NamedValue) -> _Target:
        """Collect a value in loop after loop, as long as it has one shape and all iterations count."""
        type = named.value.type if isinstance(named.value.type, TensorType) else None
        target = _Target(named, named.value, named.scope, type)
        while target.type is not None and (node := target.scope.node) is not None and isinstance(node.op, Loop):
            if target.scope.path in self.window or (self.when is not None and self.when.scope is target.scope):
                break
            element = escape(target.type, names_of(node.inputs))
            if not isinstance(element, TensorType) or isinstance(element.shape, AnyShape):
                break
            if any(dim is UNKNOWN for dim in element.shape) or element.dtype == STRING:
                break
            length = node.op.length(node)
            complete_outputs(node)
            target.scope.region.results.append(_as_own(target.scope.region, target.value))
            node.op = replace(node.op, collected=(*node.op.collected, Collected()))
            node.outputs.append(Value(HINT, UNTYPED, node, len(node.outputs)))
            around = target.scope.around
            assert around is not None
            collected = Collected().collected_type(element, length)
            target = _Target(named, node.outputs[-1], around, collected, target.stacked + 1)
        return target

    def _log(self, scope: Scope, members: Sequence[_Target]) -> dict[NamedValue, Exposed]:
        """Log all members of one region together."""
        parts: list[Part] = []
        values: list[Value] = []
        firsts: list[int] = []
        for member in members:
            firsts.append(len(parts))
            tensors = [member.value] if member.type is not None else _items(scope.region, member.value)
            own = [_part_of(member.type)] if member.type is not None else _parts_of_sequence(member.value)
            values, parts = values + tensors, parts + own
        dtypes = list(dict.fromkeys(part.dtype for part in parts))
        main = self.module.main
        empty = [constant(main, np.empty(0, dtype)) for dtype in (INT64, *dtypes)]
        record = _Record(scope, values, parts)
        types = [TensorType(dtype, (UNKNOWN,)) for dtype in (INT64, *dtypes)]
        # What lies further in is recorded before the condition is known.
        when = None if self.when is None or self.when.scope is scope else self.when
        logs = carry(scope.chain, empty, types, self._captures, lambda logs: self._append(record, logs, dtypes), when)
        outputs = tuple(add_output(self.module, log) for log in logs)
        return {
            member.named: Exposed(
                member.named.path,
                tuple(loop.path for loop in member.named.scope.loops),
                outputs,
                member.stacked,
                tuple(parts),
                first,
                member.type is None,
            )
            for member, first in zip(members, firsts, strict=True)
        }

    def _append(self, record: _Record, logs: Sequence[Value], dtypes: Sequence[np.dtype]) -> list[Value]:
        region = record.scope.region
        gate = self._gate(record.scope)
        numbers = [self._captures.bring(record.scope, loop.region.arguments[0], loop) for loop in record.scope.loops]
        if gate is None:
            return _append_all(region, logs, dtypes, numbers, record)
        inner, other = Region("then_branch"), Region("else_branch")
        node = Node(If(), [gate], (inner, other))
        captures = Captures()
        copies = {
            value: captures.capture(inner, node, value) for value in dict.fromkeys((*logs, *numbers, *record.values))
        }
        own = _Record(record.scope, [copies[value] for value in record.values], record.parts)
        before = [copies[log] for log in logs]
        inner.results = _append_all(inner, before, dtypes, [copies[each] for each in numbers], own)
        other.results = [captures.capture(other, node, log) for log in logs]
        node.outputs = [Value(HINT, UNTYPED, node, k) for k in range(len(logs))]
        region.nodes.append(node)
        return node.outputs

    def _gate(self, scope: Scope) -> Value | None:
        """Whether an iteration is recorded, as a value of the scope; None where all are."""
        terms: list[Value] = []
        for loop in scope.loops:
            if loop.path in self.window:
                number = self._captures.bring(scope, loop.region.arguments[0], loop)
                terms.append(in_spans(scope.region, flat(scope.region, number), self.window[loop.path]))
        if self.when is not None and self.when.scope is scope:
            terms.append(flat(scope.region, self.when.value))
        return all_of(scope.region, terms)


class _Record(Struct, frozen=True, eq=False):
    """What a log gets in an iteration of its scope."""

    scope: Scope
    values: Sequence[Value]
    parts: Sequence[Part]


def _append_all(
    region: Region, logs: Sequence[Value], dtypes: Sequence[np.dtype], numbers: Sequence[Value], record: _Record
) -> list[Value]:
    marks = [flat(region, number) for number in numbers] or [constant(region, np.zeros(1, np.int64))]
    header = [logs[0], *marks]
    for value, part in zip(record.values, record.parts, strict=True):
        header += _lengths(region, value, part)
    results = [add(region, Concat(0), *header)]
    for log, dtype in zip(logs[1:], dtypes, strict=True):
        pairs = zip(record.values, record.parts, strict=True)
        pieces = [flat(region, value) for value, part in pairs if part.dtype == dtype]
        results.append(add(region, Concat(0), log, *pieces))
    return results


def _lengths(region: Region, value: Value, part: Part) -> list[Value]:
    """What the header says of a tensor: nothing of a known shape, else the lengths, after the rank if it is unknown."""
    if part.shape is not None and None not in part.shape:
        return []
    shape = add(region, Shape(), value)
    return [shape] if part.shape is not None else [add(region, Shape(), shape), shape]


def all_of(region: Region, terms: Sequence[Value]) -> Value | None:
    """Whether all of some truth values are true; None where there are none."""
    result = terms[0] if terms else None
    for term in terms[1:]:
        result = add(region, And(), result, term)
    return result


def in_spans(region: Region, number: Value, spans: Sequence[Span]) -> Value:
    """Whether a number, in one dimension, lies in one of some spans."""
    tests = [_in_span(region, number, span) for span in spans]
    result = tests[0] if tests else constant(region, np.array([False]))
    for test in tests[1:]:
        result = add(region, Or(), result, test)
    return result


def _in_span(region: Region, number: Value, span: Span) -> Value:
    start = constant(region, np.array([span.start], np.int64))
    result = add(region, GreaterOrEqual(), number, start)
    if span.stop is not None:
        stop = constant(region, np.array([span.stop], np.int64))
        result = add(region, And(), result, add(region, Less(), number, stop))
    if span.step > 1:
        step = constant(region, np.array([span.step], np.int64))
        rest = add(region, Mod(), add(region, Sub(), number, start), step)
        result = add(region, And(), result, add(region, Equal(), rest, constant(region, np.zeros(1, np.int64))))
    return result


def _as_own(region: Region, value: Value) -> Value:
    """A value that a region may answer beside what it answers: engines confuse one that it was passed, or answers."""
    return value if isinstance(value.owner, Node) and value not in region.results else add(region, Identity(), value)


def _part_of(type: TensorType) -> Part:
    if isinstance(type.shape, AnyShape):
        return Part(type.dtype, None)
    return Part(type.dtype, tuple(dim if isinstance(dim, int) else None for dim in type.shape))


def _parts_of_sequence(value: Value) -> list[Part]:
    return [Part(_element_of(value).dtype, (None,)), Part(INT64, (None,))]


def _element_of(value: Value) -> TensorType:
    assert isinstance(value.type, SequenceType) and isinstance(value.type.element, TensorType)
    return value.type.element


def _items(region: Region, value: Value) -> list[Value]:
    """The elements of all items of a sequence in one dimension, and for each item its rank and lengths."""
    element = _element_of(value)
    body = Region("body")
    number, go_on = body.add_argument("item", TensorType(INT64, ())), body.add_argument("go_on", UNTYPED)
    data = body.add_argument("elements", TensorType(element.dtype, (UNKNOWN,)))
    shapes = body.add_argument("shapes", TensorType(INT64, (UNKNOWN,)))
    sequence = body.add_argument(value.name, value.type)
    go_on.type = TensorType(np.dtype(np.bool_), ())
    item = add(body, SequenceAt(), sequence, number)
    more = add(body, Concat(0), data, flat(body, item))
    lengths = _lengths(body, item, Part(element.dtype, None))
    body.results = [constant(body, np.array(True)), more, add(body, Concat(0), shapes, *lengths)]
    initial = [constant(region, np.empty(0, dtype)) for dtype in (element.dtype, INT64)]
    count = add(region, SequenceLength(), value)
    first = add(region, Loop(carried=2), count, None, *initial, value, regions=[body], outputs=2)
    assert isinstance(first.owner, Node)
    return first.owner.outputs
