"""Whole programs written with loops: several rules at work together."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import f32, f64, i64, words


def collatz(n: int) -> tuple[int, list[int]]:
    steps, seen = 0, []
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
        seen.append(n)
    return steps, seen


def attention(tokens: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Row t attends to the rows 0..t of tokens @ weights."""
    keys = tokens @ weights
    out = []
    for t, token in enumerate(tokens):
        scores = keys[: t + 1] @ token
        shares = np.exp(scores - scores.max())
        out.append((shares / shares.sum()) @ keys[: t + 1])
    return np.stack(out).astype(np.float32)


RANDOM = np.random.default_rng(7)
TOKENS, KEYS = f32(RANDOM.normal(size=(24, 4))), f32(RANDOM.normal(size=(4, 4)))

COLLATZ = """
main (int64 n) => (int64 steps, int64 top)
  <bool yes = {1}, int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 three = {3}> {
  last, steps, top = Loop ("", yes, n, zero, n) <
    body = step (int64 i, bool go, int64 v, int64 s, int64 t) => (bool on, int64 w, int64 s1, int64 t1) {
      rest = Mod (v, two)
      odd = Cast <to = 9> (rest)
      w = If (odd) <
        then_branch = a () => (int64 p) {
          m = Mul (v, three)
          p = Add (m, one)
        },
        else_branch = b () => (int64 q) { q = Div (v, two) }>
      s1 = Add (s, one)
      t1 = Max (t, w)
      on = Greater (w, one)
    }>
}"""


def collatz_case(n: int) -> Case:
    steps, seen = collatz(n)
    return Case(
        f"program_collatz_{n}",
        rules=("programs", 4, 15),
        doc=f"Collatz steps from {n} to 1: {steps}, the largest number on the way is {max(seen)}.",
        model=COLLATZ,
        inputs={"n": i64(n)},
        expected=[i64(steps), i64(max([n, *seen]))],
    )


