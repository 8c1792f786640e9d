"""Native forms of matrix products, against `run`; kernels for every width of vectors; what is taken out of loops."""

from __future__ import annotations

import pytest

from lowering.looped import Case, check, draw, product
from whorl.ops.linear.products import Gemm, MatMul

Shape = tuple[int, ...]
PAIRS: list[tuple[Shape, Shape]] = [
    ((3,), (3,)),
    ((1, 5), (5, 7)),
    ((0, 3), (3, 4)),
    ((2, 0), (0, 3)),
    ((17,), (17, 65)),
    ((1, 40), (40, 130)),
    ((2, 40), (40, 33)),
    ((9, 33), (33, 40)),
    ((9, 31), (31,)),
    ((2, 3, 4, 5), (5, 6)),
    ((1, 5, 16), (3, 16, 24)),
    ((2, 1, 5, 16), (3, 16, 24)),
    ((7, 1), (1, 40)),
    ((2, 2), (2, 2)),
    ((6,), (2, 6, 20)),
]
DTYPES = ["float32", "int32", *(pytest.param(t, marks=pytest.mark.slow) for t in ("float64", "uint8", "int64"))]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fixed", [(), (1,), (0,)], ids=["neither_fixed", "right_fixed", "left_fixed"])
def test_matmul_agrees_for_all_ranks(dtype: str, fixed: tuple[int, ...]) -> None:
    check([product(MatMul(), dtype, *shapes, constants=fixed) for shapes in PAIRS])


def test_matmul_sums_half_precision_in_single() -> None:
    case = Case(MatMul(), lambda rng: [draw(rng, s, "float16", 0) for s in ((3, 40), (40, 50))], ulps=2)
    check([case])


@pytest.mark.parametrize("fixed", [(), (1,)], ids=["free", "fixed"])
def test_gemm_agrees(fixed: tuple[int, ...]) -> None:
    check(
        [
            product(Gemm(), "float32", (1, 20), (20, 36), (36,), constants=fixed),
            product(Gemm(transB=1), "float32", (4, 20), (36, 20), (4, 1), constants=fixed),
            product(Gemm(transB=1, alpha=0.5, beta=2.0), "float32", (1, 20), (36, 20), (), constants=fixed),
            Case(
                Gemm(transA=1, alpha=-1.5),
                lambda rng: [draw(rng, s, "float32", 0) for s in ((20, 5), (20, 36))],
                constants=fixed,
                ulps=90,
            ),
            product(Gemm(beta=0.0), "float64", (2, 20), (20, 36), (2, 36), constants=fixed),
            product(Gemm(alpha=2.0, beta=-1.0), "int32", (3, 4), (4, 5), (5,), constants=fixed),
            product(Gemm(), "float32", (2, 0), (0, 3), (3,), constants=fixed),
        ]
    )


def test_gemm_of_integers_with_broken_factors_is_run() -> None:
    case = product(Gemm(alpha=0.5), "int32", (3, 4), (4, 5), native=False)
    check([case])
