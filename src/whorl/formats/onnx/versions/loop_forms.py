"""Loops that keep slice axes, concatenate, or give last values, said by loops that ONNX has and nodes around them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64, STRING
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference, names_of
from whorl.ir.types import UNRANKED, AnyShape, TensorType, tensor
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.elementwise.arithmetic import Abs, Add, Div, Min, Mod, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Reshape, Shape, Squeeze, Unsqueeze
from whorl.passes.simplify_loop import iterations


def is_plain(op: Loop) -> bool:
    """Whether ONNX's Loop or Scan says a loop, but for where axes lie."""
    is_unsqueezed = any(how.keep_axis for how in op.scanned)
    return not (op.last or is_unsqueezed or op.slices_suffice) and all(how.stack for how in op.collected)


def write_through(node: Node, write: NodeWriter) -> None:
    """Write the nodes that say a loop in its place."""
    region = Region()
    inputs: list[Value | None] = []
    for value in node.inputs:
        inputs.append(None if value is None else region.add_argument(value.name, value.type, value.known))
        if value is not None:
            write.values[region.arguments[-1]] = write.name(value)
    build = Builder(region, Inference(names_of(node.inputs)))
    outputs = row_scan(node, inputs, build) if is_row_scan(node) else PlainLoop(node, inputs, build).add()
    names = dict(zip(outputs, write.outputs(node), strict=False))
    for inner in region.nodes:
        write.write(inner, names)
    for value, name in zip(outputs, write.outputs(node), strict=False):
        if write.values[value] != name:
            write.node("Identity", [write.values[value]], [name])


def is_row_scan(node: Node) -> bool:
    """Whether Scan says a loop once slices and elements drop their axes: single rows, whose fixed number bounds it."""
    op, body = node.op, node.regions[0]
    assert isinstance(op, Loop)
    trip, condition, carried, scanned, _ = op.split(node.inputs)
    if trip is not None or condition is not None or op.slices_suffice or op.last or not scanned:
        return False
    lengths = {how.length(tensor(value)) for value, how in zip(scanned, op.scanned, strict=True)}
    if lengths in ({0}, set()) or len(lengths) > 1 or not all(isinstance(n, int) for n in lengths):
        return False
    states = zip(carried, body.arguments[2:], body.results[1:], strict=False)
    keep = all(a.type == b.type == c.type and _is_fixed(a) for a, b, c in states)
    elements = zip(body.results[1 + op.carried :], op.collected, strict=True)
    return keep and all(how.part == 1 for how in op.scanned) and all(_is_row(*each) for each in elements)


def _is_fixed(value: Value) -> bool:
    shape = value.type.shape if isinstance(value.type, TensorType) else UNRANKED
    return not isinstance(shape, AnyShape) and all(isinstance(n, int) for n in shape)


def _is_row(value: Value, how: Collected) -> bool:
    """Whether an element is stacked, or has one row where it is to be concatenated."""
    shape = tensor(value).shape
    if how.stack or isinstance(shape, AnyShape):
        return how.stack
    return how.stacks(len(shape)) or shape[how.axis % len(shape)] == how.part == 1


def row_scan(node: Node, inputs: Sequence[Value | None], build: Builder) -> list[Value]:
    """The loop with slices and elements that drop their axes."""
    op, body = node.op, clone_region(node.regions[0])
    assert isinstance(op, Loop)
    nodes, body.nodes = body.nodes, []
    inner, first = Builder(body, build.inference), 2 + op.carried
    for index, how in enumerate(op.scanned, first):
        argument = body.arguments[index]
        if how.keep_axis:
            axis = how.axis % (tensor(argument).rank or 1)
            row = replace(how, keep_axis=False).slice_type(tensor(argument))
            body.arguments[index] = Value(argument.name, row, body, index)
            whole = inner.add(Unsqueeze(), body.arguments[index], inner.int64(axis), name=argument.name)
            _replace(nodes, body, argument, whole)
    body.nodes += nodes
    collected = []
    for index, how in enumerate(op.collected, 1 + op.carried):
        element = body.results[index]
        rank = tensor(element).rank or 0
        if not how.stacks(rank):
            how = replace(how, axis=how.axis % rank)
            body.results[index] = inner.add(Squeeze(), element, inner.int64(how.axis), name=element.name)
        collected.append(replace(how, stack=True, part=None))
    scanned = tuple(replace(how, keep_axis=False) for how in op.scanned)
    scan = replace(op, scanned=scanned, collected=tuple(collected), keep_shapes=True)
    return build.add_many(scan, inputs, [value.name for value in body.results[1:]], [body], node.name)


