"""Expressions: equal ones are one object, constants are computed at once, lengths are numbers of the run."""

import math
import re

import numpy as np
import pytest

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dtypes import BOOL, BY_NAME, FLOAT32, INT32, INT64, STRING
from whorl.ir.native.expressions import FALSE, TRUE, Buffer, Const, Expr, Load, Var, text
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Assign, Program
from whorl.lowering.expressions import Expressions, LoweringFault, TooLong, Unsupported, contained

N, M = dims.name("N"), dims.name("M")


def value_of(expr: Expr, **numbers: int) -> int:
    """What the interpreter of programs computes."""
    result = Var(INT64, "result", False)
    scalars = [Var(INT64, name, False) for name in numbers]
    program = Program([*scalars, result], [], [], [Assign(result, expr)])
    return interpret(program, [*numbers.values(), 0], []).scalars[-1]


def with_lengths() -> Expressions:
    k = Expressions()
    k.dims = {"N": Var(INT64, "n", False), "M": Var(INT64, "m", False)}
    return k


def test_equal_expressions_are_one_object():
    k, x, buffer = Expressions(), Var(FLOAT32, "x"), Buffer("b", FLOAT32, (2,))
    assert k.const(3) is k.const(3) and k.const(0.5, FLOAT32) is k.const(0.5, FLOAT32)
    assert k.add(x, x) is k.add(x, x) and k.load(buffer, (k.const(1),)) is k.load(buffer, (k.const(1),))
    assert k.cast(x, INT32) is k.cast(x, INT32) and k.cast(x, INT32) is not k.cast(x, INT64)


def test_constants_that_differ_in_type_sign_or_bits_are_others():
    k = Expressions()
    assert k.const(0.0, FLOAT32) is not k.const(-0.0, FLOAT32)
    assert k.const(1) is not k.const(1, INT32) and k.const(math.nan, FLOAT32) is k.const(math.nan, FLOAT32)


@pytest.mark.parametrize(
    ("value", "dtype", "number"),
    [
        (300, "int8", 44),
        (-1, "uint64", (1 << 64) - 1),
        (1 << 63, "int64", -(1 << 63)),
        (1 << 64, "int64", 0),
        ((1 << 124) + 5, "int32", 5),
        (9, "int4", -7),
        *((n, "int64", (n + 2**63) % 2**64 - 2**63) for n in (-(2**63), -(2**63) - 1, 2**63 - 1, 2**63, 2**64 + 5)),
        (3.7, "int32", 3),
        (0.1, "float16", float(np.float16(0.1))),
        (2, "bool", True),
        (1, "float32", 1.0),
    ],
)
def test_constant_is_what_an_array_of_its_type_has(value, dtype, number):
    const = Expressions().const(value, BY_NAME[dtype])
    assert isinstance(const, Const) and const.value == number and const.dtype == BY_NAME[dtype]


LARGEST, LEAST = (1 << 63) - 1, -(1 << 63)


@pytest.mark.parametrize(
    ("op", "x", "y", "number"),
    [
        ("add", LARGEST, 1, LEAST),
        ("sub", LEAST, 1, LARGEST),
        ("mul", 1 << 62, 1 << 62, 0),
        ("mul", LEAST, -1, LEAST),
        ("mul", 3_037_000_500, 3_037_000_500, 3_037_000_500**2 - (1 << 64)),
        ("min", 3, -4, -4),
        ("max", 3, -4, 3),
    ],
)
def test_arithmetic_on_indices_is_done_at_once_and_wraps(op, x, y, number):
    k = Expressions()
    result = k.apply(op, k.const(x), k.const(y))
    assert isinstance(result, Const) and result.value == number
    assert value_of(k.apply(op, Var(INT64, "a", False), Var(INT64, "b", False)), a=x, b=y) == number


@pytest.mark.parametrize(
    "simple",
    [
        lambda k, x, b: (k.add(x, k.const(0)), x),
        lambda k, x, b: (k.add(k.const(0), x), x),
        lambda k, x, b: (k.sub(x, k.const(0)), x),
        lambda k, x, b: (k.mul(x, k.const(1)), x),
        lambda k, x, b: (k.mul(k.const(1), x), x),
        lambda k, x, b: (k.compare("le", x, x), TRUE),
        lambda k, x, b: (k.compare("lt", k.const(2), k.const(1)), FALSE),
        lambda k, x, b: (k.apply("and", b, TRUE), b),
        lambda k, x, b: (k.apply("or", FALSE, b), b),
        lambda k, x, b: (k.apply("not", TRUE), FALSE),
        lambda k, x, b: (k.select(TRUE, x, k.const(1)), x),
        lambda k, x, b: (k.select(FALSE, k.const(1), x), x),
        lambda k, x, b: (k.select(b, x, x), x),
        lambda k, x, b: (k.cast(x, INT64), x),
    ],
)
def test_neutral_element_leaves_the_other_operand(simple):
    result, expected = simple(Expressions(), Var(INT64, "x"), Var(BOOL, "b"))
    assert result is expected


