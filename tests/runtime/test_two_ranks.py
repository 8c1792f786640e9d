"""Ifs whose branches give two shapes or ranks: what a run takes is as the interpreter has it, in machine code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import ALONE, F32, launches, session

import whorl
from whorl.codegen.target import _linked, _recent
from whorl.runtime.compiled.binding import MOST_VARIANTS
from whorl.runtime.compiled.program_cache import ProgramCache

BY_LENGTH = model("""main (float[t, 3] x) => (y, float[m] s) {
    zero = Constant <value_ints = [0]> ()
    three = Constant <value_ints = [3]> ()
    last = Constant <value_ints = [-2]> ()
    end = Constant <value_ints = [1000]> ()
    length = Shape <start = 0, end = 1> (x)
    long = Less (three, length)
    y = If (long) <
        then_branch = cut () => (z) { z = Slice (x, last, end, zero) },
        else_branch = mean () => (z) { z = ReduceMean <keepdims = 0> (x, zero) }
    >
    e = Exp (y)
    s = ReduceSum <keepdims = 0> (e, zero)
}""")
BY_RANK = model("""main (float[t, 2] x) => (y) {
    zero = Constant <value_ints = [0]> ()
    one = Constant <value_ints = [1]> ()
    length = Shape <start = 0, end = 1> (x)
    is_one = Equal (length, one)
    row = If (is_one) <
        then_branch = drop () => (z) { z = Squeeze (x, zero) },
        else_branch = retain () => (z) { z = Identity (x) }
    >
    rank = Shape (row)
    axes = Size (rank)
    two = Constant <value_int = 2> ()
    is_matrix = Equal (axes, two)
    batch = If (is_matrix) <
        then_branch = lift () => (z) { z = Unsqueeze (row, zero) },
        else_branch = lift_twice () => (z) { axes01 = Constant <value_ints = [0, 1]> () z = Unsqueeze (row, axes01) }
    >
    y = Tanh (batch)
}""")


def rows(count: int, columns: int) -> dict[str, Any]:
    return {"x": np.linspace(-1, 1, count * columns, dtype=F32).reshape(count, columns)}


def agree(made: whorl.InferenceSession, proto: Any, feeds: dict[str, Any]) -> None:
    """What a session gives has the shape and, within rounding, the elements that the interpreter gives."""
    for expected, result in zip(session(proto, "interpreter").run(None, feeds), made.run(None, feeds), strict=True):
        assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _recent.clear()
    _linked.clear()
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path / "cache"))


def hows(made: whorl.InferenceSession) -> list[str]:
    return [verdict.how for verdict in made.explain()]


# ---- conditions over lengths -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("proto", "columns"), [(BY_LENGTH, 3), (BY_RANK, 2)], ids=["length", "rank"])
def test_lengths_decide_and_change_from_run_to_run(proto: Any, columns: int) -> None:
    made = session(proto)
    for count in (1, 5, 2, 1, 9, 3, 4, 2, 1):
        agree(made, proto, rows(count, columns))
    assert hows(made) == ["native"]
    assert launches(made) == 2


def test_lengths_that_decide_alike_share_a_program() -> None:
    made = session(BY_LENGTH)
    for count in (4, 5, 17, 300):
        agree(made, BY_LENGTH, rows(count, 3))
    assert launches(made) == 1


def test_second_process_has_the_programs_of_both_branches(empty_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    source = BY_LENGTH.SerializeToString()
    first = whorl.InferenceSession(source)
    expected = {count: first.run(None, rows(count, 3)) for count in (2, 6)}
    monkeypatch.setattr(ProgramCache, "find", lambda *_: pytest.fail("the long way was taken"))
    second = whorl.InferenceSession(source)
    for count in (6, 2, 6):
        for a, b in zip(second.run(None, rows(count, 3)), expected[count], strict=True):
            np.testing.assert_array_equal(a, b)


def test_processes_that_met_the_branches_in_another_order_leave_both(empty_cache: None) -> None:
    source = BY_LENGTH.SerializeToString()
    whorl.InferenceSession(source).run(None, rows(2, 3))
    second = whorl.InferenceSession(source)
    second.run(None, rows(6, 3))
    third = whorl.InferenceSession(source)
    for count in (6, 2, 7, 3):
        agree(third, BY_LENGTH, rows(count, 3))
    assert third._whole is None


LADDER = model(
    "main (float[t] x) => (y) { length = Shape (x) zero = Constant <value_ints = [0]> () "
    + " ".join(
        f"""n{n} = Constant <value_ints = [{n}]> () is{n} = Less (n{n}, length)
        y{n} = If (is{n}) <
            then_branch = a{n} () => (z) {{ z = Neg ({f"y{n - 1}" if n > 2 else "x"}) }},
            else_branch = b{n} () => (z) {{ z = Unsqueeze ({f"y{n - 1}" if n > 2 else "x"}, zero) }}
        >"""
        for n in range(2, 14)
    )
    + " y = Exp (y13) }"
)


def test_more_decisions_than_programs_are_left_to_the_run() -> None:
    made = session(LADDER)
    for count in (*range(2, 16), 5, 15, 2):
        agree(made, LADDER, {"x": np.linspace(-1, 1, count, dtype=F32)})
    assert MOST_VARIANTS < 14


FAILING = model("""main (float[t] x, int64[k] shape) => (y) {
    four = Constant <value_ints = [4]> ()
    length = Shape (x)
    is_long = Less (four, length)
    y = If (is_long) <
        then_branch = fold () => (z) { n = Neg (x) z = Reshape (n, shape) },
        else_branch = wait () => (z) { zero = Constant <value_ints = [0]> () z = Unsqueeze (x, zero) }
    >
}""")


def test_branch_that_is_not_taken_does_not_fail_and_one_that_is_has_its_location() -> None:
    made, oracle = session(FAILING), session(FAILING, "interpreter")
    shape = np.array([7, 11])
    for count in (3, 77, 3, 77):
        feeds = {"x": np.arange(count, dtype=F32), "shape": shape}
        np.testing.assert_array_equal(made.run(None, feeds)[0], oracle.run(None, feeds)[0])
    feeds = {"x": np.arange(6, dtype=F32), "shape": shape}
    with pytest.raises(whorl.RunError) as expected:
        oracle.run(None, feeds)
    with pytest.raises(whorl.RunError) as actual:
        made.run(None, feeds)
    assert str(actual.value) == str(expected.value)
    assert "then_branch" in str(actual.value)


# ---- conditions over data --------------------------------------------------------------------------------------------

BY_DATA = model("""main (float[n, m] x, bool c) => (y, float[k] z) {
    zero = Constant <value_ints = [0]> ()
    flat = Constant <value_ints = [-1]> ()
    a = If (c) <
        then_branch = lift () => (r) { r = Unsqueeze (x, zero) },
        else_branch = total () => (r) { r = ReduceSum <keepdims = 0> (x, zero) }
    >
    e = Exp (a)
    z = Reshape (e, flat)
    y = ReduceMax <keepdims = 0> (e)
}""")
HANDED_ON = model("""main (float[n, m] x, bool c) => (a, e) {
    zero = Constant <value_ints = [0]> ()
    t = Tanh (x)
    a = If (c) <
        then_branch = lift () => (r) { r = Unsqueeze (t, zero) },
        else_branch = total () => (r) { r = ReduceSum <keepdims = 0> (t, zero) }
    >
    e = Exp (a)
}""")
IMPOSSIBLE = model("""main (float[2, m] x, bool c) => (float[k] z) {
    flat = Constant <value_ints = [-1]> ()
    zero = Constant <value_ints = [0]> ()
    three = Constant <value = float[3] {1, 2, 3}> ()
    two = Constant <value = float[2] {1, 2}> ()
    a = If (c) <
        then_branch = fitting () => (r) { r = Neg (two) },
        else_branch = other () => (r) { r = Unsqueeze (three, zero) }
    >
    s = Transpose <perm = [1, 0]> (x)
    [add] b = Add (a, s)
    z = Reshape (b, flat)
}""")
IN_LOOP = model("""main (int64 n, float[m] x) => (float[m] y, float[n] totals) {
    yes = Constant <value = bool {1}> ()
    y, totals = Loop (n, yes, x) <body = step (int64 i, bool go, float[m] h) => (bool on, float[m] next, float total) {
        on = Identity (go)
        zero = Constant <value_ints = [0]> ()
        none = Constant <value_int = 0> ()
        two = Constant <value_int = 2> ()
        rest = Mod (i, two)
        even = Equal (rest, none)
        r = If (even) <
            then_branch = lift () => (u) { u = Unsqueeze (h, zero) },
            else_branch = same () => (u) { u = Neg (h) }
        >
        t = Tanh (r)
        total = ReduceSum <keepdims = 0> (t)
        next = Add (h, total)
    }>
}""")


def two(count: int, columns: int, c: bool) -> dict[str, Any]:
    return rows(count, columns) | {"c": np.array(c)}


@pytest.mark.parametrize("proto", [BY_DATA, HANDED_ON], ids=["inside", "results"])
def test_condition_over_data_flips_between_runs(proto: Any) -> None:
    made = session(proto)
    for count, columns, c in ((3, 4, 1), (3, 4, 0), (5, 2, 0), (1, 4, 1), (1, 1, 0), (0, 4, 0), (2, 7, 1)):
        if count or proto is not BY_DATA:
            agree(made, proto, two(count, columns, bool(c)))


def test_what_follows_two_ranks_is_one_program() -> None:
    made = session(BY_DATA)
    for c in (True, False, True):
        agree(made, BY_DATA, two(3, 4, c))
    assert hows(made) == ["native"] and launches(made) == 1


def test_second_process_has_the_program_of_both_ranks(empty_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    source = BY_DATA.SerializeToString()
    whorl.InferenceSession(source).run(None, two(3, 4, True))
    monkeypatch.setattr(ProgramCache, "find", lambda *_: pytest.fail("the long way was taken"))
    second = whorl.InferenceSession(source)
    for c in (False, True):
        agree(second, BY_DATA, two(6, 2, c))


def test_branch_behind_which_no_run_goes_on_leaves_the_other_native() -> None:
    made, oracle = session(IMPOSSIBLE), session(IMPOSSIBLE, "interpreter")
    for count in (4, 9):
        feeds = two(2, count, True)
        np.testing.assert_array_equal(made.run(None, feeds)[0], oracle.run(None, feeds)[0])
    assert hows(made) == ["native"]
    for _ in range(2):
        messages: list[str] = []
        for each in (oracle, made):
            with pytest.raises(whorl.RunError) as caught:
                each.run(None, two(2, 4, False))
            messages.append(str(caught.value))
        assert messages[0] == messages[1] and "Add 'add'" in messages[0]
    feeds = two(2, 4, True)
    np.testing.assert_array_equal(made.run(None, feeds)[0], oracle.run(None, feeds)[0])


@pytest.mark.parametrize("limits", [{}, {"max_iterations": 10_000}, ALONE], ids=["inside", "counted", "alone"])
def test_two_ranks_in_a_body(limits: dict[str, Any]) -> None:
    made = session(IN_LOOP, **limits)
    for n, m in ((5, 3), (0, 3), (4, 2), (700, 3), (1, 1)):
        agree(made, IN_LOOP, {"n": np.array(n), "x": np.linspace(-1, 1, m, dtype=F32)})
    assert hows(made) == ["native"]
