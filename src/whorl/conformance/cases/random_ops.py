"""Random ops in loops: each iteration draws anew; a seed makes fresh sessions repeat."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.conformance.case import Case, Check
from whorl.conformance.values import Value, f32, flags, i64


def all_different(low: float = -np.inf, high: float = np.inf) -> Check:
    """The rows of the first output differ from each other, and all elements are within [low, high]."""

    def check(runs: list[list[Value]]) -> str:
        rows = np.asarray(runs[0][0])
        if not ((rows >= low) & (rows <= high)).all():
            return f"a draw is outside [{low}, {high}]"
        flat = rows.reshape(len(rows), -1)
        return "" if len(np.unique(flat, axis=0)) == len(flat) == 5 else "the five rows are not different draws"

    return check


def all_equal(runs: list[list[Value]]) -> str:
    rows = np.asarray(runs[0][0])
    return "" if rows.shape[0] == 5 and (rows == rows[:1]).all() else "one draw before the loop has several values"


def two_different(runs: list[list[Value]]) -> str:
    first, second = (np.asarray(value) for value in runs[0])
    return "" if first.shape == second.shape and (first != second).any() else "two nodes drew the same"


def same_in_both_sessions(runs: list[list[Value]]) -> str:
    first, second = (np.asarray(outputs[0]) for outputs in runs)
    return "" if first.shape == second.shape and (first == second).all() else "two sessions with one seed differ"


def in_loop(
    name: str,
    doc: str,
    node: str,
    kind: str,
    check: Check,
    inputs: dict[str, np.ndarray] | None = None,
    declared: str = "",
    opset: int = 17,
    sessions: int = 1,
    ambiguous: bool = False,
) -> Case:
    """A loop of five iterations that collects `draw`, which `node` computes."""
    return Case(
        name,
        rules=(12,),
        doc=doc,
        opset=opset,
        model=f"""
        main ({declared}) => ({kind.replace("[", "[n,")} all) {{
          M = Constant <value_int = 5> ()
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool on, {kind} draw) {{
            on = Identity (go)
            {node}
          }}>
        }}""",
        inputs=inputs or {},
        check=check,
        sessions=sessions,
        ambiguous=ambiguous,
    )


def shaped(check: Callable[[np.ndarray], bool], text: str) -> Check:
    return lambda runs: "" if check(np.asarray(runs[0][0])) else text


ONES = {"x": np.ones(64, np.float32)}

CASES = [
    in_loop(
        "random_uniform",
        "RandomUniform draws five different vectors within its range.",
        "draw = RandomUniform <shape = [8], low = 2.0, high = 3.0> ()",
        "float[8]",
        all_different(2, 3),
    ),
    in_loop(
        "random_normal",
        "RandomNormal draws five different vectors.",
        "draw = RandomNormal <shape = [8], mean = 1.0, scale = 2.0> ()",
        "float[8]",
        all_different(),
    ),
    in_loop(
        "random_uniform_like",
        "RandomUniformLike draws anew although its input is captured and constant.",
        "draw = RandomUniformLike <low = -1.0, high = 1.0> (x)",
        "float[64]",
        all_different(-1, 1),
        ONES,
        "float[64] x",
    ),
    in_loop(
        "random_normal_like",
        "RandomNormalLike draws anew although its input is captured and constant.",
        "draw = RandomNormalLike (x)",
        "float[64]",
        all_different(),
        ONES,
        "float[64] x",
    ),
    in_loop(
        "random_bernoulli",
        "Bernoulli draws anew from captured probabilities.",
        "draw = Bernoulli (x)",
        "float[64]",
        all_different(0, 1),
        {"x": np.full(64, 0.5, np.float32)},
        "float[64] x",
    ),
    in_loop(
        "random_multinomial",
        "Multinomial draws 64 samples anew in each iteration.",
        "draw = Multinomial <sample_size = 64> (x)",
        "int32[1,64]",
        all_different(0, 3),
        {"x": f32([[0, 0, 0, 0]])},
        "float[1,4] x",
    ),
    in_loop(
        "random_dropout",
        "Dropout in training mode draws a new mask in each iteration.",
        "half = Constant <value_float = 0.5> ()\nyes = Constant <value = bool {1}> ()\ndraw = Dropout (x, half, yes)",
        "float[64]",
        all_different(0, 2),
        ONES,
        "float[64] x",
    ),
    in_loop(
        "random_shape",
        "A draw has the shape and element type that its attributes give.",
        "draw = RandomUniform <shape = [2, 3], dtype = 11> ()",
        "double[2,3]",
        shaped(lambda x: x.shape == (5, 2, 3) and x.dtype == np.float64, "not double [5, 2, 3]"),
    ),
    in_loop(
        "random_seed_repeats",
        "A seed gives the same draws in two fresh sessions.",
        "draw = RandomNormal <shape = [8], seed = 7.0> ()",
        "float[8]",
        same_in_both_sessions,
        sessions=2,
        ambiguous=True,
    ),
    in_loop(
        "random_seed_draws_anew",
        "A node with a seed still draws anew in each iteration.",
        "draw = RandomNormal <shape = [8], seed = 7.0> ()",
        "float[8]",
        all_different(),
        ambiguous=True,
    ),
    Case(
        "random_before_the_loop",
        rules=(12, "captured"),
        doc="A draw outside the loop is one value for all iterations.",
        model="""
        main (int64 M) => (float[n,8] all) {
          r = RandomUniform <shape = [8]> ()
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[8] e) { e = Identity (r) }>
        }""",
        inputs={"M": i64(5)},
        check=all_equal,
    ),
    Case(
        "random_nodes_alike",
        rules=(12,),
        doc="Two random nodes that look the same draw different values in one body.",
        model="""
        main (int64 M) => (float[n,8] a, float[n,8] b) {
          a, b = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[8] p, float[8] q) {
            p = RandomNormal <shape = [8]> ()
            q = RandomNormal <shape = [8]> ()
          }>
        }""",
        inputs={"M": i64(3)},
        check=two_different,
        ambiguous=True,
    ),
    Case(
        "random_in_scan",
        rules=(12, 8),
        doc="A Scan body draws anew for each row.",
        model="""
        main (float[5] x) => (float[5,8] all) {
          all = Scan (x) <num_scan_inputs = 1, body = step (float e)
              => (float[8] f) { f = RandomNormal <shape = [8]> () }>
        }""",
        inputs={"x": f32([0] * 5)},
        check=all_different(),
    ),
    Case(
        "random_in_branch_in_loop",
        rules=(12, 15),
        doc="A branch in a loop draws anew each time it is taken.",
        model="""
        main (int64 M, bool c) => (float[n,8] all) {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[8] e) {
            e = If (c) <
              then_branch = t () => (float[8] p) { p = RandomUniform <shape = [8]> () },
              else_branch = f () => (float[8] q) { q = RandomNormal <shape = [8]> () }>
          }>
        }""",
        inputs={"M": i64(5), "c": flags(True)},
        check=all_different(0, 1),
    ),
    Case(
        "random_in_inner_loop",
        rules=(12, 11),
        doc="An inner loop draws anew in every outer iteration.",
        model="""
        main (int64 M) => (float[m,n,4] all) <int64 two = {2}> {
          all = Loop (M, "") <body = outer (int64 i, bool go) => (bool go, float[n,4] rows) {
            rows = Loop (two, "") <body = inner (int64 j, bool go2) => (bool go2, float[4] e) {
              e = RandomUniform <shape = [4]> ()
            }>
          }>
        }""",
        inputs={"M": i64(5)},
        check=all_different(0, 1),
    ),
    Case(
        "random_walk",
        rules=(12, "carried"),
        doc="A carried value takes random steps: its positions differ.",
        model="""
        main (int64 M) => (float[n,1] all) <float[1] start = {0}> {
          last, all = Loop (M, "", start) <body = step (int64 i, bool go, float[1] v)
              => (bool go, float[1] w, float[1] e) {
            r = RandomUniform <shape = [1], low = 1.0, high = 2.0> ()
            w = Add (v, r)
            e = Identity (w)
          }>
        }""",
        inputs={"M": i64(5)},
        check=all_different(1, 10),
    ),
    Case(
        "random_zero_trips",
        rules=(12, 3),
        doc="No iteration, no draw: the collected output has length 0.",
        model="""
        main (int64 M) => (float[n,8] all) {
          all = Loop (M, "") <body = step (int64 i, bool go)
              => (bool go, float[8] e) { e = RandomNormal <shape = [8]> () }>
        }""",
        inputs={"M": i64(0)},
        expected=[np.zeros((0, 8), np.float32)],
    ),
]
