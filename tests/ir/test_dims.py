"""Lengths as forms over names: their arithmetic holds for all sizes, and only what is proved is equal."""

from __future__ import annotations

import copy
import pickle
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Call, Dim, Linear, call, differ, equal, names_in, substitute

N, M, K = map(dims.name, "NMK")
SIZES = {"N": (1, 2, 3, 7), "M": (1, 2, 5), "K": (1, 4)}


class Formula:
    """A formula built twice: as a dim, and as a function of sizes that Python's integers compute."""

    def __init__(self, dim: Dim, value: Any) -> None:
        self.dim, self.value = dim, value

    def __repr__(self) -> str:
        return str(self.dim)


def combine(operation: str, a: Formula, b: Formula) -> Formula:
    dim = {
        "+": lambda: a.dim + b.dim,
        "-": lambda: a.dim - b.dim,
        "*": lambda: a.dim * b.dim,
        "floor": lambda: call("floor", a.dim, b.dim),
        "mod": lambda: call("mod", a.dim, b.dim),
        "min": lambda: call("min", a.dim, b.dim),
        "max": lambda: call("max", a.dim, b.dim),
        "less": lambda: call("less", a.dim, b.dim),
        "equal": lambda: call("equal", a.dim, b.dim),
    }[operation]()
    compute = {
        "+": lambda x, y: x + y,
        "-": lambda x, y: x - y,
        "*": lambda x, y: x * y,
        "floor": lambda x, y: x // y,
        "mod": lambda x, y: x % y,
        "min": min,
        "max": max,
        "less": lambda x, y: int(x < y),
        "equal": lambda x, y: int(x == y),
    }[operation]
    return Formula(dim, lambda sizes: compute(a.value(sizes), b.value(sizes)))


def leaf(part: Any) -> Formula:
    if isinstance(part, int):
        return Formula(part, lambda sizes: part)
    return Formula(dims.name(part), lambda sizes: sizes[part])


OPERATIONS = ["+", "-", "*", "floor", "mod", "min", "max", "less", "equal"]
leaves = (st.sampled_from("NMK") | st.integers(-4, 6)).map(leaf)
formulas = st.recursive(
    leaves,
    lambda inner: st.builds(combine, st.sampled_from(OPERATIONS), inner, inner),
    max_leaves=7,
)


def every_size() -> list[dict[str, int]]:
    return [dict(zip(SIZES, chosen, strict=True)) for chosen in product(*SIZES.values())]


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(formulas)
def test_formula_has_the_value_of_its_arithmetic(formula: Formula) -> None:
    for sizes in every_size():
        try:
            expected = formula.value(sizes)
        except ZeroDivisionError:
            continue
        actual = substitute(formula.dim, dict(sizes))
        assert actual is UNKNOWN or actual == expected, f"{formula} at {sizes}"


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(formulas, formulas)
def test_equal_and_differ_are_stated_only_when_they_hold(a: Formula, b: Formula) -> None:
    message_equal, message_differ = equal(a.dim, b.dim), differ(a.dim, b.dim)
    assert not (message_equal and message_differ)
    for sizes in every_size():
        try:
            actual = a.value(sizes) == b.value(sizes)
        except ZeroDivisionError:
            continue
        assert not (message_equal and not actual) and not (message_differ and actual), f"{a} and {b} at {sizes}"


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(formulas, st.dictionaries(st.sampled_from("NMK"), formulas, max_size=2))
def test_substitute_is_done_by_value(formula: Formula, binding: dict[str, Formula]) -> None:
    bound = substitute(formula.dim, {name: each.dim for name, each in binding.items()})
    for sizes in every_size():
        try:
            inner = {name: each.value(sizes) for name, each in binding.items()}
            expected = formula.value(sizes | inner)
        except ZeroDivisionError:
            continue
        if min(inner.values(), default=1) > 0:  # a name stands for a positive length where it divides
            actual = substitute(bound, dict(sizes))
            assert actual is UNKNOWN or actual == expected, f"{formula} with {binding} at {sizes}"


@settings(max_examples=300, deadline=None)
@given(formulas)
def test_normal_form_is_stable(formula: Formula) -> None:
    assert formula.dim is UNKNOWN or substitute(formula.dim, {}) == formula.dim
    assert formula.dim is UNKNOWN or differ(formula.dim, formula.dim) is False
    assert repr(pickle.loads(pickle.dumps(formula.dim))) == repr(formula.dim)


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (N + 1, "N+1"),
        (1 + N, "N+1"),
        (N - 1, "N-1"),
        (1 - N, "-N+1"),
        (N + M - 2 * N, "M-N"),
        (-N, "-N"),
        (N * 3 - 4, "3*N-4"),
        (N * M, "mul(M, N)"),
        (2 * N * M * K, "2*mul(K, M, N)"),
        (N // 2, "floor(N, 2)"),
        (5 // N, "floor(5, N)"),
        (N % 2, "mod(N, 2)"),
        (5 % N, "mod(5, N)"),
        ((N + 1) * (M + 1), "mul(M+1, N+1)"),
        (call("min", N, M, 3), "min(3, M, N)"),
        (call("max", N - 1, 0), "max(0, N-1)"),
        (1 - call("less", N, M * 2), "-less(N, 2*M)+1"),
        (UNKNOWN, "?"),
    ],
)
def test_form_is_written_so(dim: Dim, text: str) -> None:
    assert str(dim) == text


