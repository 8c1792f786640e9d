"""A Loop as Loop-5, or as TensorIterator-1 where fixed lengths alone bound it."""

from itertools import product

import numpy as np
import pytest
from formats.openvino.onnx_models import agree, module_of, number, rows

import whorl
from whorl.errors import SaveError
from whorl.formats.openvino.document import Layer
from whorl.formats.openvino.xml.read import read_xml

TRIPS = (3, 0, 1, 2, 0, 7, -1)


def layer_of(text: str, type: str, path) -> Layer:
    """The layer of a type in the file that a model is written to."""
    whorl.save(module_of(text), path)
    return next(layer for layer in read_xml(path.read_bytes(), 64).layers if layer.type == type)


def test_loop_has_a_condition_and_canonical_ports(tmp_path):
    text = """g (int64 n, float[2] a) => (float[2] b, float[K,2] c) {
      b, c = Loop(n, "", a) <body = b (int64 i, bool go, float[2] x) => (bool go2, float[2] y, float[2] z) {
        f = Cast<to = 1>(i) y = Add(x, f) z = Identity(a) go2 = Identity(go) }> }"""
    loop = layer_of(text, "Loop", tmp_path / "m.xml")
    ports = loop.bodies["body"].ports
    assert [port.purpose for port in ports if port.purpose] == ["current_iteration", "execution_condition"]
    (collected,) = [port for port in ports if port.axis is not None]
    assert (collected.axis, collected.start, collected.end, collected.stride, collected.part_size) == (0, 0, -1, 1, 1)
    externals = [port.external for port in ports if port.is_input and port.external >= 0]
    assert len(set(externals)) == len(externals) == len(loop.inputs) - 2


def test_scan_of_fixed_length_is_a_tensor_iterator(tmp_path):
    text = """g (float[2] a, float[2,3] s) => (float[2] b, float[2,3] c) {
      b, c = Scan<num_scan_inputs = 1, scan_input_axes = [-1], scan_input_directions = [1], scan_output_axes = [1],
        body = b (float[2] x, float[2] y) => (float[2] x2, float[2] z) { x2 = Add(x, y) z = Mul(x, y) }>(a, s) }"""
    iterator = layer_of(text, "TensorIterator", tmp_path / "m.xml")
    (cut,) = [port for port in iterator.bodies["body"].ports if port.is_input and port.axis is not None]
    assert (cut.axis, cut.start, cut.end, cut.stride, cut.part_size) == (1, -1, 0, -1, 1)


@pytest.mark.parametrize("inner", ["Scan", "If"])
def test_scan_inside_a_scan_is_a_loop(inner, tmp_path):
    scan = """e = Scan<num_scan_inputs = 1, body = c (float w) => (float v) { v = Neg(w) }>(y)"""
    branch = f"""c = Constant<value_ints = [1]>() d = Cast<to = 9>(y) k = Constant<value_ints = [0]>() p = Gather(d, k)
      e = If(p)<then_branch = t () => (float[2] e1) {{ {scan.replace("e =", "e1 =")} }},
                else_branch = o () => (float[2] e2) {{ e2 = Neg(y) }}>"""
    text = f"""g (float[3,2] s) => (float[3,2] c) {{
      c = Scan<num_scan_inputs = 1, body = b (float[2] y) => (float[2] z) {{ {scan if inner == "Scan" else branch}
        z = Add(e, y) }}>(s) }}"""
    iterator = layer_of(text, "TensorIterator", tmp_path / "m.xml")
    assert [layer.type for layer in iterator.bodies["body"].net.layers].count("TensorIterator") == 0


@pytest.mark.parametrize("trip", ["n", "constant"])
def test_states_swap_and_collected_values_follow_the_iterations(trip, engine, tmp_path):
    count = "n" if trip == "n" else "m"
    text = f"""g (int64 n, float[2] a, float[2] b) => (float[2] p, float[2] q, float[N,2] z, int64[M] k) {{
      m = Constant<value = int64 {{3}}>()
      p, q, z, k = Loop({count}, "", a, b) <body = b (int64 i, bool c, float[2] x, float[2] y)
          => (bool c2, float[2] x2, float[2] y2, float[2] e, int64 j) {{
        x2 = Identity(y) y2 = Identity(x) e = Sub(x, y) j = Identity(i) c2 = Identity(c) }}> }}"""
    agree(engine, text, tmp_path / "m.xml", [{"n": number(k), "a": rows(2), "b": rows(2) + 5} for k in TRIPS])


