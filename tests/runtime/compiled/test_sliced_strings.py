"""Loops on strings that run alone: what enters them, what comes back, and where they stand after a failure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import ALONE, session

import whorl

COLLECTED = """main (int64 n, string[m] words, string last) => (string end, int64 changes, string[k] seen) {
    zero = Constant<value = int64 {0}>()
    end, changes, seen = Loop(n, "", last, zero) <body = b (int64 i, bool go, string old, int64 count)
        => (bool on, string word, int64 next, string out) {
        on = Identity(go)
        word = Gather(words, i)
        differs = Equal(word, old)
        one = Cast<to = 7>(differs)
        next = Add(count, one)
        other = Constant<value = string {"other"}>()
        out = Where(differs, word, other)
    }>
}"""
WHILE = """main (int64 n, string[m] words, string last) => (int64 changes, string end) {
    yes = Constant<value = bool {1}>()
    zero = Constant<value = int64 {0}>()
    changes, end = Loop("", yes, zero, last) <body = b (int64 i, bool go, int64 count, string old)
        => (bool on, int64 next, string word) {
        one = Constant<value = int64 {1}>()
        next = Add(count, one)
        more = Less(next, n)
        word = Gather(words, i)
        ends = Equal(word, old)
        goes = Not(ends)
        on = And(more, goes)
    }>
}"""
SCANNED = """main (int64 n, string[m] words, string last) => (string end, string[m] before) {
    end, before = Scan<num_scan_inputs = 1, scan_input_directions = [1], body = b (string old, string word)
        => (string new, string out) {
        new = Identity(word)
        out = Identity(old)
    }>(last, words)
}"""
PROGRAMS = {"collected": COLLECTED, "while": WHILE, "scanned": SCANNED}


def words(count: int) -> np.ndarray:
    made = np.empty(count, object)
    made[:] = [f"w{n * n % 7}" * (1 + n % 3 * 40) for n in range(count)]
    return made


def feeds(count: int, length: int) -> dict[str, Any]:
    return {"n": np.array(count), "words": words(length), "last": np.array("w4", object)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_loop_that_runs_alone_gives_what_the_interpreter_gives(name: str) -> None:
    proto = model(PROGRAMS[name])
    made, oracle = session(proto, **ALONE), session(proto, "interpreter")
    for count in (0, 1, 2, 9, 300, 3):
        passed = feeds(count, max(count, 1))
        for e, f in zip(oracle.run(None, passed), made.run(None, passed), strict=True):
            assert repr(f) == repr(e)
    assert {verdict.how for verdict in made.explain() if verdict.title.startswith(("Loop", "Scan"))} == {"native"}


def test_loop_takes_over_where_the_interpreter_stands() -> None:
    made, oracle = session(model(COLLECTED), "auto", **ALONE), session(model(COLLECTED), "interpreter")
    passed = feeds(3000, 3000)
    for _ in range(3):
        for e, f in zip(oracle.run(None, passed), made.run(None, passed), strict=True):
            assert repr(f) == repr(e)


@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_failure_names_the_iteration(backend: str) -> None:
    made = session(model(COLLECTED), backend, **ALONE)
    for count in (5, 700):
        with pytest.raises(whorl.RunError, match=rf"\(iteration {count}\): index {count} is outside"):
            made.run(None, feeds(count + 1, count))


@pytest.mark.parametrize("limits", [{}, ALONE], ids=["inside", "alone"])
def test_what_is_no_string_is_moved_as_ever(limits: dict[str, Any]) -> None:
    passed = feeds(3, 3)
    passed["words"][1] = 5
    outcomes = []
    for backend in ("native", "interpreter"):
        try:
            outcomes.append(repr(session(model(SCANNED), backend, **limits).run(None, passed)))
        except whorl.RunError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
