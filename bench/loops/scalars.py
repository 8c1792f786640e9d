"""Loops over single numbers: the specification's own example, Newton, Collatz, branches, words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from loops.workload import Make, Workload, count, model

SPEC = """spec (int64 n, int32 a, int32 b) => (int32 last, int32[k] vals) {
  yes = Constant <value = bool {1}> ()
  last, vals = Loop (n, yes, b) <body = step (int64 i, bool on, int32 b_in) => (bool more, int32 b_out, int32 v) {
    mine = Add (a, b_in)
    b_out = Sub (a, b_in)
    more = Greater (mine, b_out)
    v = Add (b_in, b_in)
  }>
}"""
NEWTON = """newton (int64 n, float a, float x0) => (float x) {
  yes = Constant <value = bool {1}> ()
  half = Constant <value = float {0.5}> ()
  least = Constant <value = float {-1.0}> ()
  x = Loop (n, yes, x0) <body = step (int64 i, bool on, float old) => (bool more, float new) {
    q = Div (a, old)
    s = Add (old, q)
    new = Mul (s, half)
    square = Mul (new, new)
    gap = Sub (square, a)
    size = Abs (gap)
    more = Greater (size, least)
  }>
}"""
COLLATZ = """collatz (int64 n, int64 first) => (int64 last, int64 odd) {
  yes = Constant <value = bool {1}> ()
  zero = Constant <value = int64 {0}> ()
  one = Constant <value = int64 {1}> ()
  two = Constant <value = int64 {2}> ()
  three = Constant <value = int64 {3}> ()
  last, odd = Loop (n, yes, first, zero) <body = step (int64 i, bool on, int64 x, int64 seen)
    => (bool more, int64 y, int64 now) {
    more = Identity (on)
    rest = Mod (x, two)
    even = Equal (rest, zero)
    y, now = If (even) <
      then_branch = halve () => (int64 half, int64 same) {
        half = Div (x, two)
        same = Identity (seen)
      },
      else_branch = triple () => (int64 next, int64 up) {
        thrice = Mul (x, three)
        next = Add (thrice, one)
        up = Add (seen, one)
      }>
  }>
}"""
BRANCHES = """branches (int64 n, int64[{n}] ops) => (int64 ticks, int64 depth, int64 deepest) {{
  yes = Constant <value = bool {{1}}> ()
  zero = Constant <value = int64 {{0}}> ()
  one = Constant <value = int64 {{1}}> ()
  ticks, depth, deepest = Loop (n, yes, zero, zero, zero) <body = step (int64 i, bool on, int64 t, int64 d, int64 m)
    => (bool more, int64 t_out, int64 d_out, int64 m_out) {{
    more = Identity (on)
    op = Gather <axis = 0> (ops, i)
    pushes = Equal (op, zero)
    t_out, d_out, m_out = If (pushes) <
      then_branch = push () => (int64 t1, int64 d1, int64 m1) {{
        t1 = Identity (t)
        d1 = Add (d, one)
        m1 = Max (m, d1)
      }},
      else_branch = other () => (int64 t2, int64 d2, int64 m2) {{
        pops = Equal (op, one)
        t2, d2, m2 = If (pops) <
          then_branch = pop () => (int64 t3, int64 d3, int64 m3) {{
            t3 = Identity (t)
            less = Sub (d, one)
            d3 = Max (less, zero)
            m3 = Identity (m)
          }},
          else_branch = tick () => (int64 t4, int64 d4, int64 m4) {{
            t4 = Add (t, one)
            d4 = Identity (d)
            m4 = Identity (m)
          }}>
      }}>
  }}>
}}"""
WORDS = """words (int64 n, string[{n}] words, string target) => (int64 found) {{
  yes = Constant <value = bool {{1}}> ()
  zero = Constant <value = int64 {{0}}> ()
  one = Constant <value = int64 {{1}}> ()
  found = Loop (n, yes, zero) <body = step (int64 i, bool on, int64 seen) => (bool more, int64 now) {{
    more = Identity (on)
    word = Gather <axis = 0> (words, i)
    hit = Equal (word, target)
    now = If (hit) <
      then_branch = same () => (int64 up) {{ up = Add (seen, one) }},
      else_branch = other () => (int64 kept) {{ kept = Identity (seen) }}>
  }}>
}}"""


def spec(steps: int) -> Workload:
    feeds = {"n": count(steps), "a": np.array(3, np.int32), "b": np.array(1, np.int32)}
    limits = {"c": 2, "onnxruntime": 1 / 1000} if steps == 100_000 else {"c": 2}
    return Workload(f"W1 spec n={steps}", model(SPEC), feeds, steps, "spec", limits=limits)


def newton(steps: int) -> Workload:
    feeds = {"n": count(steps), "a": np.array(2, np.float32), "x0": np.array(1, np.float32)}
    return Workload(f"W1 newton n={steps}", model(NEWTON), feeds, steps, "newton", limits={"c": 2})


def collatz(steps: int) -> Workload:
    feeds = {"n": count(steps), "first": count(837799)}
    return Workload(f"W1 collatz n={steps}", model(COLLATZ), feeds, steps, "collatz", limits={"c": 2})


def branches(steps: int) -> Workload:
    feeds = {"n": count(steps), "ops": np.random.default_rng(0).integers(0, 3, steps)}
    text = BRANCHES.format(n=steps)
    return Workload(f"W8 branches n={steps}", model(text), feeds, steps, "branches", limits={"c": 2})


def words(steps: int) -> Workload:
    vocabulary = np.array(["the", "cat", "sat", "on", "mat"], object)
    chosen = vocabulary[np.random.default_rng(0).integers(0, 5, steps)]
    feeds = {"n": count(steps), "words": chosen, "target": np.array("the", object)}
    data = model(WORDS.format(n=steps), opset=20, ir=9)
    return Workload(f"W8 words n={steps}", data, feeds, steps, "words", limits={"onnxruntime": 1})


def workloads() -> Iterator[tuple[str, Make]]:
    for steps in (1000, 10_000, 100_000, 1_000_000):
        yield f"W1 spec n={steps}", lambda steps=steps: spec(steps)
    for steps in (1000, 10_000):
        yield f"W1 newton n={steps}", lambda steps=steps: newton(steps)
        yield f"W1 collatz n={steps}", lambda steps=steps: collatz(steps)
    yield "W8 branches n=10000", lambda: branches(10_000)
    yield "W8 words n=2000", lambda: words(2000)
