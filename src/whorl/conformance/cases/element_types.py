"""Every element type that ONNX lets Loop, Scan and If carry."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import EXOTIC, f32, flags, i64, words

PLAIN: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "bool": (flags([True, False, True]), flags([False, False, True])),
    "int8": (np.array([-128, 0, 127], np.int8), np.array([1, 2, 3], np.int8)),
    "int16": (np.array([-32768, 0, 32767], np.int16), np.array([1, 2, 3], np.int16)),
    "int32": (np.array([-(2**31), 0, 2**31 - 1], np.int32), np.array([1, 2, 3], np.int32)),
    "int64": (np.array([-(2**63), 0, 2**63 - 1], np.int64), np.array([2**53 + 1, 2, 3], np.int64)),
    "uint8": (np.array([0, 128, 255], np.uint8), np.array([1, 2, 3], np.uint8)),
    "uint16": (np.array([0, 32768, 65535], np.uint16), np.array([1, 2, 3], np.uint16)),
    "uint32": (np.array([0, 2**31, 2**32 - 1], np.uint32), np.array([1, 2, 3], np.uint32)),
    "uint64": (np.array([0, 2**63, 2**64 - 1], np.uint64), np.array([2**53 + 1, 2, 3], np.uint64)),
    "float16": (np.array([-1.5, 65504, 6e-8], np.float16), np.array([1, np.inf, np.nan], np.float16)),
    "float": (np.array([-1.5, 3e38, 1e-45], np.float32), np.array([1, -np.inf, np.nan], np.float32)),
    "double": (np.array([-1.5, 1e308, 5e-324], np.float64), np.array([1 + 2**-52, np.inf, np.nan], np.float64)),
    "complex64": (np.array([1 + 2j, -3j, 0], np.complex64), np.array([np.inf, 5, 1j], np.complex64)),
    "complex128": (np.array([1 + 2j, -3j, 0], np.complex128), np.array([1 + 2**-52, 5, 1j], np.complex128)),
    "string": (words(["", "plain", "zweite Zeile\n"]), words(["ä", "数", "🙂"])),
}
"""Type name in ONNX text -> two values of shape [3]."""

EXACT: dict[str, tuple[list[float], list[float]]] = {
    "bfloat16": ([-1.5, 256, 0.0078125], [1, 2, 3]),
    "float8e4m3fn": ([-1.5, 448, 0.015625], [1, 2, 3]),
    "float8e4m3fnuz": ([-1.5, 240, 0.015625], [1, 2, 3]),
    "float8e5m2": ([-1.5, 57344, 0.015625], [1, 2, 3]),
    "float8e5m2fnuz": ([-1.5, 57344, 0.015625], [1, 2, 3]),
    "float8e8m0": ([1, 1024, 0.5], [2, 4, 8]),
    "float4e2m1": ([-1.5, 6, 0.5], [1, 2, 3]),
    "int4": ([-8, 0, 7], [1, 2, 3]),
    "uint4": ([0, 8, 15], [1, 2, 3]),
    "int2": ([-2, 0, 1], [1, -1, 0]),
    "uint2": ([0, 2, 3], [1, 2, 3]),
}
"""Type name -> two lists of numbers that it holds exactly; they enter and leave the graph as float."""

OPSETS = {
    "bfloat16": 17, "float8e4m3fn": 19, "float8e4m3fnuz": 19, "float8e5m2": 19, "float8e5m2fnuz": 19,
    "int4": 21, "uint4": 21, "float4e2m1": 23, "float8e8m0": 24, "int2": 25, "uint2": 25,
}  # fmt: skip
"""The first opset (17 at least) whose Loop, Scan and If take the type."""

NUMBERS = {
    "bfloat16": 16, "float8e4m3fn": 17, "float8e4m3fnuz": 18, "float8e5m2": 19, "float8e5m2fnuz": 20, "uint4": 21,
    "int4": 22, "float4e2m1": 23, "float8e8m0": 24, "uint2": 25, "int2": 26,
}  # fmt: skip
"""ONNX's numbers of the types, for Cast."""


