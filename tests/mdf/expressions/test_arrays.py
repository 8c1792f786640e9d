"""The meaning of expressions is that of Python and NumPy; compiled and evaluated at once they are the same."""

import numpy as np
import pytest
from mdf.expressions.computing import value

from whorl.errors import RunError
from whorl.mdf.expressions.arrays import compile_expression, evaluate
from whorl.mdf.expressions.syntax import parse

NAMES = {
    "a": 2, "b": 3.5, "c": np.array([1.0, -2.0]), "d": np.float64(-0.5), "t": "7", "s": "text", "l": [1, 2],
    "o": {"k": 1}, "z": 0, "n": float("nan"), "m": np.eye(2), "x.3": 5,
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "a", "t", "s", "l", "o", "c", "3", "2.5", "1e3", "x.3", "a + b", "a - 2", "-c", "a * b", "a * a", "b * 2",
        "2 * c", "a / 4", "4 / a", "a / z", "b / z", "-b / z", "n * 0", "b ** 2", "a ** -1", "(-b) ** 0.5", "m @ c",
        "c @ c", "a < b", "c > 0", "a < b < 4", "a == 2 and b > 1", "a > 5 or b", "b if a > 1 else z", "c[1]",
        "l[0]", "o['k']", "m[0, 1]", "numpy.exp(c)", "numpy.maximum(c, a)", "numpy.where(c > 0, c, 0)", "math.sqrt(16)",
        "numpy.sum(c)", "numpy.zeros(3)", "numpy.sum(m, axis=0)", "[a, b]", "(a, c)", "a // 2", "5 % 3", "c.sum()",
        "not a", "numpy.log(z)", "math.sqrt(-1)", "1" + " + a" * 500, "(" * 30 + "a" + " * 1.0)" * 30,
    ],
)  # fmt: skip
def test_value_is_that_of_evaluate(text):
    expression = parse(text, "here", NAMES)
    with np.errstate(all="ignore"):
        actual = compile_expression(expression)(NAMES)
    expected = evaluate(expression, NAMES, collapse=True)
    assert type(actual) is type(expected) and repr(actual) == repr(expected)


@pytest.mark.parametrize("passed", [5, 2.0, [1, 2], np.array([1.5]), {"k": 1}, True])
def test_value_that_is_no_text_is_itself(passed):
    np.testing.assert_array_equal(compile_expression(parse(passed))({}), passed)


@pytest.mark.parametrize("text", ["q", "q + 1", "c[9]", "o['z']", "s * b", "m @ a", "1 if c else 2"])
def test_failure_is_worded_as_by_evaluate(text):
    expression = parse(text, "parameter 'x'")
    with pytest.raises(RunError) as caught:
        compile_expression(expression)(NAMES)
    with pytest.raises(RunError) as expected:
        evaluate(expression, NAMES, collapse=True)
    assert str(caught.value) == str(expected.value) and "parameter 'x'" in str(caught.value)


def test_draws_are_drawn_once():
    drawn = []

    def draw(name, position, arguments, keywords):
        drawn.append(name)
        return 4.0

    assert compile_expression(parse("numpy.random.normal() * 2"), draw)({}) == 8 and drawn == ["normal"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", 3), ("3.0", 3.0), ("1e-5", 1e-5), (" 7 ", 7), ("1_000", 1000), ("inf", np.inf), ("", ""),
        ("2 * 3.5", 7.0), ("7 // 2", 3), ("-7 % 3", 2), ("2 ** -1", 0.5), ("1 < 2 < 3", True), ("1 < 2 > 3", False),
        ("0 or 5", 5), ("2 and 3", 3), ("not 0", True), ("1 if 0 else 2", 2), ("(1, 2)[1]", 2), ("[1, 2]", [1, 2]),
        ("{'ISA': 'count', 'n': 1 + 1}", {"ISA": "count", "n": 2}), ("math.sqrt(16)", 4.0), ("max(1, 5, 2)", 5),
        ("numpy.sum([1, 2], axis=0)", 3), ("len((1, 2))", 2), ("1 / 0", np.inf), ("-1 / 0.0", -np.inf),
        ("10.0 ** 400", np.inf), ("math.sqrt(-1) != math.sqrt(-1)", True), ("2 in (1, 2)", True),
    ],
)  # fmt: skip
def test_expressions_mean_what_they_mean_in_python(text, expected):
    actual = value(text)
    assert actual == expected
    assert type(actual) is type(expected) or isinstance(actual, np.generic)


