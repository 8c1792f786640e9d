"""Loop's five modes: trip count and condition each given or omitted, and when the loop ends."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import f32, flags, i64

FOREVER = np.iinfo(np.int64).max

FOR = """
main (int64 M, float x) => (float y, float[n] seen) {
  y, seen = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go_on, float next, float element) {
    go_on = Identity (go)
    next = Add (v, v)
    element = Identity (v)
  }>
}"""

FOR_WITH_FALSE = """
main (int64 M, float x) => (float y, int64[n] steps) {
  y, steps = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go_on, float next, int64 step) {
    limit = Constant <value_int = 1> ()
    go_on = Less (i, limit)
    next = Add (v, v)
    step = Identity (i)
  }>
}"""

WHILE = """
main (bool cond, int64 limit) => (int64 count, int64[n] steps) {
  zero = Constant <value_int = 0> ()
  count, steps = Loop ("", cond, zero) <body = step (int64 i, bool go, int64 v) => (bool go_on, int64 next, int64 at) {
    one = Constant <value_int = 1> ()
    next = Add (v, one)
    go_on = Less (next, limit)
    at = Identity (i)
  }>
}"""

DO_WHILE = """
main (int64 limit) => (int64 count, int64[n] steps) <bool yes = {1}> {
  zero = Constant <value_int = 0> ()
  count, steps = Loop ("", yes, zero) <body = step (int64 i, bool go, int64 v) => (bool go_on, int64 next, int64 at) {
    one = Constant <value_int = 1> ()
    next = Add (v, one)
    go_on = Less (next, limit)
    at = Identity (i)
  }>
}"""

BOTH = """
main (int64 M, bool cond, int64 limit) => (int64 count, int64[n] steps) {
  zero = Constant <value_int = 0> ()
  count, steps = Loop (M, cond, zero) <body = step (int64 i, bool go, int64 v) => (bool go_on, int64 next, int64 at) {
    one = Constant <value_int = 1> ()
    next = Add (v, one)
    go_on = Less (next, limit)
    at = Identity (i)
  }>
}"""


def for_case(trips: int) -> Case:
    done = max(trips, 0)
    return Case(
        f"for_{trips}_trips".replace("-", "minus_"),
        rules=(1, "carried", "collected") + ((3,) if done == 0 else ()),
        doc=f"(M, ''): {trips} trips double the value {done} times and collect what was there before.",
        model=FOR,
        inputs={"M": i64(trips), "x": f32(1.5)},
        expected=[f32(1.5 * 2**done), f32([1.5 * 2**k for k in range(done)])],
    )


def while_case(limit: int) -> Case:
    done = max(limit, 1)
    return Case(
        f"while_limit_{limit}",
        rules=(1, 4),
        doc=f"('', cond): the body's condition is count < {limit}, so {done} iterations run; the last one counts.",
        model=WHILE,
        inputs={"cond": flags(True), "limit": i64(limit)},
        expected=[i64(done), i64(range(done))],
    )


def do_while_case(limit: int) -> Case:
    done = max(limit, 1)
    return Case(
        f"do_while_limit_{limit}",
        rules=(1, 4),
        doc=f"('', true): with a constant condition the body runs at least once; {done} iterations.",
        model=DO_WHILE,
        inputs={"limit": i64(limit)},
        expected=[i64(done), i64(range(done))],
    )


def both_case(name: str, trips: int, cond: bool, limit: int, doc: str, rules: tuple[int, ...]) -> Case:
    done = min(max(trips, 0), max(limit, 1)) if cond else 0
    return Case(
        f"both_{name}",
        rules=rules,
        doc=f"(M, cond): {doc}; {done} iterations.",
        model=BOTH,
        inputs={"M": i64(trips), "cond": flags(cond), "limit": i64(limit)},
        expected=[i64(done), i64(range(done))],
    )


CASES = [
    *(for_case(trips) for trips in (0, 1, 2, 7, -1)),
    Case(
        "for_lowest_trip_count",
        rules=(1, 3, 9),
        doc="The most negative trip count means zero iterations.",
        model=FOR,
        inputs={"M": i64(np.iinfo(np.int64).min), "x": f32(1.5)},
        expected=[f32(1.5), f32([])],
    ),
    *(
        Case(
            f"for_ignores_body_condition_{trips}_trips",
            rules=(2,),
            doc=f"(M, ''): the body's condition becomes false after two iterations and is ignored; {trips} trips run.",
            model=FOR_WITH_FALSE,
            inputs={"M": i64(trips), "x": f32(1)},
            expected=[f32(2**trips), i64(range(trips))],
        )
        for trips in (0, 1, 2, 6)
    ),
    Case(
        "for_always_false_body_condition",
        rules=(2,),
        doc="(M, ''): a body condition that is constant false is ignored as well.",
        model="""
        main (int64 M) => (int64[n] steps) {
          steps = Loop (M, "") <body = step (int64 i, bool go) => (bool stop, int64 at) <bool stop = {0}> {
            at = Identity (i)
          }>
        }""",
        inputs={"M": i64(4)},
        expected=[i64([0, 1, 2, 3])],
    ),
    *(while_case(limit) for limit in (1, 2, 5)),
    Case(
        "while_false_at_the_start",
        rules=(1, 3),
        doc="('', cond): a condition that is false at the start means zero iterations.",
        model=WHILE,
        inputs={"cond": flags(False), "limit": i64(5)},
        expected=[i64(0), i64([])],
    ),
    *(do_while_case(limit) for limit in (0, 1, 6)),
    both_case("trips_end_it", 3, True, 10, "the trip count is reached first", (1,)),
    both_case("condition_ends_it", 10, True, 3, "the condition becomes false first", (1, 4)),
    both_case("end_together", 4, True, 4, "trip count and condition end it together", (1, 4)),
    both_case("false_in_first_iteration", 10, True, 1, "the first iteration turns the condition false", (1, 4)),
    both_case("false_at_the_start", 10, False, 3, "the condition is false at the start", (1, 3)),
    both_case("zero_trips", 0, True, 3, "zero trips although the condition is true", (1, 3)),
    both_case("negative_trips", -5, True, 3, "a negative trip count", (1, 3)),
    both_case("zero_trips_and_false", 0, False, 3, "zero trips and false", (1, 3)),
    both_case("forever_with_condition", FOREVER, True, 5, "the largest trip count, ended by the condition", (4, 9)),
    both_case("forever_false_at_the_start", FOREVER, False, 5, "the largest trip count, false at the start", (3, 9)),
    both_case("beyond_32_bits", 2**32 + 3, True, 6, "a trip count whose low 32 bits are 3", (9,)),
    both_case("beyond_31_bits", 2**31, True, 6, "a trip count that is negative in 32 bits", (9,)),
    Case(
        "forever_constant",
        rules=(4, 9),
        doc="A constant INT64_MAX trip count, as exporters write while loops.",
        model=f"""
        main (int64 limit) => (int64 sum, int64[n] steps)
          <int64 forever = {{{FOREVER}}}, bool yes = {{1}}, int64 zero = {{0}}> {{
          sum, steps = Loop (forever, yes, zero) <body = step (int64 i, bool go, int64 s)
              => (bool go_on, int64 t, int64 at) {{
            t = Add (s, i)
            go_on = Less (t, limit)
            at = Identity (i)
          }}>
        }}""",
        inputs={"limit": i64(10)},
        expected=[i64(10), i64([0, 1, 2, 3, 4])],
    ),
    Case(
        "forever_runs_until_the_body_fails",
        rules=(9,),
        doc="(INT64_MAX, ''): nothing ends the loop but the read of iteration 3, which fails.",
        model="""
        main (int64 M, float[3] table) => (float[n] all) {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go_on, float read) {
            go_on = Identity (go)
            read = Gather (table, i)
          }>
        }""",
        inputs={"M": i64(FOREVER), "table": f32([1, 2, 3])},
        control={"M": i64(3), "table": f32([1, 2, 3])},
        error=True,
    ),
    Case(
        "neither_runs_until_the_body_fails",
        rules=(2,),
        doc="('', ''): the body's condition is false from the start and is ignored, so the read in iteration 3 fails.",
        model="""
        main (float[3] table) => (float y) {
          zero = Constant <value_float = 0.0> ()
          y = Loop ("", "", zero) <body = step (int64 i, bool go, float v)
              => (bool stop, float read) <bool stop = {0}> {
            read = Gather (table, i)
          }>
        }""",
        inputs={"table": f32([1, 2, 3])},
        error=True,
    ),
    Case(
        "trip_count_computed_from_a_shape",
        rules=(1, "collected"),
        doc="The trip count is a dim of an input, known only at run time.",
        model="""
        main (float[N] x) => (float y, float[n] seen) {
          M = Size (x)
          zero = Constant <value_float = 0.0> ()
          y, seen = Loop (M, "", zero) <body = step (int64 i, bool go, float s) => (bool go_on, float t, float at) {
            go_on = Identity (go)
            at = Gather (x, i)
            t = Add (s, at)
          }>
        }""",
        inputs={"x": f32([1, 2, 4, 8])},
        expected=[f32(15), f32([1, 2, 4, 8])],
    ),
    Case(
        "thousand_trips",
        rules=("collected",),
        doc="A thousand iterations with a carried and a collected value.",
        model="""
        main (int64 M) => (int64 sum, int64[n] squares) {
          zero = Constant <value_int = 0> ()
          sum, squares = Loop (M, "", zero) <body = step (int64 i, bool go, int64 s) => (bool go_on, int64 t, int64 q) {
            go_on = Identity (go)
            t = Add (s, i)
            q = Mul (i, i)
          }>
        }""",
        inputs={"M": i64(1000)},
        expected=[i64(sum(range(1000))), i64([k * k for k in range(1000)])],
    ),
]
