"""Carried values whose length, shape or rank changes from one iteration to the next."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import empty, f32, i64

GROW = """
main (int64 M, int64[k] x) => (int64[n] y, int64[m] lengths) {
  y, lengths = Loop (M, "", x) <body = step (int64 i, bool go, int64[k] v)
      => (bool go_on, int64[l] next, int64 length) {
    go_on = Identity (go)
    axis = Constant <value_ints = [0]> ()
    row = Unsqueeze (i, axis)
    next = Concat <axis = 0> (v, row)
    length = Size (v)
  }>
}"""

SHRINK = """
main (int64 M, float[k] x) => (float[n] y, float[m] heads) {
  y, heads = Loop (M, "", x) <body = step (int64 i, bool go, float[k] v) => (bool go_on, float[l] tail, float head) {
    go_on = Identity (go)
    zero = Constant <value_int = 0> ()
    one = Constant <value_ints = [1]> ()
    most = Constant <value_ints = [1000]> ()
    head = Gather (v, zero)
    tail = Slice (v, one, most)
  }>
}"""


CASES = [
    *(
        Case(
            f"growing_{trips}_trips",
            rules=("carried",) + ((3,) if trips == 0 else ()),
            doc=f"The iteration number is appended to a vector in each of {trips} trips.",
            model=GROW,
            inputs={"M": i64(trips), "x": i64([9, 9])},
            expected=[i64([9, 9, *range(trips)]), i64(range(2, 2 + trips))],
        )
        for trips in (0, 1, 2, 50)
    ),
    Case(
        "growing_from_empty",
        rules=("carried",),
        doc="A vector that starts without elements grows.",
        model=GROW,
        inputs={"M": i64(3), "x": i64([])},
        expected=[i64([0, 1, 2]), i64([0, 1, 2])],
    ),
    Case(
        "growing_by_doubling",
        rules=("carried",),
        doc="A vector is joined to itself each iteration.",
        model="""
        main (int64 M, float[k] x) => (float[n] y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float[k] v) => (bool go, float[l] next) {
            next = Concat <axis = 0> (v, v)
          }>
        }""",
        inputs={"M": i64(6), "x": f32([1, 2, 3])},
        expected=[np.tile(f32([1, 2, 3]), 64)],
    ),
    Case(
        "growing_along_two_axes",
        rules=("carried",),
        doc="A matrix grows along one axis, then along the other, in the same iteration.",
        model="""
        main (int64 M, float[a,b] x) => (float[c,d] y, float[n] sums) {
          y, sums = Loop (M, "", x) <body = step (int64 i, bool go, float[a,b] v)
              => (bool go, float[c,d] next, float sum) {
            wide = Concat <axis = 1> (v, v)
            next = Concat <axis = 0> (wide, wide)
            sum = ReduceSum <keepdims = 0> (v)
          }>
        }""",
        inputs={"M": i64(3), "x": f32([[1, 2]])},
        expected=[np.tile(f32([[1, 2]]), (8, 8)), f32([3, 12, 48])],
    ),
    *(
        Case(
            f"shrinking_{trips}_trips",
            rules=("carried",),
            doc=f"The first element is cut off in each of {trips} trips"
            + (", until none is left." if trips == 4 else "."),
            model=SHRINK,
            inputs={"M": i64(trips), "x": f32([5, 6, 7, 8])},
            expected=[f32([5, 6, 7, 8][trips:]), f32([5, 6, 7, 8][:trips])],
        )
        for trips in (0, 1, 2, 4)
    ),
    Case(
        "emptied_and_filled",
        rules=("carried",),
        doc="The length goes 2, 0, 2, 0, ...: odd iterations put two elements back.",
        model="""
        main (int64 M, float[k] x) => (float[n] y, int64[m] lengths) <float[2] pair = {4, 5}, int64 two = {2}> {
          y, lengths = Loop (M, "", x) <body = step (int64 i, bool go, float[k] v)
              => (bool go, float[l] next, int64 length) {
            length = Size (v)
            half = Mod (i, two)
            odd = Cast <to = 9> (half)
            next = If (odd) <
              then_branch = fill () => (float[o] filled) { filled = Identity (pair) },
              else_branch = drain () => (float[p] drained) {
                none = Constant <value_ints = [0]> ()
                drained = Slice (v, none, none)
              }>
          }>
        }""",
        inputs={"M": i64(5), "x": f32([1, 2])},
        expected=[f32([]), i64([2, 0, 2, 0, 2])],
    ),
    *(
        Case(
            f"rank_grows_{trips}_trips",
            rules=("carried",),
            doc=f"A scalar gets one more axis in each of {trips} trips.",
            model="""
            main (int64 M, float x) => (float[] y) {
              y = Loop (M, "", x) <body = step (int64 i, bool go, float[] v) => (bool go, float[] next) {
                axis = Constant <value_ints = [0]> ()
                next = Unsqueeze (v, axis)
              }>
            }""",
            inputs={"M": i64(trips), "x": f32(3)},
            expected=[np.full((1,) * trips, 3, np.float32)],
            ambiguous=True,
        )
        for trips in (0, 1, 2, 5)
    ),
    Case(
        "rank_shrinks",
        rules=("carried",),
        doc="Each iteration sums over the first axis, until a scalar is left.",
        model="""
        main (int64 M, float[] x) => (float[] y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float[] v) => (bool go, float[] next) {
            axis = Constant <value_ints = [0]> ()
            next = ReduceSum <keepdims = 0> (v, axis)
          }>
        }""",
        inputs={"M": i64(3), "x": np.arange(24, dtype=np.float32).reshape(2, 3, 4)},
        expected=[f32(276)],
        ambiguous=True,
    ),
    Case(
        "rank_depends_on_iteration",
        rules=("carried",),
        doc="The value is a vector after even iterations and a matrix after odd ones.",
        model="""
        main (int64 M, float[] x) => (float[] y) <int64[2] flat = {1, 6}, int64[1] all = {-1}> {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float[] v) => (bool go, float[] next) {
            two = Constant <value_int = 2> ()
            half = Mod (i, two)
            odd = Cast <to = 9> (half)
            next = If (odd) <
              then_branch = matrix () => (float[] m) { m = Reshape (v, flat) },
              else_branch = vector () => (float[] w) { w = Reshape (v, all) }>
          }>
        }""",
        inputs={"M": i64(4), "x": f32([[1, 2, 3], [4, 5, 6]])},
        expected=[f32([[1, 2, 3, 4, 5, 6]])],
        ambiguous=True,
    ),
    Case(
        "transposed_each_iteration",
        rules=("carried",),
        doc="The dims of a matrix swap each iteration.",
        model="""
        main (int64 M, float[a,b] x) => (float[c,d] y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float[a,b] v) => (bool go, float[c,d] next) {
            next = Transpose <perm = [1, 0]> (v)
          }>
        }""",
        inputs={"M": i64(3), "x": f32([[1, 2, 3], [4, 5, 6]])},
        expected=[f32([[1, 4], [2, 5], [3, 6]])],
    ),
    Case(
        "shape_changes_from_scalar_to_vector_once",
        rules=("carried",),
        doc="The start is a scalar; adding a vector makes it a vector in the first iteration.",
        model="""
        main (int64 M, float x, float[3] w) => (float[] y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float[] v) => (bool go, float[] next) {
            next = Add (v, w)
          }>
        }""",
        inputs={"M": i64(2), "x": f32(1), "w": f32([1, 2, 3])},
        expected=[f32([3, 5, 7])],
        ambiguous=True,
    ),
    Case(
        "carried_without_elements",
        rules=("carried", "collected"),
        doc="A carried value of shape [0, 3] stays empty and is collected.",
        model="""
        main (int64 M, float[a,3] x) => (float[a,3] y, float[n,a,3] all) {
          y, all = Loop (M, "", x) <body = step (int64 i, bool go, float[a,3] v)
              => (bool go, float[a,3] next, float[a,3] v) {
            next = Add (v, v)
          }>
        }""",
        inputs={"M": i64(2), "x": empty(0, 3)},
        expected=[empty(0, 3), empty(2, 0, 3)],
    ),
]