def carried_plain(name: str) -> Case:
    a, b = PLAIN[name]
    return Case(
        f"carried_{name}",
        rules=(10,),
        doc=f"Two {name} vectors swap three times; the first one is collected before each swap.",
        model=f"""
        main (int64 M, {name}[3] a, {name}[3] b) => ({name}[3] x, {name}[3] y, {name}[n,3] all) {{
          x, y, all = Loop (M, "", a, b) <
            body = swap (int64 i, bool go, {name}[3] p, {name}[3] q)
                => (bool go_on, {name}[3] r, {name}[3] s, {name}[3] e) {{
              go_on = Identity (go)
              r = Identity (q)
              s = Identity (p)
              e = Identity (p)
            }}>
        }}""",
        inputs={"M": i64(3), "a": a, "b": b},
        expected=[b, a, np.stack([a, b, a])],
    )


def carried_exotic(name: str) -> Case:
    a, b = (np.array(numbers, EXOTIC[name]).astype(np.float32) for numbers in EXACT[name])
    return Case(
        f"carried_{name}",
        rules=(10,),
        doc=f"Two {name} vectors swap three times; the first one is collected before each swap.",
        opset=OPSETS[name],
        model=f"""
        main (int64 M, float[3] a, float[3] b) => (float[3] x, float[3] y, float[n,3] all) {{
          a_cast = Cast <to = {NUMBERS[name]}> (a)
          b_cast = Cast <to = {NUMBERS[name]}> (b)
          x_cast, y_cast, all_cast = Loop (M, "", a_cast, b_cast) <
            body = swap (int64 i, bool go, {name}[3] p, {name}[3] q)
                => (bool go_on, {name}[3] r, {name}[3] s, {name}[3] e) {{
              go_on = Identity (go)
              r = Identity (q)
              s = Identity (p)
              e = Identity (p)
            }}>
          x = Cast <to = 1> (x_cast)
          y = Cast <to = 1> (y_cast)
          all = Cast <to = 1> (all_cast)
        }}""",
        inputs={"M": i64(3), "a": f32(a), "b": f32(b)},
        expected=[b, a, np.stack([a, b, a])],
    )


def scanned_exotic(name: str) -> Case:
    a, b = (np.array(numbers, EXOTIC[name]).astype(np.float32) for numbers in EXACT[name])
    rows = np.stack([a, b, a, b])
    return Case(
        f"scanned_{name}",
        rules=(10, "scanned"),
        doc=f"A {name} matrix is scanned backwards with the state one row behind, and its rows collected.",
        opset=OPSETS[name],
        model=f"""
        main (float[3] start, float[T,3] rows) => (float[3] last, float[T,3] previous) {{
          s = Cast <to = {NUMBERS[name]}> (start)
          r = Cast <to = {NUMBERS[name]}> (rows)
          t, p = Scan (s, r) <num_scan_inputs = 1, scan_input_directions = [1],
            body = step ({name}[3] state, {name}[3] row) => ({name}[3] next, {name}[3] before) {{
              next = Identity (row)
              before = Identity (state)
            }}>
          last = Cast <to = 1> (t)
          previous = Cast <to = 1> (p)
        }}""",
        inputs={"start": f32(b), "rows": rows},
        expected=[a, np.stack([b, b, a, b])],
    )


def branch_exotic(name: str) -> Case:
    a, b = (np.array(numbers, EXOTIC[name]).astype(np.float32) for numbers in EXACT[name])
    return Case(
        f"branch_{name}",
        rules=(10, 15),
        doc=f"If returns one of two {name} vectors.",
        opset=OPSETS[name],
        model=f"""
        main (bool c, float[3] a, float[3] b) => (float[3] x) {{
          p = Cast <to = {NUMBERS[name]}> (a)
          q = Cast <to = {NUMBERS[name]}> (b)
          r = If (c) <
            then_branch = t () => ({name}[3] s) {{ s = Identity (p) }},
            else_branch = e () => ({name}[3] u) {{ u = Identity (q) }}>
          x = Cast <to = 1> (r)
        }}""",
        inputs={"c": flags(False), "a": f32(a), "b": f32(b)},
        expected=[b],
    )


