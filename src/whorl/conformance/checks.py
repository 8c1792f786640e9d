"""What must hold of outputs that no list of values can say: draws of random ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.conformance.values import ELEMENT_TYPES, Value

Check = Callable[[Sequence[Sequence[Value]]], str]
"""From the outputs of every run to what is wrong with them, or an empty string."""


class RowsDiffer(Struct, frozen=True):
    """The first output has `count` rows along its first axis, no two of them equal, all within [low, high]."""

    count: int
    low: float = -math.inf
    high: float = math.inf

    def __call__(self, runs: Sequence[Sequence[Value]]) -> str:
        rows = np.asarray(runs[0][0])
        if not ((rows >= self.low) & (rows <= self.high)).all():
            return f"a draw is outside [{self.low}, {self.high}]"
        flat = rows.reshape(len(rows), -1)
        different = len(np.unique(flat, axis=0)) == len(flat) == self.count
        return "" if different else f"the {self.count} rows are not different draws"


class RowsEqual(Struct, frozen=True):
    """The first output has `count` rows along its first axis, all of them equal."""

    count: int

    def __call__(self, runs: Sequence[Sequence[Value]]) -> str:
        rows = np.asarray(runs[0][0])
        equal = rows.shape[0] == self.count and (rows == rows[:1]).all()
        return "" if equal else "one draw before the loop has several values"


class OutputsDiffer(Struct, frozen=True):
    """The two outputs have one shape and different elements."""

    def __call__(self, runs: Sequence[Sequence[Value]]) -> str:
        first, second = (np.asarray(value) for value in runs[0])
        return "" if first.shape == second.shape and (first != second).any() else "two nodes drew the same"


class SessionsAgree(Struct, frozen=True):
    """The first output is the same in two fresh sessions."""

    def __call__(self, runs: Sequence[Sequence[Value]]) -> str:
        first, second = (np.asarray(outputs[0]) for outputs in runs)
        same = first.shape == second.shape and (first == second).all()
        return "" if same else "two sessions with one seed differ"


class HasType(Struct, frozen=True):
    """The first output has this element type and shape, whatever its elements."""

    element_type: str
    shape: Sequence[int]

    def __call__(self, runs: Sequence[Sequence[Value]]) -> str:
        value = np.asarray(runs[0][0])
        right = value.shape == tuple(self.shape) and value.dtype == ELEMENT_TYPES[self.element_type]
        return "" if right else f"not {self.element_type} {list(self.shape)}"


CHECKS: dict[str, Callable[..., Check]] = {
    "rows differ": RowsDiffer,
    "rows equal": RowsEqual,
    "outputs differ": OutputsDiffer,
    "sessions agree": SessionsAgree,
    "type": HasType,
}


def make_check(row: Mapping[str, Any]) -> Check:
    """The check of an entry such as `{"kind": "rows equal", "count": 5}`."""
    return CHECKS[row["kind"]](**{name: value for name, value in row.items() if name != "kind"})
