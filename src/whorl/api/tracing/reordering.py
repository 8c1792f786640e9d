"""How far two results of a sum may lie apart only because their terms were added in another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.ir.graph import Node, Op, as_values
from whorl.ir.guards import is_array
from whorl.ops.linear.einsum import Einsum
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.reductions import ReduceL1, ReduceMean, ReduceSum
from whorl.ops.windows.convolution import Conv
from whorl.ops.windows.transposed_convolution import ConvTranspose

DOUBLE = np.dtype(np.float64)
ROUNDING: Mapping[str, float] = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""The unit roundoff of each element type: how much one operation may be off, of its result."""


class Reordering(Struct, frozen=True):
    """What another order of sums of so many terms can do: at most `bound` where two results differ most.

    `explains`: whether all of the difference is within that, element by element.
    """

    terms: int
    bound: float
    explains: bool


def reordering(node: Node, ours: Sequence[Any], theirs: Sequence[Any], results: tuple[Any, Any]) -> Reordering | None:
    """What the order of its sums may make of a node's result; None for one that adds nothing up.

    `ours` and `theirs` are its operands, `results` what it gave on both sides. A sum of n terms in an element type with
    unit roundoff u is off by at most n u / (1 - n u) times the sum of their absolute values, in any order, so that two
    results are apart by at most twice that; what operands differ by is added, as their products carry it on.
    """
    a, b = results
    op = _summing(node.op)
    unit = ROUNDING.get(str(a.dtype)) if is_array(a) else None
    if op is None or unit is None or not is_array(b) or a.shape != b.shape:
        return None
    terms = _terms(op, ours, a.size)
    if terms * unit >= 1:
        return None
    magnitude = _of_absolute(op, ours)
    bound = 2 * terms * unit / (1 - terms * unit) * magnitude
    for k, pair in enumerate(zip(ours, theirs, strict=True)):
        if all(map(_is_float, pair)) and pair[0].shape == pair[1].shape and (pair[0] != pair[1]).any():
            apart = np.abs(pair[0].astype(DOUBLE) - pair[1].astype(DOUBLE))
            bound = bound + _of_absolute(op, [*ours[:k], apart, *ours[k + 1 :]])
    distance = np.abs(a.astype(DOUBLE) - b.astype(DOUBLE))
    worst = int(np.nan_to_num(distance, nan=np.inf).argmax()) if a.size else 0
    is_within = bool((distance <= bound).all())
    return Reordering(terms, float(bound.reshape(-1)[worst]) if a.size else 0.0, is_within)


def _summing(op: Op) -> Op | None:
    """An op that adds up products of its operands, with factors that are not negative; None for any other."""
    match op:
        case Gemm():
            return replace(op, alpha=abs(op.alpha), beta=abs(op.beta))
        case MatMul() | Einsum() | Conv() | ConvTranspose() | CumSum() | ReduceSum() | ReduceMean() | ReduceL1():
            return op
        case _:
            return None


def _terms(op: Op, operands: Sequence[Any], results: int) -> int:
    """How many terms a sum has at most."""
    if isinstance(op, ReduceMean):
        return 1 + operands[0].size // max(1, results)
    op = replace(op, alpha=1.0, beta=1.0) if isinstance(op, Gemm) else op
    ones = [np.ones(x.shape, DOUBLE) if _is_float(x) else x for x in operands]
    counts = _run(op, ones)
    return int(counts.max(initial=0)) + 1


def _of_absolute(op: Op, operands: Sequence[Any]) -> np.ndarray:
    """What the absolute values of operands add up to."""
    return _run(op, [np.abs(x.astype(DOUBLE)) if _is_float(x) else x for x in operands])


def _run(op: Op, operands: Sequence[Any]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(as_values(op.run(*operands))[0], DOUBLE)


def _is_float(value: Any) -> bool:
    return is_array(value) and str(value.dtype) in ROUNDING
