"""Ifs inside Ifs and loops, and loops inside Ifs."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import f32, flags, i64, words


def chain(depth: int) -> str:
    """`depth` Ifs, one in the other: If number k adds 2**k where bit k of n is set."""
    text = "r0 = Identity (start)"
    for level in range(1, depth + 1):
        text = f"""
        bit{level} = BitShift <direction = "RIGHT"> (n, place{level})
        low{level} = Mod (bit{level}, two)
        odd{level} = Cast <to = 9> (low{level})
        r{level} = If (odd{level}) <
          then_branch = t{level} () => (uint64 p{level}) {{
            {text}
            p{level} = Add (r{level - 1}, power{level})
          }},
          else_branch = e{level} () => (uint64 q{level}) {{ q{level} = Identity (start) }}>"""
    return text


def nested_ifs(depth: int, n: int) -> Case:
    value = 0
    for level in range(1, depth + 1):
        value = value + 2**level if n >> level & 1 else 0
    constants = ", ".join(f"uint64 place{k} = {{{k}}}, uint64 power{k} = {{{2**k}}}" for k in range(1, depth + 1))
    return Case(
        f"if_depth_{depth}",
        rules=(11, 15),
        doc=f"{depth} Ifs, one in the then branch of the other, read bits of an outer number.",
        model=f"main (uint64 n) => (uint64 y) <uint64 start = {{0}}, uint64 two = {{2}}, {constants}> {{"
        + chain(depth)
        + f"\ny = Identity (r{depth})\n}}",
        inputs={"n": np.asarray(n, np.uint64)},
        expected=[np.asarray(value, np.uint64)],
    )


CASES = [
    *(
        Case(
            f"if_chain_of_else_{n}".replace("-", "minus_"),
            rules=(15, 11),
            doc=f"else-if-else: {n} is compared with 0 and 10.",
            model="""
            main (int64 n) => (string y) <int64 zero = {0}, int64 ten = {10}> {
              low = Less (n, zero)
              y = If (low) <
                then_branch = t () => (string p) { p = Constant <value = string {"negative"}> () },
                else_branch = e () => (string q) {
                  high = Greater (n, ten)
                  q = If (high) <
                    then_branch = t2 () => (string p2) { p2 = Constant <value = string {"large"}> () },
                    else_branch = e2 () => (string q2) { q2 = Constant <value = string {"small"}> () }>
                }>
            }""",
            inputs={"n": i64(n)},
            expected=[words("negative" if n < 0 else "large" if n > 10 else "small")],
        )
        for n in (-1, 11, 3)
    ),
    nested_ifs(2, 0b110),
    nested_ifs(8, 0b111110000),
    nested_ifs(25, (1 << 26) - 2),
    Case(
        "if_in_loop_changes_each_iteration",
        rules=(15, 11),
        doc="Odd numbers are tripled and incremented, even ones halved, for ten steps.",
        model="""
        main (int64 n) => (int64 y, int64[k] path)
          <int64 ten = {10}, int64 one = {1}, int64 two = {2}, int64 three = {3}> {
          y, path = Loop (ten, "", n) <body = step (int64 i, bool go, int64 v) => (bool go, int64 w, int64 v) {
            rest = Mod (v, two)
            odd = Cast <to = 9> (rest)
            w = If (odd) <
              then_branch = t () => (int64 p) {
                m = Mul (v, three)
                p = Add (m, one)
              },
              else_branch = e () => (int64 q) { q = Div (v, two) }>
          }>
        }""",
        inputs={"n": i64(7)},
        expected=[i64(10), i64([7, 22, 11, 34, 17, 52, 26, 13, 40, 20])],
    ),
    Case(
        "if_result_is_the_condition",
        rules=(15, 4),
        doc="The loop's condition comes out of an If.",
        model="""
        main (int64 limit) => (int64[n] steps) <bool yes = {1}, int64 three = {3}> {
          steps = Loop ("", yes) <body = step (int64 i, bool go) => (bool go_on, int64 at) {
            at = Identity (i)
            early = Less (i, three)
            go_on = If (early) <
              then_branch = t () => (bool p) { p = Identity (early) },
              else_branch = e () => (bool q) { q = Less (i, limit) }>
          }>
        }""",
        inputs={"limit": i64(5)},
        expected=[i64([0, 1, 2, 3, 4, 5])],
    ),
    Case(
        "if_contains_loop_or_scan",
        rules=(15, 11),
        doc="One branch runs a Loop, the other one a Scan; both depend on captured values.",
        model="""
        main (bool c, int64 M, float[T] x) => (float y) <float zero = {0}> {
          y = If (c) <
            then_branch = t () => (float p) {
              p = Loop (M, "", zero) <body = step (int64 i, bool go, float v) => (bool go, float w) {
                e = Gather (x, i)
                w = Add (v, e)
              }>
            },
            else_branch = e () => (float q) {
              q = Scan (zero, x) <num_scan_inputs = 1, body = step2 (float s, float e2)
                  => (float u) { u = Max (s, e2) }>
            }>
        }""",
        inputs={"c": flags(False), "M": i64(2), "x": f32([1, 5, 3])},
        expected=[f32(5)],
    ),
]