def test_a_state_that_the_body_does_not_read_keeps_its_first_value_without_iterations(engine, tmp_path):
    text = """g (int64 n, float[2] a, float[2] b) => (float[2] p, float[2] q, float[2] r, float[N,2] z) {
      p, q, r, z = Loop(n, "", a, b, a) <body = b (int64 i, bool c, float[2] x, float[2] y, float[2] w)
          => (bool c2, float[2] x2, float[2] y2, float[2] w2, float[2] e) {
        w2 = Constant<value_floats = [7.0, 8.0]>() x2 = Add(y, b) y2 = Identity(x2)
        e = Identity(a) c2 = Identity(c) }> }"""
    agree(engine, text, tmp_path / "m.xml", [{"n": number(k), "a": rows(2), "b": rows(2) + 5} for k in TRIPS])


def test_a_condition_ends_a_loop_or_keeps_it_from_starting(engine, tmp_path):
    text = """g (int64 n, float[2] a, bool go) => (float[2] p, float[N,2] z) {
      p, z = Loop(n, go, a) <body = b (int64 i, bool c, float[2] x) => (bool c2, float[2] x2, float[2] e) {
        x2 = Add(x, x) e = Identity(x) s = Constant<value_float = 9.0>() k = Constant<value_int = 1>()
        y = Gather(x, k) c2 = Less(y, s) }> }"""
    runs = [{"n": number(k), "a": rows(2), "go": np.array(go)} for k, go in product(TRIPS, (True, False))]
    agree(engine, text, tmp_path / "m.xml", runs)


def test_a_trip_count_beyond_all_numbers_is_unbounded(engine, tmp_path):
    text = """g (float[2] a, bool go) => (float[2] p, float[N,2] z) {
      m = Constant<value = int64 {9223372036854775807}>()
      p, z = Loop(m, go, a) <body = b (int64 i, bool c, float[2] x) => (bool c2, float[2] x2, float[2] e) {
        x2 = Add(x, x) e = Identity(x) s = Constant<value_float = 9.0>() k = Constant<value_int = 1>()
        y = Gather(x, k) c2 = Less(y, s) }> }"""
    agree(engine, text, tmp_path / "m.xml", [{"a": rows(2), "go": np.array(go)} for go in (True, False, True)])


def test_a_slice_that_nothing_needs_still_counts(engine, tmp_path):
    text = """g (float[3,2] s, float[2] a) => (float[3,2] z, float[3,2] e) {
      z, e = Scan<num_scan_inputs = 1, body = b (float[2] y) => (float[2] f, float[2] h) {
        f = Identity(a) h = Neg(y) }>(s) }"""
    agree(engine, text.replace(", float[3,2] e)", ")", 1), tmp_path / "m.xml", [{"s": rows(3, 2), "a": rows(2)}])


def test_a_state_that_grows(engine, tmp_path):
    text = """g (int64 n, float[K] a) => (float[P] p) {
      p = Loop(n, "", a) <body = b (int64 i, bool c, float[Q] x) => (bool c2, float[R] y) {
        y = Concat<axis = 0>(x, a) c2 = Identity(c) }> }"""
    runs = [{"n": number(k), "a": rows(size)} for k, size in product(TRIPS, (0, 1, 2, 3))]
    agree(engine, text, tmp_path / "m.xml", runs)


def test_a_state_of_open_rank_is_refused(tmp_path):
    text = """g (int64 n, float a) => (float[?] p) {
      p = Loop(n, "", a) <body = b (int64 i, bool c, float x) => (bool c2, float y) {
        k = Constant<value_ints = [0]>() y = Unsqueeze(x, k) c2 = Identity(c) }> }"""
    with pytest.raises(SaveError) as caught:
        whorl.save(module_of(text), tmp_path / "m.xml")
    assert str(caught.value) == (
        "Loop 'p': carries %x: float32[*], which no OpenVINO loop does\n  fix: carry tensors of one rank"
    )
