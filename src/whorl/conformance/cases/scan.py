"""Scan from version 9 on: slices, axes, directions, several inputs, length zero."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import empty, f32, flags, i64, words

CUBE = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
MATRIX = f32([[1, 2, 3], [4, 5, 6]])

CUMSUM = """
main (float[2] start, float[T,2] x) => (float[2] last, float[T,2] sums) {
  last, sums = Scan (start, x) <num_scan_inputs = 1, body = step (float[2] s, float[2] e) => (float[2] t, float[2] u) {
    t = Add (s, e)
    u = Identity (t)
  }>
}"""


def cumsum_case(length: int) -> Case:
    x = np.arange(2 * length, dtype=np.float32).reshape(length, 2)
    start = f32([10, 20])
    return Case(
        f"scan_cumsum_{length}_rows",
        rules=(8, "scanned", "collected") + ((3,) if length == 0 else ()),
        doc=f"Running sum over {length} rows with a start.",
        model=CUMSUM,
        inputs={"start": start, "x": x},
        expected=[start + x.sum(axis=0), start + np.cumsum(x, axis=0)],
    )


def axis_case(axis: int, output_axis: int) -> Case:
    return Case(
        f"scan_axis_{axis}_output_axis_{output_axis}".replace("-", "minus_"),
        rules=(8, "scanned"),
        doc=f"A cube is scanned along axis {axis} and the negated slices stacked on axis {output_axis} of the output.",
        model=f"""
        main (float[2,3,4] x) => (float[a,b,c] y) {{
          y = Scan (x) <num_scan_inputs = 1, scan_input_axes = [{axis}], scan_output_axes = [{output_axis}],
            body = step (float[p,q] e) => (float[p,q] f) {{ f = Neg (e) }}>
        }}""",
        inputs={"x": CUBE},
        expected=[-np.moveaxis(CUBE, axis, output_axis)],
    )


def direction_case(name: str, input_direction: int, output_direction: int) -> Case:
    x = f32([1, 2, 3, 4])
    steps = np.cumsum(x[::-1] if input_direction else x)
    return Case(
        f"scan_{name}",
        rules=(8, "scanned"),
        doc=f"Running sum: input direction {input_direction}, output direction {output_direction}.",
        model=f"""
        main (float[T] x) => (float last, float[T] sums) <float zero = {{0}}> {{
          last, sums = Scan (zero, x) <num_scan_inputs = 1,
            scan_input_directions = [{input_direction}], scan_output_directions = [{output_direction}],
            body = step (float s, float e) => (float t, float u) {{
              t = Add (s, e)
              u = Identity (t)
            }}>
        }}""",
        inputs={"x": x},
        expected=[f32(10), steps[::-1] if output_direction else steps],
    )


CASES = [
    *(cumsum_case(length) for length in (0, 1, 2, 6)),
    *(
        axis_case(axis, output_axis)
        for axis, output_axis in (
            (0, 0),
            (1, 0),
            (2, 0),
            (-1, 0),
            (-2, 0),
            (-3, 0),
            (0, 1),
            (0, 2),
            (0, -1),
            (0, -2),
            (0, -3),
            (1, 1),
            (-1, -1),
            (2, 1),
        )
    ),
    direction_case("reverse_input", 1, 0),
    direction_case("reverse_output", 0, 1),
    direction_case("reverse_both", 1, 1),
    Case(
        "scan_reverse_along_last_axis",
        rules=(8, "scanned"),
        doc="Columns from last to first, prepended along the last output axis: the running sums end up in place.",
        model="""
        main (float[R,C] x) => (float[R,C] sums) <float[2] zero = {0, 0}> {
          last, sums = Scan (zero, x) <num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [-1],
            scan_input_directions = [1], scan_output_directions = [1],
            body = step (float[2] s, float[2] e) => (float[2] t, float[2] u) {
              t = Add (s, e)
              u = Identity (t)
            }>
        }""",
        inputs={"x": MATRIX},
        expected=[np.cumsum(MATRIX[:, ::-1], axis=1)[:, ::-1]],
    ),
    Case(
        "scan_bidirectional",
        rules=(8, "scanned"),
        doc="One tensor is scanned forwards and backwards at once.",
        model="""
        main (float[T] x) => (float[T] pairs, float[T] differences) {
          pairs, differences = Scan (x, x) <num_scan_inputs = 2, scan_input_directions = [0, 1],
            body = step (float a, float b) => (float c, float d) {
              c = Mul (a, b)
              d = Sub (a, b)
            }>
        }""",
        inputs={"x": f32([1, 2, 3, 4])},
        expected=[f32([4, 6, 6, 4]), f32([-3, -1, 1, 3])],
    ),
    Case(
        "scan_zip_of_three",
        rules=(8, "scanned"),
        doc="Three inputs of different ranks, axes and directions, and one state.",
        model="""
        main (float start, float[T] x, float[2,T] y, float[2,T,2] z) => (float last, float[2,T] out) {
          last, out = Scan (start, x, y, z) <num_scan_inputs = 3, scan_input_axes = [0, 1, -2],
            scan_input_directions = [1, 0, 1], scan_output_axes = [1],
            body = step (float s, float a, float[2] b, float[2,2] c) => (float t, float[2] o) {
              t = Add (s, a)
              m = MatMul (c, b)
              o = Add (m, a)
            }>
        }""",
        inputs={
            "start": f32(100),
            "x": f32([1, 2, 3]),
            "y": MATRIX,
            "z": np.arange(12, dtype=np.float32).reshape(2, 3, 2),
        },
        expected=[
            f32(106),
            np.stack(
                [
                    np.arange(12, dtype=np.float32).reshape(2, 3, 2)[:, 2 - t] @ MATRIX[:, t] + np.float32(3 - t)
                    for t in range(3)
                ],
                axis=1,
            ),
        ],
    ),
    Case(
        "scan_outputs_with_different_axes",
        rules=(8, "collected"),
        doc="Three collected outputs: appended on axis 0, appended on axis -1, prepended on axis 1.",
        model="""
        main (float[T,2] x) => (float[T,2] a, float[2,T] b, float[2,T] c) {
          a, b, c = Scan (x) <num_scan_inputs = 1, scan_output_axes = [0, -1, 1], scan_output_directions = [0, 0, 1],
            body = step (float[2] e) => (float[2] p, float[2] q, float[2] r) {
              p = Neg (e)
              q = Add (e, e)
              r = Identity (e)
            }>
        }""",
        inputs={"x": MATRIX.T.copy()},
        expected=[-MATRIX.T, 2 * MATRIX, MATRIX[:, ::-1]],
    ),
    Case(
        "scan_without_state",
        rules=(8,),
        doc="No state: a map over rows.",
        model="""
        main (float[T,3] x) => (float[T] norms) {
          norms = Scan (x) <num_scan_inputs = 1, body = step (float[3] e) => (float n) {
            n = ReduceL1 <keepdims = 0> (e)
          }>
        }""",
        inputs={"x": f32([[1, -2, 3], [-4, 5, -6]])},
        expected=[f32([6, 15])],
    ),
    Case(
        "scan_without_collected_outputs",
        rules=(8, "last"),
        doc="No collected output: a fold that keeps the maximum, and the last row.",
        model="""
        main (float[2] start, float[T,2] x) => (float[2] top, float[2] last) {
          top, last = Scan (start, start, x) <num_scan_inputs = 1,
            body = step (float[2] s, float[2] l, float[2] e) => (float[2] t, float[2] m) {
              t = Max (s, e)
              m = Identity (e)
            }>
        }""",
        inputs={"start": f32([-9, -9]), "x": f32([[1, 8], [7, 2], [3, 4]])},
        expected=[f32([7, 8]), f32([3, 4])],
    ),
    Case(
        "scan_state_swap",
        rules=(5, 8),
        doc="Two states swap in each of three iterations; the body outputs are its inputs.",
        model="""
        main (float a, float b, float[T] x) => (float p, float q, float[T] all) {
          p, q, all = Scan (a, b, x) <num_scan_inputs = 1,
            body = swap (float s, float t, float e) => (float t, float s, float f) { f = Add (s, e) }>
        }""",
        inputs={"a": f32(1), "b": f32(2), "x": f32([10, 20, 30])},
        expected=[f32(2), f32(1), f32([11, 22, 31])],
    ),
    Case(
        "scan_slice_is_state",
        rules=(5, 8),
        doc="The slice itself becomes the state, and the state the collected element: a delay by one row.",
        model="""
        main (float[2] start, float[T,2] x) => (float[2] last, float[T,2] delayed) {
          last, delayed = Scan (start, x) <num_scan_inputs = 1,
            body = delay (float[2] s, float[2] e) => (float[2] e, float[2] s) {}>
        }""",
        inputs={"start": f32([0, 9]), "x": f32([[1, 2], [3, 4], [5, 6]])},
        expected=[f32([5, 6]), f32([[0, 9], [1, 2], [3, 4]])],
    ),
    Case(
        "scan_slice_is_collected",
        rules=(5, 8),
        doc="Slices along axis 1 are collected as they are: a transposition.",
        model="""
        main (float[R,C] x) => (float[C,R] y) {
          y = Scan (x) <num_scan_inputs = 1, scan_input_axes = [1], body = step (float[R] e) => (float[R] e) {}>
        }""",
        inputs={"x": MATRIX},
        expected=[MATRIX.T.copy()],
    ),
    Case(
        "scan_zero_length_without_state",
        rules=(3, 8),
        doc="A map over no rows: the output has length 0 and the declared dims.",
        model="""
        main (float[T,3] x) => (float[T,3] y) {
          y = Scan (x) <num_scan_inputs = 1, body = step (float[3] e) => (float[3] f) { f = Neg (e) }>
        }""",
        inputs={"x": empty(0, 3)},
        expected=[empty(0, 3)],
    ),
    Case(
        "scan_zero_length_along_middle_axis",
        rules=(3, 8),
        doc="A scanned axis in the middle has length 0; the output is stacked on its last axis.",
        model="""
        main (float[2] start, float[2,T,3] x) => (float[2] last, float[2,3,T] y) {
          last, y = Scan (start, x) <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1],
            body = step (float[2] s, float[2,3] e) => (float[2] t, float[2,3] f) {
              t = Neg (s)
              f = Neg (e)
            }>
        }""",
        inputs={"start": f32([1, 2]), "x": empty(2, 0, 3)},
        expected=[f32([1, 2]), empty(2, 3, 0)],
    ),
    Case(
        "scan_rows_without_elements",
        rules=(8, "scanned"),
        doc="Three rows of no elements: three iterations run.",
        model="""
        main (float count, float[T,W] x) => (float n, float[T,W] y) <float one = {1}> {
          n, y = Scan (count, x) <num_scan_inputs = 1, body = step (float c, float[W] e) => (float d, float[W] f) {
            d = Add (c, one)
            f = Neg (e)
          }>
        }""",
        inputs={"count": f32(0), "x": empty(3, 0)},
        expected=[f32(3), empty(3, 0)],
        ambiguous=True,
    ),
    Case(
        "scan_strings",
        rules=(8, 10),
        doc="A string vector is scanned backwards; the text so far is collected.",
        opset=20,
        model="""
        main (string start, string[T] x) => (string all, string[T] texts) {
          all, texts = Scan (start, x) <num_scan_inputs = 1, scan_input_directions = [1],
            body = step (string s, string e) => (string t, string u) {
              t = StringConcat (s, e)
              u = Identity (t)
            }>
        }""",
        inputs={"start": words(">"), "x": words(["a", "bc", "d"])},
        expected=[words(">dbca"), words([">d", ">dbc", ">dbca"])],
    ),
    Case(
        "scan_inputs_of_different_types",
        rules=(8, 10),
        doc="Scanned inputs of types bool, int64 and float: counts and sums where the flag is set.",
        model="""
        main (int64 n, float s, bool[T] f, int64[T] k, float[T] x) => (int64 count, float sum, int64[T] kept)
          <float zero = {0}, int64 none = {0}> {
          count, sum, kept = Scan (n, s, f, k, x) <num_scan_inputs = 3,
            body = step (int64 c, float t, bool g, int64 j, float e) => (int64 d, float u, int64 o) {
              o = Where (g, j, none)
              v = Where (g, e, zero)
              d = Add (c, o)
              u = Add (t, v)
            }>
        }""",
        inputs={
            "n": i64(0),
            "s": f32(0.5),
            "f": flags([1, 0, 1]),
            "k": i64([1, 2, 4]),
            "x": f32([0.25, 8, 16]),
        },
        expected=[i64(5), f32(16.75), i64([1, 0, 4])],
        ambiguous=True,
    ),
    Case(
        "scan_five_hundred_rows",
        rules=(8,),
        doc="Five hundred rows.",
        model=CUMSUM,
        inputs={"start": f32([0, 0]), "x": np.ones((500, 2), np.float32)},
        expected=[f32([500, 500]), np.repeat(np.arange(1, 501, dtype=np.float32), 2).reshape(500, 2)],
    ),
    Case(
        "scan_non_contiguous_rank_4",
        rules=(8, "scanned"),
        doc="A rank-4 tensor is scanned along axis -3, collected on axis 2, and summed into a state.",
        model="""
        main (float[2,4] start, float[2,3,1,4] x) => (float[2,4] sum, float[2,1,3,4] y) {
          sum, y = Scan (start, x) <num_scan_inputs = 1, scan_input_axes = [-3], scan_output_axes = [2],
            body = step (float[2,4] s, float[2,1,4] e) => (float[2,4] t, float[2,1,4] f) {
              axis = Constant <value_ints = [1]> ()
              flat = Squeeze (e, axis)
              t = Add (s, flat)
              f = Neg (e)
            }>
        }""",
        inputs={"start": np.ones((2, 4), np.float32), "x": CUBE.reshape(2, 3, 1, 4)},
        expected=[CUBE.sum(axis=1) + 1, -np.moveaxis(CUBE.reshape(2, 3, 1, 4), 1, 2)],
    ),
]
