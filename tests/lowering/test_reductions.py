"""Native forms of reductions, running totals, softmax and normalizations, against `run`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from lowering.looped import Case, check, check_failure, draw
from whorl.ir.dtypes import BY_NAME
from whorl.ir.graph import Op
from whorl.ops.reduce import native_reductions
from whorl.ops.reduce.cumulative import CumProd, CumSum
from whorl.ops.reduce.logarithmic_reductions import ReduceLogSum, ReduceLogSumExp
from whorl.ops.reduce.normalization import (
    BatchNormalization,
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    LpNormalization,
    MeanVarianceNormalization,
    RMSNormalization,
)
from whorl.ops.reduce.reductions import (
    ArgMax,
    ArgMin,
    ReduceL1,
    ReduceL2,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    ReduceSumSquare,
)
from whorl.ops.reduce.softmax import Hardmax, LogSoftmax, Softmax

FLOATS = ("float32", *(pytest.param(name, marks=pytest.mark.slow) for name in ("float64", "float16", "bfloat16")))
FEW = ("uint8", "int64", "float32")
REST = ("int8", "int16", "int32", "uint16", "uint32", "uint64", "float64", "float16", "bfloat16")
NUMBERS = [*FEW, *(pytest.param(name, marks=pytest.mark.slow) for name in REST)]
EVERY = [*FEW, "bool", *(pytest.param(name, marks=pytest.mark.slow) for name in REST)]
GROUPS: Sequence[tuple[tuple[int, ...], tuple[int, ...] | None]] = (
    ((3, 17), (1,)),
    ((5, 19), (0,)),
    ((2, 3, 4), (0, 2)),
    ((2, 3, 9), (-2,)),
    ((4, 33), None),
    ((1,), (0,)),
    ((), None),
    ((0, 3), (0,)),
    ((2, 0), (1,)),
    ((2, 0), (0,)),
    ((3, 1, 2), (1,)),
    ((7, 2), (0,)),
)


def reductions(op: type, dtype: str, wild: float = 0.1, ulps: float = 0) -> Iterator[Case]:
    for n, (shape, axes) in enumerate(GROUPS):
        listed = None if axes is None else np.array(axes, np.int64)
        yield Case(op(keepdims=n % 2), lambda rng, s=shape, a=listed: [draw(rng, s, dtype, wild), a], (1,), ulps=ulps)
    yield Case(op(0, 1), lambda rng: [draw(rng, (2, 3), dtype, wild)], ulps=ulps)


@pytest.mark.parametrize("dtype", EVERY)
def test_extremes_equal_run(dtype: str) -> None:
    check([c for op in (ReduceMax, ReduceMin) for c in reductions(op, dtype)])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_totals_equal_run(dtype: str) -> None:
    ulps = 64 if "float" in dtype else 0
    ops = (ReduceSum, ReduceMean, ReduceL1, ReduceL2, ReduceSumSquare)
    check([c for op in ops for c in reductions(op, dtype, 0.1 if not ulps else 0.0, ulps)])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_products_and_locations_equal_run(dtype: str) -> None:
    cases = list(reductions(ReduceProd, dtype, ulps=8 if "float" in dtype else 0))
    for op in (ArgMax, ArgMin):
        for n, shape in enumerate(((3, 17), (9, 4), (2, 3, 4), (1,), (5, 1), (0, 3))):
            for last in (0, 1):
                make = lambda rng, s=shape: [np.trunc(draw(rng, s, dtype, 0.3)).astype(BY_NAME[dtype])]  # noqa: E731
                cases.append(Case(op(len(shape) - 1 if n % 2 else -1, n % 2, last), make))
        cases.append(Case(op(), lambda rng: [draw(rng, (), dtype)]))
        for shape, axis, last in (((9, 17), 0, 0), ((33, 8), 0, 1), ((2, 16, 9), 1, 0), ((7, 2, 10), 0, 1)):
            make = lambda rng, s=shape: [np.trunc(draw(rng, s, dtype, 0.3)).astype(BY_NAME[dtype])]  # noqa: E731
            cases.append(Case(op(axis, 1, last), make))
    check(cases)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_locations_in_several_blocks_equal_run(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_reductions, "BLOCK", 4)
    cases = []
    for op in (ArgMax, ArgMin):
        for shape, last in (((3, 4), 0), ((3, 5), 1), ((2, 17), 0), ((2, 17), 1), ((2, 2, 8), 1)):
            make = lambda rng, s=shape: [np.trunc(draw(rng, s, dtype, 0.1)).astype(BY_NAME[dtype])]  # noqa: E731
            cases.append(Case(op(-1, 1, last), make))
    check(cases)


def test_location_in_empty_line_ends_program() -> None:
    check_failure(Case(ArgMax(1), lambda rng: [np.zeros((2, 0), np.float32)], native=False))


@pytest.mark.parametrize("dtype", FLOATS)
def test_logarithms_equal_run(dtype: str) -> None:
    cases = list(reductions(ReduceLogSumExp, dtype, 0.02, 64))
    for shape, axes in GROUPS:
        listed = None if axes is None else np.array(axes, np.int64)
        make = lambda rng, s=shape, a=listed: [np.abs(draw(rng, s, dtype, 0)), a]  # noqa: E731
        cases.append(Case(ReduceLogSum(), make, (1,), ulps=64))
    check(cases)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_running_totals_equal_run(dtype: str) -> None:
    cases = []
    for op in (CumSum, CumProd):
        for n, (shape, axis) in enumerate(
            (((17,), 0), ((3, 5), 1), ((5, 3), 0), ((2, 4, 9), -2), ((1,), 0), ((0, 2), 0), ((2, 2), 1))
        ):
            for exclusive in (0, 1):
                make = lambda rng, s=shape, a=axis: [draw(rng, s, dtype), np.array(a)]  # noqa: E731
                cases.append(Case(op(exclusive, n % 2 if n else 1), make, (1,)))
    check(cases)


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_equals_run(dtype: str) -> None:
    cases = []
    for op in (Softmax, LogSoftmax, Hardmax):
        for shape, axis in (
            ((3, 17), -1),
            ((17, 9), 0),
            ((2, 3, 4), 1),
            ((1,), 0),
            ((5, 1), 1),
            ((0, 3), 1),
            ((3, 0), 1),
        ):
            make = lambda rng, s=shape: [draw(rng, s, dtype, 0.02)]  # noqa: E731
            cases.append(Case(op(axis), make, ulps=64))
    check(cases)


def normal(rng: np.random.Generator, dtype: Any, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Tensors without NaN and infinity, the last one positive."""
    drawn = [draw(rng, s, dtype, 0) for s in shapes]
    return [*drawn[:-1], np.abs(drawn[-1])]


