"""Tokens drawn by their scores, with the random numbers of onnxruntime: std::minstd_rand0 of the C++ standard."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.formats.onnx.microsoft.beams import Choice
from whorl.formats.onnx.microsoft.formula import Formula
from whorl.formats.onnx.microsoft.token_scores import ScoreRules
from whorl.formats.onnx.scope import Scope, align_captures
from whorl.ir.dtypes import BOOL, FLOAT64, INT32, INT64
from whorl.ir.graph import Value
from whorl.ir.types import TensorType
from whorl.ops.control.flow import Collected, Loop

_FACTOR, _MODULUS = 16807, (1 << 31) - 1


class Nucleus(Struct, frozen=True):
    """Which tokens may be drawn: the likeliest, as many as have a part of the probability."""

    part: float
    filtered: float
    """The score of all others."""
    least: int
    """How many tokens may be drawn however likely they are."""
    is_custom: bool
    """Whether parts are counted from the likeliest token on, not from the other end."""

    def filter(self, f: Formula, scores: Value) -> Value:
        """Scores [rows, vocabulary] with those of other tokens replaced."""
        count = f.length(scores, 1)
        ordered, order = f.many("TopK", 2, scores, count, axis=1, largest=int(self.is_custom))
        parts = f("CumSum", f("Softmax", ordered, axis=-1), np.array(1, np.int64))
        positions = f.range(count)
        if self.is_custom:
            before = f.slice(parts, 0, f("Sub", count, 1), 1)
            never = f("Expand", np.zeros((), np.bool_), f("Concat", f.length(scores, 0), f.build.int64(1), axis=0))
            is_out = f("Concat", never, f("Greater", before, self.part), axis=1)
        else:
            may_go = f("Or", f("Less", positions, f("Sub", count, self.least)), f("Equal", positions, 0))
            is_out = f("And", may_go, f("LessOrEqual", parts, float(np.float32(1) - np.float32(self.part))))
        values = f("Where", is_out, np.array(self.filtered, np.float32), ordered)
        return f("ScatterElements", scores, order, values, axis=1)


class SamplingChoice(Struct):
    """A token of each row drawn from the nucleus; states are which rows have ended, and that of the generator."""

    rules: ScoreRules
    nucleus: Nucleus
    end: int
    pad: int
    states: list[Value]
    scope: Scope

    def inside(self, scope: Scope) -> SamplingChoice:
        """The same choice in a region of the scope in which it was made."""
        return SamplingChoice(self.rules.inside(scope), self.nucleus, self.end, self.pad, self.states, scope)

    def choose(self, f: Formula, logits: Value, sequences: Value, states: list[Value], iteration: Value) -> Choice:
        """The next token of each row."""
        ended, state = states
        scores = self.nucleus.filter(f, self.rules.apply(f, logits, sequences, iteration))
        state, numbers = draw(self.scope, f, state, f.length(scores, 0))
        drawn = f.cast(pick_tokens(f, scores, numbers), INT32)
        ended = f("Or", ended, f("Equal", drawn, self.end))
        tokens = f("Where", ended, np.array(self.pad, np.int32), drawn)
        longer = f("Concat", sequences, f("Unsqueeze", tokens, [1]), axis=1)
        go_on = f("Not", f.cast(f("ReduceMin", f.cast(ended, INT32), None, keepdims=0), BOOL))
        return Choice(go_on, tokens, None, longer, [ended, state])


def pick_tokens(f: Formula, scores: Value, numbers: Value) -> Value:
    """The tokens at which cumulated probabilities pass numbers between 0 and 1 [rows]; infinite scores have none."""
    is_number = f("Less", f("Abs", scores), np.array(np.inf, np.float32))
    wide = f.cast(scores, FLOAT64)
    low = f("Where", is_number, wide, np.array(-np.inf))
    weights = f("Exp", f("Sub", wide, f("ReduceMax", low, [1], keepdims=1)))
    weights = f("Where", is_number, weights, np.zeros(()))
    totals = f("CumSum", weights, np.array(1, np.int64))
    whole = f.slice(totals, -1, 1 << 31, 1)
    passed = f("LessOrEqual", totals, f("Mul", f("Unsqueeze", numbers, [1]), whole))
    return f("ReduceSum", f.cast(passed, INT64), [1], keepdims=0)


def seed_generator(f: Formula, seed: Value) -> Value:
    """The state of a generator."""
    state = f("Mod", f.cast(f.scalar(seed), INT64), _MODULUS)
    return f("Where", f("Equal", state, 0), np.ones((), np.int64), state)


def draw(scope: Scope, f: Formula, state: Value, count: Value) -> tuple[Value, Value]:
    """The next state of a generator, and so many numbers between 0 and 1 [count] of two draws each."""
    inner = scope.child("body")
    inner.region.add_argument("iteration", TensorType(INT64, ()))
    go_on = inner.region.add_argument("keep_going", TensorType(BOOL, ()))
    inner.inference.depth += 1
    g = Formula(inner.build, f.name)
    following = g("Mod", g("Mul", inner.region.add_argument("state", state.type), _FACTOR), _MODULUS)
    inner.inference.depth -= 1
    inner.region.results = [go_on, following, following]
    operands = [f.scalar(f("Mul", count, 2)), None, state, *align_captures([inner], 3)]
    op = Loop(1, (), (Collected(),))
    state, draws = scope.build.add_many(op, operands, ["state", "draws"], [inner.region], f.name)
    first, second = f.many("Split", 2, f.cast(f("Sub", f.reshape(draws, -1, 2), 1), FLOAT64), None, axis=1)
    steps = float(_MODULUS - 1)
    numbers = f("Div", f("Add", first, f("Mul", second, steps)), steps * steps)
    return state, f("Min", f.reshape(numbers, -1), float(np.nextafter(1.0, 0.0)))
