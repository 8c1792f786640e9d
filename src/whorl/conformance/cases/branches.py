"""If: branches that differ in shape, rank and contents, and of which only the taken one runs."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.rules import Rule
from whorl.conformance.values import Value, empty, f32, flags, i64, words


def both_ways(
    name: str,
    rules: tuple[Rule, ...],
    doc: str,
    model: str,
    inputs: dict[str, Value],
    then: list[Value],
    other: list[Value],
    opset: int = 17,
    ambiguous: bool = False,
) -> list[Case]:
    """Two cases of one model: condition c true gives `then`, false gives `other`."""
    return [
        Case(
            f"{name}_{str(c).lower()}",
            rules,
            f"{doc} The condition is {str(c).lower()}.",
            model,
            inputs={"c": flags(c)} | inputs,
            expected=expected,
            opset=opset,
            ambiguous=ambiguous,
        )
        for c, expected in ((True, then), (False, other))
    ]


X = f32([1, 2, 3])

CASES = [
    *both_ways(
        "if_same_shape",
        (15,),
        "The branches compute values of one shape from captured ones.",
        """
        main (bool c, float[3] x) => (float[3] y) {
          y = If (c) <
            then_branch = t () => (float[3] p) { p = Add (x, x) },
            else_branch = e () => (float[3] q) { q = Neg (x) }>
        }""",
        {"x": X},
        [2 * X],
        [-X],
    ),
    *both_ways(
        "if_different_lengths",
        (15,),
        "The branches give vectors of length 6 and 2.",
        """
        main (bool c, float[3] x) => (float[n] y) <int64[1] zero = {0}, int64[1] two = {2}> {
          y = If (c) <
            then_branch = t () => (float[6] p) { p = Concat <axis = 0> (x, x) },
            else_branch = e () => (float[2] q) { q = Slice (x, zero, two) }>
        }""",
        {"x": X},
        [np.tile(X, 2)],
        [X[:2]],
    ),
    *both_ways(
        "if_different_ranks",
        (15,),
        "The branches give a matrix and a scalar.",
        """
        main (bool c, float[3] x) => (float[] y) <int64[2] shape = {3, 1}> {
          y = If (c) <
            then_branch = t () => (float[3,1] p) { p = Reshape (x, shape) },
            else_branch = e () => (float q) { q = ReduceSum <keepdims = 0> (x) }>
        }""",
        {"x": X},
        [X.reshape(3, 1)],
        [f32(6)],
        ambiguous=True,
    ),
    *both_ways(
        "if_scalar_or_vector",
        (15,),
        "The branches give a scalar and a vector of one element.",
        """
        main (bool c, float x) => (float[] y) <int64[1] shape = {1}> {
          y = If (c) <
            then_branch = t () => (float p) { p = Neg (x) },
            else_branch = e () => (float[1] q) { q = Reshape (x, shape) }>
        }""",
        {"x": f32(3)},
        [f32(-3)],
        [f32([3])],
        ambiguous=True,
    ),
    *both_ways(
        "if_empty_or_full",
        (15,),
        "One branch gives no elements.",
        """
        main (bool c, float[3] x) => (float[n] y, int64 count) <int64[1] zero = {0}> {
          y = If (c) <
            then_branch = t () => (float[n] p) { p = Slice (x, zero, zero) },
            else_branch = e () => (float[n] q) { q = Neg (x) }>
          count = Size (y)
        }""",
        {"x": X},
        [empty(0), i64(0)],
        [-X, i64(3)],
    ),
    *both_ways(
        "if_constant_branches",
        (15,),
        "Neither branch has an input: both return constants.",
        """
        main (bool c) => (float[n] y) {
          y = If (c) <
            then_branch = t () => (float[2] p) { p = Constant <value = float[2] {1, 2}> () },
            else_branch = e () => (float[3] q) <float[3] q = {3, 4, 5}> {}>
        }""",
        {},
        [f32([1, 2])],
        [f32([3, 4, 5])],
    ),
    *both_ways(
        "if_captured_value_is_the_result",
        (15, "captured"),
        "The branches copy captured values.",
        """
        main (bool c, float[3] x, float[2] z) => (float[n] y, float[3] same) {
          y = If (c) <
            then_branch = t () => (float[3] p) { p = Identity (x) },
            else_branch = e () => (float[2] q) { q = Identity (z) }>
          same = Identity (x)
        }""",
        {"x": X, "z": f32([8, 9])},
        [X, X],
        [f32([8, 9]), X],
    ),
    *both_ways(
        "if_captured_value_directly",
        (15, "captured"),
        "A branch without nodes names an outer value as its output.",
        """
        main (bool c, float[3] x) => (float[3] y) {
          y = If (c) <then_branch = t () => (float[3] x) {}, else_branch = e () => (float[3] q) { q = Neg (x) }>
        }""",
        {"x": X},
        [X],
        [-X],
        ambiguous=True,
    ),
    *both_ways(
        "if_several_outputs",
        (15,),
        "Three outputs of different types.",
        """
        main (bool c, float x) => (float a, int64 b, string s) {
          a, b, s = If (c) <
            then_branch = t () => (float p1, int64 p2, string p3) {
              p1 = Neg (x)
              p2 = Constant <value_int = 1> ()
              p3 = Constant <value = string {"yes"}> ()
            },
            else_branch = e () => (float q1, int64 q2, string q3) {
              q1 = Identity (x)
              q2 = Constant <value_int = 0> ()
              q3 = Constant <value = string {"no"}> ()
            }>
        }""",
        {"x": f32(3)},
        [f32(-3), i64(1), words("yes")],
        [f32(3), i64(0), words("no")],
    ),
    *both_ways(
        "if_swaps_values",
        (5, 15),
        "One branch returns two captured values in order, the other one swapped.",
        """
        main (bool c, float x, float z) => (float a, float b) {
          a, b = If (c) <
            then_branch = t () => (float p1, float p2) {
              p1 = Identity (x)
              p2 = Identity (z)
            },
            else_branch = e () => (float q1, float q2) {
              q1 = Identity (z)
              q2 = Identity (x)
            }>
        }""",
        {"x": f32(3), "z": f32(4)},
        [f32(3), f32(4)],
        [f32(4), f32(3)],
    ),
    *both_ways(
        "if_sequences_of_different_lengths",
        (10, 15),
        "The branches give sequences of two items and of none.",
        """
        main (bool c, float[3] x) => (seq(float[3]) y, int64 count) {
          y = If (c) <
            then_branch = t () => (seq(float[3]) p) {
              n = Neg (x)
              p = SequenceConstruct (x, n)
            },
            else_branch = e () => (seq(float[3]) q) { q = SequenceEmpty <dtype = 1> () }>
          count = SequenceLength (y)
        }""",
        {"x": X},
        [[X, -X], i64(2)],
        [[], i64(0)],
    ),
    *both_ways(
        "if_optional_or_none",
        (10, 15),
        "The branches give an optional with an element and an empty one.",
        """
        main (bool c, float[3] x) => (optional(float[3]) y, bool has) {
          y = If (c) <
            then_branch = t () => (optional(float[3]) p) { p = Optional (x) },
            else_branch = e () => (optional(float[3]) q) { q = Optional <type = float[3]> () }>
          has = OptionalHasElement (y)
        }""",
        {"x": X},
        [X, flags(True)],
        [None, flags(False)],
        opset=18,
    ),
    *both_ways(
        "if_untaken_branch_would_fail",
        (15,),
        "Each branch reads a row that exists only where its branch is taken.",
        """
        main (bool c, float[k] x, int64 at, int64 beyond) => (float y) {
          row = Where (c, at, beyond)
          other = Where (c, beyond, at)
          y = If (c) <
            then_branch = t () => (float p) { p = Gather (x, row) },
            else_branch = e () => (float q) { q = Gather (x, other) }>
        }""",
        {"x": X, "at": i64(1), "beyond": i64(99)},
        [f32(2)],
        [f32(2)],
    ),
    Case(
        "if_untaken_branch_would_not_end",
        rules=(15, 9),
        doc="The branch that is not taken contains a loop that never ends.",
        model="""
        main (bool c, float x) => (float y) <bool yes = {1}> {
          y = If (c) <
            then_branch = t () => (float p) { p = Neg (x) },
            else_branch = e () => (float q) {
              q = Loop ("", yes, x) <body = step (int64 i, bool go, float v) => (bool on, float w) {
                on = Identity (yes)
                w = Add (v, v)
              }>
            }>
        }""",
        inputs={"c": flags(True), "x": f32(3)},
        expected=[f32(-3)],
    ),
    Case(
        "if_constant_condition",
        rules=(15,),
        doc="The condition is an initializer; the other branch would fail.",
        model="""
        main (float[3] x) => (float[n] y) <bool no = {0}, int64 far = {7}> {
          y = If (no) <
            then_branch = t () => (float p) { p = Gather (x, far) },
            else_branch = e () => (float[n] q) { q = Neg (x) }>
        }""",
        inputs={"x": X},
        expected=[-X],
    ),
    *(
        Case(
            f"if_condition_of_shape_{'_'.join(map(str, shape))}_{str(c).lower()}",
            rules=(1, 15),
            doc=f"A condition of shape {list(shape)}, {str(c).lower()}.",
            model=f"""
            main (bool{list(shape)} c, float x) => (float y) {{
              y = If (c) <
                then_branch = t () => (float p) {{ p = Neg (x) }},
                else_branch = e () => (float q) {{ q = Add (x, x) }}>
            }}""",
            inputs={"c": np.full(shape, c), "x": f32(3)},
            expected=[f32(-3 if c else 6)],
        )
        for shape in ((1,), (1, 1))
        for c in (True, False)
    ),
    Case(
        "if_shared_work_before",
        rules=(15, "captured"),
        doc="Both branches and the main graph use one outer value; the branches also hold equal nodes.",
        model="""
        main (bool c, float x) => (float y, float z) {
          s = Add (x, x)
          y = If (c) <
            then_branch = t () => (float p) {
              m = Mul (s, s)
              p = Neg (m)
            },
            else_branch = e () => (float q) {
              m2 = Mul (s, s)
              q = Add (m2, x)
            }>
          z = Mul (s, s)
        }""",
        inputs={"c": flags(False), "x": f32(3)},
        expected=[f32(39), f32(36)],
    ),
]
