"""Functions made of expressions give what `evaluate` gives."""

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.mdf.expressions.closures import value_of
from whorl.mdf.expressions.evaluate import evaluate
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
        found = value_of(expression)(NAMES)
    expected = evaluate(expression, NAMES, collapse=True)
    assert type(found) is type(expected) and repr(found) == repr(expected)


@pytest.mark.parametrize("given", [5, 2.0, [1, 2], np.array([1.5]), {"k": 1}, True])
def test_value_that_is_no_text_is_itself(given):
    np.testing.assert_array_equal(value_of(parse(given))({}), given)


@pytest.mark.parametrize("text", ["q", "q + 1", "c[9]", "o['z']", "s * b", "m @ a", "1 if c else 2"])
def test_failure_is_worded_as_by_evaluate(text):
    expression = parse(text, "parameter 'x'")
    with pytest.raises(RunError) as caught:
        value_of(expression)(NAMES)
    with pytest.raises(RunError) as expected:
        evaluate(expression, NAMES, collapse=True)
    assert str(caught.value) == str(expected.value) and "parameter 'x'" in str(caught.value)


def test_draws_are_drawn_once():
    drawn = []

    def draw(name, place, arguments, keywords):
        drawn.append(name)
        return 4.0

    assert value_of(parse("numpy.random.normal() * 2"), draw)({}) == 8 and drawn == ["normal"]
