"""Every version of Loop, Scan and If, each in a model of the first opset that has it."""

from __future__ import annotations

from whorl.conformance.case import Case
from whorl.conformance.values import f32, flags, i64

LOOP_OPSETS = 1, 7, 11, 13, 16, 19, 21, 23, 24, 25, 28
SCAN_OPSETS = 9, 11, 16, 19, 21, 23, 24, 25, 28
IF_OPSETS = 1, 7, 11, 13, 16, 19, 21, 23, 24, 25, 28
NEWEST = 25


def name_of(op: str, opset: int, first: int) -> str:
    if opset == first:
        return f"{op}_version_{opset}"
    return f"{op}_in_opset_{opset}" if opset == 7 or opset > NEWEST else f"{op}_version_{opset}"


def loop_case(opset: int) -> Case:
    return Case(
        name_of("loop", opset, 1),
        rules=("versions", 1, 4, "captured"),
        doc=f"Loop in opset {opset}: trip count and condition, one carried and one collected value, a captured weight.",
        opset=opset,
        model="""
        main (int64 M, bool cond, float[2] x, float[2] w) => (float[2] y, float[n,2] all) {
          y, all = Loop (M, cond, x) <body = step (int64 i, bool go, float[2] v)
              => (bool on, float[2] next, float[2] e) {
            on = Identity (go)
            next = Add (v, w)
            e = Identity (next)
          }>
        }""",
        inputs={"M": i64(3), "cond": flags(True), "x": f32([1, 2]), "w": f32([10, 20])},
        expected=[f32([31, 62]), f32([[11, 22], [21, 42], [31, 62]])],
    )


def scan_case(opset: int) -> Case:
    return Case(
        name_of("scan", opset, 9),
        rules=("versions", 8),
        doc=f"Scan in opset {opset}: a state, an input scanned backwards along axis 1, an output along axis 1.",
        opset=opset,
        model="""
        main (float[2] start, float[2,T] x) => (float[2] last, float[2,T] sums) {
          last, sums = Scan (start, x) <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1],
            scan_output_axes = [1], body = step (float[2] s, float[2] e) => (float[2] t, float[2] u) {
              t = Add (s, e)
              u = Identity (t)
            }>
        }""",
        inputs={"start": f32([0, 0]), "x": f32([[1, 2, 3], [4, 5, 6]])},
        expected=[f32([6, 15]), f32([[3, 5, 6], [6, 11, 15]])],
    )


def if_case(opset: int) -> Case:
    """Before version 11 the branches must agree in shape."""
    joined = "Concat <axis = 0> (x, x)" if opset >= 11 else "Add (x, x)"
    length, expected = (4, [1, 2, 1, 2]) if opset >= 11 else (2, [2, 4])
    return Case(
        name_of("if", opset, 1),
        rules=("versions", 15, "captured"),
        doc=f"If in opset {opset}: both branches capture" + (", and give different lengths." if opset >= 11 else "."),
        opset=opset,
        model=f"""
        main (bool c, float[2] x) => (float[n] y) {{
          y = If (c) <
            then_branch = t () => (float[2] p) {{ p = Neg (x) }},
            else_branch = e () => (float[{length}] q) {{ q = {joined} }}>
        }}""",
        inputs={"c": flags(False), "x": f32([1, 2])},
        expected=[f32(expected)],
    )


CASES = [
    *(loop_case(opset) for opset in LOOP_OPSETS),
    *(scan_case(opset) for opset in SCAN_OPSETS),
    *(if_case(opset) for opset in IF_OPSETS),
    Case(
        "loop_13_carries_sequences",
        rules=("versions", 10),
        doc="Loop carries sequences from version 13 on.",
        opset=13,
        model="""
        main (int64 M, seq(float[2]) s, float[2] x) => (seq(float[2]) r) {
          r = Loop (M, "", s) <body = step (int64 i, bool go, seq(float[2]) v) => (bool on, seq(float[2]) w) {
            on = Identity (go)
            w = SequenceInsert (v, x)
          }>
        }""",
        inputs={"M": i64(2), "s": [f32([1, 2])], "x": f32([3, 4])},
        expected=[[f32([1, 2]), f32([3, 4]), f32([3, 4])]],
    ),
    Case(
        "if_13_returns_sequences",
        rules=("versions", 10, 15),
        doc="If returns sequences from version 13 on.",
        opset=13,
        model="""
        main (bool c, float x) => (seq(float) r) {
          r = If (c) <
            then_branch = t () => (seq(float) p) { p = SequenceConstruct (x, x) },
            else_branch = e () => (seq(float) q) { q = SequenceConstruct (x) }>
        }""",
        inputs={"c": flags(True), "x": f32(3)},
        expected=[[f32(3), f32(3)]],
    ),
    Case(
        "loop_16_carries_optionals",
        rules=("versions", 10),
        doc="Loop carries optionals from version 16 on.",
        opset=16,
        model="""
        main (int64 M, optional(float) o) => (bool has, float y) {
          r = Loop (M, "", o) <body = step (int64 i, bool go, optional(float) v) => (bool on, optional(float) w) {
            on = Identity (go)
            w = Identity (v)
          }>
          has = OptionalHasElement (r)
          y = OptionalGetElement (r)
        }""",
        inputs={"M": i64(2), "o": f32(3)},
        expected=[flags(True), f32(3)],
    ),
    Case(
        "if_16_returns_optionals",
        rules=("versions", 10, 15),
        doc="If returns optionals from version 16 on.",
        opset=16,
        model="""
        main (bool c, float x) => (bool has) {
          r = If (c) <
            then_branch = t () => (optional(float) p) { p = Optional (x) },
            else_branch = e () => (optional(float) q) { q = Optional <type = float> () }>
          has = OptionalHasElement (r)
        }""",
        inputs={"c": flags(False), "x": f32(3)},
        expected=[flags(False)],
    ),
    Case(
        "scan_11_negative_axes",
        rules=("versions", 8),
        doc="Scan takes negative axes from version 11 on.",
        opset=11,
        model="""
        main (float[2,T] x) => (float[2,T] y) {
          y = Scan (x) <num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [-1],
            body = step (float[2] e) => (float[2] f) { f = Neg (e) }>
        }""",
        inputs={"x": f32([[1, 2, 3], [4, 5, 6]])},
        expected=[-f32([[1, 2, 3], [4, 5, 6]])],
    ),
    Case(
        "loop_1_without_trip_count",
        rules=("versions", 1, 4),
        doc="Loop version 1 without a trip count, ended by its condition.",
        opset=8,
        model="""
        main (bool cond, float x, float limit) => (float y) {
          y = Loop ("", cond, x) <body = step (int64 i, bool go, float v) => (bool on, float w) {
            w = Add (v, v)
            on = Less (w, limit)
          }>
        }""",
        inputs={"cond": flags(True), "x": f32(1), "limit": f32(10)},
        expected=[f32(16)],
    ),
]
