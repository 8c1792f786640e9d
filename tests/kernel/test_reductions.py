"""Reductions written out: short ones as expressions, long ones over transposed tensors, several rows at a time."""

from __future__ import annotations

import numpy as np
import pytest
from kernel.carried import FIXED, NOW, OUT, SQUARE, I, N, check_nest, keep, optimised, store_row

from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Buffer, Expr
from whorl.kernel.program import Program
from whorl.kernel.reductions import LANES, MOST_STEPS, ROWS, write_out_reductions
from whorl.lowering.builder import KernelBuilder


def test_short_reductions_become_expressions_of_transposed_tensors() -> None:
    def body(k: KernelBuilder) -> None:
        def total(j: Expr) -> Expr:
            x = k.load(NOW, (j,))
            step = lambda acc, r: k.apply("sum", acc, k.mul(x, k.load(FIXED, (j, *r))))  # noqa: E731
            return k.reduce([4], k.const(0.0, FLOAT32), step)

        with k.nest((N,)) as (j,):
            k.store(OUT, (I, j), total(j))
        keep(k)

    text = optimised(body)
    assert "c.in.across0[a0, a1] = c.in[a1, a0]" not in text
    assert text.count("for ") == 1


def test_long_reductions_read_transposed_tensors() -> None:
    def body(k: KernelBuilder) -> None:
        with k.nest((N,)) as (j,):
            step = lambda acc, r: k.apply("sum", acc, k.load(SQUARE, (j, *r)))  # noqa: E731
            k.store(OUT, (I, j), k.reduce([N], k.const(0.0, FLOAT32), step))
        keep(k)

    text = optimised(body)
    assert "a.in.across0[a0, a1] = a.in[a1, a0]" in text
    assert text.index("across0[a0") < text.index("while")


def test_rows_are_taken_several_at_a_time() -> None:
    def body(k: KernelBuilder) -> None:
        store_row(k, lambda j: k.const(0.0, FLOAT32))
        with k.loop(N) as r, k.loop(N, parallel=True) as j:
            k.store(OUT, (I, j), k.apply("maximum", k.load(OUT, (I, j)), k.load(SQUARE, (r, j))))
        keep(k)

    text = optimised(body)
    assert "i1 < 2:" in text
    assert text.count("maximum(") == 16


def test_rows_whose_total_is_read_after_it_was_stored_remain() -> None:
    def body(k: KernelBuilder) -> None:
        totals = k.temporary(FLOAT32, (N,))
        store_row(k, lambda j: k.const(0.0, FLOAT32), totals)
        store_row(k, lambda j: k.const(0.0, FLOAT32))
        with k.loop(N) as r, k.loop(N, parallel=True) as j:
            k.store(totals, (j,), k.add(k.load(totals, (j,)), k.load(SQUARE, (r, j))))
            k.store(OUT, (I, j), k.add(k.load(OUT, (I, j)), k.load(totals, (j,))))
        keep(k)

    assert f"for i2 < {N}:" in optimised(body)


def sums(length: int, steps: int, dtype: np.dtype = INT64) -> tuple[Program, list[np.ndarray]]:
    """The sum of each row of a matrix, of integers, so that no order of the steps changes a bit."""
    k = KernelBuilder()
    x, y = Buffer("x", dtype, (length, steps)), Buffer("y", dtype, (length,))
    with k.nest((length,)) as (j,):
        k.store(y, (j,), k.reduce([steps], k.const(0, dtype), lambda acc, r: k.add(acc, k.load(x, (j, *r)))))
    arrays = [np.arange(length * steps, dtype=dtype).reshape(length, steps), np.zeros(length, dtype)]
    return Program([], [x, y], k.scratch, k.block), arrays


@pytest.mark.parametrize(
    ("length", "steps", "loops"),
    [(LANES, 4, 1), (LANES, 0, 1), (LANES, 1, 1), (LANES - 1, 4, 2), (LANES, 5, 2), (0, 4, 2), (LANES, MOST_STEPS, 2)],
)
def test_reduction_of_few_steps_in_a_wide_loop_is_an_expression(length: int, steps: int, loops: int) -> None:
    """More steps are written out only where the elements of neighbours lie side by side."""
    program, arrays = sums(length, steps)
    assert check_nest(program, write_out_reductions, arrays).count("for ") == loops


@pytest.mark.parametrize(("steps", "loops"), [(5, 1), (MOST_STEPS, 1), (MOST_STEPS + 1, 2)])
def test_reduction_over_columns_is_an_expression_up_to_many_steps(steps: int, loops: int) -> None:
    k = KernelBuilder()
    x, y = Buffer("x", INT64, (steps, LANES)), Buffer("y", INT64, (LANES,))
    with k.nest((LANES,)) as (j,):
        k.store(y, (j,), k.reduce([steps], k.const(1), lambda acc, r: k.mul(acc, k.load(x, (*r, j)))))
    arrays = [np.arange(steps * LANES).reshape(steps, LANES) + 1, np.zeros(LANES, np.int64)]
    program = Program([], [x, y], k.scratch, k.block)
    assert check_nest(program, write_out_reductions, arrays).count("for ") == loops


def over_rows(rows: int, write: str) -> str:
    """A loop over rows that combines each with totals, and what becomes of it."""
    k = KernelBuilder()
    x, y, z, w = (Buffer(name, INT64, (N,) if name == "y" else (rows, N)) for name in "xyzw")
    with k.loop(rows) as r, k.loop(N, parallel=True) as j:
        element = k.load(x, (r, j))
        match write:
            case "total":
                k.store(y, (j,), k.add(k.load(y, (j,)), element))
            case "own row":
                k.store(z, (r, j), k.add(k.load(z, (r, j)), element))
            case "total and own row":
                k.store(y, (j,), k.add(k.load(y, (j,)), element))
                k.store(z, (r, j), k.mul(k.load(z, (r, j)), element))
            case "scattered":
                column = k.let(k.apply("rem", k.add(r, j), k.const(N)))
                k.store(y, (column,), k.add(k.load(y, (column,)), element))
            case "looked up":
                column = k.cast(k.load(w, (r, j)), INT64)
                k.store(y, (column,), k.add(k.load(y, (column,)), element))
            case "weighted":
                k.store(y, (j,), k.add(k.load(y, (j,)), k.mul(element, r)))
            case _:
                k.store(y, (j,), k.add(k.load(y, (k.const(0),)), element))
    rng = np.random.default_rng(0)
    arrays = [
        *(rng.integers(-9, 9, b.shape) for b in (x, y, z)),
        rng.permuted(np.tile(np.arange(N), (rows, 1)), axis=1),
    ]
    return check_nest(Program([], [x, y, z, w], k.scratch, k.block), write_out_reductions, arrays)


@pytest.mark.parametrize(("rows", "size"), [(32, 16), (24, 8), (12, 4), (6, 2), (2, 2), (3, 1), (1, 1), (17, 1)])
@pytest.mark.parametrize("write", ["total", "weighted"])
def test_as_many_rows_are_taken_together_as_divide_their_number(rows: int, size: int, write: str) -> None:
    text = over_rows(rows, write)
    assert size in (*ROWS, 1) and text.count("x[") == size


@pytest.mark.parametrize("write", ["own row", "total and own row", "scattered", "looked up", "another element"])
def test_rows_that_do_more_than_add_to_totals_are_taken_one_by_one(write: str) -> None:
    assert over_rows(16, write).count("x[") == (2 if write == "total and own row" else 1)
