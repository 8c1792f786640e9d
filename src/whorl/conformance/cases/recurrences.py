"""Whole programs written with Scan: recurrences over rows."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import f32, f64, i64


def levenshtein(a: list[int], b: list[int]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            diagonal, row[j + 1] = row[j + 1], min(diagonal + (x != y), row[j] + 1, row[j + 1] + 1)
    return row[-1]


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


def mandelbrot(ys: list[float], xs: list[float], limit: int) -> np.ndarray:
    counts = np.zeros((len(ys), len(xs)), np.int64)
    for row, column in np.ndindex(counts.shape):
        re, im = 0.0, 0.0
        for _ in range(limit):
            re, im = re * re - im * im + xs[column], 2 * re * im + ys[row]
            counts[row, column] += 1
            if re * re + im * im >= 4:
                break
    return counts


def average(signal: list[float]) -> np.ndarray:
    state, rows = 0.0, []
    for x in signal:
        state += (x - state) / 2
        rows.append(state)
    return f32(rows)


YS, XS = [-1.0, -0.5, 0.0, 0.25], [-2.0, -1.0, -0.5, 0.0, 0.3]
RANDOM = np.random.default_rng(7)
SIGNAL, W, R = f32(RANDOM.normal(size=(6, 3))), f32(RANDOM.normal(size=(3, 8))), f32(RANDOM.normal(size=(2, 8)))
START, MOVES, SEEN = (f32(RANDOM.integers(-9, 9, size)) for size in (3, (3, 3), (5, 3)))


CASES = [
    Case(
        "program_levenshtein",
        rules=("programs", 8, 11),
        doc="Edit distance of two number rows by a Scan in a Scan.",
        model="""
        main (int64[R] a, int64[C] b, int64[C] first) => (int64 distance)
          <int64 zero = {0}, int64 one = {1}, int64 minus = {-1}> {
          left, above = Scan (zero, first, a) <num_scan_inputs = 1,
            body = row (int64 corner, int64[C] up, int64 x) => (int64 corner1, int64[C] out) {
              corner1 = Add (corner, one)
              d, l, out = Scan (corner, corner1, up, b) <num_scan_inputs = 2,
                body = cell (int64 diagonal, int64 before, int64 top, int64 y)
                    => (int64 top1, int64 value, int64 value1) {
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
        ambiguous=True,
    ),
    Case(
        "program_lstm",
        rules=("programs", 8, "captured"),
        doc="An LSTM written as a Scan with captured weights.",
        model="""
        main (float[T,3] x, float[3,8] w, float[2,8] r) => (float[2] h, float[2] c, float[T,2] y)
          <float[2] zero = {0, 0}> {
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
        ambiguous=True,
    ),
    Case(
        "program_viterbi",
        rules=("programs", 8),
        doc="Viterbi: a Scan forwards collects the best predecessors, a Scan backwards follows them.",
        model="""
        main (float[3] start, float[3,3] moves, float[T,3] seen) => (int64[T] path)
          <int64[1] axis = {0}, int64[1] one = {1}, int64[1] many = {1000}> {
          zero = Constant <value_int = 0> ()
          head = Gather <axis = 0> (seen, zero)
          tail = Slice (seen, one, many, axis)
          first = Add (start, head)
          score, back = Scan (first, tail) <num_scan_inputs = 1, body = forwards (float[3] s, float[3] e)
              => (float[3] t, int64[3] best) {
            column = Unsqueeze (s, one)
            options = Add (column, moves)
            best = ArgMax <axis = 0, keepdims = 0> (options)
            top = ReduceMax <axes = [0], keepdims = 0> (options)
            t = Add (top, e)
          }>
          last = ArgMax <axis = 0, keepdims = 0> (score)
          root, path_tail = Scan (last, back) <
            num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
            body = backwards (int64 at, int64[3] row) => (int64 before, int64 now) {
              before = Gather (row, at)
              now = Identity (at)
            }>
          root1 = Unsqueeze (root, axis)
          path = Concat <axis = 0> (root1, path_tail)
        }""",
        inputs={"start": START, "moves": MOVES, "seen": SEEN},
        expected=[i64(viterbi(START, MOVES, SEEN))],
        ambiguous=True,
    ),
    Case(
        "program_mandelbrot",
        rules=("programs", 4, 11),
        doc="Escape times on a grid: a while loop inside two Scans.",
        model="""
        main (double[H] ys, double[W] xs)
          => (int64[H,W] counts)
          <bool yes = {1}, int64 limit = {30}, double zero = {0}, double two = {2}, double four = {4},
            int64 none = {0}, int64 one = {1}> {
          counts = Scan (ys) <num_scan_inputs = 1, body = row (double y) => (int64[W] line) {
            line = Scan (xs) <num_scan_inputs = 1, body = cell (double x) => (int64 count) {
              a, b, count = Loop (limit, yes, zero, zero, none) <
                body = step (int64 i, bool go, double re, double im, int64 c)
                    => (bool on, double re1, double im1, int64 c1) {
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
        inputs={"ys": f64(YS), "xs": f64(XS)},
        expected=[mandelbrot(YS, XS, 30)],
        ambiguous=True,
    ),
    Case(
        "program_exponential_moving_average",
        rules=("programs", 8),
        doc="Forward and backward averages of a signal by one Scan with two states.",
        model="""
        main (float[T] x) => (float[T] forward, float[T] backward) <float zero = {0}, float half = {0.5}> {
          a, b, forward, backward = Scan (zero, zero, x, x) <num_scan_inputs = 2, scan_input_directions = [0, 1],
            scan_output_directions = [0, 1], body = step (float s, float t, float e, float f)
                => (float s1, float t1, float o, float p) {
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
        ambiguous=True,
    ),
]
