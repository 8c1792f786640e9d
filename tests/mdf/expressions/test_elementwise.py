"""Expressions that compute every element on its own can have axes added behind all others."""

import pytest

from whorl.mdf.expressions.elementwise import is_elementwise
from whorl.mdf.expressions.syntax import parse


@pytest.mark.parametrize(
    "text",
    ["a * b + 1", "numpy.exp(-a)", "math.sqrt(a)", "a if a > b else 0", "numpy.where(a > 0, a, 0)", "int(a)", "2"],
)
def test_function_of_single_numbers_is_elementwise(text):
    assert is_elementwise(parse(text))


@pytest.mark.parametrize(
    "text",
    ["a @ b", "a[0]", "numpy.sum(a)", "max(a, b)", "a.T", "[a, b]", "numpy.exp(a, dtype='float32')", "round(a, 2)"],
)
def test_what_reads_whole_arrays_is_not(text):
    assert not is_elementwise(parse(text))


def test_list_of_a_file_is_not():
    assert not is_elementwise(parse([1, 2])) and is_elementwise(parse(3))
