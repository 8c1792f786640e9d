"""Numbers in loops: IEEE results and wrapping integers, the same as outside a loop."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import f16, f32, f64, flags, i8, i32, i64, u8

CANCELLING = f32([1e8, 1, -1e8, 1, 3e7, 0.25, -3e7, 5])


def doubling(name: str, kind: str, start: np.ndarray, trips: int, doc: str, ambiguous: bool = False) -> Case:
    value = start
    with np.errstate(over="ignore"):
        for _ in range(trips):
            value = value + value
    return Case(
        name,
        rules=("numbers",),
        doc=doc,
        model=f"""
        main (int64 M, {kind} x) => ({kind} y) {{
          y = Loop (M, "", x) <body = step (int64 i, bool go, {kind} v) => (bool go, {kind} w) {{ w = Add (v, v) }}>
        }}""",
        inputs={"M": i64(trips), "x": start},
        expected=[np.asarray(value, start.dtype)],
        ambiguous=ambiguous,
    )


def rounded_sum(kind: type[np.floating], step: float, trips: int) -> np.ndarray:
    total = kind(0)
    for _ in range(trips):
        total = kind(total + kind(step))
    return np.asarray(total)


CASES = [
    doubling("int32_wraps", "int32", i32(2**30 + 3), 3, "int32 doubles past its range and wraps.", ambiguous=True),
    doubling("int64_wraps", "int64", i64(2**62 + 3), 2, "int64 doubles past its range and wraps.", ambiguous=True),
    doubling("int64_beyond_32_bits", "int64", i64(3), 40, "int64 state needs more than 32 bits."),
    doubling(
        "int64_beyond_53_bits", "int64", i64(2**53 + 1), 3, "int64 state needs more than the 53 bits of a double."
    ),
    doubling(
        "float_overflows_to_infinity", "float", f32(1e38), 3, "float doubles past its range: infinity.", ambiguous=True
    ),
    doubling("double_keeps_small_parts", "double", f64(1 + 2**-50), 3, "double keeps bits that float has not."),
    doubling(
        "float_subnormals", "float", f32(1e-45), 5, "The smallest subnormal float doubles exactly.", ambiguous=True
    ),
    doubling(
        "float16_overflows", "float16", f16(20000), 2, "float16 doubles past its range: infinity.", ambiguous=True
    ),
    Case(
        "int8_and_uint8_wrap",
        rules=("numbers",),
        doc="int8 counts up past 127 and uint8 down past 0.",
        model="""
        main (int64 M, int8 a, uint8 b) => (int8 x, uint8 y) <int8 one = {1}, uint8 eins = {1}> {
          x, y = Loop (M, "", a, b) <body = step (int64 i, bool go, int8 p, uint8 q) => (bool go, int8 r, uint8 s) {
            r = Add (p, one)
            s = Sub (q, eins)
          }>
        }""",
        inputs={"M": i64(5), "a": i8(125), "b": u8(2)},
        expected=[i8(-126), u8(253)],
        ambiguous=True,
    ),
    Case(
        "float16_rounds_each_iteration",
        rules=("numbers",),
        doc="A float16 sum is rounded in every iteration and stops growing at 256 for steps of 0.1.",
        model="""
        main (int64 M, float16 step) => (float16 y) <float zero = {0}> {
          start = Cast <to = 10> (zero)
          y = Loop (M, "", start) <body = b (int64 i, bool go, float16 v) => (bool go, float16 w) { w = Add (v, step) }>
        }""",
        inputs={"M": i64(3000), "step": f16(0.1)},
        expected=[rounded_sum(np.float16, 0.1, 3000)],
        ambiguous=True,
    ),
    Case(
        "float_sum_keeps_its_order",
        rules=("numbers",),
        doc="A float sum of 0.1 over 1000 iterations has the rounding of a sum in order.",
        model="""
        main (int64 M, float step) => (float y) <float zero = {0}> {
          y = Loop (M, "", zero) <body = b (int64 i, bool go, float v) => (bool go, float w) { w = Add (v, step) }>
        }""",
        inputs={"M": i64(1000), "step": f32(0.1)},
        expected=[rounded_sum(np.float32, 0.1, 1000)],
        ambiguous=True,
    ),
    Case(
        "scan_sum_keeps_its_order",
        rules=("numbers", 8),
        doc="A running float sum whose parts cancel has the rounding of a sum in order.",
        model="""
        main (float[k] x) => (float y, float[k] all) <float zero = {0}> {
          y, all = Scan (zero, x) <num_scan_inputs = 1, body = b (float s, float e) => (float t, float u) {
            t = Add (s, e)
            u = Identity (t)
          }>
        }""",
        inputs={"x": CANCELLING},
        expected=[np.cumsum(CANCELLING)[-1:].reshape(()), np.cumsum(CANCELLING)],
        ambiguous=True,
    ),
    Case(
        "nan_and_infinity_are_carried",
        rules=("numbers",),
        doc="NaN, infinities and both zeros are carried and collected unchanged; inf - inf becomes NaN.",
        model="""
        main (int64 M, float[5] x) => (float[5] same, float[5] y, float[n,5] all) {
          same, y, all = Loop (M, "", x, x) <
            body = step (int64 i, bool go, float[5] p, float[5] v) => (bool go, float[5] p, float[5] w, float[5] v) {
              w = Sub (v, x)
            }>
        }""",
        inputs={"M": i64(2), "x": f32([np.nan, np.inf, -np.inf, 0.0, -0.0])},
        expected=[
            f32([np.nan, np.inf, -np.inf, 0.0, -0.0]),
            f32([np.nan, np.nan, np.nan, 0.0, 0.0]),
            f32([[np.nan, np.inf, -np.inf, 0.0, -0.0], [np.nan, np.nan, np.nan, 0.0, 0.0]]),
        ],
        ambiguous=True,
    ),
    Case(
        "negative_zero_is_kept",
        rules=("numbers",),
        doc="x + 0 turns -0 into 0, x - 0 and x * 1 do not: no such shortcut may be taken.",
        model="""
        main (int64 M, float x) => (float a, float b, float c) <float zero = {0}, float one = {1}> {
          a, b, c = Loop (M, "", x, x, x) <body = step (int64 i, bool go, float p, float q, float r)
              => (bool go, float s, float t, float u) {
            s = Add (p, zero)
            t = Sub (q, zero)
            u = Mul (r, one)
          }>
        }""",
        inputs={"M": i64(2), "x": f32(-0.0)},
        expected=[f32(0.0), f32(-0.0), f32(-0.0)],
        ambiguous=True,
    ),
    Case(
        "nan_ends_a_while_loop",
        rules=("numbers", 4),
        doc="A comparison with NaN is false, so the loop ends in the iteration that computes NaN.",
        model="""
        main (float x) => (float y, float[n] seen) <float limit = {100}, bool yes = {1}> {
          y, seen = Loop ("", yes, x) <body = step (int64 i, bool go, float v) => (bool go_on, float w, float v) {
            w = Sqrt (v)
            shifted = Sub (v, limit)
            go_on = Less (w, limit)
          }>
        }""",
        inputs={"x": f32(-4)},
        expected=[f32(np.nan), f32([-4])],
        ambiguous=True,
    ),
    Case(
        "zero_times_infinity",
        rules=("numbers",),
        doc="A value times zero is not always zero: the body multiplies infinity by a constant 0.",
        model="""
        main (int64 M, float x) => (float y) <float zero = {0}> {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go, float w) { w = Mul (v, zero) }>
        }""",
        inputs={"M": i64(1), "x": f32(np.inf)},
        expected=[f32(np.nan)],
        ambiguous=True,
    ),
    Case(
        "not_reassociated",
        rules=("numbers",),
        doc="(v + 1e8) - 1e8 loses small parts in float; nothing may simplify it.",
        model="""
        main (int64 M, float x) => (float y) <float big = {100000000}> {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool go, float w) {
            a = Add (v, big)
            w = Sub (a, big)
          }>
        }""",
        inputs={"M": i64(1), "x": f32(3)},
        expected=[f32(f32(np.float32(3) + np.float32(1e8)) - np.float32(1e8))],
        ambiguous=True,
    ),
    Case(
        "integer_division_truncates",
        rules=("numbers",),
        doc="int64 Div rounds towards zero in a loop as well; fmod 0 Mod follows the divisor's sign.",
        model="""
        main (int64 M, int64 x, int64 d) => (int64 y, int64[n] rest) {
          y, rest = Loop (M, "", x) <body = step (int64 i, bool go, int64 v) => (bool go, int64 w, int64 r) {
            w = Div (v, d)
            r = Mod (v, d)
          }>
        }""",
        inputs={"M": i64(3), "x": i64(-77), "d": i64(4)},
        expected=[i64(-1), i64([-77 % 4, -19 % 4, -4 % 4])],
    ),
    Case(
        "unsigned_comparison",
        rules=("numbers", 4),
        doc="uint64 values beyond the int64 range are compared as unsigned.",
        model="""
        main (uint64 x, uint64 limit) => (uint64 y, int64[n] steps) <bool yes = {1}, uint64 two = {2}> {
          y, steps = Loop ("", yes, x) <body = step (int64 i, bool go, uint64 v) => (bool go_on, uint64 w, int64 i2) {
            w = Div (v, two)
            go_on = Greater (w, limit)
            i2 = Identity (i)
          }>
        }""",
        inputs={"x": np.asarray(2**64 - 2, np.uint64), "limit": np.asarray(2**61, np.uint64)},
        expected=[np.asarray(2**61 - 1, np.uint64), i64([0, 1, 2])],
    ),
    Case(
        "bool_arithmetic",
        rules=("numbers",),
        doc="Parity of a bit vector by Xor over a Scan.",
        model="""
        main (bool[k] bits) => (bool parity, bool[k] running) <bool no = {0}> {
          parity, running = Scan (no, bits) <num_scan_inputs = 1, body = b (bool s, bool e) => (bool t, bool u) {
            t = Xor (s, e)
            u = Identity (t)
          }>
        }""",
        inputs={"bits": flags([1, 0, 1, 1])},
        expected=[flags(True), flags([1, 1, 0, 1])],
    ),
]
