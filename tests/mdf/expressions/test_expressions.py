"""Expressions: what they mean, the same numbers as nodes of the hub, and what is refused without being run."""

import numpy as np
import pytest

from whorl.errors import LoadError, RunError, UnsupportedError
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT64
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import UNRANKED, TensorType
from whorl.mdf.expressions.emit import emit
from whorl.mdf.expressions.evaluate import evaluate
from whorl.mdf.expressions.syntax import parse
from whorl.mdf.functions.standard import STANDARD
from whorl.runtime.session import Session

RANDOM = np.random.default_rng(7)
NAMES = {
    "a": 2.5,
    "b": -3.0,
    "x": RANDOM.normal(size=7) * 3,
    "y": RANDOM.normal(size=7),
    "M": RANDOM.normal(size=(7, 7)),
    "z": np.array([0.0, -0.0, 1, -1, 5.5, np.inf, np.nan]),
}


def value(text, collapse=False, **names):
    return evaluate(parse(text, "here", names), names, collapse)


def computed(text, names=NAMES, ranked=True):
    """The value by nodes of the hub, interpreted."""
    region = Region("main")
    arguments = {
        name: region.add_argument(name, TensorType(FLOAT64, np.shape(given) if ranked else UNRANKED))
        for name, given in names.items()
    }
    region.results = [emit(parse(text, "here", names), arguments, Builder(region, Inference(set())))]
    feeds = {name: np.asarray(given, float) for name, given in names.items()}
    return Session(Module(region, ["out"]), backend="interpreter").execute(None, feeds)[0]


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
    found = value(text)
    assert found == expected
    assert type(found) is type(expected) or isinstance(found, np.generic)


def test_a_name_is_looked_up_before_anything_else():
    assert value("/A/Sin", **{"/A/Sin": 3.0}) == 3.0
    assert value("3", **{"3": 5.0}) == 5.0
    assert parse("x.3", known=["x.3"]).names == {"x.3"}


def test_lists_of_a_file_are_arrays_of_their_own():
    held = [1, 2]
    found = value("held", held=held)
    np.testing.assert_array_equal(found, [1, 2])
    given = np.ones(2)
    value("given", given=given)[0] = 5
    assert given[0] == 1


def test_whole_floats_collapse_only_where_arithmetic_gave_them():
    found = [value(text, collapse=True, a=2.0) for text in ("a * 1.5", "a", "3.0", "a * numpy.float64(1.5)")]
    assert [(type(each), each) for each in found[:3]] == [(int, 3), (float, 2.0), (float, 3.0)]
    assert isinstance(found[3], np.float64)


def test_names_are_those_that_are_read():
    expression = parse("numpy.exp(-V / tau) if math.pi > t else W[k]", "here")
    assert expression.names == {"V", "tau", "t", "W", "k"}
    assert not expression.draws


def test_random_draws_are_marked_and_counted():
    expression = parse("numpy.random.normal(m, 2) + numpy.random.uniform(size=3)", "here")
    drawn = []
    found = evaluate(expression, {"m": 1.0}, draw=lambda *call: drawn.append(call) or 1.0)
    assert (found, drawn) == (2.0, [("normal", 0, [1.0, 2], {}), ("uniform", 1, [], {"size": 3})])
    with pytest.raises(RunError, match="draws numbers, and there is no generator here"):
        evaluate(expression, {"m": 1.0})


SAME_BITS = [
    "a * b", "x ** 2", "x ** 3", "abs(x) ** 0.5", "a / 0", "x // y", "z // y", "y // z", "x % y", "z % y", "x % -2",
    "numpy.exp(x)", "math.sin(a)", "numpy.tanh(x)", "numpy.log(abs(x))", "a if b > 2 else 7", "1 < a < 5", "x[0]",
    "x[1:3]", "x[::-1]", "M[2, 1:]", "M[:, 0]", "x[-1]", "(a, b)[1] * 2", "numpy.sum(x)", "numpy.sum(M, axis=0)",
    "M @ x", "x @ y", "a and b", "(x > 1) & (y < 5)", "not a", "x[:, None] * y", "numpy.where(x > 0, x, -x)",
    "numpy.clip(x, -1, 1)", "numpy.maximum(x, y)", "x.mean()", "M.T", "numpy.dot(M, x)", "numpy.outer(x, y)",
    "numpy.argmax(x)", "numpy.cumsum(x)", "numpy.zeros_like(x) + 1", "numpy.array([a, b, 1.0])", "max(a, b)",
    "numpy.concatenate([x, y])", "numpy.heaviside(x, 0.5)", "numpy.floor(z)", "numpy.sign(z)", "numpy.trunc(z)",
    "numpy.max(x)", "x.max(axis=0)", "numpy.isnan(z)", "-x", "x * (x > 0)", "int(a)", "numpy.copysign(x, y)",
    "numpy.power(abs(x), 1.7)", "numpy.zeros(3) + a", "x.shape[0] * a", "numpy.any(x > 0)", "x if a > 0 else y",
]  # fmt: skip


