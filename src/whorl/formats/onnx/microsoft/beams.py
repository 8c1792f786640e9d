"""Beams: several sequences for each row of a batch, of which the likeliest go on, and the best of those that ended."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.formats.onnx.microsoft.formula import Formula
from whorl.formats.onnx.microsoft.token_scores import LOWEST, ScoreRules
from whorl.formats.onnx.scope import Scope
from whorl.ir.dtypes import BOOL, FLOAT32, INT32, INT64
from whorl.ir.graph import Value

_BEHIND = -1e9
"""The score that all beams but the first begin with, since they are equal then."""


class Choice(Struct):
    """What a step chooses: tokens [rows] and the rows whose past they go on with, None where each has its own."""

    go_on: Value
    tokens: Value
    origins: Value | None
    sequences: Value
    states: list[Value]
    scores: Value | None = None


class Best(Struct):
    """The best ended sequences of each row of the batch, best first: scores [batch, beams], sequences padded to the
    longest length [batch, beams, longest], and how many there are [batch]."""

    scores: Value
    sequences: Value
    counts: Value

    def with_more(self, f: Formula, is_new: Value, scores: Value, sequences: Value) -> Best:
        """The best of them and of others [batch, beams], where those are new; of equals the earlier ones."""
        beams = f.length(scores, 1)
        is_there = f("Concat", f("Less", f.range(beams), f("Unsqueeze", self.counts, [1])), is_new, axis=1)
        everything = f("Concat", self.scores, scores, axis=1)
        # Scores of forbidden tokens may have become -inf, and still come before what is not there.
        keys = f("Where", is_there, f("Max", everything, LOWEST), np.array(-np.inf, np.float32))
        order = f.many("TopK", 2, keys, beams, axis=1)[1]
        best = f("GatherElements", everything, order, axis=1)
        rows = f.reshape(f("Concat", self.sequences, sequences, axis=1), -1, f.length(sequences, 2))
        first = f("Mul", f("Unsqueeze", f.range(f.length(scores, 0)), [1]), f("Mul", beams, 2))
        counts = f("Add", self.counts, f("ReduceSum", f.cast(is_new, INT64), [1], keepdims=0))
        return Best(best, f("Gather", rows, f("Add", order, first), axis=0), f("Min", counts, beams))


class BeamChoice(Struct):
    """The choice among the tokens that may continue beams.

    States: scores of the beams [batch, beams], the three of `Best`, and which rows of the batch are done [batch].
    """

    rules: ScoreRules
    end: int
    pad: int
    stops_early: bool
    beams: Value
    length_penalty: Value | None
    longest: Value
    states: list[Value]

    def inside(self, scope: Scope) -> BeamChoice:
        """The same choice in a region of the scope in which it was made."""
        penalty = self.length_penalty and scope.capture(self.length_penalty)
        beams, longest = scope.capture(self.beams), scope.capture(self.longest)
        return BeamChoice(
            self.rules.inside(scope), self.end, self.pad, self.stops_early, beams, penalty, longest, self.states
        )

    def choose(self, f: Formula, logits: Value, sequences: Value, states: list[Value], iteration: Value) -> Choice:
        """The next tokens of all beams, from the 2 * beams likeliest of each row of the batch."""
        beam_scores, *best, done = states
        scores = self.rules.apply(f, f("LogSoftmax", logits, axis=-1), sequences, iteration)
        scores = f("Add", scores, f.reshape(beam_scores, -1, 1))
        vocabulary, count = f.length(scores, 1), self.beams
        flat = f.reshape(scores, -1, f("Mul", count, vocabulary))
        values, indices = f.many("TopK", 2, flat, f("Mul", count, 2), axis=1)
        tokens = f.cast(f("Mod", indices, vocabulary), INT32)
        first = f("Mul", f("Unsqueeze", f.range(f.length(values, 0)), [1]), count)
        origins = f("Add", f("Div", indices, vocabulary), first)
        is_end = f("Equal", tokens, self.end)
        ended = self._end(f, Best(*best), (is_end, values, origins), sequences, done)
        stops = f("Or", done, self._is_done(f, ended, values, sequences))
        order = self._continued(f, is_end)
        next_scores, next_tokens, origins = (f("GatherElements", x, order, axis=1) for x in (values, tokens, origins))
        over = f("Unsqueeze", done, [1])
        next_scores = f("Where", over, np.zeros((), np.float32), next_scores)
        next_tokens = f.reshape(f("Where", over, np.array(self.pad, np.int32), next_tokens), -1)
        origins = f.reshape(f("Where", over, np.zeros((), np.int64), origins), -1)
        longer = f("Concat", f("Gather", sequences, origins, axis=0), f("Unsqueeze", next_tokens, [1]), axis=1)
        go_on = f("Not", f.cast(f("ReduceMin", f.cast(stops, INT32), None, keepdims=0), BOOL))
        states = [next_scores, ended.scores, ended.sequences, ended.counts, stops]
        every = f.reshape(scores, -1, count, vocabulary)
        # With one beam onnxruntime leaves the past as it is, also in rows that are done, which continue the first row.
        origins = f("Where", f("Equal", count, 1), f.range(f.length(origins, 0)), origins)
        return Choice(go_on, next_tokens, origins, longer, states, every)

    def _continued(self, f: Formula, is_end: Value) -> Value:
        """Which of the candidates go on: the first of those that do not end [batch, beams]."""
        numbers = f.range(f.length(is_end, 1))
        late = f("Where", is_end, f("Mul", self.beams, 2), numbers)
        return f.many("TopK", 2, late, self.beams, axis=1, largest=0)[1]

    def _end(
        self, f: Formula, best: Best, candidates: tuple[Value, Value, Value], sequences: Value, done: Value
    ) -> Best:
        """The best with the sequences that end now: of the likeliest candidates, as many as there are beams."""
        is_end, values, origins = (f.slice(x, 0, self.beams, 1) for x in candidates)
        is_new = f("And", is_end, f("Not", f("Unsqueeze", done, [1])))
        rows = f("Gather", self.pad_rows(f, sequences), origins, axis=0)
        return best.with_more(f, is_new, self.by_length(f, values, sequences), rows)

    def _is_done(self, f: Formula, best: Best, values: Value, sequences: Value) -> Value:
        """Which rows of the batch have as many ended sequences as beams, none of which can be bettered [batch]."""
        is_full = f("GreaterOrEqual", best.counts, self.beams)
        if self.stops_early:
            return is_full
        worst = f("ReduceMin", best.scores, [1], keepdims=0)
        # onnxruntime takes the candidates from `row * beams` on, where row * 2 * beams would be right.
        first = f("Mul", f("Unsqueeze", f.range(f.length(values, 0)), [1]), self.beams)
        columns = f("Add", first, f.range(f.length(values, 1)))
        likeliest = f("ReduceMax", f("Gather", f.reshape(values, -1), columns, axis=0), [1], keepdims=0)
        return f("And", is_full, f("GreaterOrEqual", worst, self.by_length(f, likeliest, sequences)))

    def by_length(self, f: Formula, scores: Value, sequences: Value) -> Value:
        """Scores over the length of sequences to the power of the penalty."""
        length = f.cast(f.length(sequences, 1), FLOAT32)
        return f("Div", scores, length if self.length_penalty is None else f("Pow", length, self.length_penalty))

    def pad_rows(self, f: Formula, sequences: Value) -> Value:
        """Sequences padded to the longest length."""
        missing = f("Sub", self.longest, f.length(sequences, 1))
        filler = f("Expand", np.array(self.pad, np.int32), f("Concat", f.length(sequences, 0), missing, axis=0))
        return f("Concat", sequences, filler, axis=1)

    def finish(self, f: Formula, sequences: Value, states: list[Value], count: Value) -> tuple[Value, Value]:
        """The best sequences, padded, and their scores, so many of each row: also of beams that did not end."""
        beam_scores, *best, done = states
        is_new = f("Expand", f("Not", f("Unsqueeze", done, [1])), f("Shape", beam_scores))
        rows = f.reshape(self.pad_rows(f, sequences), -1, self.beams, self.longest)
        ended = Best(*best).with_more(f, is_new, self.by_length(f, beam_scores, sequences), rows)
        return f.slice(ended.sequences, 0, count, 1), f.slice(ended.scores, 0, count, 1)


def start_beams(f: Formula, batch: Value, beams: Value, longest: Value, pad: int) -> list[Value]:
    """The states of a choice before the first step."""
    shape = f("Concat", batch, beams, axis=0)
    is_first = f("Equal", f.range(beams), 0)
    scores = f("Where", is_first, np.zeros((), np.float32), np.array(_BEHIND, np.float32))
    return [
        f("Expand", scores, shape),
        f("Expand", np.zeros((), np.float32), shape),
        f("Expand", np.array(pad, np.int32), f("Concat", shape, longest, axis=0)),
        f("Expand", np.zeros((), np.int64), batch),
        f("Expand", np.zeros((), np.bool_), batch),
    ]