def normalizations(dtype: str) -> Iterator[tuple[Op, tuple[tuple[int, ...], ...], int]]:
    stash = BY_NAME[dtype]
    for x, c in (((2, 3, 4, 5), 3), ((2, 6), 6), ((1, 4, 17), 4), ((0, 2, 3), 2)):
        yield BatchNormalization(), (x, (c,), (c,), (c,), (c,)), 1
        yield InstanceNormalization(), (x, (c,), (c,)), 1
        yield GroupNormalization(2 if c % 2 == 0 else 3, stash_type=stash), (x, (c,), (c,)), 1
    yield BatchNormalization(), ((5,), (1,), (1,), (1,), (1,)), 3
    yield LayerNormalization(stash_type=stash), ((3, 17), (17,), (17,)), 3
    yield LayerNormalization(1), ((2, 3, 4), (1, 4), (3, 1)), 1
    yield LayerNormalization(stash_type=stash), ((3, 17), (17,)), 3
    yield RMSNormalization(-2), ((2, 3, 9), (9,)), 1
    yield MeanVarianceNormalization(), ((2, 3, 4, 2),), 1
    for axis in (0, -1):
        yield LpNormalization(axis, 1), ((3, 9),), 1
        yield LpNormalization(axis, 2), ((9, 3),), 1


def precision(op: Op, dtype: str) -> float:
    """Units in the last place that may differ: of the narrower type where statistics are kept in one."""
    narrow = dtype == "float64" and getattr(op, "stash_type", BY_NAME[dtype]) == np.float32
    return 512 * 2**29 if narrow else 512


@pytest.mark.parametrize("dtype", FLOATS)
def test_normalizations_equal_run(dtype: str) -> None:
    check(
        [
            Case(op, lambda rng, s=shapes: normal(rng, dtype, *s), outputs=outputs, ulps=precision(op, dtype))
            for op, shapes, outputs in normalizations(dtype)
        ]
    )


def test_normalizations_of_two_types_equal_run() -> None:
    def mixed(rng: np.random.Generator) -> list[np.ndarray]:
        return [draw(rng, (2, 9), "float32", 0), draw(rng, (9,), "float64", 0)]

    def narrow(rng: np.random.Generator) -> list[np.ndarray]:
        return [draw(rng, (2, 9), "float64", 0), draw(rng, (9,), "float32", 0)]

    check([Case(RMSNormalization(), mixed, ulps=512 * 2**29), Case(RMSNormalization(), narrow, ulps=512)])
