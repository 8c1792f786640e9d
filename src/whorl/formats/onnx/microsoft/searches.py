"""Searches for the likeliest sequences of tokens, as Loops over the decoders in their attributes."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.errors import UnsupportedError
from whorl.formats.onnx.context import GRAPH_READERS, ReadContext
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.beams import BeamChoice, Choice, start_beams
from whorl.formats.onnx.microsoft.decoders import EncoderDecoder, GptDecoder, Step, start_encoder, start_gpt
from whorl.formats.onnx.microsoft.formula import DOMAIN, Formula, require_omitted
from whorl.formats.onnx.microsoft.sampling import Nucleus, SamplingChoice, seed_generator
from whorl.formats.onnx.microsoft.token_scores import ScoreRules
from whorl.formats.onnx.protos import NodeProto
from whorl.formats.onnx.scope import Scope, align_captures
from whorl.ir.dtypes import BOOL, INT32, INT64
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, TensorType, tensor
from whorl.ops.control.flow import Collected, Loop

_GPT, _T5, _WHISPER = range(3)
"""Values of model_type."""


class GreedyChoice(Struct):
    """The likeliest token of each row, and padding behind the end of a row; the state is which rows have ended."""

    rules: ScoreRules
    end: int
    pad: int
    states: list[Value]

    def inside(self, scope: Scope) -> GreedyChoice:
        """The same choice in a region of the scope in which it was made."""
        return GreedyChoice(self.rules.inside(scope), self.end, self.pad, self.states)

    def choose(self, f: Formula, logits: Value, sequences: Value, states: list[Value], iteration: Value) -> Choice:
        """The next token of each row."""
        scores = self.rules.apply(f, logits, sequences, iteration)
        best = f.cast(f("ArgMax", scores, axis=1, keepdims=0), INT32)
        ended = f("Or", states[0], f("Equal", best, self.end))
        tokens = f("Where", ended, np.array(self.pad, np.int32), best)
        longer = f("Concat", sequences, f("Unsqueeze", tokens, [1]), axis=1)
        go_on = f("Not", f.cast(f("ReduceMin", f.cast(ended, INT32), None, keepdims=0), BOOL))
        return Choice(go_on, tokens, None, longer, [ended])


def read_greedy_search(node: OnnxNode, _: NodeProto, scope: Scope, context: ReadContext) -> list[Value]:
    """The likeliest token at each step, behind the prompts of a decoder alone."""
    f = Formula(scope.build, node.name)
    batch = f.length(node.required(0), 0)
    rows = f.range(batch)
    start = f("Expand", np.zeros((), np.bool_), batch)
    end, pad = (node.attribute(f"{name}_token_id") for name in ("eos", "pad"))
    choice = GreedyChoice(_rules(node, (3, 4, 5), rows), end, pad, [start])
    return [_continue_prompts(node, f, scope, context, choice, rows)]


def read_sampling(node: OnnxNode, _: NodeProto, scope: Scope, context: ReadContext) -> list[Value]:
    """Tokens drawn from the likeliest at each step, from a seed, behind the prompts of a decoder alone."""
    require_omitted(node, presence_mask=7)
    seed = node.input(8)
    if seed is None:
        raise UnsupportedError("without a seed every run draws anew", node.title, "give it an input 8 (seed)")
    if len(node.outputs) > 1:
        raise UnsupportedError("its second output is not implemented", node.title, "leave it out")
    f = Formula(scope.build, node.name)
    batch = f.length(node.required(0), 0)
    rows = f.range(batch)
    rules = _rules(node, (3, 4, 5), rows)
    temperature = node.attribute("temperature", 1.0)
    if temperature > 0 and temperature != 1:
        rules.temperature = f.build.constant(np.array(temperature, np.float32))
    nucleus = Nucleus(
        node.attribute("top_p", 0.0),
        node.attribute("filter_value", -1e20),
        node.attribute("min_tokens_to_keep", 1),
        bool(node.attribute("custom", 0)),
    )
    states = [f("Expand", np.zeros((), np.bool_), batch), seed_generator(f, seed)]
    end, pad = (node.attribute(f"{name}_token_id") for name in ("eos", "pad"))
    choice = SamplingChoice(rules, nucleus, end, pad, states, scope)
    return [_continue_prompts(node, f, scope, context, choice, rows)]


def _continue_prompts(
    node: OnnxNode,
    f: Formula,
    scope: Scope,
    context: ReadContext,
    choice: GreedyChoice | SamplingChoice,
    rows: Value,
) -> Value:
    """Prompts with the tokens that are chosen behind them, padded to the longest length."""
    if node.attribute("model_type", _GPT) != _GPT:
        raise UnsupportedError("onnxruntime has it for decoders alone", node.title, "set model_type to 0")
    ids = node.required(0)
    decoder = start_gpt(f, _graphs(node), (ids, node.input(6)), rows, choice.pad, node.title)
    longest = f.cast(f.reshape(node.required(1), 1), INT64)
    sequences = _add_loop(node, scope, context, decoder, choice, ids, longest)[0]
    missing = f("Sub", longest, f.length(sequences, 1))
    filler = f("Expand", np.array(choice.pad, np.int32), f("Concat", f.length(ids, 0), missing, axis=0))
    return f("Concat", sequences, filler, axis=1)


def read_beam_search(node: OnnxNode, _: NodeProto, scope: Scope, context: ReadContext) -> list[Value]:
    """The likeliest sequences by several beams, of a decoder alone or behind an encoder."""
    if len(node.outputs) > 3:
        raise UnsupportedError("outputs behind the third are not implemented", node.title, "leave them out")
    _refuse_processor(node)
    f = Formula(scope.build, node.name)
    longest, beams, count = (f.cast(f.reshape(node.required(k), 1), INT64) for k in (1, 3, 4))
    batch = f.length(node.required(0), 0)
    rows = f("Div", f.range(f("Mul", batch, beams)), beams)
    kind = node.attribute("model_type", _WHISPER if node.op_type == "WhisperBeamSearch" else _GPT)
    decoder: GptDecoder | EncoderDecoder
    if kind == _GPT:
        pad = node.attribute("pad_token_id")
        decoder = start_gpt(f, _graphs(node), (node.required(0), node.input(9)), rows, pad, node.title)
        sequences = decoder.states[0]
    else:
        inside = context.inside(f"encoder of {node.title}")
        decoder, sequences = start_encoder(node, f, scope, inside, rows, kind == _WHISPER)
    length = f.length(sequences, 1)
    choice = _beam_choice(node, f, rows, (batch, beams, longest))
    sequences, *states = _add_loop(node, scope, context, decoder, choice, sequences, longest)
    results = [*choice.finish(f, sequences, states[: len(choice.states)], count)]
    if len(node.outputs) > 2:
        scores = states[-1]
        missing = f("Sub", f("Sub", longest, length), f.length(scores, 0))
        filler = f("Expand", np.zeros((), np.float32), f("Concat", missing, f("Shape", scores, start=1), axis=0))
        results.append(f("Concat", scores, filler, axis=0))
    return results[: len(node.outputs)]


def _beam_choice(node: OnnxNode, f: Formula, rows: Value, lengths: tuple[Value, Value, Value]) -> BeamChoice:
    """The choice of a search in so many rows of a batch and beams, for sequences of a longest length."""
    penalty, pad = node.input(5), node.attribute("pad_token_id")
    return BeamChoice(
        _rules(node, (6, 7, 8), rows, 14),
        node.attribute("eos_token_id"),
        pad,
        bool(node.attribute("early_stopping", 0)),
        lengths[1],
        None if penalty is None else f.reshape(penalty, 1),
        lengths[2],
        start_beams(f, *lengths, pad),
    )


def _graphs(node: OnnxNode) -> tuple:
    return node.attribute("decoder"), node.attribute("init_decoder")


def _refuse_processor(node: OnnxNode) -> None:
    require_omitted(node, cross_qk_layer_head=12, extra_decoding_ids=13)
    processor = node.input(11)
    if processor is not None and (processor.known is None or processor.known.any()):
        raise UnsupportedError("a processor of logits is not implemented", node.title, "leave input 11 out")


def _rules(node: OnnxNode, positions: tuple[int, int, int], rows: Value, temperature: int = -1) -> ScoreRules:
    """The rules by the positions of the penalty and the masks among the inputs."""
    penalty, mask, prefix_mask = (node.input(k) for k in positions)
    return ScoreRules(
        node.attribute("eos_token_id"),
        node.attribute("no_repeat_ngram_size", 0),
        penalty,
        mask,
        prefix_mask,
        node.input(2),
        None if temperature < 0 else node.input(temperature),
        rows,
    )


def _require_vocabulary(node: OnnxNode, scores: Value) -> None:
    count, shape = node.attribute("vocab_size", -1), tensor(scores).shape
    if count > 0 and not isinstance(shape, AnyShape) and isinstance(shape[-1], int) and shape[-1] != count:
        message = f"attribute 'vocab_size' is {count}, its decoder scores {shape[-1]} tokens"
        raise UnsupportedError(message, node.title, "leave it out")


def _add_loop(
    node: OnnxNode,
    scope: Scope,
    context: ReadContext,
    decoder: GptDecoder | EncoderDecoder,
    choice: GreedyChoice | SamplingChoice | BeamChoice,
    sequences: Value,
    longest: Value,
) -> list[Value]:
    """The loop of a search; returns the sequences, the states of the choice, and the scores of all steps if it has."""
    f = Formula(scope.build, node.name)
    trip = f.scalar(f("Sub", longest, f.length(sequences, 1)))
    begin = [*decoder.states, sequences, *choice.states]
    inner, count = scope.child("body"), len(decoder.states)
    number = inner.region.add_argument("iteration", TensorType(INT64, ()))
    inner.region.add_argument("keep_going", TensorType(BOOL, ()))
    states = [inner.region.add_argument(value.name, value.type) for value in begin]
    inner.inference.depth += 1
    f = Formula(inner.build, node.name)
    logits, *presents = decoder.decode(inner, number, states[:count], context.inside(f"decoder of {node.title}"))
    last = f("Gather", logits, np.array(-1, np.int64), axis=1)
    _require_vocabulary(node, last)
    chosen = choice.inside(inner).choose(f, last, states[count], states[count + 1 :], number)
    step = Step(f, number, chosen.tokens, chosen.sequences, chosen.origins)
    following = decoder.advance(inner, step, states[:count], presents)
    inner.inference.depth -= 1
    collected = [chosen.scores] if chosen.scores is not None and len(node.outputs) > 2 else []
    inner.region.results = [chosen.go_on, *following, chosen.sequences, *chosen.states, *collected]
    operands = [
        trip,
        scope.build.constant(np.array(True), "keep_going"),
        *begin,
        *align_captures([inner], 2 + len(begin)),
    ]
    names = [value.name for value in inner.region.results[1:]]
    op = Loop(len(begin), (), tuple(Collected() for _ in collected))
    return scope.build.add_many(op, operands, names, [inner.region], node.name)[count:]


GRAPH_READERS.update(
    {
        (DOMAIN, "GreedySearch"): read_greedy_search,
        (DOMAIN, "BeamSearch"): read_beam_search,
        (DOMAIN, "Sampling"): read_sampling,
        (DOMAIN, "WhisperBeamSearch"): read_beam_search,
    }
)
