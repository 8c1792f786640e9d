"""Carried values: all change together, and their shape and rank may change."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import f32, flags, i64

SWAP = """
main (int64 M, float[2] a, float[2] b) => (float[2] x, float[2] y) {
  x, y = Loop (M, "", a, b) <body = swap (int64 i, bool go, float[2] p, float[2] q)
      => (bool go, float[2] q, float[2] p) {}>
}"""

SWAP_BY_IDENTITY = """
main (int64 M, float[2] a, float[2] b) => (float[2] x, float[2] y) {
  x, y = Loop (M, "", a, b) <
    body = swap (int64 i, bool go, float[2] p, float[2] q) => (bool go_on, float[2] p_next, float[2] q_next) {
      go_on = Identity (go)
      p_next = Identity (q)
      q_next = Identity (p)
    }>
}"""

SWAP_AND_ADD = """
main (int64 M, float a, float b) => (float x, float y) {
  x, y = Loop (M, "", a, b) <body = step (int64 i, bool go, float p, float q) => (bool go_on, float q, float sum) {
    go_on = Identity (go)
    sum = Add (p, q)
  }>
}"""


def swap_case(trips: int) -> Case:
    a, b = f32([1, 2]), f32([3, 4])
    return Case(
        f"swap_{trips}_trips",
        rules=(5,) + ((3,) if trips == 0 else ()),
        doc=f"(a, b) -> (b, a) with an empty body, {trips} trips: body outputs are body inputs.",
        model=SWAP,
        inputs={"M": i64(trips), "a": a, "b": b},
        expected=[b, a] if trips % 2 else [a, b],
    )


def fibonacci(trips: int) -> list[np.ndarray]:
    a, b = 0.0, 1.0
    for _ in range(trips):
        a, b = b, a + b
    return [f32(a), f32(b)]


CASES = [
    *(swap_case(trips) for trips in (0, 1, 2, 5)),
    Case(
        "swap_by_identity",
        rules=(5,),
        doc="(a, b) -> (b, a) through Identity nodes, three trips.",
        model=SWAP_BY_IDENTITY,
        inputs={"M": i64(3), "a": f32([1, 2]), "b": f32([3, 4])},
        expected=[f32([3, 4]), f32([1, 2])],
    ),
    *(
        Case(
            f"swap_and_add_{trips}_trips",
            rules=(5,),
            doc=f"(a, b) -> (b, a + b), {trips} trips: one body output is a body input.",
            model=SWAP_AND_ADD,
            inputs={"M": i64(trips), "a": f32(0), "b": f32(1)},
            expected=fibonacci(trips),
        )
        for trips in (1, 2, 10)
    ),
    Case(
        "rotation_of_three",
        rules=(5,),
        doc="(a, b, c) -> (b, c, a) with an empty body, four trips.",
        model="""
        main (int64 M, float a, float b, float c) => (float x, float y, float z) {
          x, y, z = Loop (M, "", a, b, c) <
            body = turn (int64 i, bool go, float p, float q, float r) => (bool go, float q, float r, float p) {}>
        }""",
        inputs={"M": i64(4), "a": f32(1), "b": f32(2), "c": f32(3)},
        expected=[f32(2), f32(3), f32(1)],
    ),
    Case(
        "rotation_of_five_of_different_shapes",
        rules=(5, "carried"),
        doc="Five carried values of different shapes rotate seven times, so each shape visits each place.",
        model="""
        main (int64 M, float[k] a, float[l] b, float[m] c, float[n] d, float[o] e)
          => (float[p] v, float[q] w, float[r] x, float[s] y, float[t] z) {
          v, w, x, y, z = Loop (M, "", a, b, c, d, e) <
            body = turn (int64 i, bool go, float[f] p1, float[g] p2, float[h] p3, float[i1] p4, float[j] p5)
              => (bool go_on, float[g] q1, float[h] q2, float[i1] q3, float[j] q4, float[f] q5) {
              go_on = Identity (go)
              q1 = Identity (p2)
              q2 = Identity (p3)
              q3 = Identity (p4)
              q4 = Identity (p5)
              q5 = Identity (p1)
            }>
        }""",
        inputs={"M": i64(7)} | {name: np.full(k, k, np.float32) for k, name in enumerate("abcde")},
        expected=[np.full(k, k, np.float32) for k in (2, 3, 4, 0, 1)],
    ),
    Case(
        "shift_register",
        rules=(5, "collected"),
        doc="(a, b, c) -> (x_i, a, b): each value moves one place an iteration; what falls out is collected.",
        model="""
        main (float[N] x) => (float a, float b, float c, float[n] out) {
          M = Size (x)
          zero = Constant <value_float = 0.0> ()
          a, b, c, out = Loop (M, "", zero, zero, zero) <
            body = shift (int64 i, bool go, float p, float q, float r)
              => (bool go_on, float new, float p1, float q1, float last) {
              go_on = Identity (go)
              new = Gather (x, i)
              p1 = Identity (p)
              q1 = Identity (q)
              last = Identity (r)
            }>
        }""",
        inputs={"x": f32([1, 2, 3, 4, 5])},
        expected=[f32(5), f32(4), f32(3), f32([0, 0, 0, 1, 2])],
    ),
    Case(
        "carried_becomes_captured_value",
        rules=(5, "captured"),
        doc="The new carried value is a captured value: from the second iteration on it is that one.",
        model="""
        main (int64 M, float[2] a, float[2] k) => (float[2] y, float[n,2] seen) {
          y, seen = Loop (M, "", a) <body = step (int64 i, bool go, float[2] v)
              => (bool go_on, float[2] next, float[2] was) {
            go_on = Identity (go)
            next = Identity (k)
            was = Identity (v)
          }>
        }""",
        inputs={"M": i64(3), "a": f32([1, 2]), "k": f32([8, 9])},
        expected=[f32([8, 9]), f32([[1, 2], [8, 9], [8, 9]])],
    ),
    Case(
        "carried_becomes_captured_value_directly",
        rules=(5, "captured"),
        doc="A body output names a value of the enclosing graph, without a node in between.",
        model="""
        main (int64 M, float[2] a, float[2] k) => (float[2] y) {
          y = Loop (M, "", a) <body = step (int64 i, bool go, float[2] v) => (bool go, float[2] k) {}>
        }""",
        inputs={"M": i64(2), "a": f32([1, 2]), "k": f32([8, 9])},
        expected=[f32([8, 9])],
        ambiguous=True,
    ),
    *(
        Case(
            f"carried_becomes_iteration_number_{trips}_trips",
            rules=(5, "last"),
            doc=f"The body returns the iteration number as the carried value: after {trips} trips it is the last one.",
            model="""
            main (int64 M, int64 start) => (int64 y) {
              y = Loop (M, "", start) <body = step (int64 i, bool go, int64 v) => (bool go, int64 i) {}>
            }""",
            inputs={"M": i64(trips), "start": i64(-5)},
            expected=[i64(trips - 1 if trips else -5)],
        )
        for trips in (0, 1, 2, 6)
    ),
    Case(
        "last_value_of_every_iteration",
        rules=("last",),
        doc="A value that no iteration reads is carried only to be seen after the loop: the last iteration's counts.",
        model="""
        main (float[N] x) => (float last, float best) {
          M = Size (x)
          zero = Constant <value_float = 0.0> ()
          last, best = Loop (M, "", zero, zero) <body = step (int64 i, bool go, float unused, float top)
              => (bool go_on, float twice, float higher) {
            go_on = Identity (go)
            at = Gather (x, i)
            twice = Add (at, at)
            higher = Max (top, at)
          }>
        }""",
        inputs={"x": f32([3, 9, 4])},
        expected=[f32(8), f32(9)],
    ),
    Case(
        "same_value_for_two_carried",
        rules=(5,),
        doc="(a, b) -> (a + b, a + b): one value of the body becomes both carried values.",
        model="""
        main (int64 M, float a, float b) => (float x, float y) {
          x, y = Loop (M, "", a, b) <body = step (int64 i, bool go, float p, float q)
              => (bool go_on, float s, float t) {
            go_on = Identity (go)
            s = Add (p, q)
            t = Identity (s)
          }>
        }""",
        inputs={"M": i64(3), "a": f32(1), "b": f32(2)},
        expected=[f32(12), f32(12)],
    ),
    Case(
        "same_name_for_two_carried",
        rules=(5,),
        doc="The body lists one value twice among its outputs.",
        model="""
        main (int64 M, float a, float b) => (float x, float y, float[n] z) {
          x, y, z = Loop (M, "", a, b) <body = step (int64 i, bool go, float p, float q)
              => (bool go, float s, float s, float s) {
            s = Add (p, q)
          }>
        }""",
        inputs={"M": i64(3), "a": f32(1), "b": f32(2)},
        expected=[f32(12), f32(12), f32([3, 6, 12])],
        ambiguous=True,
    ),
    Case(
        "carried_also_collected",
        rules=(5, "collected"),
        doc="A value is carried on and collected as well; so is what was carried in.",
        model="""
        main (int64 M, float a) => (float x, float[n] before, float[n] after) {
          x, before, after = Loop (M, "", a) <
            body = step (int64 i, bool go, float p) => (bool go_on, float s, float old, float new) {
              go_on = Identity (go)
              s = Add (p, p)
              old = Identity (p)
              new = Identity (s)
            }>
        }""",
        inputs={"M": i64(3), "a": f32(1)},
        expected=[f32(8), f32([1, 2, 4]), f32([2, 4, 8])],
    ),
    Case(
        "collected_is_a_body_input",
        rules=(5, "collected"),
        doc="Collected elements are body inputs themselves: a carried value, the iteration number and the condition.",
        model="""
        main (int64 M, bool cond, float a) => (float x, float[n] values, int64[n] steps, bool[n] conditions) {
          x, values, steps, conditions = Loop (M, cond, a) <
            body = step (int64 i, bool go, float p) => (bool go_on, float s, float p, int64 i, bool go) {
              go_on = Identity (go)
              s = Add (p, p)
            }>
        }""",
        inputs={"M": i64(3), "cond": flags(True), "a": f32(1)},
        expected=[f32(8), f32([1, 2, 4]), i64([0, 1, 2]), flags([True, True, True])],
    ),
    Case(
        "same_start_for_two_carried",
        rules=(5,),
        doc="Two carried values start as the same outer value and part.",
        model="""
        main (int64 M, float[3] a) => (float[3] x, float[3] y, float[3] same) <float one = {1}> {
          x, y = Loop (M, "", a, a) <body = step (int64 i, bool go, float[3] p, float[3] q)
              => (bool go_on, float[3] s, float[3] t) {
            go_on = Identity (go)
            s = Add (p, one)
            t = Sub (q, one)
          }>
          same = Identity (a)
        }""",
        inputs={"M": i64(2), "a": f32([1, 2, 3])},
        expected=[f32([3, 4, 5]), f32([-1, 0, 1]), f32([1, 2, 3])],
    ),
    Case(
        "updates_leave_the_start_alone",
        rules=(5,),
        doc="Updates row by row leave the outer value and the weight that they start from alone, also in a second run.",
        model="""
        main (int64 M, float[3] a) => (float[3] x, float[3] y, float[3] same, float[3] weight)
          <float[3] w = {7, 8, 9}> {
          x, y = Loop (M, "", a, w) <body = step (int64 i, bool go, float[3] p, float[3] q)
              => (bool go_on, float[3] s, float[3] t) {
            go_on = Identity (go)
            axis = Constant <value_ints = [0]> ()
            at = Unsqueeze (i, axis)
            zero = Constant <value_floats = [0.0]> ()
            s = ScatterElements <axis = 0> (p, at, zero)
            t = ScatterElements <axis = 0> (q, at, zero)
          }>
          same = Identity (a)
          weight = Identity (w)
        }""",
        inputs={"M": i64(2), "a": f32([1, 2, 3])},
        expected=[f32([0, 0, 3]), f32([0, 0, 9]), f32([1, 2, 3]), f32([7, 8, 9])],
        repeat=2,
    ),
    Case(
        "updates_leave_collected_elements_alone",
        rules=(5, "collected"),
        doc="A carried value is updated row by row and collected before each update: earlier elements do not change.",
        model="""
        main (int64 M, float[3] a) => (float[3] x, float[n,3] before) {
          x, before = Loop (M, "", a) <body = step (int64 i, bool go, float[3] p)
              => (bool go_on, float[3] s, float[3] p) {
            go_on = Identity (go)
            axis = Constant <value_ints = [0]> ()
            at = Unsqueeze (i, axis)
            zero = Constant <value_floats = [0.0]> ()
            s = ScatterElements <axis = 0> (p, at, zero)
          }>
        }""",
        inputs={"M": i64(3), "a": f32([1, 2, 3])},
        expected=[f32([0, 0, 0]), f32([[1, 2, 3], [0, 2, 3], [0, 0, 3]])],
        repeat=2,
    ),
    Case(
        "invariant_carried",
        rules=(5,),
        doc="A carried value is passed on unchanged beside one that changes.",
        model="""
        main (int64 M, float a, float b) => (float x, float y) {
          x, y = Loop (M, "", a, b) <body = step (int64 i, bool go, float p, float q) => (bool go, float s, float q) {
            s = Add (p, q)
          }>
        }""",
        inputs={"M": i64(4), "a": f32(1), "b": f32(10)},
        expected=[f32(41), f32(10)],
    ),
    Case(
        "condition_also_carried",
        rules=(4, 5),
        doc="The condition that the body computes is also a carried value.",
        model="""
        main (bool cond, int64 limit) => (bool last, bool before) {
          last, before = Loop ("", cond, cond, cond) <
            body = step (int64 i, bool go, bool p, bool q) => (bool go_on, bool also, bool p) {
              go_on = Less (i, limit)
              also = Identity (go_on)
            }>
        }""",
        inputs={"cond": flags(True), "limit": i64(3)},
        expected=[flags(False), flags(True)],
    ),
    Case(
        "unused_body_inputs",
        rules=(5,),
        doc="The body reads neither the iteration number nor the condition nor the carried value.",
        model="""
        main (int64 M, float a) => (float x) {
          x = Loop (M, "", a) <body = step (int64 i, bool go, float p) => (bool yes, float five) {
            yes = Constant <value = bool {1}> ()
            five = Constant <value_float = 5.0> ()
          }>
        }""",
        inputs={"M": i64(2), "a": f32(1)},
        expected=[f32(5)],
    ),
    Case(
        "many_carried",
        rules=(5,),
        doc="Thirty carried values, each the sum of its neighbours on a ring, two trips.",
        model=(
            "main (int64 M, "
            + ", ".join(f"float a{k}" for k in range(30))
            + ") => ("
            + ", ".join(f"float z{k}" for k in range(30))
            + ") {\n"
            + ", ".join(f"z{k}" for k in range(30))
            + ' = Loop (M, "", '
            + ", ".join(f"a{k}" for k in range(30))
            + ") <body = ring (int64 i, bool go, "
            + ", ".join(f"float b{k}" for k in range(30))
            + ") => (bool go, "
            + ", ".join(f"float c{k}" for k in range(30))
            + ") {\n"
            + "\n".join(f"c{k} = Add (b{(k - 1) % 30}, b{(k + 1) % 30})" for k in range(30))
            + "\n}>\n}"
        ),
        inputs={"M": i64(2)} | {f"a{k}": f32(k) for k in range(30)},
        expected=[f32((k - 2) % 30 + 2 * k + (k + 2) % 30) for k in range(30)],
    ),
]
