"""Operands of convolutions in LLVM IR: those of some features, the offsets of taps, and the limits of results."""

from __future__ import annotations

import math

from whorl.llvm.function import Function
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value, is_real
from whorl.llvm.vectors import Vectors


def result_pointer(adds: bool) -> str:
    """The pointer to the result, which may lie where the tensor does that is added."""
    return "=y" if adds else "_y"


def load_offset(f: Routine, tap: Index) -> Index:
    """An element of the table of offsets."""
    return f.index(f.convert("sext", f.load("i32", f.offset(f["offsets"], "i32", tap), 4), "i64"))


def filters_from(f: Routine, feature: Index) -> Index:
    """How many elements the filters of features from one on have."""
    return (f.argument("features") - feature) * f.argument("inner")


def feature_operands(f: Routine, v: Vectors, adds: bool, feature: Index, pixels: Index) -> list[Value]:
    """What is read and written of the features from one on: result, bias, limits, and what is added."""
    plane = feature * pixels
    added = [v.offset(f, f["added"], plane)] if adds else []
    return [v.offset(f, f["y"], plane), v.offset(f, f["bias"], feature), f["limits"], *added]


def load_limits(f: Function, v: Vectors) -> tuple[Value, Value]:
    """Both limits as vectors; infinities where nothing is bounded, as integers never are."""
    if not is_real(v.scalar):
        return v.constant(f, 0), v.constant(f, 0)
    slots = [f.variable(v.constant(f, infinity)) for infinity in (-math.inf, math.inf)]
    with f.when(f["bounded"].differs(0)):
        for n, slot in enumerate(slots):
            f.store(v.load_splat(f, v.offset(f, f["limits"], n)), slot)
    return f.load(v.type, slots[0]), f.load(v.type, slots[1])