@pytest.mark.parametrize(
    ("dim", "value"),
    [
        (N - N, 0),
        (N * 0, 0),
        (N + M - N, M),
        ((4 * N + 6) // 2, 2 * N + 3),
        ((4 * N + 7) // 2, 2 * N + 3),
        ((4 * N - 1) // 2, 2 * N - 1),
        ((4 * N + 7) % 2, 1),
        ((4 * N - 1) % 4, 3),
        (N // 1, N),
        (N % 1, 0),
        (N // N, 1),
        (6 * N // (2 * N), 3),
        (N * M // N, M),
        (3 * N * M * K // M, 3 * N * K),
        (call("mul", N, 1), N),
        (call("mul", 0, N), 0),
        (call("min", N, N), N),
        (call("min", N, N + 1), N),
        (call("max", N, N + 1, N - 2), N + 1),
        (call("max", 2, 7, 5), 7),
        (call("less", N, N + 1), 1),
        (call("equal", N + 1, N), 0),
        (call("less", 3, 3), 0),
        (call("floor", 7, -2), -4),
        (call("mod", 7, -2), -1),
        (dims.product([]), 1),
        (dims.product([2, N, 3]), 6 * N),
        (dims.product([N, 0]), 0),
    ],
)
def test_form_is_simplified(dim: Dim, value: Dim) -> None:
    assert equal(dim, value) and type(dim) is type(value)


@pytest.mark.parametrize("dim", [(2 * N + 1) % 4, (3 * N) // 2, N // M, call("min", N, M), (N + 1) // (N + 2)])
def test_form_that_cannot_be_simplified_is_retained(dim: Dim) -> None:
    assert isinstance(dim, Linear) and isinstance(dim.terms[0][0], Call)


@pytest.mark.parametrize("result", [call("floor", 3, 0), call("mod", 3, 0), substitute(N // M, {"N": 1, "M": 0})])
def test_division_by_zero_is_unknown(result: Dim) -> None:
    assert result is UNKNOWN


def test_order_of_terms_and_factors_does_not_matter() -> None:
    assert N + M + K == K + (M + N) and hash(N + M) == hash(M + N)
    assert N * M * K == K * (N * M)
    assert call("max", N, M) == call("max", M, N)


@pytest.mark.parametrize(
    ("a", "b"), [(N, M), (N, 2), (N * M, N * K), (N // 2, M // 2), (UNKNOWN, UNKNOWN), (N, UNKNOWN)]
)
def test_nothing_is_proved_of_unrelated_lengths(a: Dim, b: Dim) -> None:
    assert not equal(a, b) and not differ(a, b)


@pytest.mark.parametrize(("a", "b"), [(N, N + 1), (2, 3), (N * M, M * N - 2), (N // 2, N // 2 + 1)])
def test_lengths_with_a_constant_gap_differ(a: Dim, b: Dim) -> None:
    assert differ(a, b) and differ(b, a) and not equal(a, b)


@pytest.mark.parametrize("operate", [
    lambda u: u + 1, lambda u: 1 + u, lambda u: u - N, lambda u: N - u, lambda u: u * 2, lambda u: N * u,
    lambda u: -u, lambda u: u // 2, lambda u: N // u, lambda u: u % 2, lambda u: 3 % u,
    lambda u: call("min", u, 1), lambda u: dims.product([2, u]), lambda u: substitute(u, {"N": 1}),
])  # fmt: skip
def test_unknown_absorbs_everything(operate: Any) -> None:
    assert operate(UNKNOWN) is UNKNOWN


def test_unknown_equals_nothing_and_remains_one_object() -> None:
    assert UNKNOWN != UNKNOWN
    assert copy.deepcopy(UNKNOWN) is UNKNOWN and pickle.loads(pickle.dumps((UNKNOWN,)))[0] is UNKNOWN


def test_names_in_finds_names_inside_calls() -> None:
    assert names_in(call("floor", N * M + 1, 2) + K - 3) == {"N", "M", "K"}
    assert names_in(4) == names_in(UNKNOWN) == set()


def test_substitute_leaves_other_names() -> None:
    assert substitute(call("floor", 2 * N + M, 2), {"M": 4}) == N + 2
    assert substitute(N * M, {"N": 3}) == 3 * M
    assert substitute(call("max", N, M), {"N": M + 1}) == M + 1
    assert substitute(7, {"N": 3}) == 7


def test_form_that_grows_beyond_reason_is_passed_up() -> None:
    form: Dim = N
    for _ in range(40):
        form = form * form + form
    assert form is UNKNOWN
    form = N
    for k in range(200):
        form = call("min", form + 1, call("max", form, k))
    assert form is UNKNOWN
