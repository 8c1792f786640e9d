"""Optionals and optional sequences as carried values, captured values, inputs and results."""

from __future__ import annotations

from whorl.conformance.case import Case
from whorl.conformance.values import empty, f32, flags, i64

MAYBE = """
main (optional(float) o, float x) => (float y) <int64 M = {2}> {
  y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go, float w) {
    has = OptionalHasElement (o)
    w = If (has) <
      then_branch = t () => (float p) {
        e = OptionalGetElement (o)
        p = Add (v, e)
      },
      else_branch = e () => (float q) { q = Neg (v) }>
  }>
}"""

ITEMS = [f32([1, 2]), f32([3]), empty(0), f32([4, 5, 6])]

CASES = [
    Case(
        "optional_input_none",
        rules=(10,),
        doc="An optional input without element is captured: the branch without element runs.",
        opset=18,
        model=MAYBE,
        inputs={"o": None, "x": f32(3)},
        expected=[f32(3)],
    ),
    Case(
        "optional_input_with_element",
        rules=(10,),
        doc="An optional input with an element is captured: the branch that reads it runs.",
        opset=18,
        model=MAYBE,
        inputs={"o": f32(10), "x": f32(3)},
        expected=[f32(23)],
    ),
    *(
        Case(
            f"optional_carried_none_{trips}_trips",
            rules=(10, "carried") + ((3,) if trips == 0 else ()),
            doc=f"A carried optional starts empty and stays so for {trips} trips.",
            opset=18,
            model="""
            main (int64 M) => (optional(float) o, bool[n] had) {
              start = Optional <type = float> ()
              o, had = Loop (M, "", start) <body = step (int64 i, bool go, optional(float) v)
                  => (bool go, optional(float) w, bool h) {
                h = OptionalHasElement (v)
                w = Identity (v)
              }>
            }""",
            inputs={"M": i64(trips)},
            expected=[None, flags([False] * trips)],
        )
        for trips in (0, 1, 2)
    ),
    *(
        Case(
            f"optional_filled_{trips}_trips",
            rules=(10, "carried"),
            doc=f"A carried optional starts empty and holds the iteration number after each of {trips} trips.",
            opset=18,
            model="""
            main (int64 M) => (optional(int64) o, bool[n] had) {
              start = Optional <type = int64> ()
              o, had = Loop (M, "", start) <body = step (int64 i, bool go, optional(int64) v)
                  => (bool go, optional(int64) w, bool h) {
                h = OptionalHasElement (v)
                w = Optional (i)
              }>
            }""",
            inputs={"M": i64(trips)},
            expected=[i64(trips - 1), flags([False, *[True] * (trips - 1)])],
        )
        for trips in (1, 2, 4)
    ),
    Case(
        "optional_emptied",
        rules=(10, "carried"),
        doc="A carried optional starts with an element and is empty after the first iteration.",
        opset=18,
        model="""
        main (int64 M, float x) => (optional(float) o, bool[n] had) {
          start = Optional (x)
          o, had = Loop (M, "", start) <body = step (int64 i, bool go, optional(float) v)
              => (bool go, optional(float) w, bool h) {
            h = OptionalHasElement (v)
            w = Optional <type = float> ()
          }>
        }""",
        inputs={"M": i64(2), "x": f32(3)},
        expected=[None, flags([True, False])],
    ),
    Case(
        "optional_sum_where_present",
        rules=(10, 15),
        doc="Even iterations empty a carried optional, odd ones fill it; a branch reads it where it has an element.",
        opset=18,
        model="""
        main (int64 M, optional(float) o) => (float[n] y) <int64 two = {2}> {
          last, y = Loop (M, "", o) <body = step (int64 i, bool go, optional(float) v)
              => (bool go, optional(float) w, float r) {
            has = OptionalHasElement (v)
            k = Cast <to = 1> (i)
            r = If (has) <
              then_branch = t () => (float p) { p = OptionalGetElement (v) },
              else_branch = e () => (float q) { q = Constant <value_float = -1.0> () }>
            half = Mod (i, two)
            odd = Cast <to = 9> (half)
            w = If (odd) <
              then_branch = t2 () => (optional(float) p2) { p2 = Optional (k) },
              else_branch = e2 () => (optional(float) q2) { q2 = Optional <type = float> () }>
          }>
        }""",
        inputs={"M": i64(5), "o": f32(100)},
        expected=[f32([100, -1, 1, -1, 3])],
    ),
    *(
        Case(
            f"optional_sequence_{name}",
            rules=(10,),
            doc=f"A carried optional sequence comes in {name} and goes out the same.",
            opset=18,
            model="""
            main (int64 M, optional(seq(float[k])) o) => (optional(seq(float[k])) r, bool[n] had) {
              r, had = Loop (M, "", o) <
                body = step (int64 i, bool go, optional(seq(float[k])) v)
                    => (bool go, optional(seq(float[k])) w, bool h) {
                  h = OptionalHasElement (v)
                  w = Identity (v)
                }>
            }""",
            inputs={"M": i64(2), "o": value},
            expected=[value, flags([value is not None] * 2)],
        )
        for name, value in (("empty", None), ("without_items", []), ("with_items", ITEMS))
    ),
    Case(
        "optional_sequence_is_grown",
        rules=(10, "carried"),
        doc="A carried optional sequence is opened, appended to and wrapped again in each iteration.",
        opset=18,
        model="""
        main (int64 M) => (optional(seq(int64)) r) {
          none = SequenceEmpty <dtype = 7> ()
          start = Optional (none)
          r = Loop (M, "", start) <
            body = step (int64 i, bool go, optional(seq(int64)) v) => (bool go, optional(seq(int64)) w) {
              s = OptionalGetElement (v)
              t = SequenceInsert (s, i)
              w = Optional (t)
            }>
        }""",
        inputs={"M": i64(3)},
        expected=[[i64(0), i64(1), i64(2)]],
    ),
]
