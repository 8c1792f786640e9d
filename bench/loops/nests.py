"""Loops inside loops: Mandelbrot pixels, Viterbi paths, a table of edit distances."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from loops.workload import Make, Workload, count, model

ASTRAY = 0.02
PIXELS = """mandelbrot (float[{p}] cr, float[{p}] ci, int64 most, int64 pixels) => (int64[q] steps) {{
  yes = Constant <value = bool {{1}}> ()
  zero = Constant <value = float {{0.0}}> ()
  two = Constant <value = float {{2.0}}> ()
  four = Constant <value = float {{4.0}}> ()
  none = Constant <value = int64 {{0}}> ()
  one = Constant <value = int64 {{1}}> ()
  steps = Loop (pixels, yes) <body = pixel (int64 p, bool on) => (bool more, int64 taken) {{
    more = Identity (on)
    x = Gather <axis = 0> (cr, p)
    y = Gather <axis = 0> (ci, p)
    re, im, taken = Loop (most, yes, zero, zero, none) <body = step (int64 i, bool go, float a, float b, int64 k)
      => (bool inside, float na, float nb, int64 nk) {{
      a2 = Mul (a, a)
      b2 = Mul (b, b)
      gap = Sub (a2, b2)
      na = Add (gap, x)
      ab = Mul (a, b)
      twice = Mul (ab, two)
      nb = Add (twice, y)
      na2 = Mul (na, na)
      nb2 = Mul (nb, nb)
      size = Add (na2, nb2)
      inside = LessOrEqual (size, four)
      nk = Add (k, one)
    }}>
  }}>
}}"""
PLANE = """mandelbrot (float[{p}] cr, float[{p}] ci, int64 most) => (int64[{p}] steps) {{
  yes = Constant <value = bool {{1}}> ()
  two = Constant <value = float {{2.0}}> ()
  four = Constant <value = float {{4.0}}> ()
  zero = Sub (cr, cr)
  none = Cast <to = 7> (zero)
  re, im, steps = Loop (most, yes, zero, zero, none) <body = step (int64 i, bool on, float[{p}] a, float[{p}] b,
    int64[{p}] k) => (bool more, float[{p}] na, float[{p}] nb, int64[{p}] nk) {{
    more = Identity (on)
    a2 = Mul (a, a)
    b2 = Mul (b, b)
    size = Add (a2, b2)
    inside = LessOrEqual (size, four)
    gap = Sub (a2, b2)
    moved = Add (gap, cr)
    ab = Mul (a, b)
    twice = Mul (ab, two)
    turned = Add (twice, ci)
    na = Where (inside, moved, a)
    nb = Where (inside, turned, b)
    one = Cast <to = 7> (inside)
    nk = Add (k, one)
  }}>
}}"""
VITERBI = """viterbi (float[{s}] p0, float[{t}, {s}] scores) => (int64[{t}] path, float[{s}] p_last) {{
  last = Constant <value = int64[1] {{1}}> ()
  p_last, pointers = Scan (p0, scores) <num_scan_inputs = 1, body = forward (float[{s}] p, float[{s}] e)
    => (float[{s}] p_out, int64[{s}] from) {{
    column = Unsqueeze (p, last)
    s = Add (column, moves)
    best = ReduceMax <axes = [0], keepdims = 0> (s)
    from = ArgMax <axis = 0, keepdims = 0> (s)
    p_out = Add (best, e)
  }}>
  end = ArgMax <axis = 0, keepdims = 0> (p_last)
  first, path = Scan (end, pointers) <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
    body = backward (int64 k, int64[{s}] row) => (int64 before, int64 here) {{
    here = Identity (k)
    before = Gather <axis = 0> (row, k)
  }}>
}}"""
TABLE = """levenshtein (int64[{r}] s, int64[{c}] t, int64[{c}] row0, int64[{c}] diagonal0) => (int64[{c}] row) {{
  row, diagonal_last, count = Scan (row0, diagonal0, zero, s) <num_scan_inputs = 1, body = line (int64[{c}] up,
    int64[{c}] diagonal, int64 left0, int64 letter) => (int64[{c}] current, int64[{c}] next, int64 left1) {{
    left1 = Add (left0, one)
    left_last, current = Scan (left1, up, diagonal, t) <num_scan_inputs = 3, body = cell (int64 left, int64 u, int64 d,
      int64 other) => (int64 left_out, int64 y) {{
      same = Equal (letter, other)
      cost = Where (same, zero, one)
      replaced = Add (d, cost)
      nearest = Min (u, left)
      moved = Add (nearest, one)
      left_out = Min (replaced, moved)
      y = Identity (left_out)
    }}>
    first = Unsqueeze (left1, axis)
    head = Slice (current, start, stop)
    next = Concat <axis = 0> (first, head)
  }}>
}}"""


def plane(side: int) -> dict[str, np.ndarray]:
    across, down = (np.linspace(*ends, side).astype(np.float32) for ends in ((-2, 0.6), (-1.2, 1.2)))
    return {"cr": np.tile(across, side), "ci": np.repeat(down, side)}


def mandelbrot(side: int = 64, most: int = 100) -> Workload:
    points = plane(side)
    feeds = points | {"most": count(most), "pixels": count(side * side)}
    a = b = np.zeros(side * side, np.float32)
    steps, inside = 0, np.ones(side * side, bool)
    for _ in range(most):
        steps += int(inside.sum())
        a, b = np.where(inside, a * a - b * b + points["cr"], a), np.where(inside, 2 * a * b + points["ci"], b)
        inside &= a * a + b * b <= 4
    data = model(PIXELS.format(p=side * side))
    return Workload("W7 mandelbrot", data, feeds, steps, "mandelbrot", limits={"c": 2}, astray=ASTRAY)


def mandelbrot_plane(side: int = 64, most: int = 100) -> Workload:
    feeds = plane(side) | {"most": count(most)}
    data = model(PLANE.format(p=side * side))
    return Workload("W7 mandelbrot plane", data, feeds, most, "plane", limits={"c": 2}, astray=ASTRAY)


def viterbi(t: int, s: int) -> Workload:
    rng = np.random.default_rng(0)
    moves, scores = (np.log(rng.dirichlet(np.ones(s), n)).astype(np.float32) for n in (s, t))
    feeds = {"p0": np.full(s, -np.log(s), np.float32), "scores": scores}
    data = model(VITERBI.format(t=t, s=s), {"moves": moves})
    return Workload(f"W7 viterbi states={s}", data, feeds, t, "viterbi", {"moves": moves}, {"c": 2})


def levenshtein(r: int = 64, c: int = 64) -> Workload:
    rng = np.random.default_rng(0)
    feeds = {"s": rng.integers(0, 4, r), "t": rng.integers(0, 4, c), "row0": np.arange(1, c + 1)}
    numbers = {"zero": count(0), "one": count(1), "axis": np.array([0]), "start": np.array([0])}
    data = model(TABLE.format(r=r, c=c), numbers | {"stop": np.array([c - 1])})
    feeds["diagonal0"] = np.arange(c)
    return Workload("W7 levenshtein", data, feeds, r * c, "levenshtein", limits={"c": 2})


def workloads() -> Iterator[tuple[str, Make]]:
    yield "W7 mandelbrot", mandelbrot
    yield "W7 mandelbrot plane", mandelbrot_plane
    yield "W7 viterbi states=32", lambda: viterbi(500, 32)
    yield "W7 viterbi states=128", lambda: viterbi(500, 128)
    yield "W7 levenshtein", levenshtein
