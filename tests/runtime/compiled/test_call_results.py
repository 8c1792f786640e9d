"""What direct calls make: arrays and lists of arrays of every kind of output, each in memory of its own."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import F32, session

import whorl
from whorl.codegen import direct_call as code
from whorl.runtime.compiled import call_results, launch
from whorl.runtime.compiled.fast_path import FastPath

RUNS = 4


@pytest.fixture(autouse=True)
def known_objects() -> None:
    if code.interface() is None:
        pytest.skip(
            "direct calls read the objects of CPython and NumPy in memory, and do not know those of these versions"
        )


def floats(*values: float) -> np.ndarray:
    return np.array(values, F32)


def texts(*values: str) -> np.ndarray:
    return np.array(values, object)


def rows(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=F32).reshape(shape)


def often(proto: Any, feeds: dict[str, Any]) -> whorl.InferenceSession:
    """A session whose runs are direct calls."""
    made = session(proto)
    for _ in range(RUNS):
        made.run(None, feeds)
    assert call_of(made) is not None
    return made


def call_of(made: whorl.InferenceSession) -> Any:
    path = made._fast_path
    return path.calls[0] if path is not None and path.calls else None


def memory_of(made: whorl.InferenceSession) -> launch.RunMemory:
    return next(each for each in call_of(made).__self__.alive.objects if isinstance(each, launch.RunMemory))


def same(value: Any, other: Any) -> bool:
    """Whether two results have the same structure, types, shapes and bits."""
    if isinstance(other, list):
        return isinstance(value, list) and [*map(type, value)] == [*map(type, other)] and all(map(same, value, other))
    if other.dtype == object:
        return (value.dtype, value.shape, value.tolist()) == (other.dtype, other.shape, other.tolist())
    return (value.dtype, value.shape, value.tobytes()) == (other.dtype, other.shape, other.tobytes())


def arrays_in(value: Any) -> list[np.ndarray]:
    return [array for item in value for array in arrays_in(item)] if isinstance(value, list) else [value]


BODY = "<body = b (float[K] v) => (float[K] w) { w = Mul(v, v) }>"
CASES = {
    "list": (
        f"(seq(float[K]) s) => (seq(float[K]) r) {{ r = SequenceMap (s) {BODY} }}",
        {"s": [floats(1, 2), floats(3)]},
    ),
    "rows": (
        f"(seq(float[K]) s) => (seq(float[K]) r) {{ r = SequenceMap (s) {BODY} }}",
        {"s": [rows(3)] * 9},
    ),
    "rows of matrices": (
        "(seq(float[2, K]) s) => (seq(float[2, K]) r) { r = SequenceMap (s) "
        "<body = b (float[2, K] v) => (float[2, K] w) { w = Neg(v) }> }",
        {"s": [rows(2, 3)] * 9},
    ),
    "arrays without axes": (
        "(seq(float[K]) s) => (seq(float) r) { r = SequenceMap (s) "
        "<body = b (float[K] v) => (float w) { w = ReduceSum<keepdims = 0>(v) }> }",
        {"s": [floats(1, 2), floats(3)]},
    ),
    "lists and arrays in another order": (
        "(seq(float[K]) s, float[n] x) => (float[m] c, seq(float[K]) r, float[n] y, seq(float[K]) q, int64 z) { "
        f"r = SequenceMap (s) {BODY} y = Neg(x) z = SequenceLength(s) c = ConcatFromSequence<axis = 0>(r) "
        "q = SequenceMap (r) <body = d (float[K] t) => (float[K] u) { u = Neg(t) }> }",
        {"s": [floats(1, 2), floats(3)], "x": floats(5, 6)},
    ),
    "several lists": (
        "(seq(float[K]) s, seq(float[K]) t) => (seq(float[K]) r) { r = SequenceMap (s, t) "
        "<body = b (float[K] v, float[K] u) => (float[K] w) { w = Add(v, u) }> }",
        {"s": [floats(1, 2), floats(3)], "t": [floats(4, 5), floats(6)]},
    ),
    "list of known rows": (
        "(float[n, 3] x) => (seq(float[a, 3]) r) { y = Neg(x) r = SplitToSequence<axis = 0>(y) }",
        {"x": rows(4, 3)},
    ),
    "parts of equal length": (
        "(float[n, 3] x) => (seq(float[a, 3]) r) { y = Neg(x) two = Constant<value = int64 {2}>() "
        "r = SplitToSequence<axis = 0>(y, two) }",
        {"x": rows(5, 3)},
    ),
    "parts of lengths that are fed": (
        "(float[n, 3] x, int64[k] lengths) => (seq(float[a, 3]) r) { y = Neg(x) "
        "r = SplitToSequence<axis = 0>(y, lengths) }",
        {"x": rows(5, 3), "lengths": np.array([2, 0, 3])},
    ),
    "list of arrays": (
        "(float[n] x, float[k, 2] y) => (float[n] a, seq(float) r, float[k, 2] b) { "
        "a = Neg(x) b = Neg(y) r = SequenceConstruct(a, b, x) }",
        {"x": rows(4), "y": rows(3, 2)},
    ),
    "list with an array more": (
        "(seq(float[K]) s, float[n] x) => (seq(float[K]) r) { y = Neg(x) r = SequenceInsert(s, y) }",
        {"s": [floats(1, 2), floats(3)], "x": floats(4)},
    ),
    "list as it is": (
        "(seq(float[K]) s) => (seq(float[K]) r) { r = Identity(s) }",
        {"s": [floats(1, 2), floats(3)]},
    ),
    "numbers of other types": (
        "(seq(int8[K]) s) => (seq(int8[K]) r) { r = SequenceMap (s) "
        "<body = b (int8[K] v) => (int8[K] w) { w = Neg(v) }> }",
        {"s": [np.array([1, -128], np.int8), np.array([], np.int8), np.array([3], np.int8)]},
    ),
    "strings": (
        "(string[n] x, string[m] y, bool[n] c) => (string[k] z, bool[n] e, string[n] w) { "
        'one = Constant<value = string {"b"}>() e = Equal(x, one) w = Where(c, x, one) z = Concat<axis = 0>(w, y, x) }',
        {"x": texts("a", "", "a"), "y": texts("ß", "c"), "c": np.array([True, False, True])},
    ),
    "strings whose lengths the run says": (
        "(string[n] x, bool[n] c) => (string[k] z, bool[n] e) { z = Compress<axis = 0>(x, c) e = Not(c) }",
        {"x": texts("a", "", "b"), "c": np.array([True, False, True])},
    ),
    "strings in lists": (
        "(seq(string[K]) s) => (seq(string[K]) r, string[m] c, seq(bool[K]) q) { "
        'b = Constant<value = string {"b"}>() '
        "r, q = SequenceMap (s) <body = d (string[K] v) => (string[K] w, bool[K] e) "
        "{ e = Equal(v, b) w = Where(e, v, b) }> c = ConcatFromSequence<axis = 0>(s) }",
        {"s": [texts("a", "b"), texts(), texts("c")]},
    ),
    "strings in lists of rows": (
        "(seq(string[K]) s) => (seq(string[K]) r) { r = SequenceMap (s) "
        "<body = d (string[K] v) => (string[K] w) { w = Identity(v) }> }",
        {"s": [texts("a", "b")] * 9},
    ),
    "list of strings with an array more": (
        "(seq(string[K]) s, string[n] x) => (seq(string[K]) r) { r = SequenceInsert(s, x) }",
        {"s": [texts("a", "b"), texts()], "x": texts("a", "")},
    ),
    "list without an array": (
        "(seq(float[K]) s, int64 i) => (seq(float[K]) r, seq(float[K]) t) { "
        "r = SequenceErase(s, i) t = SequenceErase(r) }",
        {"s": [floats(1, 2), floats(3), floats()], "i": np.array(-3)},
    ),
    "list with an array between others": (
        "(seq(float[K]) s, float[n] x, int64 i) => (seq(float[K]) r) { y = Neg(x) r = SequenceInsert(s, y, i) }",
        {"s": [floats(1, 2), floats(3)], "x": floats(4, 5), "i": np.array(1)},
    ),
    "list of strings with others between and without some": (
        "(seq(string[K]) s, string[n] x, int64 i) => (seq(string[K]) r) { "
        "t = SequenceInsert(s, x, i) r = SequenceErase(t, i) }",
        {"s": [texts("a", "b"), texts("c")], "x": texts("d"), "i": np.array(1)},
    ),
    "queue in a loop": (
        '(seq(float[K]) s, int64 m) => (seq(float[K]) r) { r = Loop(m, "", s) '
        "<body = b (int64 i, bool go, seq(float[K]) old) => (bool on, seq(float[K]) new) { on = Identity(go) "
        "zero = Constant<value = int64 {0}>() first = SequenceAt(old, zero) more = Concat<axis = 0>(first, first) "
        "rest = SequenceErase(old, zero) new = SequenceInsert(rest, more, zero) }> }",
        {"s": [floats(1, 2), floats(3)], "m": np.array(3)},
    ),
    "parts of strings": (
        "(string[n] x, int64[k] lengths) => (seq(string[a]) r) { r = SplitToSequence<axis = 0>(x, lengths) }",
        {"x": texts("a", "b", "c"), "lengths": np.array([2, 0, 1])},
    ),
    "lists of strings": (
        "(string[n] x, string y) => (seq(string[a]) s, seq(string) t) { "
        "s = SplitToSequence<axis = 0>(x) t = SequenceConstruct(y, y, x) }",
        {"x": texts(*map(str, range(12))), "y": np.array("one", object)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_what_the_interpreter_gives_and_the_callers_own(name: str, monkeypatch) -> None:
    text, feeds = CASES[name]
    proto = model(f"main {text}")
    expected = session(proto, "interpreter").run(None, feeds)
    made = often(proto, feeds)
    monkeypatch.setattr(FastPath, "run", lambda *_: pytest.fail("the long way was taken"))
    first, second = made.run(None, feeds), made.run(None, feeds)
    assert same(first, expected) and same(second, expected)
    own = [*arrays_in(first), *arrays_in(second)]
    assert all(array.flags.owndata and array.flags.writeable for array in own)
    fed = [array for value in feeds.values() for array in arrays_in(value)]
    assert not any(np.shares_memory(array, other) for array in own for other in fed)
    references = [weakref.ref(array) for array in own]
    del first, second, own
    assert [reference() for reference in references] == [None] * len(references)


def test_bits_of_nan_and_of_zero_are_the_same() -> None:
    bits = np.array([0x7FC12345, 0xFFC00001, 0x80000000, 0], np.uint32).view(F32)
    made = often(model("main (seq(float[K]) s) => (seq(float[K]) r) { r = Identity(s) }"), {"s": [bits, bits[:1]]})
    (result,) = call_of(made)({"s": [bits, bits[:1]]})
    assert [array.tobytes() for array in result] == [bits.tobytes(), bits[:1].tobytes()]


def test_much_memory_of_lists_goes_back_after_the_run(monkeypatch) -> None:
    monkeypatch.setattr(call_results, "SPARE_BYTES", 1 << 16)
    monkeypatch.setattr(launch, "SPARE_BYTES", 1 << 16)
    for name in ("lists and arrays in another order", "rows"):
        text, feeds = CASES[name]
        proto = model(f"main {text}")
        feeds = {key: [rows(5000)] * 9 if isinstance(x, list) else x for key, x in feeds.items()}
        if name != "rows":
            feeds["s"] = [*feeds["s"], floats(1)]
        made = often(proto, feeds)
        assert same(call_of(made)(feeds), session(proto, "interpreter").run(None, feeds))
        assert memory_of(made).buffers.size == 0


def test_no_memory_for_lists_goes_the_long_way(monkeypatch) -> None:
    text, feeds = CASES["list"]
    made = often(model(f"main {text}"), feeds)

    def fail() -> None:
        raise MemoryError

    memory = memory_of(made)
    monkeypatch.setattr(memory, "take_outputs", fail)
    monkeypatch.setattr(call_results, "SPARE_BYTES", 0)
    large = {"s": [rows(5000), floats(1)]}
    assert call_of(made)(large) is None
    assert call_of(made)(large) is None
    assert same(made.run(None, large), [[rows(5000) ** 2, floats(1)]])


def test_lists_of_much_known_memory_are_made_by_python() -> None:
    proto = model("main (float[n, 3] x) => (seq(float[a, 3]) r) { y = Neg(x) r = SplitToSequence<axis = 0>(y) }")
    made, x = session(proto), rows(call_results.LARGE // 12 + 1, 3)
    for _ in range(RUNS):
        assert same(made.run(None, {"x": x}), [[*(-x[:, None])]])
    assert call_of(made) is None