def test_a_name_is_looked_up_before_anything_else():
    assert value("/A/Sin", **{"/A/Sin": 3.0}) == 3.0
    assert value("3", **{"3": 5.0}) == 5.0
    assert parse("x.3", known=["x.3"]).names == {"x.3"}


def test_lists_of_a_file_are_arrays_of_their_own():
    stored = [1, 2]
    actual = value("stored", stored=stored)
    np.testing.assert_array_equal(actual, [1, 2])
    passed = np.ones(2)
    value("passed", passed=passed)[0] = 5
    assert passed[0] == 1


def test_whole_floats_collapse_only_where_arithmetic_gave_them():
    actual = [value(text, collapse=True, a=2.0) for text in ("a * 1.5", "a", "3.0", "a * numpy.float64(1.5)")]
    assert [(type(each), each) for each in actual[:3]] == [(int, 3), (float, 2.0), (float, 3.0)]
    assert isinstance(actual[3], np.float64)


def test_random_draws_are_marked_and_counted():
    expression = parse("numpy.random.normal(m, 2) + numpy.random.uniform(size=3)", "here")
    drawn = []
    actual = evaluate(expression, {"m": 1.0}, draw=lambda *call: drawn.append(call) or 1.0)
    assert (actual, drawn) == (2.0, [("normal", 0, [1.0, 2], {}), ("uniform", 1, [], {"size": 3})])
    with pytest.raises(RunError, match="draws numbers, and there is no generator here"):
        evaluate(expression, {"m": 1.0})


TOO_LARGE = {
    "10 ** 10 ** 10": "is too large",
    "'a' * 10 ** 9": "more than 1000000 items",
    "[0] * 10 ** 9": "more than 1000000 items",
    "numpy.zeros(10 ** 12)": "would make more than 268435456 elements",
    "numpy.zeros((10 ** 6, 10 ** 6))": "would make more than 268435456 elements",
    "numpy.tile(x, 10 ** 10)": "would make more than 268435456 elements",
    "numpy.arange(0, 1, 1e-12)": "would make more than 268435456 elements",
    "numpy.arange(10 ** 5)[:, None] * numpy.arange(10 ** 5)": "the result would have more than 268435456 elements",
    "numpy.maximum(numpy.ones((10 ** 5, 1)), numpy.ones(10 ** 5))": "more than 268435456 elements",
    "numpy.ones((10 ** 5, 1)) @ numpy.ones((1, 10 ** 5))": "the result would have more than 268435456 elements",
    "numpy.outer(numpy.ones(10 ** 5), numpy.ones(10 ** 5))": "would make more than 268435456 elements",
    "numpy.eye(10 ** 6)": "would make more than 268435456 elements",
    "numpy.zeros(3, dtype='S99999999')": "is not a type of elements",
    "numpy.add(x, x, x)": "has 3 arguments by position, at most 2 are taken",
    "x + [1, 2, 3]": "operands could not be broadcast",
    "1 if x else 2": "truth value of an array",
    "unknown + 1": "'unknown' is not known here",
    "x[5, 5]": "too many indices",
}


@pytest.mark.parametrize("text", TOO_LARGE)
def test_runs_fail_with_the_expression(text):
    with pytest.raises(RunError, match="parameter 'p': expression") as raised:
        evaluate(parse(text, "parameter 'p'"), {"x": np.ones(2)})
    assert TOO_LARGE[text] in str(raised.value)
