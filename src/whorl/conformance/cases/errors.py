"""What must be refused: with a clean error, not a crash, a hang, or made-up values."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.rules import Rule
from whorl.conformance.values import Value, f32, flags, i64, words

FOR = """
main (int64%s M, float x) => (float y) {
  y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go, float w) { w = Add (v, v) }>
}"""

COLLECT_RESHAPED = """
main (int64 M, float[6] x, int64[s,2] shapes) => (float[n,a,b] all) {
  all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[a,b] e) {
    shape = Gather <axis = 0> (shapes, i)
    e = Reshape (x, shape)
  }>
}"""

COLLECT_RANKS = """
main (int64 M, float x) => (float[n] all) {
  last, all = Loop (M, "", x) <body = step (int64 i, bool go, float[] v) => (bool go, float[] w, float[] v) {
    axis = Constant <value_ints = [0]> ()
    w = Unsqueeze (v, axis)
  }>
}"""

COLLECT_GROWING = """
main (int64 M, float[k] x) => (float[n,m] all) {
  last, all = Loop (M, "", x) <body = step (int64 i, bool go, float[k] v) => (bool go, float[l] w, float[k] v) {
    w = Concat <axis = 0> (v, v)
  }>
}"""

ZIP = """
main (float[S] x, float[T] z) => (float[U] y) {
  y = Scan (x, z) <num_scan_inputs = 2, body = step (float a, float b) => (float c) { c = Add (a, b) }>
}"""

ZIP_AXES = """
main (float[2,S] x, float[T,2] z) => (float[U,2] y) {
  y = Scan (x, z) <num_scan_inputs = 2, scan_input_axes = [1, 0], body = step (float[2] a, float[2] b) => (float[2] c) {
    c = Add (a, b)
  }>
}"""

READ = """
main (int64 M, float[k] x) => (float y) <float zero = {0}> {
  y = Loop (M, "", zero) <body = step (int64 i, bool go, float v) => (bool go, float w) {
    e = Gather (x, i)
    w = Add (v, e)
  }>
}"""


def refused(
    name: str,
    rules: tuple[Rule, ...],
    doc: str,
    model: str,
    inputs: dict[str, Value],
    control: dict[str, Value],
    ambiguous: bool = False,
    opset: int = 17,
) -> Case:
    return Case(name, rules, doc, model, inputs=inputs, error=True, control=control, ambiguous=ambiguous, opset=opset)


X = {"x": f32(1)}

CASES = [
    refused(
        "error_trip_count_with_two_elements",
        (1,),
        "The trip count has two elements.",
        FOR % "[k]",
        {"M": i64([3, 3]), **X},
        {"M": i64([3]), **X},
        ambiguous=True,
    ),
    refused(
        "error_trip_count_without_elements",
        (1,),
        "The trip count has no element.",
        FOR % "[k]",
        {"M": i64([]), **X},
        {"M": i64([3]), **X},
        ambiguous=True,
    ),
    refused(
        "error_condition_with_two_elements",
        (1,),
        "The condition has two elements.",
        """
        main (bool[k] cond, float x) => (float y) <int64 M = {3}> {
          y = Loop (M, cond, x) <body = step (int64 i, bool[] go, float v) => (bool yes, float w) <bool yes = {1}> {
            w = Add (v, v)
          }>
        }""",
        {"cond": flags([True, True]), **X},
        {"cond": flags([True]), **X},
        ambiguous=True,
    ),
    refused(
        "error_if_condition_with_two_elements",
        (1, 15),
        "The condition of an If has two elements.",
        """
        main (bool[k] c, float x) => (float y) {
          y = If (c) <
            then_branch = t () => (float p) { p = Neg (x) },
            else_branch = e () => (float q) { q = Add (x, x) }>
        }""",
        {"c": flags([True, True]), **X},
        {"c": flags([True]), **X},
    ),
    refused(
        "error_collected_shape_changes",
        (6,),
        "The second element is [2, 3] after [1, 6]: as many bytes, another shape.",
        COLLECT_RESHAPED,
        {"M": i64(2), "x": f32(range(6)), "shapes": i64([[1, 6], [2, 3]])},
        {"M": i64(2), "x": f32(range(6)), "shapes": i64([[2, 3], [2, 3]])},
    ),
    refused(
        "error_collected_shape_is_transposed",
        (6,),
        "The third element is [3, 2] after two of [2, 3].",
        COLLECT_RESHAPED,
        {"M": i64(3), "x": f32(range(6)), "shapes": i64([[2, 3], [2, 3], [3, 2]])},
        {"M": i64(2), "x": f32(range(6)), "shapes": i64([[2, 3], [2, 3], [3, 2]])},
    ),
    refused(
        "error_collected_rank_changes",
        (6,),
        "The collected value gets one more axis in each iteration.",
        COLLECT_RANKS,
        {"M": i64(3), **X},
        {"M": i64(1), **X},
    ),
    refused(
        "error_collected_length_changes",
        (6,),
        "The collected value grows.",
        COLLECT_GROWING,
        {"M": i64(3), "x": f32([1, 2])},
        {"M": i64(1), "x": f32([1, 2])},
    ),
    refused(
        "error_collected_shape_changes_in_branches",
        (6, 15),
        "The branches give elements of different lengths.",
        """
        main (int64 M, float[3] x) => (float[n,k] all) <int64 two = {2}, int64[1] a = {0}, int64[1] b = {2}> {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[k] e) {
            half = Mod (i, two)
            odd = Cast <to = 9> (half)
            e = If (odd) <
              then_branch = t () => (float[3] p) { p = Neg (x) },
              else_branch = f () => (float[2] q) { q = Slice (x, a, b) }>
          }>
        }""",
        {"M": i64(2), "x": f32([1, 2, 3])},
        {"M": i64(1), "x": f32([1, 2, 3])},
    ),
    refused(
        "error_collected_strings_change_shape",
        (6, 10),
        "Collected string vectors have lengths 1 and 2.",
        """
        main (int64 M, string[k] x) => (string[n,m] all) {
          last, all = Loop (M, "", x) <body = step (int64 i, bool go, string[k] v)
              => (bool go, string[l] w, string[k] v) {
            w = Concat <axis = 0> (v, v)
          }>
        }""",
        {"M": i64(2), "x": words(["a"])},
        {"M": i64(1), "x": words(["a"])},
    ),
    refused(
        "error_scan_lengths_differ",
        (8,),
        "Two scanned inputs have lengths 3 and 2.",
        ZIP,
        {"x": f32([1, 2, 3]), "z": f32([1, 2])},
        {"x": f32([1, 2]), "z": f32([1, 2])},
    ),
    refused(
        "error_scan_length_one_is_not_broadcast",
        (8,),
        "Two scanned inputs have lengths 3 and 1: nothing is repeated.",
        ZIP,
        {"x": f32([1, 2, 3]), "z": f32([1])},
        {"x": f32([1]), "z": f32([1])},
    ),
    refused(
        "error_scan_lengths_differ_along_axes",
        (8,),
        "Lengths along axes 1 and 0 are 3 and 2.",
        ZIP_AXES,
        {"x": f32(np.ones((2, 3))), "z": f32(np.ones((2, 2)))},
        {"x": f32(np.ones((2, 3))), "z": f32(np.ones((3, 2)))},
    ),
    refused(
        "error_scan_state_grows",
        (8,),
        "A state of a Scan changes its shape.",
        """
        main (float[k] start, float[T] x) => (float[l] last) {
          last = Scan (start, x) <num_scan_inputs = 1, body = step (float[k] s, float e) => (float[m] t) {
            t = Concat <axis = 0> (s, s)
          }>
        }""",
        {"start": f32([1]), "x": f32([1, 2, 3])},
        {"start": f32([]), "x": f32([1, 2, 3])},
        ambiguous=True,
    ),
    refused(
        "error_scan_collected_shape_changes",
        (6, 8),
        "The elements that a Scan collects have the lengths that are scanned.",
        """
        main (int64[T] n, float one) => (float[T,k] all) {
          all = Scan (n) <num_scan_inputs = 1, body = step (int64 e) => (float[k] f) {
            axis = Constant <value_ints = [0]> ()
            shape = Unsqueeze (e, axis)
            f = Expand (one, shape)
          }>
        }""",
        {"n": i64([2, 3]), "one": f32(1)},
        {"n": i64([3, 3]), "one": f32(1)},
        ambiguous=True,
    ),
    refused(
        "error_in_a_late_iteration",
        ("captured",),
        "Iteration 3 reads past the end of a captured vector.",
        READ,
        {"M": i64(4), "x": f32([1, 2, 3])},
        {"M": i64(3), "x": f32([1, 2, 3])},
    ),
    refused(
        "error_in_inner_loop",
        (11,),
        "The inner loop reads past the end in the last outer iteration.",
        """
        main (int64 M, float[k] x) => (float y) <float zero = {0}> {
          y = Loop (M, "", zero) <body = outer (int64 i, bool go, float v) => (bool go, float w) {
            w = Loop (i, "", v) <body = inner (int64 j, bool go2, float s) => (bool go2, float t) {
              e = Gather (x, j)
              t = Add (s, e)
            }>
          }>
        }""",
        {"M": i64(4), "x": f32([1, 2])},
        {"M": i64(3), "x": f32([1, 2])},
    ),
    refused(
        "error_in_taken_branch",
        (15,),
        "The taken branch multiplies a vector of two by a matrix of three rows.",
        """
        main (bool c, float[k] x, float[a,b] z) => (float[n] y) {
          y = If (c) <
            then_branch = t () => (float[] p) { p = MatMul (x, z) },
            else_branch = e () => (float[] q) { q = Neg (x) }>
        }""",
        {"c": flags(True), "x": f32([1, 2]), "z": f32([[1], [2], [3]])},
        {"c": flags(False), "x": f32([1, 2]), "z": f32([[1], [2], [3]])},
    ),
    refused(
        "error_element_of_empty_optional",
        (10,),
        "The second iteration reads the element of an optional that has none.",
        """
        main (int64 M, optional(float) o) => (float y) <float zero = {0}> {
          last, y = Loop (M, "", o, zero) <
            body = step (int64 i, bool go, optional(float) v, float s) => (bool go, optional(float) w, float t) {
              e = OptionalGetElement (v)
              t = Add (s, e)
              w = Optional <type = float> ()
            }>
        }""",
        {"M": i64(2), "o": f32(1)},
        {"M": i64(1), "o": f32(1)},
        opset=18,
        ambiguous=True,
    ),
    refused(
        "error_item_of_short_sequence",
        (10,),
        "An iteration reads past the end of a carried sequence.",
        """
        main (int64 M, seq(float) s) => (float y) <float zero = {0}> {
          last, y = Loop (M, "", s, zero) <body = step (int64 i, bool go, seq(float) v, float t)
              => (bool go, seq(float) w, float u) {
            e = SequenceAt (v, i)
            u = Add (t, e)
            w = SequenceErase (v)
          }>
        }""",
        {"M": i64(3), "s": [f32(1), f32(2), f32(3)]},
        {"M": i64(1), "s": [f32(1), f32(2), f32(3)]},
    ),
]
