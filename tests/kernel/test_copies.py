"""Copies that are not made: results computed in their final memory, carried values changed in place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from kernel.carried import FIXED, NEXT, NOW, OUT, I, N, check_nest, keep, optimised, store_row

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT64
from whorl.ir.native.expressions import Buffer, Var
from whorl.kernel.copies import remove_copies
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Program
from whorl.kernel.verify import verify_program
from whorl.lowering.builder import KernelBuilder

N_ROWS = dims.name("rows")


def test_scratch_that_is_copied_is_computed_where_it_goes() -> None:
    def body(k: KernelBuilder) -> None:
        scratch = k.temporary(FLOAT32, (N,))
        store_row(k, lambda j: k.add(k.load(NOW, (j,)), k.load(NOW, (j,))), scratch)
        store_row(k, lambda j: k.load(scratch, (j,)))
        keep(k)

    text = optimised(body)
    assert "scratch" not in text and "swap" not in text
    assert text.count("for ") == 1


def test_scratch_that_is_read_when_the_row_has_changed_remains() -> None:
    def body(k: KernelBuilder) -> None:
        scratch = k.temporary(FLOAT32, (N,))
        store_row(k, lambda j: k.load(FIXED, (j, k.const(0))), scratch)
        store_row(k, lambda j: k.load(scratch, (j,)))
        store_row(k, lambda j: k.add(k.load(OUT, (I, j)), k.const(1.0, FLOAT32)))
        store_row(k, lambda j: k.add(k.load(scratch, (j,)), k.load(NOW, (j,))), NEXT)

    assert "scratch s0" in optimised(body)


def test_elementwise_carried_value_changes_inplace() -> None:
    def body(k: KernelBuilder) -> None:
        store_row(k, lambda j: k.mul(k.load(NOW, (j,)), k.load(FIXED, (j, k.const(1)))), NEXT)

    text = optimised(body)
    assert "swap" not in text and "x.next[" not in text


@pytest.mark.parametrize("late", [False, True])
def test_carried_value_that_is_read_elsewhere_keeps_two_buffers(late: bool) -> None:
    def body(k: KernelBuilder) -> None:
        back = lambda j: k.load(NOW, (k.sub(k.const(N - 1), j),))  # noqa: E731
        store_row(k, lambda j: k.load(NOW, (j,)) if late else k.add(k.load(NOW, (j,)), back(j)), NEXT)
        if late:
            store_row(k, back)

    text = optimised(body)
    assert "swap x.now, x.next" in text


def test_value_that_does_not_change_needs_no_nest() -> None:
    text = optimised(keep, remove_copies)
    assert "for " not in text and "swap" not in text


def doubled(k: KernelBuilder, source: Buffer, shape: tuple[int, ...] = (3, 4)) -> Buffer:
    """Twice a tensor, in memory of its own."""
    scratch = k.temporary(FLOAT32, shape)
    with k.nest(shape) as index:
        x = k.load(source, index)
        k.store(scratch, index, k.add(x, x))
    return scratch


def check(write: Callable[[KernelBuilder], None]) -> str:
    k = KernelBuilder()
    write(k)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(b.shape).astype(b.dtype) for b in BUFFERS]
    return check_nest(Program([], BUFFERS, k.scratch, k.block), remove_copies, arrays)


SOURCE, WIDE, TURNED = Buffer("src", FLOAT32, (3, 4)), Buffer("wide", FLOAT64, (3, 4)), Buffer("turn", FLOAT32, (4, 3))
LARGE, SAME = Buffer("large", FLOAT32, (2, 3, 4)), Buffer("same", FLOAT32, (3, 4))
BUFFERS = [SOURCE, WIDE, TURNED, LARGE, SAME]


def test_whole_tensor_goes_into_a_row_of_another() -> None:
    def write(k: KernelBuilder) -> None:
        scratch = doubled(k, SOURCE)
        k.fill(LARGE, k.view_of(scratch), (k.const(1),))

    assert "scratch" not in check(write)


def write_turned(k: KernelBuilder) -> None:
    scratch = doubled(k, SOURCE)
    with k.nest((3, 4)) as (a, b):
        k.store(TURNED, (b, a), k.load(scratch, (a, b)))


def write_part(k: KernelBuilder) -> None:
    scratch = doubled(k, SOURCE)
    with k.nest((2, 4)) as index:
        k.store(SAME, index, k.load(scratch, index))


def write_converted(k: KernelBuilder) -> None:
    scratch = doubled(k, SOURCE)
    with k.nest((3, 4)) as index:
        k.store(WIDE, index, k.cast(k.load(scratch, index), FLOAT64))


def write_mirrored(k: KernelBuilder) -> None:
    scratch = doubled(k, SOURCE)
    with k.nest((3, 4)) as (a, b):
        k.store(SAME, (a, b), k.load(scratch, (k.sub(k.const(2), a), b)))


def write_over_what_is_read(k: KernelBuilder) -> None:
    scratch = doubled(k, SAME)
    with k.nest((3, 4)) as (a, b):
        k.store(scratch, (a, b), k.add(k.load(scratch, (a, b)), k.load(SAME, (k.sub(k.const(2), a), b))))
    k.fill(SAME, k.view_of(scratch))


def write_twice(k: KernelBuilder) -> None:
    scratch = doubled(k, SOURCE)
    k.fill(SAME, k.view_of(scratch))
    with k.nest((3, 4)) as index:
        k.store(SAME, index, k.add(k.load(SAME, index), k.const(1.0, FLOAT32)))
    k.fill(LARGE, k.view_of(scratch), (k.const(0),))


def write_under_a_condition(k: KernelBuilder) -> None:
    scratch = doubled(k, SOURCE)
    with k.when(k.compare("lt", k.load(SOURCE, (k.const(0), k.const(0))), k.const(0.0, FLOAT32))):
        k.fill(SAME, k.view_of(scratch))


def test_scratch_that_is_copied_to_a_tensor_which_then_changes_goes_where_it_does_not_change() -> None:
    text = check(write_twice)
    assert "scratch" not in text and "same[i3, i4] = large[0, i3, i4]" in text


@pytest.mark.parametrize(
    "write",
    [write_part, write_turned, write_converted, write_mirrored, write_over_what_is_read, write_under_a_condition],
)
def test_scratch_that_is_more_than_a_copy_remains(write: Callable[[KernelBuilder], None]) -> None:
    assert "scratch s0" in check(write)


@pytest.mark.parametrize("shape", [(1,), (1, 1), (0,), (0, 4), (4, 1)])
def test_axes_of_length_zero_and_one_are_whole_too(shape: tuple[int, ...]) -> None:
    k = KernelBuilder()
    x, y = Buffer("x", FLOAT32, shape), Buffer("y", FLOAT32, shape)
    k.fill(y, k.view_of(doubled(k, x, shape)))
    arrays = [np.ones(shape, np.float32), np.zeros(shape, np.float32)]
    text = check_nest(Program([], [x, y], k.scratch, k.block), remove_copies, arrays)
    assert ("scratch" in text) is (shape in ((1,), (1, 1))), "without a loop there is no nest to take out"


def test_carried_value_of_a_loop_in_order_keeps_two_buffers() -> None:
    """Each iteration of the nest reads what the one before it stored."""

    def body(k: KernelBuilder) -> None:
        with k.loop(N) as j:
            k.store(NEXT, (j,), k.add(k.load(NOW, (j,)), k.load(NOW, (k.const(0),))))

    assert "swap" in optimised(body, remove_copies)


def test_carried_value_that_is_read_after_its_store_in_the_nest_keeps_two_buffers() -> None:
    def body(k: KernelBuilder) -> None:
        with k.nest((N,)) as (j,):
            k.store(NEXT, (j,), k.let(k.mul(k.load(NOW, (j,)), k.const(0.5, FLOAT32))))
            k.store(OUT, (I, j), k.load(NOW, (j,)))

    assert "swap" in optimised(body, remove_copies)


@pytest.mark.parametrize(("length", "is_whole"), [(N_ROWS, True), (N_ROWS - 1, False)], ids=["whole", "part"])
def test_tensor_of_a_length_that_only_the_run_knows_is_computed_where_it_goes(length: Dim, is_whole: bool) -> None:
    k, rows = KernelBuilder(), Var(INT64, "rows", False)
    k.take_names({"rows": rows})
    x, y = (k.memory(name, FLOAT32, (N_ROWS, 4)) for name in "xy")
    scratch = k.temporary(FLOAT32, (N_ROWS, 4))
    with k.nest((N_ROWS, 4)) as index:
        k.store(scratch, index, k.add(k.load(x, index), k.load(x, index)))
    with k.nest((length, 4)) as index:
        k.store(y, index, k.load(scratch, index))
    made = Program([rows, *k.forms.values()], [x, y], k.scratch, k.block, results=[y] if is_whole else [])
    remove_copies(made)
    verify_program(made)
    assert (len(made.body) == 1 and not made.scratch) is is_whole
    source, result = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros((3, 4), np.float32)
    assert interpret(made, [3, 2][: len(made.scalars)], [source, result]).status == 0
    rows_there = 3 if is_whole else 2
    np.testing.assert_array_equal(result[:rows_there], 2 * source[:rows_there])
