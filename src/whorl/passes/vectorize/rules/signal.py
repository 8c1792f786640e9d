"""Batching rules of Fourier transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.core.base import known_ints
from whorl.ops.signal.fourier import DFT, STFT
from whorl.passes.vectorize.batched import Batched, CannotVectorize, Operands
from whorl.passes.vectorize.rules.folding import folded, require_shared
from whorl.passes.vectorize.rules.rule import Rule


def batch_dft(op: DFT, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Without an axis it is the last but one, counted from the end."""
    x, length, axis = (*operands, None, None)[:3]
    assert x is not None
    count = None if length is None else require_shared(length, "the length of a DFT")
    if axis is None:
        return [Batched(build.add(op, x.value, count))]
    numbers = None if axis.is_mapped else known_ints(axis.value)
    if numbers is None:
        raise CannotVectorize("the axis of a DFT is known only when it runs")
    number = build.constant(np.array(x.axis(numbers[0]), np.int64))
    return [Batched(build.add(op, x.value, count, number))]


RULES: Mapping[type[Op], Rule] = {DFT: batch_dft, STFT: folded(0)}