def _replace(nodes: Sequence[Node], body: Region, old: Value, new: Value) -> None:
    for node in nodes:
        node.inputs = [new if value is old else value for value in node.inputs]
    body.results = [new if value is old else value for value in body.results]


class PlainLoop:
    """One loop on its way into a plain one."""

    def __init__(self, node: Node, inputs: Sequence[Value | None], build: Builder) -> None:
        assert isinstance(node.op, Loop)
        self.node, self.op, self.build = node, node.op, build
        self.trip, self.condition, carried, scanned, captured = self.op.split(inputs)
        self.carried: list[Value] = carried
        self.scanned: list[Value] = scanned
        self.captured: list[Value | None] = captured
        self.body = clone_region(node.regions[0])
        self.nodes, self.body.nodes = self.body.nodes, []
        self.inner = Builder(self.body, build.inference)

    def add(self) -> list[Value]:
        """Add the loop and what follows it; returns the outputs."""
        op, body = self.op, self.body
        number, go_on, states, slices, copies = op.split(body.arguments)
        body.arguments[:] = [number, go_on, *states]
        last = self._carry_last()
        body.arguments += copies
        self._slice(number, slices)
        self._trip_count()
        body.nodes += self.nodes
        if last:
            self.body.results.insert(1 + len(self.carried), self._zero())
            self.carried.append(self.build.constant(np.array(1, np.int64), "none_ran"))
            body.arguments.insert(2 + op.carried + op.last, Value("none_ran", TensorType(INT64, ()), body, 0))
        body.set_arguments(body.arguments)
        collected = tuple(self._stacked(value, how) for value, how in self._elements())
        plain = replace(op, carried=len(self.carried), scanned=(), collected=collected, last=0, slices_suffice=False)
        operands = [self.trip, self.condition, *self.carried, *self.captured]
        names = [value.name for value in body.results[1:]]
        values = self.build.add_many(plain, operands, names, [body], self.node.name)
        first = op.carried + op.last
        return [
            *values[: op.carried],
            *(self._checked(value, values[first]) if last else value for value in values[op.carried : first]),
            *(
                self._collect(value, *each)
                for value, each in zip(values[first + last :], self._elements(), strict=True)
            ),
        ]

    def _elements(self) -> list[tuple[Value, Collected]]:
        results = self.body.results[len(self.body.results) - len(self.op.collected) :]
        return list(zip(results, self.op.collected, strict=True))

    # ---- last values ---------------------------------------------------------------------------------------------

    def _carry_last(self) -> bool:
        """Let last values be carried; whether a loop without iterations, which has none, must be told."""
        op, body = self.op, self.body
        for result in body.results[1 + op.carried : 1 + op.carried + op.last]:
            type = tensor(result)
            shape = (0,) if isinstance(type.shape, AnyShape) else [d if isinstance(d, int) else 0 for d in type.shape]
            zeros = np.full(shape, "", object) if type.dtype == STRING else np.zeros(shape, type.dtype)
            self.carried.append(self.build.constant(zeros, result.name))
            body.add_argument(result.name, self.carried[-1].type)
        return bool(op.last) and iterations(self.node)[0] == 0

    def _zero(self) -> Value:
        return self.inner.constant(np.array(0, np.int64), "some_ran")

    def _checked(self, value: Value, none_ran: Value) -> Value:
        """The value; where no iteration ran, an index that is out of range."""
        row = self.build.add(Unsqueeze(), value, self.build.int64(0))
        return self.build.add(Gather(), row, none_ran, name=value.name)

    # ---- slices --------------------------------------------------------------------------------------------------

    def _slice(self, number: Value, slices: Sequence[Value]) -> None:
        """Let the body gather its slices from captured values. Past the last slice its indices are out of range."""
        if not slices:
            return
        inner = self.inner
        number = inner.add(Reshape(), number, inner.int64(1))
        gathers = {}
        for argument, value, how in zip(slices, self.scanned, self.op.scanned, strict=True):
            rows = inner.add(Mul(), number, inner.int64(how.part)) if how.part > 1 else number
            if how.reverse:
                rows = inner.add(Sub(), self._capture(self._first_row(value, how)), rows)
            if how.part > 1:
                rows = inner.add(Add(), rows, inner.int64(*range(how.part)))
            if not how.keep_axis:
                rows = inner.add(Reshape(), rows, inner.int64(name="scalar"))
            gathers[argument] = inner.add(Gather(how.axis), self._capture(value), rows, name=argument.name)
        for argument, gathered in gathers.items():
            _replace(self.nodes, self.body, argument, gathered)

    def _capture(self, value: Value) -> Value:
        self.captured.append(value)
        return self.body.add_argument(value.name, value.type, value.known)

    def _count(self, value: Value, how: Scanned) -> Value:
        """The number of slices, as one element."""
        length = self._length(value, how)
        return length if how.part == 1 else self.build.add(Div(), length, self.build.int64(how.part))

    def _length(self, value: Value, how: Scanned) -> Value:
        rank = tensor(value).rank
        if how.axis < 0 and rank is None:
            raise SaveError(f"scans axis {how.axis} of {value!r}, whose rank is not known")
        axis = how.axis % rank if rank else how.axis
        return self.build.add(Shape(axis, axis + 1), value)

    def _first_row(self, value: Value, how: Scanned) -> Value:
        """The index of the first row of the last slice, counted from the end, so that none before row 0 is in range."""
        build, part = self.build, self.build.int64(how.part)
        whole = build.add(Mul(), self._count(value, how), part)
        first = build.add(Sub(), whole, part)
        return build.add(Sub(), first, self._length(value, how))

    def _trip_count(self) -> None:
        """The smaller of trip count and number of slices, unless the slices must suffice."""
        if self.op.slices_suffice or not self.scanned:
            return
        count = self._agreed_count()
        scalar = self.build.int64(name="scalar")
        count = self.build.add(Reshape(), count, scalar)
        if self.trip is not None:
            trip = self.build.add(Reshape(), self.trip, scalar)
            if tensor(trip).dtype != INT64:
                trip = self.build.add(Cast(to=INT64), trip)
            count = self.build.add(Min(), trip, count)
        self.trip = count

    def _agreed_count(self) -> Value:
        """The number of slices, which computing it fails to give where a rest is left or another input has more."""
        build, pairs = self.build, list(zip(self.scanned, self.op.scanned, strict=True))
        counts = [self._count(value, how) for value, how in pairs]
        first, known = counts[0], [how.length(tensor(value)) for value, how in pairs]
        wrong = [build.add(Sub(), count, first) for count, n in zip(counts, known, strict=True) if n != known[0]]
        wrong += [
            build.add(Mod(), self._length(value, how), build.int64(how.part))
            for value, how in pairs
            if not isinstance(shape := tensor(value).shape, AnyShape)
            and dims.call("mod", shape[how.axis % len(shape)], how.part) != 0
        ]
        for rest in wrong:
            zero = build.add(Gather(), build.int64(0), build.add(Abs(), rest))
            first = build.add(Add(), first, zero)
        return first

    # ---- concatenation -------------------------------------------------------------------------------------------

    def _stacked(self, value: Value, how: Collected) -> Collected:
        """How the elements are stacked that are to be concatenated."""
        if how.stack:
            return how
        rank = tensor(value).rank
        if rank is None:
            raise SaveError(f"concatenates {value!r}, whose rank is not known")
        return replace(how, axis=how.axis % max(rank, 1), stack=True, part=None)

    def _collect(self, stacked: Value, element: Value, how: Collected) -> Value:
        """Stacked elements as they are concatenated: two axes become one."""
        rank = tensor(element).rank or 0
        if how.stacks(rank):
            return stacked
        build, axis, shape = self.build, how.axis % rank, tensor(element).shape
        if not isinstance(shape, AnyShape) and shape[axis] == how.part == 1:
            return build.add(Squeeze(), stacked, build.int64(axis + 1), name=stacked.name)
        count = build.add(Shape(axis, axis + 1), stacked)
        part = build.add(Shape(axis + 1, axis + 2), stacked) if how.part is None else build.int64(how.part)
        parts = [build.add(Mul(), count, part)]
        if axis:
            parts.insert(0, build.add(Shape(0, axis), stacked))
        if axis + 1 < rank:
            parts.append(build.add(Shape(axis + 2), stacked))
        shape = build.add(Concat(axis=0), *parts) if len(parts) > 1 else parts[0]
        return build.add(Reshape(allowzero=1), stacked, shape, name=stacked.name)
