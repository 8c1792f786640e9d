"""Captured values: what bodies see of the graphs around them, and how names are resolved."""

from __future__ import annotations

from whorl.conformance.case import Case
from whorl.conformance.values import f32, flags, i64, words

CASES = [
    Case(
        "captured_input_initializer_and_node",
        rules=("captured",),
        doc="A body reads a graph input, an initializer and the result of an outer node.",
        model="""
        main (int64 M, float x) => (float y) <float w = {10}> {
          n = Neg (x)
          start = Constant <value_float = 0.0> ()
          y = Loop (M, "", start) <body = step (int64 i, bool go, float v) => (bool go, float next) {
            a = Add (v, x)
            b = Mul (w, n)
            next = Sub (a, b)
          }>
        }""",
        inputs={"M": i64(3), "x": f32(2)},
        expected=[f32(3 * (2 + 20))],
    ),
    Case(
        "captured_and_carried",
        rules=("captured", 5),
        doc="One outer value is both the start of a carried value and captured: the captured one does not change.",
        model="""
        main (int64 M, float x) => (float y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go, float next) { next = Add (v, x) }>
        }""",
        inputs={"M": i64(3), "x": f32(2)},
        expected=[f32(8)],
    ),
    Case(
        "captured_by_several_nodes",
        rules=("captured",),
        doc="Several nodes of a body read one captured value, also one node twice.",
        model="""
        main (int64 M, float x) => (float y) {
          zero = Constant <value_float = 0.0> ()
          y = Loop (M, "", zero) <body = step (int64 i, bool go, float v) => (bool go, float next) {
            a = Mul (x, x)
            b = Sub (a, x)
            next = Add (v, b)
          }>
        }""",
        inputs={"M": i64(2), "x": f32(5)},
        expected=[f32(40)],
    ),
    Case(
        "captured_through_three_levels",
        rules=("captured", 11),
        doc="A value of the main graph is read only in a loop in a loop in a loop.",
        model="""
        main (int64 M, float x) => (float y) {
          zero = Constant <value_float = 0.0> ()
          y = Loop (M, "", zero) <body = one (int64 i, bool go, float v1) => (bool go, float w1) {
            w1 = Loop (M, "", v1) <body = two (int64 j, bool go2, float v2) => (bool go2, float w2) {
              w2 = Loop (M, "", v2) <body = three (int64 k, bool go3, float v3)
                  => (bool go3, float w3) { w3 = Add (v3, x) }>
            }>
          }>
        }""",
        inputs={"M": i64(2), "x": f32(3)},
        expected=[f32(24)],
    ),
    Case(
        "captured_from_every_level",
        rules=("captured", 11),
        doc="The innermost body reads the iteration numbers and local values of both loops around it.",
        model="""
        main (int64 M, int64 x) => (int64[n] all) <int64 hundred = {100}, int64 ten = {10}, int64 zero = {0}> {
          all = Loop (M, "") <body = outer (int64 i, bool go) => (bool go, int64 sum) {
            local = Mul (i, hundred)
            sum = Loop (M, "", zero) <body = inner (int64 j, bool go2, int64 s) => (bool go2, int64 t) {
              tens = Mul (j, ten)
              a = Add (local, tens)
              b = Add (a, x)
              c = Add (b, i)
              t = Add (s, c)
            }>
          }>
        }""",
        inputs={"M": i64(3), "x": i64(7)},
        expected=[i64([sum(100 * i + 10 * j + 7 + i for j in range(3)) for i in range(3)])],
    ),
    Case(
        "captured_carried_value_of_outer_loop",
        rules=("captured", 11),
        doc="The inner loop captures the outer loop's carried value, which differs in each outer iteration.",
        model="""
        main (int64 M, float x) => (float y, float[n] sums) <float zero = {0}> {
          y, sums = Loop (M, "", x) <body = outer (int64 i, bool go, float v) => (bool go, float next, float sum) {
            sum = Loop (M, "", zero) <body = inner (int64 j, bool go2, float s)
                => (bool go2, float t) { t = Add (s, v) }>
            next = Add (v, v)
          }>
        }""",
        inputs={"M": i64(3), "x": f32(1)},
        expected=[f32(8), f32([3, 6, 12])],
    ),
    Case(
        "captured_trip_count",
        rules=("captured", 1),
        doc="The inner loop's trip count is the outer iteration number: 0, 1, 2, 3.",
        model="""
        main (int64 M) => (int64[n] counts) <int64 zero = {0}, int64 one = {1}> {
          counts = Loop (M, "") <body = outer (int64 i, bool go) => (bool go, int64 count) {
            count = Loop (i, "", zero) <body = inner (int64 j, bool go2, int64 c)
                => (bool go2, int64 d) { d = Add (c, one) }>
          }>
        }""",
        inputs={"M": i64(4)},
        expected=[i64([0, 1, 2, 3])],
    ),
    Case(
        "captured_condition",
        rules=("captured", 1),
        doc="The inner loop's condition is computed in the outer body: odd iterations run it once, even ones never.",
        model="""
        main (int64 M) => (int64[n] counts) <int64 zero = {0}, int64 one = {1}, int64 two = {2}> {
          counts = Loop (M, "") <body = outer (int64 i, bool go) => (bool go, int64 count) {
            half = Mod (i, two)
            odd = Cast <to = 9> (half)
            count = Loop ("", odd, zero) <body = inner (int64 j, bool go2, int64 c) => (bool no, int64 d) {
              no = Not (odd)
              d = Add (c, one)
            }>
          }>
        }""",
        inputs={"M": i64(4)},
        expected=[i64([0, 1, 0, 1])],
    ),
    Case(
        "captured_in_branch_in_loop",
        rules=("captured", 15),
        doc="A branch inside a body reads a body input, a local value of the body, and a graph input.",
        model="""
        main (int64 M, float x) => (float y) <int64 one = {1}> {
          zero = Constant <value_float = 0.0> ()
          y = Loop (M, "", zero) <body = step (int64 i, bool go, float v) => (bool go, float next) {
            k = Cast <to = 1> (i)
            later = Greater (i, one)
            next = If (later) <
              then_branch = a () => (float p) {
                s = Add (v, x)
                p = Mul (s, k)
              },
              else_branch = b () => (float q) { q = Sub (v, x) }>
          }>
        }""",
        inputs={"M": i64(4), "x": f32(3)},
        expected=[f32((((-3 - 3) + 3) * 2 + 3) * 3)],
    ),
    Case(
        "captured_sequence",
        rules=("captured", 10),
        doc="A body reads the items of a captured sequence.",
        model="""
        main (seq(float[k]) s) => (float total) <float zero = {0}> {
          M = SequenceLength (s)
          total = Loop (M, "", zero) <body = step (int64 i, bool go, float v) => (bool go, float next) {
            item = SequenceAt (s, i)
            sum = ReduceSum <keepdims = 0> (item)
            next = Add (v, sum)
          }>
        }""",
        inputs={"s": [f32([1, 2]), f32([3]), f32([4, 5, 6])]},
        expected=[f32(21)],
    ),
    Case(
        "captured_string",
        rules=("captured", 10),
        doc="A body compares a captured string with rows of a captured string vector.",
        opset=19,
        model="""
        main (string[k] table, string wanted) => (bool[n] hits) {
          M = Size (table)
          hits = Loop (M, "") <body = step (int64 i, bool go) => (bool go, bool hit) {
            row = Gather (table, i)
            hit = Equal (row, wanted)
          }>
        }""",
        inputs={"table": words(["a", "bc", "a"]), "wanted": words("a")},
        expected=[flags([True, False, True])],
    ),
    Case(
        "captured_optional",
        rules=("captured", 10),
        doc="A branch in a body reads a captured optional only where it has an element.",
        opset=18,
        model="""
        main (optional(float) o, float x) => (float y) <int64 M = {3}> {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go, float next) {
            has = OptionalHasElement (o)
            next = If (has) <
              then_branch = a () => (float p) {
                e = OptionalGetElement (o)
                p = Add (v, e)
              },
              else_branch = b () => (float q) { q = Neg (v) }>
          }>
        }""",
        inputs={"o": f32(10), "x": f32(1)},
        expected=[f32(31)],
    ),
    Case(
        "captured_by_scan_body",
        rules=("captured", 8),
        doc="A Scan body reads values of the main graph.",
        model="""
        main (float[k] x, float w) => (float[k] y) <float b = {1}> {
          y = Scan (x) <num_scan_inputs = 1, body = step (float e) => (float f) {
            m = Mul (e, w)
            f = Add (m, b)
          }>
        }""",
        inputs={"x": f32([1, 2, 3]), "w": f32(10)},
        expected=[f32([11, 21, 31])],
        ambiguous=True,
    ),
]
