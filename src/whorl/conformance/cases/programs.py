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


def levenshtein(a: list[int], b: list[int]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            diagonal, row[j + 1] = row[j + 1], min(diagonal + (x != y), row[j] + 1, row[j + 1] + 1)
    return row[-1]


def attention(tokens: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Row t attends to the rows 0..t of tokens @ weights."""
    keys = tokens @ weights
    out = []
    for t, token in enumerate(tokens):
        scores = keys[: t + 1] @ token
        shares = np.exp(scores - scores.max())
        out.append((shares / shares.sum()) @ keys[: t + 1])
    return np.stack(out).astype(np.float32)


def lstm(x: np.ndarray, w: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    h = c = np.zeros(r.shape[0])
    rows = []
    for row in x.astype(np.float64):
        i, o, f, g = np.split(row @ w + h @ r, 4)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        rows.append(h)
    return f32(h), f32(c), f32(np.stack(rows))


def viterbi(start: np.ndarray, moves: np.ndarray, seen: np.ndarray) -> list[int]:
    score, back = start + seen[0], []
    for row in seen[1:]:
        options = score[:, None] + moves
        back.append(options.argmax(axis=0))
        score = options.max(axis=0) + row
    path = [int(score.argmax())]
    for step in reversed(back):
        path.append(int(step[path[-1]]))
    return path[::-1]


def mandelbrot(re: np.ndarray, im: np.ndarray, limit: int) -> np.ndarray:
    counts = np.zeros(re.shape, np.int64)
    for at in np.ndindex(re.shape):
        x, y = 0.0, 0.0
        for _ in range(limit):
            x, y = x * x - y * y + re[at], 2 * x * y + im[at]
            counts[at] += 1
            if x * x + y * y >= 4:
                break
    return counts


def average(signal: list[float]) -> np.ndarray:
    state, rows = 0.0, []
    for x in signal:
        state += (x - state) / 2
        rows.append(state)
    return f32(rows)


RANDOM = np.random.default_rng(7)
TOKENS, KEYS = f32(RANDOM.normal(size=(24, 4))), f32(RANDOM.normal(size=(4, 4)))
SIGNAL, W, R = f32(RANDOM.normal(size=(6, 3))), f32(RANDOM.normal(size=(3, 8))), f32(RANDOM.normal(size=(2, 8)))
START, MOVES, SEEN = (f32(RANDOM.integers(-9, 9, size)) for size in (3, (3, 3), (5, 3)))

COLLATZ = """
main (int64 n) => (int64 steps, int64 top) <bool yes = {1}, int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 three = {3}> {
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
        main () => (int32 b_out, int32[n] user_defined_vals) <int32 a = {3}, int32 b = {6}, bool keepgoing = {1}, int64 max_trip_count = {10}> {
          b_out, user_defined_vals = Loop (max_trip_count, keepgoing, b) <
            body = body_net (int64 i, bool keepgoing_in, int32 b_in) => (bool keepgoing_out, int32 b_next, int32 user_defined_val) {
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
          g, rest = Loop ("", yes, a, b) <body = step (int64 i, bool go, int64 p, int64 q) => (bool on, int64 q, int64 r) {
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
        main (int64[k] numbers) => (int64[p] primes) <bool yes = {1}, int64[1] none = {0}, int64[1] one = {1}, int64 zero = {0}> {
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
        main (int64[k] table, int64 wanted) => (int64 at) <bool yes = {1}, int64 zero = {0}, int64 one = {1}, int64 two = {2}> {
          n = Size (table)
          at, high = Loop ("", yes, zero, n) <body = step (int64 i, bool go, int64 lo, int64 hi) => (bool on, int64 lo1, int64 hi1) {
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
        "program_levenshtein",
        rules=("programs", 8, 11),
        doc="Edit distance of two number rows by a Scan in a Scan.",
        model="""
        main (int64[R] a, int64[C] b, int64[C] first) => (int64 distance) <int64 zero = {0}, int64 one = {1}, int64 minus = {-1}> {
          left, above = Scan (zero, first, a) <num_scan_inputs = 1,
            body = row (int64 corner, int64[C] up, int64 x) => (int64 corner1, int64[C] out) {
              corner1 = Add (corner, one)
              d, l, out = Scan (corner, corner1, up, b) <num_scan_inputs = 2,
                body = cell (int64 diagonal, int64 before, int64 top, int64 y) => (int64 top1, int64 value, int64 value1) {
                  same = Equal (x, y)
                  match = Where (same, zero, one)
                  replace = Add (diagonal, match)
                  delete = Add (top, one)
                  insert = Add (before, one)
                  value = Min (replace, delete, insert)
                  value1 = Identity (value)
                  top1 = Identity (top)
                }>
            }>
          distance = Gather (above, minus)
        }""",
        inputs={"a": i64([3, 1, 4, 1, 5, 9]), "b": i64([2, 7, 1, 8, 1, 9, 5]), "first": i64(range(1, 8))},
        expected=[i64(levenshtein([3, 1, 4, 1, 5, 9], [2, 7, 1, 8, 1, 9, 5]))],
    ),
    Case(
        "program_attention_over_growing_keys",
        rules=("programs", "carried", "collected"),
        doc="A decoder appends a key each iteration and attends to all of them: 24 steps.",
        model="""
        main (float[T,4] tokens, float[4,4] weights, float[z,4] none) => (float[T,4] out, float[k,4] keys) <int64[1] all = {0}> {
          shape = Shape <end = 1> (tokens)
          axis = Constant <value_ints = [0]> ()
          M = Squeeze (shape, axis)
          keys, out = Loop (M, "", none) <body = step (int64 i, bool go, float[z,4] past) => (bool go, float[k,4] now, float[4] row) {
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
        "program_lstm",
        rules=("programs", 8, "captured"),
        doc="An LSTM written as a Scan with captured weights.",
        model="""
        main (float[T,3] x, float[3,8] w, float[2,8] r) => (float[2] h, float[2] c, float[T,2] y) <float[2] zero = {0, 0}> {
          h, c, y = Scan (zero, zero, x) <num_scan_inputs = 1,
            body = cell (float[2] h0, float[2] c0, float[3] e) => (float[2] h1, float[2] c1, float[2] o1) {
              a = MatMul (e, w)
              b = MatMul (h0, r)
              g = Add (a, b)
              gi, go, gf, gc = Split <axis = 0> (g)
              i = Sigmoid (gi)
              o = Sigmoid (go)
              f = Sigmoid (gf)
              t = Tanh (gc)
              kept = Mul (f, c0)
              new = Mul (i, t)
              c1 = Add (kept, new)
              u = Tanh (c1)
              h1 = Mul (o, u)
              o1 = Identity (h1)
            }>
        }""",
        inputs={"x": SIGNAL, "w": W, "r": R},
        expected=list(lstm(SIGNAL, W, R)),
        tolerance=1e-5,
    ),
    Case(
        "program_viterbi",
        rules=("programs", 8),
        doc="Viterbi: a Scan forwards collects the best predecessors, a Scan backwards follows them.",
        model="""
        main (float[3] start, float[3,3] moves, float[T,3] seen) => (int64[T] path) <int64[1] axis = {0}, int64[1] one = {1}, int64[1] many = {1000}> {
          zero = Constant <value_int = 0> ()
          head = Gather <axis = 0> (seen, zero)
          tail = Slice (seen, one, many, axis)
          first = Add (start, head)
          score, back = Scan (first, tail) <num_scan_inputs = 1, body = forwards (float[3] s, float[3] e) => (float[3] t, int64[3] best) {
            column = Unsqueeze (s, one)
            options = Add (column, moves)
            best = ArgMax <axis = 0, keepdims = 0> (options)
            top = ReduceMax <axes = [0], keepdims = 0> (options)
            t = Add (top, e)
          }>
          last = ArgMax <axis = 0, keepdims = 0> (score)
          root, path_tail = Scan (last, back) <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
            body = backwards (int64 at, int64[3] row) => (int64 before, int64 now) {
              before = Gather (row, at)
              now = Identity (at)
            }>
          root1 = Unsqueeze (root, axis)
          path = Concat <axis = 0> (root1, path_tail)
        }""",
        inputs={"start": START, "moves": MOVES, "seen": SEEN},
        expected=[i64(viterbi(START, MOVES, SEEN))],
    ),
    Case(
        "program_mandelbrot",
        rules=("programs", 4, 11),
        doc="Escape times on a grid: a while loop inside two Scans.",
        model="""
        main (double[H] ys, double[W] xs) => (int64[H,W] counts) <bool yes = {1}, int64 limit = {30}, double zero = {0}, double two = {2}, double four = {4}, int64 none = {0}, int64 one = {1}> {
          counts = Scan (ys) <num_scan_inputs = 1, body = row (double y) => (int64[W] line) {
            line = Scan (xs) <num_scan_inputs = 1, body = cell (double x) => (int64 count) {
              a, b, count = Loop (limit, yes, zero, zero, none) <
                body = step (int64 i, bool go, double re, double im, int64 c) => (bool on, double re1, double im1, int64 c1) {
                  re2 = Mul (re, re)
                  im2 = Mul (im, im)
                  d = Sub (re2, im2)
                  re1 = Add (d, x)
                  twice = Mul (two, re)
                  m = Mul (twice, im)
                  im1 = Add (m, y)
                  p = Mul (re1, re1)
                  q = Mul (im1, im1)
                  size = Add (p, q)
                  on = Less (size, four)
                  c1 = Add (c, one)
                }>
            }>
          }>
        }""",
        inputs={"ys": f64([-1.0, -0.5, 0.0, 0.25]), "xs": f64([-2.0, -1.0, -0.5, 0.0, 0.3])},
        expected=[mandelbrot(*reversed(np.meshgrid([-1.0, -0.5, 0.0, 0.25], [-2.0, -1.0, -0.5, 0.0, 0.3], indexing="ij")), 30)],
    ),
    Case(
        "program_cellular_automaton",
        rules=("programs", "collected"),
        doc="Rule 30: each row is computed from the row before, all rows are collected.",
        model="""
        main (int64 M, bool[k] start) => (bool[n,k] rows) <int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {-1}, int64[1] d = {1000}> {
          last, rows = Loop (M, "", start) <body = step (int64 i, bool go, bool[k] v) => (bool go, bool[k] w, bool[k] v) {
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
        main (int64 n, int64[2,2] base, int64[2,2] unit) => (int64[2,2] power) <bool yes = {1}, int64 zero = {0}, int64 two = {2}> {
          exponent, square, power = Loop ("", yes, n, base, unit) <
            body = step (int64 i, bool go, int64 e, int64[2,2] s, int64[2,2] p) => (bool on, int64 e1, int64[2,2] s1, int64[2,2] p1) {
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
        doc="Words are packed into lines of at most ten characters' worth of given widths; lines are a sequence of strings.",
        opset=20,
        model="""
        main (string[k] table, int64[k] widths) => (seq(string) lines, string rest) <int64 zero = {0}, int64 ten = {10}, string blank = {""}> {
          M = Size (table)
          none = SequenceEmpty <dtype = 8> ()
          lines, rest, width = Loop (M, "", none, blank, zero) <
            body = step (int64 i, bool go, seq(string) s, string line, int64 used) => (bool go, seq(string) s1, string line1, int64 used1) {
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
    Case(
        "program_exponential_moving_average",
        rules=("programs", 8),
        doc="Forward and backward averages of a signal by one Scan with two states.",
        model="""
        main (float[T] x) => (float[T] forward, float[T] backward) <float zero = {0}, float half = {0.5}> {
          a, b, forward, backward = Scan (zero, zero, x, x) <num_scan_inputs = 2, scan_input_directions = [0, 1],
            scan_output_directions = [0, 1], body = step (float s, float t, float e, float f) => (float s1, float t1, float o, float p) {
              d = Sub (e, s)
              m = Mul (d, half)
              s1 = Add (s, m)
              d2 = Sub (f, t)
              m2 = Mul (d2, half)
              t1 = Add (t, m2)
              o = Identity (s1)
              p = Identity (t1)
            }>
        }""",
        inputs={"x": f32([8, 4, 2, 16])},
        expected=[average([8, 4, 2, 16]), average([16, 2, 4, 8])[::-1]],
    ),
]
