"""Programs on strings: they give what the interpreter gives, whichever strings a run brings, and prepared ones too."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import ALONE, both, launches, session

import whorl
from whorl.lowering.graph_program import Strings
from whorl.runtime.compiled import strings
from whorl.runtime.compiled.strings import StringTable

MOVED = model("""main (string[n] x, string[m] y, bool[n] c) => (string[k] z, bool[n] e, string[n] w) {
    first = Constant<value_ints = [0]>()
    one = Gather(y, first)
    e = Equal(x, one)
    w = Where(c, x, one)
    z = Concat<axis = 0>(w, y, x)
}""")
COUNTED = model("""main (string[n] words, string wanted, int64 n) => (int64 y, string[n] seen) {
    zero = Constant<value = int64 {0}>()
    y, seen = Loop(n, "", zero) <body = b (int64 i, bool go, int64 count) => (bool on, int64 next, string out) {
        on = Identity(go)
        word = Gather(words, i)
        is_wanted = Equal(word, wanted)
        one = Cast<to = 7>(is_wanted)
        next = Add(count, one)
        out = Where(is_wanted, word, wanted)
    }>
}""")
NUMBERED = model(
    """main (string[n, m] x) => (int64[n, m] y, string[n, m] z) {
    y = ai.onnx.ml.LabelEncoder<keys_strings = ["a", "", "b"], values_int64s = [5, 6, 7], default_int64 = -3>(x)
    z = ai.onnx.ml.LabelEncoder<keys_strings = ["a", "q"], values_strings = ["b", ""], default_string = "none">(x)
}""",
    domains=', "ai.onnx.ml": 4',
)


SPLIT = model("main (string[n] x) => (seq(string[a]) s) { s = SplitToSequence<axis = 0>(x) }")


def test_long_list_of_strings_has_references_of_its_own() -> None:
    made, texts = session(SPLIT), [f"text {n}" for n in range(20)]
    feeds = {"x": np.array(texts, object)}
    made.run(None, feeds)
    before = [sys.getrefcount(text) for text in texts]
    for _ in range(6):
        (result,) = made.run(None, feeds)
        assert [array.tolist() for array in result] == [[text] for text in texts]
        assert [sys.getrefcount(text) for text in texts] == [count + 1 for count in before]
        del result
        assert [sys.getrefcount(text) for text in texts] == before


CHOSEN = model("main (string[n] x, string[n] y, bool[n] c) => (string[n] z) { z = Where(c, x, y) }")


def chosen(*texts: Any) -> dict[str, Any]:
    x = np.empty(len(texts), object)
    x[:] = texts
    return {"x": x, "y": x[::-1].copy(), "c": np.arange(len(texts)) % 2 == 0}


def test_direct_calls_know_the_strings_that_runs_bring(monkeypatch) -> None:
    monkeypatch.setattr(strings, "MOST_LEARNED", 40)
    made = session(CHOSEN)
    for _ in range(4):
        made.run(None, chosen("a", "b"))
    path = made._fast_path
    call = path.calls[0] if path is not None and path.calls else None
    if call is None:
        pytest.skip(
            "direct calls read the objects of CPython and NumPy in memory, and do not know those of these versions"
        )
    for n in range(20):
        new = f"word {n}", f"Wort {n}"
        assert call(chosen(*new)) is None
        assert made.run(None, chosen(*new))[0].tolist() == [new[0], new[0]]
        learned = call(chosen(*new))
        assert (learned is None) == (n == 19) and (learned is None or learned[0].tolist() == [new[0], new[0]])
    for unknown in ("x" * 65, "late", np.str_("later")):
        for _ in range(3):
            assert call(chosen("a", unknown)) is None
            assert made.run(None, chosen("a", unknown))[0].tolist() == ["a", "a"]
            assert made.run(None, chosen(unknown, "a"))[0].tolist() == [unknown, unknown]
    assert path is not None and path.calls == (call,)
    for wrong in (None, 3, ["a"]):
        feeds = chosen("a", wrong)
        assert call(feeds) is None
        with pytest.raises(whorl.RunError) as error:
            made.run(None, feeds)
        with pytest.raises(whorl.RunError) as first:
            session(CHOSEN).run(None, feeds)
        assert str(error.value) == str(first.value)


def test_threads_bring_strings_to_a_direct_call() -> None:
    made = session(CHOSEN)
    for _ in range(4):
        made.run(None, chosen("a", "b"))

    def run(start: int) -> bool:
        words = [(f"{start}.{n}", f"{n % 7}") for n in range(60)]
        return all(made.run(None, chosen(*each))[0].tolist() == [each[0]] * 2 for each in words for _ in range(3))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(12)))


LISTED = model("""main (seq(string[K]) s) => (seq(string[K]) r) {
    r = SequenceMap (s) <body = b (string[K] v) => (string[K] w) { w = Identity(v) }>
}""")


def test_lists_of_strings_are_run_natively_and_others_have_the_errors_of_a_first_run() -> None:
    made = session(LISTED)
    for lists in ([["a", "b"], ["c"]], [["d"]] * 9, [["e"], [], ["f" * 65, "g"]], [["h", "i"], ["a"]], [["j"]]):
        arrays = [np.array(each, object) for each in lists]
        for _ in range(5):
            assert [each.tolist() for each in made.run(None, {"s": arrays})[0]] == lists
    assert [verdict.how for verdict in made.explain()] == ["native"]
    a = np.array(["a", "b"], object)
    for wrong in ([a, np.array(["a", None], object)], [a, 5.0], [a, np.zeros(2)], [a, a[None]]):
        with pytest.raises(whorl.RunError) as late:
            made.run(None, {"s": wrong})
        with pytest.raises(whorl.RunError) as first:
            session(LISTED, "interpreter").run(None, {"s": wrong})
        assert str(late.value) == str(first.value)
    for s in ([a, np.array(["c"])], [np.array([["a", "b"]], object)[:, ::-1][0], a]):
        assert [each.tolist() for each in made.run(None, {"s": s})[0]] == [each.tolist() for each in s]


SEQUENCES = {
    "grown": """main (string[n] x, int64 m) => (string[k] y, seq(string[1]) s) {
        none = SequenceEmpty<dtype = 8>()
        s = Loop(m, "", none) <body = b (int64 i, bool go, seq(string[1]) old) => (bool on, seq(string[1]) new) {
            on = Identity(go)
            first = Constant<value_ints = [-1]>()
            word = Gather(x, i)
            row = Reshape(word, first)
            new = SequenceInsert(old, row)
        }>
        y = ConcatFromSequence<axis = 0>(s)
    }""",
    "ragged": """main (string[n] x, int64 m) => (string[k] y, seq(string[a]) s, int64 c) {
        zero = Constant<value_ints = [0]>()
        one = Constant<value = int64 {1}>()
        first = Constant<value_ints = [-1]>()
        none = SequenceEmpty<dtype = 8>()
        s = Loop(m, "", none) <body = b (int64 i, bool go, seq(string[a]) old) => (bool on, seq(string[c]) new) {
            on = Identity(go)
            end = Add(i, one)
            to = Reshape(end, first)
            row = Slice(x, zero, to)
            new = SequenceInsert(old, row)
        }>
        last = Constant<value = int64 {-1}>()
        y = SequenceAt(s, last)
        c = SequenceLength(s)
    }""",
    "fed": """main (seq(string[3]) q, int64 m) => (seq(string[3]) y, string[3] z, string[k, 3] w) {
        back = Neg(m)
        z = SequenceAt(q, back)
        less = SequenceErase(q, back)
        zero = Constant<value = int64 {0}>()
        y = SequenceInsert(less, z, zero)
        w = ConcatFromSequence<axis = 0, new_axis = 1>(y)
    }""",
    "split": """main (string[n] x, int64 m) => (seq(string) y, string[k] z) {
        y = SplitToSequence<axis = 0>(x)
        z = ConcatFromSequence<axis = 0>(y)
    }""",
    "made": """main (string[n] x, int64 m) => (seq(string[n]) s, bool[n] e) {
        s = SequenceConstruct(x, x)
        one = Constant<value = int64 {1}>()
        a = SequenceAt(s, one)
        word = Constant<value_strings = ["new"]>()
        e = Equal(a, word)
    }""",
}


def texts(*words: str) -> np.ndarray:
    return np.array([*words], object)


def test_strings_are_moved_and_compared() -> None:
    for x, y in (("a b a", "b"), ("", "b c"), ("c", "x"), ("a ü a", "ü a"), ("a b c d", "z z")):
        feeds = {"x": texts(*x.split()), "y": texts(*y.split())}
        both(MOVED, feeds | {"c": np.arange(len(feeds["x"])) % 2 == 0})


def test_one_program_serves_all_strings() -> None:
    made = both(MOVED, {"x": texts("a", "b"), "y": texts("c", "d"), "c": np.array([True, False])})
    made.run(None, {"x": texts("new", "b"), "y": texts("newer", "c"), "c": np.array([False, True])})
    assert launches(made) == 1


@pytest.mark.parametrize("count", [0, 1, 7, 600])
def test_words_are_counted_in_a_loop(count: int) -> None:
    words = texts(*(f"w{n * n % 5}" for n in range(count)))
    made = both(COUNTED, {"words": words, "wanted": np.array("w4", object), "n": np.array(count)})
    assert [verdict.how for verdict in made.explain()] == ["native"]


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("limits", [{}, {"max_iterations": 50}, ALONE], ids=["inside", "counted", "alone"])
def test_sequences_of_strings(name: str, limits: dict[str, Any]) -> None:
    proto = model(SEQUENCES[name])
    made, oracle = session(proto, **limits), session(proto, "interpreter")
    for words, m in (("a b a", 2), ("new a long b b c", 5), ("x", 1), ("a c", 1)):
        x = texts(*words.split())
        fed = {"q": [texts(word, "b", "") for word in words.split()]} if name == "fed" else {"x": x}
        feeds = fed | {"m": np.array(m)}
        for e, f in zip(oracle.run(None, feeds), made.run(None, feeds), strict=True):
            assert repr(f) == repr(e)
    assert all(verdict.how == "native" for verdict in made.explain()) or limits is ALONE


def test_error_is_the_interpreters() -> None:
    feeds = {"words": texts("a"), "wanted": np.array("a", object), "n": np.array(3)}
    messages = []
    for backend in ("native", "interpreter"):
        with pytest.raises(whorl.RunError) as caught:
            session(COUNTED, backend).run(None, feeds)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("other", [3, None, b"a", ["a"]], ids=repr)
def test_what_is_no_string_is_refused_as_ever(other: object) -> None:
    x = np.array([["a", "b"]], object)
    made = session(NUMBERED)
    for _ in range(3):
        made.run(None, {"x": x})
    x[0, 1] = other
    messages = []
    for each in (made, session(NUMBERED, "interpreter")):
        try:
            messages.append(each.run(None, {"x": x})[0].tolist())
        except whorl.RunError as error:
            messages.append(str(error))
    assert messages[0] == messages[1]


def test_results_are_strings_of_the_callers_own() -> None:
    x = texts("a", "unknown").reshape(1, 2)
    made = both(NUMBERED, {"x": x})
    first, second = (made.run(None, {"x": x})[1] for _ in range(2))
    assert first.tolist() == [["b", "none"]]
    assert {type(text) for text in first.flat} == {str}
    assert not np.shares_memory(first, second)


def table(*known: str) -> StringTable:
    return StringTable(Strings(("", *known), (0,), (0,)))


def there_and_back(made: StringTable, *words: str) -> tuple[list[int], list[str]]:
    encoded = made.encode([texts(*words)])
    assert encoded is not None
    (numbers,), own = encoded
    results = [numbers]
    made.decode(results, own)
    return numbers.tolist(), results[0].tolist()


def test_strings_come_back_from_their_numbers() -> None:
    made = table("a", "b")
    for words in (["b", "", "a"], ["new", "a", "new", "newer"], ["newer", "x" * 100, "new", "x" * 100], []):
        numbers, back = there_and_back(made, *words)
        assert back == words
        assert len(set(numbers)) == len(set(words))


def test_scalars_stay_arrays() -> None:
    made = both(model("main (string x) => (string y) { y = Identity(x) }"), {"x": np.array("new", object)})
    (y,) = made.run(None, {"x": np.array("newer", object)})
    assert type(y) is np.ndarray
    assert (y.shape, y.item()) == ((), "newer")


def test_full_table_learns_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strings, "MOST_LEARNED", 2)
    made = table("a")
    for n in range(5):
        words = [f"{n}{k}" for k in range(4)]
        assert there_and_back(made, *words)[1] == words
    assert made.count == 4
    assert len(made.numbers) == 4


def test_long_strings_are_not_learned() -> None:
    made = table()
    assert there_and_back(made, "y" * 65)[1] == ["y" * 65]
    assert made.count == 1


def test_what_is_no_string_has_no_number() -> None:
    assert table("a").encode([np.array(["a", 3], object)]) is None
    assert table("a").encode([np.array(["a", ["b"]], object)]) is None


def test_threads_agree_on_numbers() -> None:
    made = table("a")
    words = [f"w{n % 50}" for n in range(500)]
    with ThreadPoolExecutor(4) as pool:
        results = [*pool.map(lambda n: there_and_back(made, *words[n:], *words[:n]), range(40))]
    assert len({tuple(sorted(zip(words_, numbers, strict=True))) for numbers, words_ in results}) == 1


@pytest.mark.parametrize("word", ["q", "ein Wort", "\ud800"], ids=repr)
def test_prepared_programs_know_their_strings(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path))
    data = NUMBERED.SerializeToString()
    x = texts("a", word, "q", "").reshape(2, 2)
    expected = session(data, "interpreter").run(None, {"x": x})
    for _ in range(3):
        made = whorl.InferenceSession(data)
        for _ in range(2):
            for e, f in zip(expected, made.run(None, {"x": x}), strict=True):
                assert f.tolist() == e.tolist()
    assert made._whole is None
