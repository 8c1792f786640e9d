"""Graphs that score the next token of sequences, and what they are fed from step to step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.onnx.context import ReadContext
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import Formula
from whorl.formats.onnx.ordering import free_names
from whorl.formats.onnx.protos import GraphProto, ValueInfoProto
from whorl.formats.onnx.reader import add_initializers, declared_type, read_results
from whorl.formats.onnx.scope import Scope, align_captures
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, TensorType, same_kind
from whorl.ops.control.flow import If


class Step(Struct):
    """One step of a search inside its loop: what a decoder needs to know of it to prepare the next.

    `sequences` [rows, length] with the new `tokens` [rows]; `origins` are the rows whose past they go on with, None
    where each has its own.
    """

    f: Formula
    iteration: Value
    tokens: Value
    sequences: Value
    origins: Value | None

    def pick(self, x: Value, axis: int) -> Value:
        """The rows along an axis that the new sequences continue."""
        return x if self.origins is None else self.f("Gather", x, self.origins, axis=axis)


class GptDecoder(Struct):
    """A decoder alone: input_ids, position_ids, attention_mask, past_0, ... to logits, present_0, ...

    Its states are all of its inputs. `first` is the graph of the first step where that is another one.
    """

    graph: GraphProto
    first: GraphProto | None
    states: list[Value]
    lengths: Value
    """How many tokens each row begins with [rows, 1]."""

    def decode(self, inner: Scope, iteration: Value, states: list[Value], context: ReadContext) -> list[Value]:
        """The logits of a step and what the decoder gives beside them."""
        if self.first is None:
            return inline_graph(self.graph, states, inner, context)
        then, other = inner.child("then_branch"), inner.child("else_branch")
        for branch, graph in ((then, self.first), (other, self.graph)):
            branch.region.results = inline_graph(graph, [branch.capture(x) for x in states], branch, context)
        return _either(inner, iteration, then, other)

    def advance(self, inner: Scope, step: Step, states: list[Value], presents: list[Value]) -> list[Value]:
        """The states of the next step."""
        f = step.f
        ids = f("Unsqueeze", step.tokens, [1])
        lengths = inner.capture(self.lengths)
        positions = f("Add", lengths, f.cast(step.iteration, INT32))
        mask = f("Concat", states[2], f("Expand", np.ones((), np.int32), f("Shape", lengths)), axis=1)
        return [ids, positions, mask, *(step.pick(x, 1) for x in presents)]


def start_gpt(
    f: Formula,
    graphs: tuple[GraphProto, GraphProto | None],
    tokens: tuple[Value, Value | None],
    rows: Value,
    pad: int,
    title: str,
) -> GptDecoder:
    """A decoder of prompts, of which tokens and perhaps the mask are there, a row of the batch for each of `rows`."""
    (graph, first), (ids, mask) = graphs, tokens
    is_token = f("Not", f("Equal", ids, pad))
    if mask is None:
        mask = f.cast(is_token, INT32)
    numbers = f.cast(f("CumSum", f.cast(is_token, INT64), np.array(1, np.int64)), INT32)
    positions = f("Where", is_token, f("Sub", numbers, 1), np.zeros((), np.int32))
    ids, mask, positions, is_token = (f("Gather", x, rows, axis=0) for x in (ids, mask, positions, is_token))
    lengths = f("ReduceSum", f.cast(is_token, INT32), [1], keepdims=1)
    inputs = inputs_of(graph)
    if len(inputs) != len(graph.output) + 2:
        extra = inputs[len(graph.output) + 2 :] or inputs[-1:]
        raise UnsupportedError(
            f"input {extra[0].name!r} of its decoder is not implemented", title, "export it without a shared buffer"
        )
    pasts = [_empty_past(f, info, rows, title) for info in inputs[3:]]
    return GptDecoder(graph, first, [ids, positions, mask, *pasts], lengths)


def _empty_past(f: Formula, info: ValueInfoProto, rows: Value, title: str) -> Value:
    """Keys and values of no tokens: [2, rows, heads, 0, size], or without the first axis."""
    type = declared_type(info, f"input {info.name!r}")
    dims = [*type.shape] if isinstance(type, TensorType) and not isinstance(type.shape, AnyShape) else []
    heads, size = (dims[-3], dims[-1]) if len(dims) in (4, 5) else (None, None)
    if not isinstance(type, TensorType) or not isinstance(heads, int) or not isinstance(size, int):
        message = f"input {info.name!r} of its decoder is declared {type}"
        raise LoadError(message, title, "declare the numbers of heads and their size")
    pair = [f.build.int64(2)] if len(dims) == 5 else []
    shape = f("Concat", *pair, f.length(rows, 0), f.build.int64(heads, 0, size), axis=0)
    return f("Expand", np.zeros((), type.dtype), shape)


class EncoderDecoder(Struct):
    """An encoder, whose results the first step takes, and a decoder for all others.

    The states are the decoder's tokens and keys and values of attention to them; `fixed` are what else it is fed: the
    same at every step, and expanded to all rows. `logits` of the encoder are None where the first step decodes, too.
    """

    graph: GraphProto
    states: list[Value]
    before: list[Value]
    behind: list[Value]
    logits: Value | None
    whole: bool

    def decode(self, inner: Scope, iteration: Value, states: list[Value], context: ReadContext) -> list[Value]:
        """The logits of a step and the keys and values behind it."""
        if self.logits is None:
            return self._decoded(inner, inner, states, context)
        then, other = inner.child("then_branch"), inner.child("else_branch")
        outer = [inner.capture(self.logits), *states[1:]]
        then.region.results = [then.capture(x) for x in outer]
        other.region.results = self._decoded(other, inner, [other.capture(x) for x in states], context)
        return _either(inner, iteration, then, other)

    def _decoded(self, scope: Scope, body: Scope, states: list[Value], context: ReadContext) -> list[Value]:
        before, behind = (
            [x if scope is body else scope.capture(x) for x in map(body.capture, values)]
            for values in (self.before, self.behind)
        )
        return inline_graph(self.graph, [states[0], *before, *states[1:], *behind], scope, context)

    def advance(self, inner: Scope, step: Step, states: list[Value], presents: list[Value]) -> list[Value]:
        """The states of the next step."""
        ids = step.f.cast(step.sequences, INT32) if self.whole else step.f("Unsqueeze", step.tokens, [1])
        return [ids, *(step.pick(x, 0) for x in presents)]


def start_encoder(
    node: OnnxNode, f: Formula, scope: Scope, context: ReadContext, rows: Value, is_whisper: bool
) -> tuple[EncoderDecoder, Value]:
    """Run the encoder for the batch and give its results to all rows; also what sequences begin with."""
    encoder, decoder = node.attribute("encoder"), node.attribute("decoder")
    if encoder is None:
        raise LoadError("lacks the graph attribute 'encoder'", node.title)
    first = _first_tokens(node, f, 10 if is_whisper else None)
    fed = [node.required(0), *([] if is_whisper else [_encoder_mask(node, f)]), first]
    takes_tokens = is_whisper or len(inputs_of(encoder)) > 2
    results = inline_graph(encoder, fed if takes_tokens else fed[:2], scope, context)
    results = [f("Gather", y, rows, axis=0) for y in results]
    before = [f("Gather", x, rows, axis=0) for x in fed[1:-1]]
    inputs, past = inputs_of(decoder), len(decoder.output) - 1
    caches = inputs[len(before) + 1 :]
    has_hidden = bool(caches) and caches[0].name == "encoder_hidden_states"
    if len(caches) != has_hidden + 2 * past:
        known = len(before) + 1 + has_hidden + 2 * past
        message = f"its decoder takes {len(inputs)} inputs, {known} are implemented"
        raise UnsupportedError(message, node.title, "export it without a shared buffer")
    if takes_tokens:
        logits, hidden, *values = results
        before += [hidden] if has_hidden else []
    else:
        logits = None
        values = [*(_empty_past(f, info, rows, node.title) for info in caches[:past]), *results]
    sequences = f("Gather", first, rows, axis=0)
    states = [sequences, *values[:past]]
    return EncoderDecoder(decoder, states, before, values[past:], logits, not _takes_one(inputs[0])), sequences


def _first_tokens(node: OnnxNode, f: Formula, position: int | None) -> Value:
    """What sequences begin with [batch, length]: an input, or the start token."""
    tokens = None if position is None else node.input(position)
    if tokens is not None:
        return tokens
    start = node.attribute("decoder_start_token_id", -1)
    if start < 0:
        raise LoadError("sequences begin with no token", node.title, "set decoder_start_token_id")
    shape = f("Concat", f.length(node.required(0), 0), f.build.int64(1), axis=0)
    return f("Expand", np.array(start, np.int32), shape)


def _takes_one(info: ValueInfoProto) -> bool:
    """Whether a decoder is fed the newest token of each row, not all of them: by the shape that it declares."""
    type = declared_type(info, f"input {info.name!r}")
    shape = type.shape if isinstance(type, TensorType) else ()
    return not isinstance(shape, AnyShape) and len(shape) == 2 and shape[1] == 1


def _encoder_mask(node: OnnxNode, f: Formula) -> Value:
    """1 for tokens, and 0 for padding to their left."""
    mask = node.input(9)
    if mask is not None:
        return mask
    is_token = f("Not", f("Equal", node.required(0), node.attribute("pad_token_id")))
    counted = f("CumSum", f.cast(is_token, INT64), np.array(1, np.int64))
    return f.cast(f("Greater", counted, 0), INT32)


def _either(inner: Scope, iteration: Value, then: Scope, other: Scope) -> list[Value]:
    """The results of one scope in the first iteration, and of another one behind it."""
    captured = align_captures([then, other])
    f = Formula(inner.build, "")
    names = [value.name for value in then.region.results]
    regions = [then.region, other.region]
    return inner.build.add_many(If(), [f("Equal", iteration, 0), *captured], names, regions)


# ---- graphs --------------------------------------------------------------------------------------------------------


def inputs_of(graph: GraphProto) -> list[ValueInfoProto]:
    """What a graph is fed; initializers have their values."""
    constants = {t.name for t in graph.initializer} | {s.values.name for s in graph.sparse_initializer}
    return [info for info in graph.input if info.name not in constants]


def inline_graph(graph: GraphProto, values: Sequence[Value], scope: Scope, context: ReadContext) -> list[Value]:
    """Add the nodes of a graph to a region, its inputs these values; returns its outputs."""
    body = scope.callee()
    own = {x.name for x in (*graph.input, *graph.initializer)} | {x for node in graph.node for x in node.output}
    for name in sorted(set().union(*map(free_names, graph.node)) - own):
        outer = scope.find(name) if scope.defines(name) else None
        if outer is not None:
            body.values[name] = outer
    add_initializers(graph, body, context)
    infos = inputs_of(graph)
    if len(infos) != len(values):
        raise LoadError(f"takes {len(infos)} inputs, expected {len(values)}", context.location)
    for info, value in zip(infos, values, strict=True):
        declared = declared_type(info, f"input {info.name!r}")
        if declared is not None and not same_kind(declared, value.type):
            raise LoadError(f"input {info.name!r} is declared {declared} but receives {value.type}", context.location)
        body.values[info.name] = value
    return read_results(graph, body, context)
