"""What loops collect, and what is put right behind the layer."""

from itertools import product

import numpy as np
import pytest
from formats.openvino.onnx_models import agree, number, rows

TRIPS = (3, 0, 1, 2, 0, 7, -1)


@pytest.mark.parametrize("directions", ["", "scan_input_directions = [1], scan_output_directions = [1],"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("fixed", [True, False])
def test_scan_along_any_axis_and_direction(axis, directions, fixed, engine, tmp_path):
    lengths = [3] if fixed else [3, 0, 1, 2]
    dims = ["3" if fixed else "T", "N"]
    shape = ",".join(dims if axis == 0 else reversed(dims))
    text = f"""g (float[N] a, float[{shape}] s) => (float[N] p, float[{shape}] z) {{
      p, z = Scan<num_scan_inputs = 1, scan_input_axes = [{axis}], scan_output_axes = [{axis}], {directions}
        body = b (float[N] x, float[N] y) => (float[N] x2, float[N] e) {{ x2 = Add(x, y) e = Mul(x, y) }}>(a, s) }}"""
    runs = []
    for length, size in product(lengths, (2, 0, 1, 3)):
        whole = rows(length, size)
        runs.append({"a": rows(size) + 1, "s": whole if axis == 0 else np.ascontiguousarray(whole.T)})
    agree(engine, text, tmp_path / "m.xml", runs)


def test_lengths_that_are_proved_hold_without_iterations(engine, tmp_path):
    text = """g (int64 n, float[A,B] a) => (float[N,B,A] z) {
      z = Loop(n, "") <body = b (int64 i, bool c) => (bool c2, float[B,A] e) {
        e = Transpose<perm = [1,0]>(a) c2 = Identity(c) }> }"""
    agree(engine, text, tmp_path / "m.xml", [{"n": number(k), "a": rows(2, 3)} for k in TRIPS])
