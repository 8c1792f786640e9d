"""Programs of runs with a limit on iterations: they stop where the interpreter does, and say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import ALONE, DOUBLED, launches, session, subgraph

import whorl
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.subgraph_programs import MOST_LIMITS

NESTED = model("""main (int64 outer, int64 inner, float x) => (float y, int64 done) {
    zero = Constant<value = int64 {0}>()
    [around] y, done = Loop (outer, "", x, zero) <body = step (int64 i, bool on, float a, int64 n)
        => (bool on_out, float b, int64 next) {
        on_out = Identity(on)
        [inside] b, next = Loop (inner, "", a, n) <body = deep (int64 j, bool go, float c, int64 m)
            => (bool go_out, float d, int64 more) {
            go_out = Identity(go)
            d = Neg(c)
            one = Constant<value = int64 {1}>()
            more = Add(m, one)
        }>
    }>
}""")
WHILE = """main (int64 n, float x) => (float y, float[k] seen) {{
    yes = Constant<value = bool {{1}}>()
    most = Constant<value = int64 {{{most}}}>()
    [halve] y, seen = Loop ({trip}, yes, x) <body = step (int64 i, bool on, float a) => (bool go, float b, float c) {{
        half = Constant<value = float {{0.5}}>()
        one = Constant<value = int64 {{1}}>()
        b = Mul(a, half)
        c = Identity(b)
        k = Add(i, one)
        go = Less(k, n)
    }}>
}}"""
CHOSEN = model("""main (bool c, int64 n, float x) => (float y) {
    y = If (c) <
        then_branch = t () => (float a) {
            [long] a = Loop (n, "", x) <body = b (int64 i, bool on, float s) => (bool go, float r) {
                go = Identity(on)
                r = Add(s, x)
            }>
        },
        else_branch = f () => (float b) { b = Neg(x) }
    >
}""")
SCANNED = model("""main (float[n, 3] rows) => (float[3] sum, float[n, 3] sums) {
    zero = Constant<value = float[3] {0, 0, 0}>()
    sum, sums = Scan<num_scan_inputs = 1, body = b (float[3] s, float[3] row) => (float[3] t, float[3] u) {
        t = Add(s, row)
        u = Identity(t)
    }>(zero, rows)
}""")


def outcome(proto: Any, backend: str, feeds: dict[str, Any], **limits: Any) -> Any:
    """What a session gives in its second run, or its whole error."""
    made = session(proto, backend, **limits)
    for _ in range(2):
        try:
            result: Any = [x.tolist() for x in made.run(None, feeds)]
        except whorl.RunError as error:
            result = type(error), str(error)
    return result


@pytest.mark.parametrize("most", [0, 1, 4, 9])
@pytest.mark.parametrize("limits", [{}, ALONE], ids=["inside", "alone"])
def test_limit_is_met_where_the_interpreter_meets_it(most: int, limits: dict[str, Any]) -> None:
    cases: list[tuple[Any, dict[str, Any]]] = []
    for n in (-3, 0, 1, 4, 5, 9, 10):
        number, x = np.array(n), np.float32(1)
        for trip, largest in (("n", 1), ('""', 1), ("most", 4), ("most", (1 << 63) - 1), ("most", 5)):
            cases.append((model(WHILE.format(trip=trip, most=largest)), {"n": number, "x": x}))
        cases += [(CHOSEN, {"c": np.array(c), "n": number, "x": x}) for c in (True, False)]
        cases += [(NESTED, {"outer": number, "inner": np.array(m), "x": x}) for m in (0, 4, 5)]
        cases.append((SCANNED, {"rows": np.ones((max(n, 0), 3), np.float32)}))
        cases.append((DOUBLED, {"n": number, "x": np.ones(3, np.float32)}))
    for proto, feeds in cases:
        expected = outcome(proto, "interpreter", feeds, max_iterations=most, **limits)
        assert outcome(proto, "native", feeds, max_iterations=most, **limits) == expected, (proto, feeds)


def test_loop_around_others_is_native() -> None:
    feeds = {"outer": np.array(90), "inner": np.array(90), "x": np.float32(1)}
    for limits in ({}, ALONE):
        made = session(NESTED, max_iterations=100, **limits)
        made.run(None, feeds)
        assert [verdict.how for verdict in made.explain()][-1] == "native"


def test_runs_with_a_limit_have_programs_of_their_own() -> None:
    made = session(DOUBLED)
    feeds = {"n": np.array(5), "x": np.ones(3, np.float32)}
    made.run(None, feeds)
    options = whorl.RunOptions()
    for most in (9, 4, 9, 4):
        options.max_iterations = most
        if most < 5:
            with pytest.raises(whorl.IterationLimitError, match="more than 4 iterations"):
                made.run(None, feeds, options)
        else:
            made.run(None, feeds, options)
    made.run(None, feeds)
    assert not subgraph(made).parts
    assert launches(made) == 1
    assert [*subgraph(made).programs.limited] == [9, 4]
    programs = [program for cache in subgraph(made).caches for program in cache.programs.values()]
    assert len([program for program in programs if isinstance(program, Launch)]) == 3


def test_programs_serve_few_limits() -> None:
    made, options = session(DOUBLED), whorl.RunOptions()
    for most in range(5, 5 + 2 * MOST_LIMITS):
        options.max_iterations = most
        made.run(None, {"n": np.array(5), "x": np.ones(3, np.float32)}, options)
    assert [*subgraph(made).programs.limited] == [*range(5 + MOST_LIMITS, 5 + 2 * MOST_LIMITS)]


def test_programs_without_loops_know_no_limit() -> None:
    made = session(model("main (float[n] x) => (float[n] y) { t = Sin(x) z = Cos(t) y = Add(z, x) }"), max_iterations=3)
    made.run(None, {"x": np.ones(3, np.float32)})
    assert not subgraph(made).programs.limited
    assert launches(made) == 1