CASES = [
    *(carried_plain(name) for name in PLAIN),
    *(carried_exotic(name) for name in EXACT),
    *(
        scanned_exotic(name)
        for name in ("bfloat16", "float8e4m3fn", "float8e5m2", "int4", "float4e2m1", "float8e8m0", "uint2")
    ),
    *(branch_exotic(name) for name in ("bfloat16", "float8e5m2fnuz", "uint4", "float4e2m1", "float8e8m0", "int2")),
    Case(
        "carried_bfloat16_rounds_each_iteration",
        rules=(10, "numbers"),
        doc="A bfloat16 sum is rounded to 8 significant bits in every iteration: 256 + 1 stays 256.",
        model="""
        main (int64 M, float x) => (float y) {
          zero = Cast <to = 16> (x)
          r = Loop (M, "", zero) <body = step (int64 i, bool go, bfloat16 v) => (bool go, bfloat16 w) {
            wide = Cast <to = 1> (v)
            one = Constant <value_float = 1.0> ()
            more = Add (wide, one)
            w = Cast <to = 16> (more)
          }>
          y = Cast <to = 1> (r)
        }""",
        inputs={"M": i64(300), "x": f32(0)},
        expected=[f32(256)],
        ambiguous=True,
    ),
    Case(
        "carried_int4_odd_count",
        rules=(10,),
        doc="An odd number of int4 elements, two in a byte, is carried, sliced and collected without shifting.",
        opset=21,
        model="""
        main (int64 M, float[5] x) => (float[5] y, float[n,5] all) {
          start = Cast <to = 22> (x)
          r, s = Loop (M, "", start) <body = step (int64 i, bool go, int4[5] v) => (bool go, int4[5] w, int4[5] v) {
            order = Constant <value_ints = [4, 0, 1, 2, 3]> ()
            wide = Cast <to = 1> (v)
            turned = Gather <axis = 0> (wide, order)
            w = Cast <to = 22> (turned)
          }>
          y = Cast <to = 1> (r)
          all = Cast <to = 1> (s)
        }""",
        inputs={"M": i64(3), "x": f32([-8, -3, 0, 2, 7])},
        expected=[f32(np.roll([-8, -3, 0, 2, 7], 3)), f32([np.roll([-8, -3, 0, 2, 7], k) for k in range(3)])],
    ),
    Case(
        "carried_strings_are_joined",
        rules=(10, "carried"),
        doc="A string grows by a captured one in each iteration, and each length is collected as a string.",
        opset=20,
        model="""
        main (int64 M, string s, string t) => (string y, string[n] all) {
          y, all = Loop (M, "", s) <body = step (int64 i, bool go, string v) => (bool go, string w, string v) {
            w = StringConcat (v, t)
          }>
        }""",
        inputs={"M": i64(3), "s": words("x"), "t": words("ü")},
        expected=[words("xüüü"), words(["x", "xü", "xüü"])],
    ),
    Case(
        "while_over_strings",
        rules=(10, 4),
        doc="Words are read until the stop word, which is read too.",
        opset=20,
        model="""
        main (string[k] table, string stop) => (string text, string[n] read) {
          yes = Constant <value = bool {1}> ()
          nothing = Constant <value_string = ""> ()
          text, read = Loop ("", yes, nothing) <body = step (int64 i, bool go, string v)
              => (bool go_on, string w, string word) {
            word = Gather (table, i)
            w = StringConcat (v, word)
            same = Equal (word, stop)
            go_on = Not (same)
          }>
        }""",
        inputs={"table": words(["a", "bc", ".", "d"]), "stop": words(".")},
        expected=[words("abc."), words(["a", "bc", "."])],
    ),
]