CASES = [
    collatz_case(27),
    collatz_case(837799),
    Case(
        "program_specification_example",
        rules=("programs", 4, 5, "captured"),
        doc="The sample of the ONNX specification of Loop: b = 3 - b while 3 + b > 3 - b, at most 10 times.",
        model="""
        main () => (int32 b_out, int32[n] user_defined_vals)
          <int32 a = {3}, int32 b = {6}, bool keepgoing = {1}, int64 max_trip_count = {10}> {
          b_out, user_defined_vals = Loop (max_trip_count, keepgoing, b) <
            body = body_net (int64 i, bool keepgoing_in, int32 b_in)
                => (bool keepgoing_out, int32 b_next, int32 user_defined_val) {
              my_local = Add (a, b_in)
              b_next = Sub (a, b_in)
              keepgoing_out = Greater (my_local, b_next)
              user_defined_val = Add (b_in, b_in)
            }>
        }""",
        expected=[np.asarray(6, np.int32), np.asarray([12, -6], np.int32)],
    ),
    Case(
        "program_greatest_common_divisor",
        rules=("programs", 5),
        doc="(a, b) -> (b, a mod b) while b is not 0.",
        model="""
        main (int64 a, int64 b) => (int64 g) <bool yes = {1}, int64 zero = {0}> {
          g, rest = Loop ("", yes, a, b) <body = step (int64 i, bool go, int64 p, int64 q)
              => (bool on, int64 q, int64 r) {
            r = Mod (p, q)
            on = Greater (r, zero)
          }>
        }""",
        inputs={"a": i64(3528), "b": i64(3780)},
        expected=[i64(252)],
    ),
    Case(
        "program_newton",
        rules=("programs", 4),
        doc="Square root by Newton's method in double, until the square is within 1e-12.",
        model="""
        main (double a) => (double x) <bool yes = {1}, double half = {0.5}, double small = {1e-12}> {
          x = Loop ("", yes, a) <body = step (int64 i, bool go, double v) => (bool on, double w) {
            d = Div (a, v)
            s = Add (v, d)
            w = Mul (s, half)
            q = Mul (w, w)
            e = Sub (q, a)
            m = Abs (e)
            on = Greater (m, small)
          }>
        }""",
        inputs={"a": f64(2)},
        expected=[f64(np.sqrt(2))],
        tolerance=1e-12,
    ),
    Case(
        "program_sieve",
        rules=("programs", 11, "carried"),
        doc="The primes below 50: the outer loop keeps those numbers that its first element does not divide.",
        model="""
        main (int64[k] numbers) => (int64[p] primes)
          <bool yes = {1}, int64[1] none = {0}, int64[1] one = {1}, int64 zero = {0}> {
          start = Slice (numbers, none, none)
          rest, primes = Loop ("", yes, numbers, start) <
            body = step (int64 i, bool go, int64[k] v, int64[l] found) => (bool on, int64[m] w, int64[n] more) {
              head = Slice (v, none, one)
              more = Concat <axis = 0> (found, head)
              left = Mod (v, head)
              keep = Cast <to = 9> (left)
              w = Compress <axis = 0> (v, keep)
              size = Size (w)
              on = Greater (size, zero)
            }>
        }""",
        inputs={"numbers": i64(range(2, 50))},
        expected=[i64([p for p in range(2, 50) if all(p % q for q in range(2, p))])],
    ),
    Case(
        "program_bubble_sort",
        rules=("programs", 11, 5),
        doc="Bubble sort: the inner loop swaps neighbours with ScatterElements in a branch.",
        model="""
        main (float[k] x) => (float[k] y) <int64 one = {1}, int64[1] flat = {-1}> {
          n = Size (x)
          y = Loop (n, "", x) <body = outer (int64 i, bool go, float[k] v) => (bool go, float[k] w) {
            rest = Sub (n, i)
            trips = Sub (rest, one)
            w = Loop (trips, "", v) <body = inner (int64 j, bool go2, float[k] p) => (bool go2, float[k] q) {
              next = Add (j, one)
              a = Gather (p, j)
              b = Gather (p, next)
              wrong = Greater (a, b)
              q = If (wrong) <
                then_branch = t () => (float[k] swapped) {
                  j1 = Reshape (j, flat)
                  n1 = Reshape (next, flat)
                  at = Concat <axis = 0> (j1, n1)
                  a1 = Reshape (a, flat)
                  b1 = Reshape (b, flat)
                  pair = Concat <axis = 0> (b1, a1)
                  swapped = ScatterElements <axis = 0> (p, at, pair)
                },
                else_branch = e () => (float[k] same) { same = Identity (p) }>
            }>
          }>
        }""",
        inputs={"x": f32([5, 1, 4, 2, 8, 0, 2])},
        expected=[f32([0, 1, 2, 2, 4, 5, 8])],
    ),
    Case(
        "program_binary_search",
        rules=("programs", 4, 15),
        doc="Binary search in a sorted vector.",
        model="""
        main (int64[k] table, int64 wanted) => (int64 at)
          <bool yes = {1}, int64 zero = {0}, int64 one = {1}, int64 two = {2}> {
          n = Size (table)
          at, high = Loop ("", yes, zero, n) <body = step (int64 i, bool go, int64 lo, int64 hi)
              => (bool on, int64 lo1, int64 hi1) {
            sum = Add (lo, hi)
            middle = Div (sum, two)
            found = Gather (table, middle)
            less = Less (found, wanted)
            after = Add (middle, one)
            lo1, hi1 = If (less) <
              then_branch = t () => (int64 p1, int64 p2) {
                p1 = Identity (after)
                p2 = Identity (hi)
              },
              else_branch = e () => (int64 q1, int64 q2) {
                q1 = Identity (lo)
                q2 = Identity (middle)
              }>
            on = Less (lo1, hi1)
          }>
        }""",
        inputs={"table": i64([1, 3, 4, 9, 16, 20, 31]), "wanted": i64(16)},
        expected=[i64(4)],
    ),
    Case(
        "program_attention_over_growing_keys",
        rules=("programs", "carried", "collected"),
        doc="A decoder appends a key each iteration and attends to all of them: 24 steps.",
        model="""
        main (float[T,4] tokens, float[4,4] weights, float[z,4] none) => (float[T,4] out, float[k,4] keys)
          <int64[1] all = {0}> {
          shape = Shape <end = 1> (tokens)
          axis = Constant <value_ints = [0]> ()
          M = Squeeze (shape, axis)
          keys, out = Loop (M, "", none) <body = step (int64 i, bool go, float[z,4] past)
              => (bool go, float[k,4] now, float[4] row) {
            token = Gather <axis = 0> (tokens, i)
            key = MatMul (token, weights)
            line = Unsqueeze (key, all)
            now = Concat <axis = 0> (past, line)
            scores = MatMul (now, token)
            shares = Softmax <axis = 0> (scores)
            row = MatMul (shares, now)
          }>
        }""",
        inputs={"tokens": TOKENS, "weights": KEYS, "none": np.zeros((0, 4), np.float32)},
        expected=[attention(TOKENS, KEYS), TOKENS @ KEYS],
        tolerance=1e-5,
    ),
    Case(
        "program_cellular_automaton",
        rules=("programs", "collected"),
        doc="Rule 30: each row is computed from the row before, all rows are collected.",
        model="""
        main (int64 M, bool[k] start) => (bool[n,k] rows)
          <int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {-1}, int64[1] d = {1000}> {
          last, rows = Loop (M, "", start) <body = step (int64 i, bool go, bool[k] v)
              => (bool go, bool[k] w, bool[k] v) {
            t1 = Slice (v, c, d)
            h1 = Slice (v, a, c)
            left = Concat <axis = 0> (t1, h1)
            t2 = Slice (v, b, d)
            h2 = Slice (v, a, b)
            right = Concat <axis = 0> (t2, h2)
            either = Or (v, right)
            w = Xor (left, either)
          }>
        }""",
        inputs={"M": i64(3), "start": np.array([0, 0, 0, 1, 0, 0, 0], bool)},
        expected=[np.array([[0, 0, 0, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0], [0, 1, 1, 0, 0, 1, 0]], bool)],
    ),
    Case(
        "program_matrix_power",
        rules=("programs", 5, 15),
        doc="Fibonacci numbers by squaring an int64 matrix: the exponent's bits decide in a branch.",
        model="""
        main (int64 n, int64[2,2] base, int64[2,2] unit) => (int64[2,2] power)
          <bool yes = {1}, int64 zero = {0}, int64 two = {2}> {
          exponent, square, power = Loop ("", yes, n, base, unit) <
            body = step (int64 i, bool go, int64 e, int64[2,2] s, int64[2,2] p)
                => (bool on, int64 e1, int64[2,2] s1, int64[2,2] p1) {
              rest = Mod (e, two)
              odd = Cast <to = 9> (rest)
              p1 = If (odd) <
                then_branch = t () => (int64[2,2] q) { q = MatMul (p, s) },
                else_branch = f () => (int64[2,2] r) { r = Identity (p) }>
              s1 = MatMul (s, s)
              e1 = Div (e, two)
              on = Greater (e1, zero)
            }>
        }""",
        inputs={"n": i64(80), "base": i64([[1, 1], [1, 0]]), "unit": i64([[1, 0], [0, 1]])},
        expected=[i64([[37889062373143906, 23416728348467685], [23416728348467685, 14472334024676221]])],
    ),
    Case(
        "program_words_to_lines",
        rules=("programs", 10, 15),
        doc="Words of given widths are packed into lines of at most ten; the lines are a sequence of strings.",
        opset=20,
        model="""
        main (string[k] table, int64[k] widths) => (seq(string) lines, string rest)
          <int64 zero = {0}, int64 ten = {10}, string blank = {""}> {
          M = Size (table)
          none = SequenceEmpty <dtype = 8> ()
          lines, rest, width = Loop (M, "", none, blank, zero) <
            body = step (int64 i, bool go, seq(string) s, string line, int64 used)
                => (bool go, seq(string) s1, string line1, int64 used1) {
              word = Gather (table, i)
              need = Gather (widths, i)
              sum = Add (used, need)
              full = Greater (sum, ten)
              s1, line1, used1 = If (full) <
                then_branch = t () => (seq(string) a1, string a2, int64 a3) {
                  a1 = SequenceInsert (s, line)
                  a2 = Identity (word)
                  a3 = Identity (need)
                },
                else_branch = e () => (seq(string) b1, string b2, int64 b3) {
                  b1 = Identity (s)
                  b2 = StringConcat (line, word)
                  b3 = Identity (sum)
                }>
            }>
        }""",
        inputs={"table": words(["alpha", "beta", "gamma", "de", "epsilon"]), "widths": i64([5, 4, 5, 2, 7])},
        expected=[[words("alphabeta"), words("gammade")], words("epsilon")],
    ),
]
