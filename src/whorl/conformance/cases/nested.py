"""Loops, Scans and branches inside each other."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import f32, flags, i64


def nested_loops(depth: int, trips: int) -> Case:
    text = ""
    for level in range(depth, 0, -1):
        inner = text or f"w{level} = Add (v{level}, one)"
        result, start = (f"w{level - 1}", f"v{level - 1}") if level > 1 else ("y", "zero")
        text = f"""
        {result} = Loop (M, "", {start}) <
          body = b{level} (int64 i{level}, bool go{level}, int64 v{level}) => (bool on{level}, int64 w{level}) {{
            on{level} = Identity (go{level})
            {inner}
          }}>"""
    return Case(
        f"loop_depth_{depth}",
        rules=(11,),
        doc=f"{depth} loops in each other with {trips} trips each count {trips}**{depth} innermost iterations.",
        model=f"main (int64 M) => (int64 y) <int64 zero = {{0}}, int64 one = {{1}}> {{{text}\n}}",
        inputs={"M": i64(trips)},
        expected=[i64(trips**depth)],
    )


GRID = np.arange(6, dtype=np.float32).reshape(2, 3)

CASES = [
    nested_loops(2, 4),
    nested_loops(5, 2),
    nested_loops(10, 1),
    nested_loops(30, 1),
    Case(
        "loop_in_loop_collects_in_both",
        rules=(11, "collected"),
        doc="The inner loop collects a row, the outer loop collects the rows: a multiplication table.",
        model="""
        main (int64 M, int64 N) => (int64[m,n] table) {
          table = Loop (M, "") <body = outer (int64 i, bool go) => (bool go, int64[n] row) {
            row = Loop (N, "") <body = inner (int64 j, bool go2) => (bool go2, int64 cell) { cell = Mul (i, j) }>
          }>
        }""",
        inputs={"M": i64(3), "N": i64(4)},
        expected=[np.multiply.outer(i64(range(3)), i64(range(4)))],
    ),
    Case(
        "inner_loop_starts_anew",
        rules=(11, 3),
        doc="The inner loop starts from its start in every outer iteration, also where it runs no iteration.",
        model="""
        main (int64 M) => (int64[n] sums, int64[n] lengths) <int64 start = {100}, int64 one = {1}> {
          sums, lengths = Loop (M, "") <body = outer (int64 i, bool go) => (bool go, int64 sum, int64 length) {
            trips = Sub (i, one)
            sum, steps = Loop (trips, "", start) <body = inner (int64 j, bool go2, int64 s)
                => (bool go2, int64 t, int64 at) {
              t = Add (s, j)
              at = Identity (j)
            }>
            length = Size (steps)
          }>
        }""",
        inputs={"M": i64(5)},
        expected=[i64([100, 100, 100, 101, 103]), i64([0, 0, 1, 2, 3])],
    ),
    Case(
        "inner_condition_ends_only_the_inner_loop",
        rules=(11, 4),
        doc="The inner loop ends by its own condition, the outer one by its trip count.",
        model="""
        main (int64 M) => (int64[n] counts) <bool yes = {1}, int64 zero = {0}, int64 one = {1}> {
          counts = Loop (M, yes) <body = outer (int64 i, bool go) => (bool go_on, int64 count) {
            go_on = Identity (yes)
            count = Loop ("", yes, zero) <body = inner (int64 j, bool go2, int64 c) => (bool more, int64 d) {
              d = Add (c, one)
              more = Less (j, i)
            }>
          }>
        }""",
        inputs={"M": i64(4)},
        expected=[i64([1, 2, 3, 4])],
    ),
    Case(
        "inner_result_ends_the_outer_loop",
        rules=(11, 4),
        doc="The outer condition is computed from the inner loop's result.",
        model="""
        main (int64 limit) => (int64[n] sums) <bool yes = {1}, int64 zero = {0}> {
          sums = Loop ("", yes) <body = outer (int64 i, bool go) => (bool go_on, int64 sum) {
            sum = Loop (i, "", zero) <body = inner (int64 j, bool go2, int64 s)
                => (bool go2, int64 t) { t = Add (s, i) }>
            go_on = Less (sum, limit)
          }>
        }""",
        inputs={"limit": i64(10)},
        expected=[i64([0, 1, 4, 9, 16])],
    ),
    Case(
        "inner_loop_over_growing_state",
        rules=(11, "carried"),
        doc="The outer loop carries a growing vector, and the inner loop's trip count is its length.",
        model="""
        main (int64 M, int64[k] x) => (int64[n] y) <int64 zero = {0}, int64[1] first = {0}> {
          y = Loop (M, "", x) <body = outer (int64 i, bool go, int64[k] v) => (bool go, int64[l] w) {
            length = Size (v)
            sum = Loop (length, "", zero) <body = inner (int64 j, bool go2, int64 s) => (bool go2, int64 t) {
              item = Gather (v, j)
              t = Add (s, item)
            }>
            row = Unsqueeze (sum, first)
            w = Concat <axis = 0> (v, row)
          }>
        }""",
        inputs={"M": i64(4), "x": i64([1])},
        expected=[i64([1, 1, 2, 4, 8])],
    ),
    Case(
        "scan_in_loop",
        rules=(11, 8),
        doc="Each outer iteration takes running sums of its own result.",
        model="""
        main (int64 M, float[T] x) => (float[T] y) <float zero = {0}> {
          y = Loop (M, "", x) <body = outer (int64 i, bool go, float[T] v) => (bool go, float[T] w) {
            last, w = Scan (zero, v) <num_scan_inputs = 1, body = inner (float s, float e) => (float t, float u) {
              t = Add (s, e)
              u = Identity (t)
            }>
          }>
        }""",
        inputs={"M": i64(2), "x": f32([1, 2, 3])},
        expected=[f32([1, 4, 10])],
    ),
    Case(
        "loop_in_scan",
        rules=(11, 8),
        doc="For each row a loop whose trip count is scanned too.",
        model="""
        main (float[T] x, int64[T] n) => (float[T] powers) <float one = {1}> {
          powers = Scan (x, n) <num_scan_inputs = 2, body = outer (float e, int64 k) => (float p) {
            p = Loop (k, "", one) <body = inner (int64 j, bool go, float v) => (bool go, float w) { w = Mul (v, e) }>
          }>
        }""",
        inputs={"x": f32([2, 3, 5]), "n": i64([3, 0, 2])},
        expected=[f32([8, 1, 25])],
        ambiguous=True,
    ),
    Case(
        "scan_in_scan_resets_its_state",
        rules=(11, 8),
        doc="The inner Scan starts from its start in each outer iteration.",
        model="""
        main (float[R,C] x) => (float[R,C] sums) <float zero = {0}> {
          sums = Scan (x) <num_scan_inputs = 1, body = outer (float[C] row) => (float[C] out) {
            last, out = Scan (zero, row) <num_scan_inputs = 1, body = inner (float s, float e) => (float t, float u) {
              t = Add (s, e)
              u = Identity (t)
            }>
          }>
        }""",
        inputs={"x": GRID},
        expected=[np.cumsum(GRID, axis=1)],
        ambiguous=True,
    ),
    Case(
        "scan_in_scan_with_captured_row",
        rules=(11, 8, "captured"),
        doc="All pairs: the inner Scan captures the outer row and a matrix of the main graph.",
        model="""
        main (float[R,3] x, float[S,3] z) => (float[R,S] dots) {
          dots = Scan (x) <num_scan_inputs = 1, body = outer (float[3] a) => (float[S] row) {
            row = Scan (z) <num_scan_inputs = 1, body = inner (float[3] b) => (float d) {
              m = Mul (a, b)
              d = ReduceSum <keepdims = 0> (m)
            }>
          }>
        }""",
        inputs={"x": GRID, "z": np.arange(12, dtype=np.float32).reshape(4, 3)},
        expected=[GRID @ np.arange(12, dtype=np.float32).reshape(4, 3).T],
        ambiguous=True,
    ),
    Case(
        "scan_in_scan_with_two_states_and_three_outputs",
        rules=(11, 8, "captured"),
        doc="The inner Scan has more outputs than states, and captures the outer state.",
        model="""
        main (float[R,C] x) => (float total, float[R,C] a, float[R,C] b, float[R] c) <float zero = {0}> {
          total, a, b, c = Scan (zero, x) <num_scan_inputs = 1,
            body = outer (float s, float[C] row) => (float t, float[C] oa, float[C] ob, float oc) {
              p, q, oa, ob = Scan (zero, zero, row) <num_scan_inputs = 1,
                body = inner (float u, float v, float e) => (float u2, float v2, float ea, float eb) {
                  u2 = Add (u, e)
                  v2 = Max (v, e)
                  ea = Add (u2, s)
                  eb = Mul (v2, s)
                }>
              t = Add (s, p)
              oc = Identity (q)
            }>
        }""",
        inputs={"x": GRID},
        expected=[
            f32(15),
            np.cumsum(GRID, axis=1) + f32([[0], [3]]),
            np.maximum.accumulate(GRID, axis=1) * f32([[0], [3]]),
            GRID.max(axis=1),
        ],
        ambiguous=True,
    ),
    Case(
        "loop_in_branch_in_loop",
        rules=(11, 15),
        doc="Odd outer iterations run an inner loop in a branch, even ones do not.",
        model="""
        main (int64 M) => (int64 y) <int64 zero = {0}, int64 two = {2}> {
          y = Loop (M, "", zero) <body = outer (int64 i, bool go, int64 v) => (bool go, int64 w) {
            rest = Mod (i, two)
            odd = Cast <to = 9> (rest)
            w = If (odd) <
              then_branch = t () => (int64 p) {
                p = Loop (i, "", v) <body = inner (int64 j, bool go2, int64 s) => (bool go2, int64 u) {
                  k = Add (s, i)
                  u = Add (k, j)
                }>
              },
              else_branch = e () => (int64 q) { q = Identity (v) }>
          }>
        }""",
        inputs={"M": i64(4)},
        expected=[i64(1 + 3 * 3 + 3)],
    ),
    Case(
        "branch_in_scan_in_loop",
        rules=(11, 15, 8),
        doc="Three levels: the branch's condition compares the scanned element with the outer iteration number.",
        model="""
        main (int64 M, int64[T] x) => (int64[n,T] all) <int64 zero = {0}> {
          all = Loop (M, "") <body = outer (int64 i, bool go) => (bool go, int64[T] row) {
            row = Scan (x) <num_scan_inputs = 1, body = inner (int64 e) => (int64 f) {
              less = Less (e, i)
              f = If (less) <
                then_branch = t () => (int64 p) { p = Sub (i, e) },
                else_branch = e2 () => (int64 q) { q = Identity (zero) }>
            }>
          }>
        }""",
        inputs={"M": i64(3), "x": i64([0, 1, 2])},
        expected=[i64([[0, 0, 0], [1, 0, 0], [2, 1, 0]])],
        ambiguous=True,
    ),
    Case(
        "loops_in_both_branches_with_different_results",
        rules=(11, 15, "collected"),
        doc="Both branches collect in a loop, with different lengths.",
        model="""
        main (bool c, int64 M, int64 N) => (int64[n] y) {
          y = If (c) <
            then_branch = t () => (int64[m] p) {
              p = Loop (M, "") <body = a (int64 i, bool go) => (bool go, int64 e) { e = Neg (i) }>
            },
            else_branch = e () => (int64[n] q) {
              q = Loop (N, "") <body = b (int64 i, bool go) => (bool go, int64 e) { e = Add (i, i) }>
            }>
        }""",
        inputs={"c": flags(False), "M": i64(2), "N": i64(4)},
        expected=[i64([0, 2, 4, 6])],
    ),
    Case(
        "loops_in_a_row",
        rules=(11,),
        doc="Three loops, each consuming what the one before collected and carried.",
        model="""
        main (int64 M) => (int64 y, int64[n] last) <int64 zero = {0}> {
          a, s = Loop (M, "", zero) <body = one (int64 i, bool go, int64 v) => (bool go, int64 w, int64 e) {
            w = Add (v, i)
            e = Mul (w, w)
          }>
          n = Size (s)
          b, t = Loop (n, "", a) <body = two (int64 j, bool go2, int64 v2) => (bool go2, int64 w2, int64 e2) {
            x = Gather (s, j)
            w2 = Add (v2, x)
            e2 = Identity (w2)
          }>
          y, last = Loop (n, "", b) <body = three (int64 k, bool go3, int64 v3) => (bool go3, int64 w3, int64 e3) {
            x3 = Gather (t, k)
            w3 = Sub (v3, x3)
            e3 = Identity (x3)
          }>
        }""",
        inputs={"M": i64(4)},
        expected=[i64(6 + 46 - (6 + 7 + 16 + 52)), i64([6, 7, 16, 52])],
    ),
]
