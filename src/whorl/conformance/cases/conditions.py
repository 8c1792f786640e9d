"""Ranks of trip count, condition and iteration number, and what of them the body sees."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import f32, flags, i64

CONDITION_OF_ANY_RANK = """
main (%s cond, float x) => (float y) {
  M = Constant <value_int = 3> ()
  y = Loop (M, cond, x) <body = step (int64 i, %s go, float v) => (bool go_on, float next) {
    go_on = Constant <value = bool {1}> ()
    next = Add (v, v)
  }>
}"""

CASES = [
    *(
        Case(
            f"trip_count_of_shape_{'_'.join(map(str, shape))}",
            rules=(1,),
            doc=f"A trip count with one element and shape {list(shape)}.",
            model=f"""
            main (int64{list(shape)} M, float x) => (float y) {{
              y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go_on, float next) {{
                go_on = Identity (go)
                next = Add (v, v)
              }}>
            }}""",
            inputs={"M": np.full(shape, 3, np.int64), "x": f32(1)},
            expected=[f32(8)],
            ambiguous=True,
        )
        for shape in ((1,), (1, 1))
    ),
    *(
        Case(
            f"condition_of_shape_{'_'.join(map(str, shape))}_{str(value).lower()}",
            rules=(1, 13),
            doc=f"A condition with one element, {value}, and shape {list(shape)}; the body declares a scalar.",
            model=CONDITION_OF_ANY_RANK % ("bool" + str(list(shape)), "bool"),
            inputs={"cond": np.full(shape, value), "x": f32(1)},
            expected=[f32(8 if value else 1)],
            ambiguous=True,
        )
        for shape in ((1,), (1, 1))
        for value in (True, False)
    ),
    Case(
        "condition_of_shape_1_outside_and_inside",
        rules=(1, 13),
        doc="A condition of shape [1]; the body declares [1] as well.",
        model=CONDITION_OF_ANY_RANK % ("bool[1]", "bool[1]"),
        inputs={"cond": flags([True]), "x": f32(1)},
        expected=[f32(8)],
        ambiguous=True,
    ),
    Case(
        "body_condition_of_shape_1",
        rules=(1, 4),
        doc="The condition that the body computes has shape [1].",
        model="""
        main (int64[1] limit) => (int64[1] count) <bool yes = {1}, int64[1] zero = {0}, int64[1] one = {1}> {
          count = Loop ("", yes, zero) <body = step (int64 i, bool go, int64[1] v) => (bool[1] go_on, int64[1] next) {
            next = Add (v, one)
            go_on = Less (next, limit)
          }>
        }""",
        inputs={"limit": i64([4])},
        expected=[i64([4])],
        ambiguous=True,
    ),
    Case(
        "iteration_number_of_rank_1",
        rules=(13,),
        doc="The body declares the iteration number as int64[1] and joins it to a vector.",
        model="""
        main (int64 M, int64[k] x) => (int64[n] y) {
          y = Loop (M, "", x) <body = step (int64[1] i, bool go, int64[k] v) => (bool go_on, int64[l] next) {
            go_on = Identity (go)
            next = Concat <axis = 0> (v, i)
          }>
        }""",
        inputs={"M": i64(3), "x": i64([7])},
        expected=[i64([7, 0, 1, 2])],
        ambiguous=True,
    ),
    Case(
        "condition_of_rank_1_in_body",
        rules=(13,),
        doc="The body declares the condition as bool[1] and collects it.",
        model="""
        main (int64 M, bool cond) => (bool[n,1] seen) {
          seen = Loop (M, cond) <body = step (int64 i, bool[1] go) => (bool[1] go_on, bool[1] was) {
            go_on = Identity (go)
            was = Identity (go)
          }>
        }""",
        inputs={"M": i64(2), "cond": flags(True)},
        expected=[flags([[True], [True]])],
        ambiguous=True,
    ),
    Case(
        "iteration_number_without_declared_shape",
        rules=(13,),
        doc="Where the body declares no shape the iteration number is a scalar: collected ones make a vector.",
        model="""
        main (int64 M) => (int64[n] steps) {
          steps = Loop (M, "") <body = step (int64[] i, bool[] go) => (bool[] go_on, int64[] at) {
            go_on = Identity (go)
            at = Identity (i)
          }>
        }""",
        inputs={"M": i64(3)},
        expected=[i64([0, 1, 2])],
    ),
    Case(
        "condition_seen_in_body",
        rules=(1, "collected"),
        doc="The body sees the condition that let its iteration start: always true.",
        model="""
        main (int64 M, bool cond, int64 limit) => (bool[n] seen, bool[n] answers) {
          seen, answers = Loop (M, cond) <body = step (int64 i, bool go) => (bool go_on, bool was, bool will) {
            go_on = Less (i, limit)
            was = Identity (go)
            will = Identity (go_on)
          }>
        }""",
        inputs={"M": i64(9), "cond": flags(True), "limit": i64(2)},
        expected=[flags([True, True, True]), flags([True, True, False])],
    ),
    Case(
        "omitted_condition_is_true_in_body",
        rules=(2,),
        doc="With the condition omitted the body sees true in every iteration, whatever it computed before.",
        model="""
        main (int64 M) => (bool[n] seen) {
          seen = Loop (M, "") <body = step (int64 i, bool go) => (bool stop, bool was) {
            stop = Not (go)
            was = Identity (go)
          }>
        }""",
        inputs={"M": i64(3)},
        expected=[flags([True, True, True])],
        ambiguous=True,
    ),
    Case(
        "condition_captured_from_outside",
        rules=(1, 4, "captured"),
        doc="The body's condition is a captured constant false: one iteration.",
        model="""
        main (float x) => (float y) <bool yes = {1}, bool no = {0}> {
          y = Loop ("", yes, x) <body = step (int64 i, bool go, float v) => (bool go_on, float next) {
            go_on = Identity (no)
            next = Add (v, v)
          }>
        }""",
        inputs={"x": f32(3)},
        expected=[f32(6)],
    ),
    Case(
        "condition_from_carried_value",
        rules=(1, 4),
        doc="While the value is below 100, multiply by 3.",
        model="""
        main (float x) => (float y) {
          hundred = Constant <value_float = 100.0> ()
          cond = Less (x, hundred)
          y = Loop ("", cond, x) <body = step (int64 i, bool go, float v) => (bool go_on, float next) {
            three = Constant <value_float = 3.0> ()
            next = Mul (v, three)
            go_on = Less (next, hundred)
          }>
        }""",
        inputs={"x": f32(2)},
        expected=[f32(162)],
    ),
]
