"""Runs of a few interpreted nodes over small arrays, without what a session does for models and feeds of all kinds.

Such are models over what strings say, which has no native form: around their nodes a run takes most of its time. Feeds
of other types, large ones and all that fails go the long way, which begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.errors import WhorlError
from whorl.ir.dtypes import STRING
from whorl.ir.graph import as_values
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.core.work import SMALL, Effort
from whorl.runtime.feeds import are_strings
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Interpreted, Step

MOST_STEPS = 16
"""Nodes of a plan, none of which has regions."""
_OWN = 0x1 | 0x4 | 0x400
"""NumPy's flags of an array that is row-major, owns its memory and may be written."""
_FAILURES = (WhorlError, ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


class Feed(Struct, frozen=True):
    """A name, and what arrays are taken under it: their rank, if it is known, and the lengths that are, by axis."""

    name: str
    dtype: np.dtype
    rank: int | None
    lengths: Sequence[tuple[int, int]]
    is_text: bool

    @classmethod
    def of(cls, name: str, type: TensorType) -> Feed:
        """What a type says."""
        shape = () if isinstance(type.shape, AnyShape) else type.shape
        lengths = [(axis, n) for axis, n in enumerate(shape) if isinstance(n, int)]
        return cls(name, type.dtype, type.rank, lengths, type.dtype == STRING)


class InterpretedCall:
    """The outputs of a plan for feeds; None where these are others than it takes, where it may take long, or fails."""

    def __init__(self, plan: Plan, feeds: Sequence[Feed]) -> None:
        self.feeds, self.results, self.template = feeds, plan.results, plan.template
        self.steps = [(step.kernel, _effort(step).is_quick, step.inputs, step.outputs) for step in plan.steps]
        values = [v for step in plan.steps for v in (*step.node.inputs, *step.node.outputs) if v is not None]
        self.has_strings_alone = all(isinstance(v.type, TensorType) and v.type.dtype == STRING for v in values)

    @classmethod
    def of(cls, plan: Plan) -> InterpretedCall | None:
        """That of a plan; None where it has other values than tensors at its ends, or other parts than a few nodes."""
        values = [*plan.slots]
        inputs, results = values[: plan.count], [values[slot - 1] for slot in plan.results]
        feeds = [Feed.of(v.name, v.type) for v in inputs if isinstance(v.type, TensorType)]
        if len(feeds) < len(inputs) or not all(isinstance(v.type, TensorType) for v in results):
            return None
        are_simple = all(not step.needs_run and not step.node.regions for step in plan.steps)
        is_interpreted = len(plan.parts) == 1 and isinstance(plan.parts[0], Interpreted)
        return cls(plan, feeds) if is_interpreted and are_simple and len(plan.steps) <= MOST_STEPS else None

    def __call__(self, feeds: Mapping[str, object]) -> list[Any] | None:
        """The outputs in the model's order, each an array of its own."""
        if len(feeds) != len(self.feeds):
            return None
        arrays: list[np.ndarray] = []
        bits = 0
        for feed in self.feeds:
            x: Any = feeds.get(feed.name)
            if type(x) is not np.ndarray or x.dtype != feed.dtype or feed.rank not in (None, x.ndim):
                return None
            for axis, length in feed.lengths:
                if x.shape[axis] != length:
                    return None
            bits += x.size.bit_length()
            if bits > SMALL or (feed.is_text and not are_strings(x)):
                return None
            arrays.append(x)
        try:
            if self.has_strings_alone:
                return self._compute(arrays)
            with np.errstate(all="ignore"):
                return self._compute(arrays)
        except _FAILURES:
            return None

    def _compute(self, arrays: Sequence[np.ndarray]) -> list[Any] | None:
        slots: list[Any] = [None, *arrays, *self.template]
        for kernel, is_quick, inputs, outputs in self.steps:
            values = [slots[k] for k in inputs]
            if not is_quick(values):
                return None
            result = kernel(*values)
            if type(result) is np.ndarray:
                slots[outputs[0]] = result
            else:
                for slot, value in zip(outputs, as_values(result), strict=False):
                    slots[slot] = value
        known = {*map(id, arrays)}
        results: list[Any] = []
        for slot in self.results:
            x = slots[slot]
            if type(x) is not np.ndarray:
                return None
            if id(x) in known or x.base is not None or x.flags.num & _OWN != _OWN:
                x = np.array(x, order="C", copy=True)
            known.add(id(x))
            results.append(x)
        return results


def _effort(step: Step) -> Effort:
    return Effort(step.node.op, [value.type for value in step.node.outputs])
