"""Models that no inputs can make right: refused at load or at run, with a clean error."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.rules import Rule
from whorl.conformance.values import Value, f32, flags, i32, i64

LOOP = """
main ({kind} given, float x) => (float y) {{
  y = Loop ({inputs}, x) <body = step (int64 i, bool go, float v) => (bool go, float w) {{ w = Add (v, v) }}>
}}"""


def refused(name: str, rules: tuple[Rule, ...], doc: str, model: str, inputs: dict[str, Value]) -> Case:
    return Case(name, rules, doc, model, inputs=inputs, error=True, ambiguous=True)


X = {"x": f32(1)}

CASES = [
    refused(
        "error_trip_count_is_int32",
        (1,),
        "The trip count is int32; it must be int64.",
        LOOP.format(kind="int32", inputs='given, ""'),
        {"given": i32(3), **X},
    ),
    refused(
        "error_condition_is_int64",
        (1,),
        "The condition is int64; it must be bool.",
        LOOP.format(kind="int64", inputs='"", given'),
        {"given": i64(1), **X},
    ),
    refused(
        "error_scan_axis_out_of_range",
        (8,),
        "The scanned axis is 2 and the input has two axes.",
        """
        main (float[a,b] x) => (float[c,d] y) {
          y = Scan (x) <num_scan_inputs = 1, scan_input_axes = [2], body = step (float[a] e)
              => (float[a] f) { f = Neg (e) }>
        }""",
        {"x": f32(np.ones((2, 3)))},
    ),
    refused(
        "error_scan_output_axis_out_of_range",
        (8,),
        "The output's axis is -4 and the output has two axes.",
        """
        main (float[a,b] x) => (float[c,d] y) {
          y = Scan (x) <num_scan_inputs = 1, scan_output_axes = [-4], body = step (float[b] e)
              => (float[b] f) { f = Neg (e) }>
        }""",
        {"x": f32(np.ones((2, 3)))},
    ),
    refused(
        "error_scan_of_scalar",
        (8, "scanned"),
        "A scanned input has no axis.",
        """
        main (float x) => (float[c] y) {
          y = Scan (x) <num_scan_inputs = 1, body = step (float e) => (float f) { f = Neg (e) }>
        }""",
        {"x": f32(1)},
    ),
    refused(
        "error_carried_type_changes",
        ("carried",),
        "The body turns a float state into an int64 one.",
        """
        main (int64 M, float x) => (float y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go, int64 w) { w = Cast <to = 7> (v) }>
        }""",
        {"M": i64(2), **X},
    ),
    refused(
        "error_too_few_body_inputs",
        (7,),
        "The loop gives two values to carry, the body has one input for them.",
        """
        main (int64 M, float x) => (float y) {
          y = Loop (M, "", x, x) <body = step (int64 i, bool go, float v) => (bool go, float w) { w = Neg (v) }>
        }""",
        {"M": i64(2), **X},
    ),
    refused(
        "error_too_few_body_outputs",
        (7,),
        "The body returns the condition only, and one value is carried.",
        """
        main (int64 M, float x) => (float y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool on) { on = Identity (go) }>
        }""",
        {"M": i64(2), **X},
    ),
    refused(
        "error_branches_with_different_output_counts",
        (15,),
        "The branches have one and two outputs.",
        """
        main (bool c, float x) => (float y) {
          y = If (c) <
            then_branch = t () => (float p) { p = Neg (x) },
            else_branch = e () => (float q, float r) {
              q = Neg (x)
              r = Add (x, x)
            }>
        }""",
        {"c": flags(True), **X},
    ),
    refused(
        "error_branches_with_different_types",
        (15,),
        "The branches give float and int64.",
        """
        main (bool c, float x) => (float y) {
          y = If (c) <
            then_branch = t () => (float p) { p = Neg (x) },
            else_branch = e () => (int64 q) { q = Cast <to = 7> (x) }>
        }""",
        {"c": flags(True), **X},
    ),
    refused(
        "error_sequence_collected",
        ("collected", 10),
        "A sequence is listed as a collected output; only tensors may be.",
        """
        main (int64 M, float x) => (seq(float) all) {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, seq(float) e) { e = SequenceConstruct (x) }>
        }""",
        {"M": i64(2), **X},
    ),
    refused(
        "error_body_value_read_outside",
        ("captured",),
        "A node after the loop reads a value of the body.",
        """
        main (int64 M, float x) => (float z) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go, float w) {
            inside = Add (v, v)
            w = Neg (inside)
          }>
          z = Neg (inside)
        }""",
        {"M": i64(2), **X},
    ),
    refused(
        "error_sibling_value_read",
        ("captured",),
        "The else branch reads a value of the then branch.",
        """
        main (bool c, float x) => (float y) {
          y = If (c) <
            then_branch = t () => (float p) {
              inside = Add (x, x)
              p = Neg (inside)
            },
            else_branch = e () => (float q) { q = Neg (inside) }>
        }""",
        {"c": flags(True), **X},
    ),
    refused(
        "error_captured_before_it_is_computed",
        ("captured",),
        "A body reads a value that a later node of the main graph computes.",
        """
        main (int64 M, float x) => (float y, float late) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go, float w) { w = Add (v, late) }>
          late = Neg (y)
        }""",
        {"M": i64(2), **X},
    ),
]
