"""Calls of a few interpreted nodes: what they serve, what goes the long way, and whose the arrays are."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import SUM, session

import whorl
from whorl.runtime.compiled.fast_path import FastPath
from whorl.runtime.compiled.interpreted_call import MOST_STEPS, InterpretedCall
from whorl.runtime.whole import Whole

CONCATENATED = model("main (string[n] x, string[m] y) => (string[k] z) { z = StringConcat(x, y) }")
CLEANED = model("""main (string[n] x) => (string[m] y, string[a, b] parts, int64[a] counts, string[n] z) {
    y = StringNormalizer<case_change_action = "UPPER", is_case_sensitive = 0, stopwords = ["a"]>(x)
    parts, counts = StringSplit<delimiter = " ">(x)
    z = StringConcat(x, x)
}""")
MATCHED = model('main (string[2, n] x) => (bool[2, n] y) { y = RegexFullMatch<pattern = "a.*">(x) }')


def texts(*values: Any) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def plain(results: list[Any]) -> list[Any]:
    return [(x.tolist(), x.dtype, x.shape) for x in results]


def call_of(made: whorl.InferenceSession) -> InterpretedCall:
    path = made._fast_path
    assert path is not None
    (call,) = path.calls
    assert isinstance(call, InterpretedCall)
    return call


def outcome(made: whorl.InferenceSession, feeds: dict[str, Any]) -> Any:
    """The results, or the text of the error."""
    try:
        return plain(made.run(None, feeds))
    except whorl.RunError as error:
        return str(error)


def forbid_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FastPath, "run", lambda *_: pytest.fail("the fast path of programs was taken"))
    monkeypatch.setattr(Whole, "arguments", lambda *_: pytest.fail("the long way was taken"))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (texts("a", "b"), texts("c", "d")),
        (texts("a", "b", "c"), texts("\u00e9\0\U0001f600")),
        (texts(), texts()),
        (texts(), texts("a")),
        (texts("", "\ud800"), texts("\udc00", "")),
        (texts("a" * 1000), texts("\u0130" * 1000, "")),
        (texts("a", "b", "c", "d")[::-2], texts("x", "y")),
    ],
)
def test_strings_are_concatenated_from_the_second_run_on(monkeypatch, x: np.ndarray, y: np.ndarray) -> None:
    made, feeds = session(CONCATENATED), {"x": x, "y": y}
    expected = plain(session(CONCATENATED, "interpreter").run(None, feeds))
    assert plain(made.run(None, {"x": texts("p"), "y": texts("q", "r")})) == [(["pq", "pr"], np.dtype(object), (2,))]
    forbid_the_long_way(monkeypatch)
    for _ in range(3):
        assert plain(made.run(None, feeds)) == expected


def test_several_nodes_outputs_and_element_types(monkeypatch) -> None:
    for proto, feeds in (
        (CLEANED, {"x": texts("a b", "A", "c")}),
        (MATCHED, {"x": np.array([["ab", "b"], ["a", ""]], object)}),
    ):
        made, expected = session(proto), outcome(session(proto, "interpreter"), feeds)
        assert outcome(made, feeds) == expected and not isinstance(expected, str)
        with monkeypatch.context() as patch:
            forbid_the_long_way(patch)
            assert outcome(made, feeds) == expected
            assert made.run([proto.graph.output[0].name], feeds)[0].tolist() == expected[0][0]


def test_other_feeds_have_the_results_and_errors_of_the_interpreter() -> None:
    own = type("Own", (str,), {"__add__": lambda *_: "own"})
    made, oracle, y = session(CONCATENATED), session(CONCATENATED, "interpreter"), texts("a", "b")
    made.run(None, {"x": y, "y": y})
    errors = 0
    long_ways = [["c", "d"], np.array(["c", "d"]), texts(b"c", "d"), texts(own("c"), "d"), np.array("c")]
    wrong = [
        texts("c", 1),
        texts(None),
        texts("c", "d", "e"),
        np.ones(2),
        texts("c", texts("d")),
        None,
        y.reshape(1, 2),
    ]
    for x in (*long_ways, *wrong):
        assert call_of(made)({"x": x, "y": y}) is None
        expected = outcome(oracle, {"x": x, "y": y})
        assert outcome(made, {"x": x, "y": y}) == expected
        errors += isinstance(expected, str)
    for feeds in ({"x": y}, {"x": y, "z": y}, {"x": y, "y": y, "z": y}):
        assert call_of(made)(feeds) is None
        assert outcome(made, feeds) == outcome(oracle, feeds)
    assert errors >= len(wrong)
    assert plain(made.run(None, {"x": y, "y": y})) == [(["aa", "bb"], np.dtype(object), (2,))]


def test_declared_lengths_are_checked() -> None:
    made = session(MATCHED)
    made.run(None, {"x": np.array([["a"], ["b"]], object)})
    assert call_of(made)({"x": np.array([["a"], ["b"], ["c"]], object)}) is None
    with pytest.raises(whorl.RunError, match=r"input 'x' has shape \[3, 1\]"):
        made.run(None, {"x": np.array([["a"], ["b"], ["c"]], object)})


def test_what_may_take_long_goes_the_long_way() -> None:
    made, x = session(CONCATENATED), texts(*"ab" * 1000)
    made.run(None, {"x": x, "y": x})
    call = call_of(made)
    assert call({"x": x, "y": x}) is None
    assert made.run(None, {"x": x, "y": x})[0].tolist() == ["aa", "bb"] * 1000


def test_outputs_are_the_callers_own() -> None:
    copied = model("""main (string[n] x) => (string[n] y, string[n] z, string[m] c) {
        c = Constant<value_strings = ["k"]>() y = StringConcat(x, c) z = Identity(x)
    }""")
    made, x = session(copied), texts("a", "b")
    made.run(None, {"x": x})
    call = InterpretedCall.of(made.plan)
    for results in (made.run(None, {"x": x}), *([] if call is None else [call({"x": x})])):
        assert results is not None
        for result in results:
            result[:] = "changed"
    assert x.tolist() == ["a", "b"] and made.run(None, {"x": x})[2].tolist() == ["k"]


def test_programs_loops_and_many_nodes_have_no_such_call() -> None:
    nodes = " ".join(f"x{n + 1} = StringConcat(x{n}, x{n})" for n in range(MOST_STEPS + 1))
    long = model(f"main (string[1] x0) => (string[1] x{MOST_STEPS + 1}) {{ {nodes} }}")
    looped = model("""main (string[1] x, int64 n) => (string[1] y) {
        y = Loop(n, "", x) <body = b (int64 i, bool c, string[1] s) => (bool d, string[1] t)
            { d = Identity(c) t = StringConcat(s, s) }>
    }""")
    listed = model("""main (seq(string[n]) x, int64 i) => (string[n] y) {
        s = SequenceAt(x, i) y = StringConcat(s, s)
    }""")
    for proto in (SUM, long, looped, listed):
        assert InterpretedCall.of(session(proto).plan) is None


def test_cancelling_forgets_the_call_and_the_next_run_makes_it_again() -> None:
    made, feeds = session(CONCATENATED), {"x": texts("a"), "y": texts("b")}
    made.run(None, feeds)
    made.cancel()
    assert made._fast_path is not None and not made._fast_path.calls
    for _ in range(2):
        assert made.run(None, feeds)[0].tolist() == ["ab"]
    call_of(made)


def test_failure_inside_goes_the_long_way(monkeypatch) -> None:
    made, feeds = session(CONCATENATED), {"x": texts("a"), "y": texts("b")}
    made.run(None, feeds)
    call = call_of(made)
    _, *others = call.steps[0]

    def fail(*_: object) -> np.ndarray:
        raise MemoryError

    monkeypatch.setattr(call, "steps", [(fail, *others)])
    assert call(feeds) is None and made.run(None, feeds)[0].tolist() == ["ab"]
    monkeypatch.setattr(call, "steps", [(lambda *_: "text", *others)])
    assert call(feeds) is None


def test_strings_are_referred_to_no_longer_than_needed() -> None:
    made, x = session(CONCATENATED), texts("some text", "other")
    made.run(None, {"x": x, "y": x})
    before = [sys.getrefcount(x), *map(sys.getrefcount, x.tolist())]
    for _ in range(500):
        made.run(None, {"x": x, "y": x})
        call_of(made)({"x": x, "y": texts(1)})
    gc.collect()
    assert [sys.getrefcount(x), *map(sys.getrefcount, x.tolist())] == before
