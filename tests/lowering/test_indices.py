"""Native forms of ops that read and write at indices, against `run`; indices out of range end the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from lowering.looped import Case, check, check_failure, draw
from whorl.ir.dtypes import BY_NAME
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND
from whorl.ops.movement.scattering import ScatterElements, ScatterND, TensorScatter
from whorl.ops.movement.selection import OneHot, TopK

FEW = ("bool", "float32")
REST = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float64", "float16", "bfloat16")
DTYPES = [*FEW, *(pytest.param(name, marks=pytest.mark.slow) for name in REST)]
Rng = np.random.Generator


def inside(rng: Rng, length: int, shape: Sequence[int], dtype: Any = np.int64) -> np.ndarray:
    low = 0 if np.dtype(dtype).kind == "u" else -length
    return rng.integers(low, max(length, low + 1), shape).astype(dtype)


GATHERED = (
    ((5, 3), 0, ()),
    ((5, 3), 1, (4,)),
    ((2, 7, 2), -2, (2, 3)),
    ((4,), 0, (1,)),
    ((17, 2), 0, (40,)),
    ((3, 2), 0, (0,)),
)


def gathers(dtype: str) -> Iterator[Case]:
    for shape, axis, positions in GATHERED:
        for index in ("int64", "int32"):

            def drawn(
                rng: Rng, s: Any = shape, a: int = axis, p: Any = positions, index: str = index
            ) -> list[np.ndarray]:
                return [draw(rng, s, dtype), inside(rng, s[a], p, index)]

            yield Case(Gather(axis), drawn)
        fixed = inside(np.random.default_rng(1), shape[axis], positions)
        yield Case(Gather(axis), lambda rng, s=shape, fixed=fixed: [draw(rng, s, dtype), fixed], (1,))
    for shape, axis, positions in (
        ((4, 3), 0, (6, 3)),
        ((4, 3), 1, (2, 5)),
        ((5,), -1, (2,)),
        ((2, 3, 2), 1, (2, 0, 2)),
    ):
        yield Case(
            GatherElements(axis), lambda rng, s=shape, a=axis, p=positions: [draw(rng, s, dtype), inside(rng, s[a], p)]
        )
    for shape, b, positions in (
        ((4, 4), 0, (3, 2)),
        ((4, 4), 0, (2, 1)),
        ((2, 4, 4, 3), 1, (2, 3, 2)),
        ((5,), 0, (1,)),
        ((3, 3), 0, (0, 2)),
    ):
        yield Case(GatherND(b), lambda rng, s=shape, b=b, p=positions: [draw(rng, s, dtype), inside(rng, s[b], p)])


def scatters(dtype: str) -> Iterator[Case]:
    for how in ("none", "add", "mul", "max", "min"):
        for shape, axis, positions in (((4, 3), 0, (6, 3)), ((4, 3), 1, (2, 5)), ((1,), 0, (1,)), ((9,), -1, (0,))):

            def elements(rng: Rng, s: Any = shape, a: int = axis, p: Any = positions) -> list[np.ndarray]:
                return [draw(rng, s, dtype), inside(rng, s[a], p), draw(rng, p, dtype)]

            yield Case(ScatterElements(axis, how), elements)
        for shape, positions in (
            ((4, 4), (3, 2)),
            ((4, 4), (6, 1)),
            ((3, 3, 2), (2, 2, 2)),
            ((2,), (1,)),
            ((5,), (0, 1)),
        ):

            def tuples(rng: Rng, s: Any = shape, p: Any = positions) -> list[np.ndarray]:
                return [draw(rng, s, dtype), inside(rng, s[0], p), draw(rng, (*p[:-1], *s[p[-1] :]), dtype)]

            yield Case(ScatterND(how), tuples)
    for mode, first in (("linear", (0, 4)), ("circular", (-20, 20))):

        def written(rng: Rng, first: Any = first) -> list[np.ndarray]:
            return [draw(rng, (3, 2, 6, 2), dtype), draw(rng, (3, 2, 3, 2), dtype), rng.integers(*first, 3)]

        yield Case(TensorScatter(mode=mode), written)
    yield Case(TensorScatter(axis=1), lambda rng: [draw(rng, (2, 4), dtype), draw(rng, (2, 4), dtype)])


def choices(dtype: str) -> Iterator[Case]:
    for axis in (-1, 0, 1):
        for kind in ("int64", "uint64", "int8", "float32"):

            def classes(rng: Rng, kind: str = kind) -> list[np.ndarray]:
                return [draw(rng, (3, 2), kind, 0.3), np.array(5), draw(rng, (2,), dtype)]

            yield Case(OneHot(axis), classes, (1,))
    if dtype == "bool":
        return
    for shape, axis, count in (
        ((7,), 0, 3),
        ((3, 9), -1, 9),
        ((5, 2, 3), 0, 2),
        ((2, 4), 1, 1),
        ((4,), 0, 0),
        ((0, 3), 1, 2),
        ((1,), 0, 1),
        ((20, 17), 0, 5),
        ((2, 9, 33), 1, 3),
        ((3, 16), 0, 3),
    ):
        for largest in (0, 1):

            def ties(rng: Rng, s: Any = shape, count: int = count) -> list[np.ndarray]:
                return [np.trunc(draw(rng, s, dtype, 0.3)).astype(BY_NAME[dtype]), np.array([count])]

            yield Case(TopK(axis, largest), ties, (1,), outputs=2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gathers_equal_run(dtype: str) -> None:
    check(list(gathers(dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatters_equal_run(dtype: str) -> None:
    check(list(scatters(dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_choices_equal_run(dtype: str) -> None:
    check(list(choices(dtype)))


DATA = np.arange(12, dtype=np.float32).reshape(4, 3)
BATCH = np.zeros((2, 2, 4, 1), np.float32)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        (Gather(), [DATA, np.array(4)]),
        (Gather(1), [DATA, np.array([0, 1, -4])]),
        (Gather(), [DATA[:0], np.array([0])]),
        (GatherElements(), [DATA, np.full((2, 3), -5)]),
        (GatherND(), [DATA, np.array([[0, 0], [3, 3]])]),
        (ScatterElements(), [DATA, np.array([[4]]), DATA[:1, :1]]),
        (ScatterND("add"), [DATA, np.array([[1, 3]]), DATA[0, :1]]),
        (TensorScatter(), [BATCH, BATCH[:, :, :2], np.array([0, 3])]),
    ],
    ids=lambda value: str(value) if not isinstance(value, list) else "",
)
def test_index_out_of_range_ends_program(op: Any, inputs: list[np.ndarray]) -> None:
    check_failure(Case(op, lambda rng: inputs))
    check_failure(Case(op, lambda rng: inputs, constants=(1,) if not isinstance(op, TensorScatter) else (2,)))
