"""Rows as lines of an axis, and rows again."""

import numpy as np
import pytest
from passes.bits import interpreted

from whorl.ir.build import Builder
from whorl.ir.graph import Module
from whorl.ir.parse import parse_module
from whorl.ops.elementwise.arithmetic import Add
from whorl.passes.context import Context
from whorl.passes.vectorize.batched import Batched, CannotVectorize
from whorl.passes.vectorize.rules.folding import (
    batch_folded,
    fold,
    known_row_count,
    length_along,
    row_numbers,
    unfold,
)


def building(type: str) -> tuple[Module, Builder]:
    module = parse_module(f"main(%x: {type}) {{\n return r = %x\n}}")
    return module, Builder(module.main, Context(module).inference)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("type", ["float32[n, 2, 0, 4]", "float32[n, 2, m, 4]"])
def test_rows_that_are_folded_and_unfolded_are_the_same(axis, rows, type):
    module, build = building(type)
    x = Batched(module.main.arguments[0])
    lines = fold(x, axis, build)
    again = unfold(lines, axis, build.int64(rows), length_along(x, axis, build), build)
    module.main.results = [lines, again.value]
    module.output_names = ["lines", "again"]
    value = np.arange(rows * 2 * (m := 0 if "0" in type else 5) * 4, dtype=np.float32).reshape(rows, 2, m, 4)
    folded, same = interpreted(module, {"x": value}) or []
    at = axis % 3
    expected = np.moveaxis(value, 0, at)
    shape = (*expected.shape[:at], expected.shape[at] * expected.shape[at + 1], *expected.shape[at + 2 :])
    np.testing.assert_array_equal(folded, expected.reshape(shape))
    np.testing.assert_array_equal(same, value)


def test_row_numbers_have_a_rank():
    module, build = building("float32[n]")
    module.main.results = [row_numbers(build.int64(3), 3, build)]
    assert (interpreted(module, {"x": np.zeros(1, np.float32)}) or [])[0].tolist() == [[[0]], [[1]], [[2]]]


def test_number_of_rows_is_known_where_a_type_says_it():
    for text, count in (("float32[3]", 3), ("float32[0]", None), ("float32[n]", None)):
        assert known_row_count([Batched(building(text)[0].main.arguments[0])]) == count


def test_what_must_be_shared_is_the_reason():
    module, build = building("float32[n, 2]")
    with pytest.raises(CannotVectorize, match="operand 1 differs by row"):
        x = Batched(module.main.arguments[0])
        batch_folded(Add(), [x, x], [0, None], None, build)
