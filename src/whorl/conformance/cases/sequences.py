"""Sequences and optionals as carried values, captured values, inputs and results."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import empty, f32, i64, words

APPEND = """
main (int64 M) => (seq(int64[k]) s) {
  start = SequenceEmpty <dtype = 7> ()
  s = Loop (M, "", start) <body = step (int64 i, bool go, seq(int64[k]) v) => (bool go_on, seq(int64[k]) w) {
    go_on = Identity (go)
    axis = Constant <value_ints = [0]> ()
    row = Unsqueeze (i, axis)
    w = SequenceInsert (v, row)
  }>
}"""

INSERT_AT = """
main (int64 M, int64 at, seq(int64) s) => (seq(int64) r) {
  r = Loop (M, "", s) <body = step (int64 i, bool go, seq(int64) v) => (bool go, seq(int64) w) {
    w = SequenceInsert (v, i, at)
  }>
}"""

ERASE = """
main (int64 M, seq(float[k]) s) => (seq(float[k]) r, int64[n] lengths) {
  zero = Constant <value_int = 0> ()
  r, lengths = Loop (M, "", s) <body = step (int64 i, bool go, seq(float[k]) v)
      => (bool go, seq(float[k]) w, int64 length) {
    w = SequenceErase (v, zero)
    length = SequenceLength (v)
  }>
}"""


ITEMS = [f32([1, 2]), f32([3]), empty(0), f32([4, 5, 6])]

CASES = [
    *(
        Case(
            f"sequence_appended_{trips}_trips",
            rules=(10, "carried") + ((3,) if trips == 0 else ()),
            doc=f"The iteration number is appended to a sequence in each of {trips} trips.",
            model=APPEND,
            inputs={"M": i64(trips)},
            expected=[[i64([k]) for k in range(trips)]],
        )
        for trips in (0, 1, 2, 20)
    ),
    *(
        Case(
            f"sequence_inserted_at_{name}",
            rules=(10, "carried"),
            doc=f"Items are inserted {name.replace('_', ' ')} of a sequence of scalars.",
            model=INSERT_AT,
            inputs={"M": i64(3), "at": i64(at), "s": [i64(7), i64(8)]},
            expected=[[i64(k) for k in items]],
        )
        for name, at, items in (
            ("the_front", 0, (2, 1, 0, 7, 8)),
            ("the_middle", 1, (7, 2, 1, 0, 8)),
            ("one_before_the_end", -1, (7, 0, 1, 2, 8)),
        )
    ),
    *(
        Case(
            f"sequence_erased_{trips}_trips",
            rules=(10, "carried"),
            doc=f"The first item is erased in each of {trips} trips" + (", until none is left." if trips == 4 else "."),
            model=ERASE,
            inputs={"M": i64(trips), "s": ITEMS},
            expected=[ITEMS[trips:], i64([4 - k for k in range(trips)])],
        )
        for trips in (0, 1, 4)
    ),
    Case(
        "sequence_swap",
        rules=(5, 10),
        doc="Two sequences of different lengths swap three times.",
        model="""
        main (int64 M, seq(float[k]) a, seq(float[k]) b) => (seq(float[k]) x, seq(float[k]) y) {
          x, y = Loop (M, "", a, b) <body = swap (int64 i, bool go, seq(float[k]) p, seq(float[k]) q)
              => (bool go_on, seq(float[k]) r, seq(float[k]) s) {
            go_on = Identity (go)
            r = Identity (q)
            s = Identity (p)
          }>
        }""",
        inputs={"M": i64(3), "a": ITEMS, "b": [f32([9])]},
        expected=[[f32([9])], ITEMS],
    ),
    Case(
        "sequence_start_is_left_alone",
        rules=(5, 10),
        doc="The sequence that a loop starts from is unchanged after the loop inserted into it, also in a second run.",
        model="""
        main (int64 M, seq(float[k]) s, int64 at) => (seq(float[k]) r, seq(float[k]) same, int64 count) {
          item = SequenceAt (s, at)
          r = Loop (M, "", s) <body = step (int64 i, bool go, seq(float[k]) v) => (bool go, seq(float[k]) w) {
            w = SequenceInsert (v, item)
          }>
          same = Identity (s)
          count = SequenceLength (s)
        }""",
        inputs={"M": i64(2), "s": ITEMS, "at": i64(-1)},
        expected=[[*ITEMS, ITEMS[3], ITEMS[3]], ITEMS, i64(4)],
        repeat=2,
    ),
    Case(
        "sequence_empty_input",
        rules=(3, 10),
        doc="An empty sequence comes in, no iteration runs, and it goes out.",
        model=ERASE,
        inputs={"M": i64(0), "s": []},
        expected=[[], i64([])],
    ),
    Case(
        "sequence_of_different_shapes",
        rules=(10, "carried"),
        doc="Items of growing shape are appended and joined after the loop.",
        model="""
        main (int64 M) => (int64[n] y, seq(int64[k]) s) {
          start = SequenceEmpty <dtype = 7> ()
          s = Loop (M, "", start) <body = step (int64 i, bool go, seq(int64[k]) v) => (bool go, seq(int64[k]) w) {
            zero = Constant <value_int = 0> ()
            one = Constant <value_int = 1> ()
            items = Range (zero, i, one)
            w = SequenceInsert (v, items)
          }>
          y = ConcatFromSequence <axis = 0> (s)
        }""",
        inputs={"M": i64(4)},
        expected=[i64([0, 0, 1, 0, 1, 2]), [i64(range(k)) for k in range(4)]],
    ),
    Case(
        "sequence_stacked_after_the_loop",
        rules=(10, "carried"),
        doc="A sequence of vectors is stacked on a new axis after the loop, as old exporters write collected outputs.",
        model="""
        main (int64 M, float[2] x) => (float[n,2] y, float[2,n] z) {
          start = SequenceEmpty <dtype = 1> ()
          s = Loop (M, "", start) <body = step (int64 i, bool go, seq(float[2]) v) => (bool go, seq(float[2]) w) {
            k = Cast <to = 1> (i)
            row = Mul (x, k)
            w = SequenceInsert (v, row)
          }>
          y = ConcatFromSequence <axis = 0, new_axis = 1> (s)
          z = ConcatFromSequence <axis = 1, new_axis = 1> (s)
        }""",
        inputs={"M": i64(3), "x": f32([1, 2])},
        expected=[f32([[0, 0], [1, 2], [2, 4]]), f32([[0, 1, 2], [0, 2, 4]])],
    ),
    Case(
        "sequence_length_is_the_condition",
        rules=(4, 10),
        doc="Items are appended while the sequence is shorter than a limit.",
        model="""
        main (int64 limit) => (seq(int64) s) {
          start = SequenceEmpty <dtype = 7> ()
          yes = Constant <value = bool {1}> ()
          s = Loop ("", yes, start) <body = step (int64 i, bool go, seq(int64) v) => (bool go_on, seq(int64) w) {
            w = SequenceInsert (v, i)
            length = SequenceLength (w)
            go_on = Less (length, limit)
          }>
        }""",
        inputs={"limit": i64(3)},
        expected=[[i64(0), i64(1), i64(2)]],
    ),
    Case(
        "sequence_read_backwards",
        rules=(10, "captured"),
        doc="A captured sequence is read with negative positions.",
        model="""
        main (seq(float) s) => (float[n] y) {
          M = SequenceLength (s)
          y = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float item) {
            minus = Constant <value_int = -1> ()
            at = Sub (minus, i)
            item = SequenceAt (s, at)
          }>
        }""",
        inputs={"s": [f32(1), f32(2), f32(3)]},
        expected=[f32([3, 2, 1])],
    ),
    Case(
        "sequence_reversed_by_two",
        rules=(5, 10),
        doc="A stack is emptied into another one: both sequences change in each iteration.",
        model="""
        main (seq(float) s) => (seq(float) rest, seq(float) turned) {
          M = SequenceLength (s)
          none = SequenceEmpty <dtype = 1> ()
          rest, turned = Loop (M, "", s, none) <
            body = step (int64 i, bool go, seq(float) a, seq(float) b) => (bool go, seq(float) c, seq(float) d) {
              last = Constant <value_int = -1> ()
              item = SequenceAt (a, last)
              c = SequenceErase (a, last)
              d = SequenceInsert (b, item)
            }>
        }""",
        inputs={"s": [f32(1), f32(2), f32(3)]},
        expected=[[], [f32(3), f32(2), f32(1)]],
    ),
    Case(
        "sequence_of_strings",
        rules=(10, "carried"),
        doc="Words are appended to a sequence of strings.",
        model="""
        main (string[k] table) => (seq(string) s) {
          M = Size (table)
          start = SequenceEmpty <dtype = 8> ()
          s = Loop (M, "", start) <body = step (int64 i, bool go, seq(string) v) => (bool go, seq(string) w) {
            word = Gather (table, i)
            w = SequenceInsert (v, word)
          }>
        }""",
        inputs={"table": words(["a", "", "ü"])},
        expected=[[words("a"), words(""), words("ü")]],
    ),
    *(
        Case(
            f"sequence_of_{name}",
            rules=(10,),
            doc=f"A sequence of {name} is carried, and its last item inserted at its front in each iteration.",
            model=f"""
            main (int64 M, seq({name}[k]) s) => (seq({name}[k]) r) {{
              zero = Constant <value_int = 0> ()
              last = Constant <value_int = -1> ()
              r = Loop (M, "", s) <body = step (int64 i, bool go, seq({name}[k]) v) => (bool go, seq({name}[k]) w) {{
                item = SequenceAt (v, last)
                shorter = SequenceErase (v, last)
                w = SequenceInsert (shorter, item, zero)
              }}>
            }}""",
            inputs={"M": i64(2), "s": [np.array(values, kind) for values in ([0, 1], [1], [1, 1, 0])]},
            expected=[[np.array(values, kind) for values in ([1], [1, 1, 0], [0, 1])]],
        )
        for name, kind in (
            ("bool", np.bool_),
            ("int8", np.int8),
            ("uint16", np.uint16),
            ("float16", np.float16),
            ("double", np.float64),
            ("complex64", np.complex64),
        )
    ),
    Case(
        "sequence_split_and_mapped",
        rules=(10,),
        doc="A matrix is split into a sequence of rows, and a loop sums the rows that it reads.",
        model="""
        main (float[a,b] x) => (float[b] y) {
          s = SplitToSequence <axis = 0, keepdims = 0> (x)
          M = SequenceLength (s)
          zero = Constant <value_float = 0.0> ()
          shape = Constant <value_ints = [3]> ()
          start = Expand (zero, shape)
          y = Loop (M, "", start) <body = step (int64 i, bool go, float[b] v) => (bool go, float[b] w) {
            row = SequenceAt (s, i)
            w = Add (v, row)
          }>
        }""",
        inputs={"x": f32([[1, 2, 3], [4, 5, 6]])},
        expected=[f32([5, 7, 9])],
    ),
    Case(
        "sequence_from_branches",
        rules=(10, 15),
        doc="A branch of If inserts, the other one returns the sequence as it is.",
        model="""
        main (int64 M) => (seq(int64) s) <int64 two = {2}> {
          start = SequenceEmpty <dtype = 7> ()
          s = Loop (M, "", start) <body = step (int64 i, bool go, seq(int64) v) => (bool go, seq(int64) w) {
            half = Mod (i, two)
            odd = Cast <to = 9> (half)
            w = If (odd) <
              then_branch = t () => (seq(int64) p) { p = SequenceInsert (v, i) },
              else_branch = e () => (seq(int64) q) { q = Identity (v) }>
          }>
        }""",
        inputs={"M": i64(6)},
        expected=[[i64(1), i64(3), i64(5)]],
    ),
    Case(
        "sequence_in_nested_loops",
        rules=(10, 11),
        doc="The inner loop appends to a sequence that the outer loop carries.",
        model="""
        main (int64 M) => (seq(int64) s) <int64 ten = {10}> {
          start = SequenceEmpty <dtype = 7> ()
          s = Loop (M, "", start) <body = outer (int64 i, bool go, seq(int64) v) => (bool go, seq(int64) w) {
            tens = Mul (i, ten)
            w = Loop (i, "", v) <body = inner (int64 j, bool go2, seq(int64) p) => (bool go2, seq(int64) q) {
              item = Add (tens, j)
              q = SequenceInsert (p, item)
            }>
          }>
        }""",
        inputs={"M": i64(4)},
        expected=[[i64(k) for k in (10, 20, 21, 30, 31, 32)]],
    ),
]
