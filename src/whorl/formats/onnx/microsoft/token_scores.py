"""What changes the scores of the next token before one is chosen: penalties, masks and a least length."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.formats.onnx.microsoft.formula import Formula
from whorl.formats.onnx.microsoft.movement import lower_repeated
from whorl.formats.onnx.scope import Scope
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Value

LOWEST = float(np.finfo(np.float32).min)
"""The score of a token that may not come next."""


class ScoreRules(Struct):
    """Changes of scores [rows, vocabulary] in the order of onnxruntime's; None and 0 for what is left out.

    `rows` are the rows of the batch that rows of scores belong to, which `prefix_mask` has.
    """

    end: int
    ngram: int
    penalty: Value | None
    mask: Value | None
    prefix_mask: Value | None
    least: Value | None
    temperature: Value | None
    rows: Value

    def inside(self, scope: Scope) -> ScoreRules:
        """The same rules in a region of the scope in which they were made."""
        names = ("penalty", "mask", "prefix_mask", "least", "temperature", "rows")
        values = {name: getattr(self, name) for name in names}
        return ScoreRules(self.end, self.ngram, **{k: x and scope.capture(x) for k, x in values.items()})

    def apply(self, f: Formula, scores: Value, sequences: Value, iteration: Value) -> Value:
        """The changed scores of what comes after sequences [rows, length]."""
        if self.penalty is not None:
            scores = _penalise(f, scores, sequences, self.penalty)
        if self.ngram:
            scores = lower_repeated(f, sequences, scores, self.ngram, LOWEST)
        if self.mask is not None:
            scores = _lower(f, f("Equal", self.mask, 0), scores)
        if self.prefix_mask is not None:
            masked = f("Equal", f("Gather", self.prefix_mask, self.rows, axis=0), 0)
            scores = _lower(f, f("And", masked, f("Equal", iteration, 0)), scores)
        if self.least is not None:
            is_end = f("Equal", f.range(f.length(scores, 1)), self.end)
            is_short = f("Less", f.length(sequences, 1), f.cast(self.least, INT64))
            scores = _lower(f, f("And", is_end, is_short), scores)
        return scores if self.temperature is None else f("Div", scores, self.temperature)


def _lower(f: Formula, condition: Value, scores: Value) -> Value:
    return f("Where", condition, np.array(LOWEST, np.float32), scores)


def _penalise(f: Formula, scores: Value, sequences: Value, penalty: Value) -> Value:
    """Lower scores for tokens that their sequence has: times the penalty below 0, else by it."""
    none = f("Expand", np.zeros((), np.int32), f("Shape", scores))
    ones = f("Expand", np.ones((), np.int32), f("Shape", sequences))
    seen = f("ScatterElements", none, sequences, ones, axis=1)
    lower = f("Where", f("Less", scores, 0.0), f("Mul", scores, penalty), f("Div", scores, penalty))
    return f("Where", f("Equal", f.cast(seen, INT32), 1), lower, scores)
