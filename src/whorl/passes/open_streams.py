"""Random ops draw from streams that are values: carried by the loops around them, handed on by branches.

A random op has a state beside its inputs, which an iteration leaves to the next one; no program of machine code could
hold it between its runs. As a value it is one more that a loop carries, whatever part of it runs where.

A stream begins before everything else: at the seed of its op, as a constant, or where a new generator would. An op
without a seed draws one also where no branch or iteration reaches it.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node, Op, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.rewrite import resumed_inference
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import Loop
from whorl.ops.random.distributions import Random, whole_seed
from whorl.ops.random.streams import STREAM, NewStream, stream_of
from whorl.ops.random.written_out import write_random


def open_streams(module: Module) -> Region:
    """The main region with streams for all random ops that can draw from one, in a copy; the module stays as it is."""
    main = clone_region(module.main)
    starts: list[Node] = []
    for stream in _open(main, resumed_inference(module)):
        node = Node(stream.start, [], (), stream.first.name)
        stream.first.owner, node.outputs = node, [stream.first]
        starts.append(node)
    main.nodes = [*starts, *main.nodes]
    return main


class _Stream(Struct, frozen=True):
    """A stream in a region: what makes it first of all, the value that the region begins with, and the last one."""

    start: Op
    first: Value
    last: Value


def _open(region: Region, inference: Inference) -> list[_Stream]:
    """Let a region draw from streams, whose first values are no arguments yet."""
    nodes, region.nodes = region.nodes, []
    build, replaced, streams = Builder(region, inference), dict[Value, Value](), list[_Stream]()
    for node in nodes:
        node.inputs = [replaced.get(value, value) if value is not None else None for value in node.inputs]
        if isinstance(node.op, Random) and (stream := _write(node, node.op, replaced, build)) is not None:
            streams.append(stream)
            continue
        inner = [_open(each, inference) for each in node.regions]
        if any(inner):
            streams += _carry(node, node.op, inner, region) if isinstance(node.op, Loop) else _hand(node, inner, region)
        region.nodes.append(node)
    region.results = [replaced.get(value, value) for value in region.results]
    return streams


def _write(node: Node, op: Random, replaced: dict[Value, Value], build: Builder) -> _Stream | None:
    """Put nodes that draw from a stream in the place of a random op; None where it stays."""
    count, first = len(build.region.nodes), Value("stream", STREAM, build.region, 0)
    made = write_random(op, node.inputs, first, build)
    if made is None:
        del build.region.nodes[count:]
        return None
    for new in build.region.nodes[count:]:
        new.name = new.name or node.name
    for old, value in zip(node.outputs, made[0], strict=False):
        value.name, replaced[old] = old.name, value
    start = NewStream() if op.seed is None else Constant(stream_of(np.random.RandomState(whole_seed(op.seed))))
    return _Stream(start, first, made[1])


def _carry(node: Node, op: Loop, inner: list[list[_Stream]], region: Region) -> list[_Stream]:
    """Let a loop carry the streams of its body; these are they in the region around it."""
    (streams,), (body,), count = inner, node.regions, op.carried
    around, last = _streams_around(node, streams, region)
    node.op = replace(op, carried=count + len(streams))
    node.inputs[2 + count : 2 + count] = [stream.first for stream in around]
    first = [stream.first for stream in streams]
    body.set_arguments([*body.arguments[: 2 + count], *first, *body.arguments[2 + count :]])
    body.results[1 + count : 1 + count] = [stream.last for stream in streams]
    node.outputs[count:count] = last
    _number(node)
    return around


def _hand(node: Node, inner: list[list[_Stream]], region: Region) -> list[_Stream]:
    """Let an If hand the streams of both branches on; the branch that does not draw from one leaves it as it is."""
    around, last = _streams_around(node, [stream for streams in inner for stream in streams], region)
    node.inputs += [stream.first for stream in around]
    for own, branch in zip(inner, node.regions, strict=True):
        pairs = [
            [(s.first, s.last) for s in streams] if streams is own else [(v, v) for v in _new_values(streams, branch)]
            for streams in inner
        ]
        branch.set_arguments([*branch.arguments, *(first for each in pairs for first, _ in each)])
        branch.results += [left for each in pairs for _, left in each]
    node.outputs += last
    _number(node)
    return around


def _streams_around(node: Node, streams: list[_Stream], region: Region) -> tuple[list[_Stream], list[Value]]:
    """The streams of a node's regions in the region around it, and the values that the node gives of them."""
    last = [Value("stream", STREAM, node, 0) for _ in streams]
    firsts = _new_values(streams, region)
    return [_Stream(s.start, v, left) for s, v, left in zip(streams, firsts, last, strict=True)], last


def _new_values(streams: list[_Stream], region: Region) -> list[Value]:
    return [Value("stream", STREAM, region, 0) for _ in streams]


def _number(node: Node) -> None:
    for index, value in enumerate(node.outputs):
        value.index = index