@pytest.mark.parametrize("text", SAME_BITS)
def test_nodes_give_the_bits_of_numpy(text):
    expected = np.asarray(value(text, **NAMES))
    found = computed(text)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.astype(float).view(np.int64), expected.astype(float).view(np.int64))


@pytest.mark.parametrize(
    "text",
    ["numpy.hypot(x, y)", "numpy.log1p(abs(x))", "numpy.expm1(x)", "numpy.expm1(x * 1e-9)", "numpy.log10(abs(x))",
     "numpy.arctan2(x, y)", "numpy.cbrt(x)", "numpy.std(x)", "numpy.linalg.norm(x)", "numpy.logaddexp(x, y)"],
)  # fmt: skip
def test_composed_functions_differ_in_the_last_bits_only(text):
    np.testing.assert_allclose(computed(text), value(text, **NAMES), rtol=1e-14)


@pytest.mark.parametrize("text", ["x * a + y", "numpy.exp(-x) / (1 + a)", "x[0] if a > 2 else b", "M @ x"])
def test_nodes_need_no_shapes(text):
    np.testing.assert_allclose(computed(text, ranked=False), value(text, **NAMES), rtol=1e-15)


STANDARD_VALUES = {
    "linear": ({"variable0": 3.0, "slope": 2.0, "intercept": 1.0}, 7.0),
    "logistic": ({"variable0": 1.0, "gain": 2.0, "bias": 0.5, "offset": 1.0}, 1 / (1 + np.exp(-2.0))),
    "exponential": ({"variable0": 1.0, "scale": 3.0, "rate": 2.0, "bias": 1.0, "offset": 5.0}, 3 * np.exp(3.0) + 5),
    "MatMul": ({"A": np.eye(2) * 2, "B": np.ones(2)}, [2.0, 2.0]),
    "Relu": ({"A": np.array([-1.0, 2.0])}, [0.0, 2.0]),
    **{
        name: ({"variable0": 0.5, "scale": 2.0}, 2 * getattr(np, name)(0.5))
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan")
    },
}


@pytest.mark.parametrize("name", STANDARD)
def test_standard_functions(name):
    names, expected = STANDARD_VALUES[name]
    arguments, expression = STANDARD[name]
    assert list(arguments) == list(names)
    np.testing.assert_array_equal(evaluate(expression, names), expected)


REFUSED = {
    "__import__('os').getpid()": "\"__import__('os').getpid\" is not allowed",
    "().__class__": "'().__class__' is not allowed",
    "x.__class__": "'x.__class__' is not allowed",
    "lambda: 1": "'lambda: 1' is not allowed",
    "[i for i in x]": "'[i for i in x]' is not allowed",
    "open('x')": "'open' is not allowed",
    "eval('1')": "'eval' is not allowed",
    "getattr(x, 'T')": "'getattr' is not allowed",
    "numpy.load('x')": "'numpy.load' is not allowed",
    "numpy.fromfile('x')": "'numpy.fromfile' is not allowed",
    "numpy.lib": "'numpy.lib' is not allowed",
    "x.tofile('a')": "'x.tofile' is not allowed",
    "f'{x}'": "\"f'{x}'\" is not allowed",
    "(a := 3)": "'a := 3' is not allowed",
    "numpy.add(x, x, out=x)": "has an argument that is not allowed: out",
    "await x": "'await x' is not allowed",
    "1j": "'1j' is not allowed",
    "x = 3": "is not an expression: invalid syntax",
    "a if": "is not an expression",
    "a\0": "is not an expression",
    "(" * 300 + "a" + ")" * 300: "is not an expression: too many nested parentheses",
    "-" * 300 + "a": "is nested too deeply",
    "a" * 30_000: "has 30000 characters, at most 20000 are read",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_name_the_expression_and_the_part(text):
    with pytest.raises(LoadError) as raised:
        parse(text, "parameter 'p'")
    shown = str(raised.value)
    assert REFUSED[text] in shown
    assert shown.startswith(f"parameter 'p': expression {(text if len(text) <= 80 else text[:77] + '...')!r}")


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


def test_nothing_is_executed(monkeypatch):
    called = []
    monkeypatch.setattr("builtins.__import__", lambda *a, **k: called.append(a))
    with pytest.raises(LoadError):
        parse("__import__('os').system('true')")
    assert not called


@pytest.mark.parametrize(
    "text", ["{'a': x}", "x in y", "numpy.sort(x)", "x[y > 0]", "'text'", "x if a > 0 else 1", "(x > 0) + (y > 0)"]
)
def test_what_has_no_nodes_is_said(text):
    with pytest.raises(UnsupportedError, match="here: expression"):
        computed(text)