@pytest.mark.parametrize(
    ("op", "dtype", "y"), [("add", FLOAT32, 0.0), ("mul", FLOAT32, 1.0), ("eq", FLOAT32, None), ("add", INT32, 0)]
)
def test_only_indices_are_simplified(op, dtype, y):
    """x + 0 is another number for -0, and NaN is not equal to itself."""
    k, x = Expressions(), Var(dtype, "x")
    result = k.apply(op, x, x if y is None else k.const(y, dtype), dtype=BOOL if op == "eq" else dtype)
    assert result is not x and result is not TRUE


def test_bool_of_a_number_is_whether_it_is_not_zero():
    k = Expressions()
    assert (
        text(k.cast(Var(FLOAT32, "x"), BOOL)) == "ne(x, 0.0)"
        and text(k.cast(Var(BOOL, "b"), INT64)) == "cast<int64>(b)"
    )


DIMS = {
    "sum": 2 * N - M + 3,
    "negative": -1 * N,
    "product": dims.call("mul", N, M),
    "floor": dims.call("floor", N - 7, 3),
    "floor_of_lengths": dims.call("floor", N, M),
    "mod": dims.call("mod", N - 7, 3),
    "limits": dims.call("min", dims.call("max", N - 4, 0), M),
}


@pytest.mark.parametrize("dim", DIMS.values(), ids=DIMS)
@pytest.mark.parametrize(("n", "m"), [(0, 1), (1, 2), (5, 3), (13, 4)])
def test_length_is_computed_as_dims_say(dim, n, m):
    expr = with_lengths().length(dim)
    assert value_of(expr, n=n, m=m) == dims.evaluate(dim, {"N": n, "M": m})


def test_division_of_lengths_by_zero_does_not_end_the_program():
    assert value_of(with_lengths().length(dims.call("floor", N, M)), n=5, m=0) == 5


def test_length_that_is_not_known_is_refused():
    k = with_lengths()
    for dim, message in (
        (dims.UNKNOWN, "a length is not known"),
        (dims.name("K") + 1, "the length K is not known before"),
    ):
        with pytest.raises(Unsupported, match=re.escape(message)):
            k.length(dim)
        assert not k.is_available(dim)
    assert k.is_available(2 * N + M) and k.is_available(3)


def test_new_length_has_a_name_of_its_own():
    k = with_lengths()
    first, second = (k.new_length(k.const(n)) for n in (4, 5))
    assert first != second and [k.number(k.length(dim)) for dim in (first, second, first + second)] == [4, 5, 9]
    assert k.count_of("sequence") is k.count_of("sequence") and k.count_of("sequence") != k.count_of("other")


def test_constant_of_a_length_is_cast():
    assert text(with_lengths().const(N + 1, FLOAT32)) == "cast<float32>(add(n, 1))"


def test_last_index_is_that_of_all_elements_or_none():
    k, i, j = Expressions(), Var(INT64, "i"), Var(INT64, "j")
    a, b, s = (Buffer(name, FLOAT32, (3,) * rank) for name, rank in (("a", 2), ("b", 1), ("s", 0)))
    same = k.add(k.load(a, (j, i)), k.mul(k.load(b, (i,)), k.load(s, ())))
    assert k.last_index(same) is i and k.last_index(k.add(same, k.load(b, (j,)))) is None
    assert k.last_index(k.const(1)) is None and isinstance(k.load(s, ()), Load)


def test_unforeseen_exception_is_a_fault_of_lowering():
    with pytest.raises(LoweringFault, match=r"^KeyError: 'x'$") as caught, contained():
        raise KeyError("x")
    assert isinstance(caught.value.cause, KeyError)


@pytest.mark.parametrize("error", [Unsupported("no form"), TooLong(7), TypeRuleError("no"), KeyboardInterrupt()])
def test_refusal_passes_as_it_is(error):
    with pytest.raises(type(error)) as caught, contained():
        raise error
    assert caught.value is error


def test_refusal_says_where_it_is():
    assert Unsupported("no form").at("node").node == "node" and TooLong(7).statements == 7
    assert str(TooLong(7)) == "it is too long for one program" and STRING not in (INT32, INT64)
