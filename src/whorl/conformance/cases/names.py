"""Names: siblings reuse them, order decides, inner ones shadow outer ones."""

from __future__ import annotations

from whorl.conformance.case import Case
from whorl.conformance.values import f32, flags, i64

TWICE_NAMED = """
main (int64 M, float a) => (float x, float y) {
  x = Loop (M, "", a) <body = step (int64 i, bool go, float v) => (bool go, float w) { w = Add (v, v) }>
  y = Loop (M, "", a) <body = step (int64 i, bool go, float v) => (bool go, float w) { w = Mul (v, v) }>
}"""

CASES = [
    Case(
        "sibling_bodies_reuse_names",
        rules=(7,),
        doc="Two loops one after the other use the same names for everything inside.",
        model=TWICE_NAMED,
        inputs={"M": i64(2), "a": f32(3)},
        expected=[f32(12), f32(81)],
    ),
    Case(
        "branches_reuse_names",
        rules=(7, 15),
        doc="Both branches call their values the same; one of them computes, the other one reads a constant.",
        model="""
        main (bool c, float x) => (float y) {
          y = If (c) <
            then_branch = branch () => (float r) {
              t = Add (x, x)
              r = Mul (t, t)
            },
            else_branch = branch () => (float r) {
              t = Constant <value_float = 7.0> ()
              r = Sub (t, x)
            }>
        }""",
        inputs={"c": flags(False), "x": f32(3)},
        expected=[f32(4)],
    ),
    Case(
        "sibling_inner_loops_reuse_names",
        rules=(7, 11),
        doc="Two inner loops in one body use the same names; the second one captures the first one's result.",
        model="""
        main (int64 M, float a) => (float x) {
          x = Loop (M, "", a) <body = outer (int64 i, bool go, float v) => (bool go, float r) {
            p = Loop (M, "", v) <body = inner (int64 j, bool stay, float s) => (bool stay, float t) { t = Add (s, s) }>
            r = Loop (M, "", v) <body = inner (int64 j, bool stay, float s) => (bool stay, float t) { t = Add (s, p) }>
          }>
        }""",
        inputs={"M": i64(2), "a": f32(1)},
        expected=[f32(81)],
    ),
    Case(
        "outputs_matched_by_order",
        rules=(7,),
        doc="The body's outputs are named like the loop's outputs, but the other way round: order decides.",
        model="""
        main (int64 M, float a, float b) => (float one, float two) {
          p, q = Loop (M, "", a, b) <body = step (int64 i, bool go, float v, float w)
              => (bool go, float second, float first) {
            first = Add (v, w)
            second = Sub (v, w)
          }>
          one = Identity (p)
          two = Identity (q)
        }""",
        inputs={"M": i64(1), "a": f32(5), "b": f32(3)},
        expected=[f32(2), f32(8)],
    ),
    Case(
        "outputs_matched_by_order_in_branches",
        rules=(7, 15),
        doc="The branches list two outputs under swapped names: order decides.",
        model="""
        main (bool c, float x) => (float one, float two) {
          one, two = If (c) <
            then_branch = t () => (float p, float q) {
              p = Neg (x)
              q = Add (x, x)
            },
            else_branch = e () => (float q, float p) {
              p = Neg (x)
              q = Add (x, x)
            }>
        }""",
        inputs={"c": flags(False), "x": f32(3)},
        expected=[f32(6), f32(-3)],
    ),
    Case(
        "body_input_shadows_outer_value",
        rules=(7,),
        doc="A body input is named like a graph input: inside, the body input counts; outside, the graph input.",
        model="""
        main (int64 M, float a, float b) => (float y, float same) {
          y = Loop (M, "", b) <body = step (int64 i, bool go, float a) => (bool go, float next) { next = Add (a, a) }>
          same = Identity (a)
        }""",
        inputs={"M": i64(2), "a": f32(100), "b": f32(1)},
        expected=[f32(4), f32(100)],
        ambiguous=True,
    ),
    Case(
        "iteration_number_shadows_outer_value",
        rules=(7,),
        doc="The outer and the inner loop both call their iteration number i.",
        model="""
        main (int64 M) => (int64[n] all) <int64 zero = {0}> {
          all = Loop (M, "") <body = outer (int64 i, bool go) => (bool go, int64 sum) {
            last = Loop (M, "", zero) <body = inner (int64 i, bool go, int64 s)
                => (bool go, int64 t) { t = Add (s, i) }>
            sum = Add (last, i)
          }>
        }""",
        inputs={"M": i64(3)},
        expected=[i64([3, 4, 5])],
        ambiguous=True,
    ),
    Case(
        "body_node_shadows_outer_value",
        rules=(7,),
        doc="A node of the body gives its result the name of an outer value: readers after it see the inner one.",
        model="""
        main (int64 M, float a, float b) => (float y, float same) {
          y = Loop (M, "", b) <body = step (int64 i, bool go, float v) => (bool go, float next) {
            a = Add (v, v)
            next = Neg (a)
          }>
          same = Identity (a)
        }""",
        inputs={"M": i64(2), "a": f32(100), "b": f32(1)},
        expected=[f32(4), f32(100)],
        ambiguous=True,
    ),
    Case(
        "branch_shadows_body_input",
        rules=(7, 15),
        doc="A branch in a body names a result like the body's input; the other branch reads the input of that name.",
        model="""
        main (int64 M, float a) => (float y) <int64 one = {1}> {
          y = Loop (M, "", a) <body = step (int64 i, bool go, float v) => (bool go, float next) {
            first = Less (i, one)
            next = If (first) <
              then_branch = t () => (float v) { v = Constant <value_float = 50.0> () },
              else_branch = e () => (float q) { q = Add (v, v) }>
          }>
        }""",
        inputs={"M": i64(3), "a": f32(1)},
        expected=[f32(200)],
        ambiguous=True,
    ),
    Case(
        "body_output_named_like_outer_value",
        rules=(7,),
        doc="A body's output has the name of the outer value that the loop starts from.",
        model="""
        main (int64 M, float a) => (float y) {
          y = Loop (M, "", a) <body = step (int64 i, bool go, float v) => (bool go, float a) { a = Add (v, v) }>
        }""",
        inputs={"M": i64(3), "a": f32(1)},
        expected=[f32(8)],
        ambiguous=True,
    ),
    Case(
        "body_value_named_like_the_loop_output",
        rules=(7,),
        doc="The body's result and the loop's output have one name.",
        model="""
        main (int64 M, float a) => (float y) {
          y = Loop (M, "", a) <body = step (int64 i, bool go, float v) => (bool go, float y) { y = Add (v, v) }>
        }""",
        inputs={"M": i64(3), "a": f32(1)},
        expected=[f32(8)],
        ambiguous=True,
    ),
    Case(
        "captured_read_before_it_is_shadowed",
        rules=(7,),
        doc="A node reads an outer value, and a later node of the same body defines that name anew.",
        model="""
        main (int64 M, float a, float b) => (float y) {
          y = Loop (M, "", b) <body = step (int64 i, bool go, float v) => (bool go, float next) {
            p = Add (v, a)
            a = Neg (p)
            next = Mul (a, a)
          }>
        }""",
        inputs={"M": i64(1), "a": f32(2), "b": f32(1)},
        expected=[f32(9)],
        ambiguous=True,
        may_refuse=True,
    ),
]
