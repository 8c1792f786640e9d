"""Loops and branches that a model is better with: slower ones for a target stay, and those that it has no ops for."""

import pytest
from onnx_text import model

import whorl

LARGEST = model("""main (float[n, 3] x, float[3] low) => (float[n, 3] y) {
    t, y = Scan (low, x) <num_scan_inputs = 1, body = each (float[3] s, float[3] v) => (float[3] u, float[3] w) {
        u = Max(s, v) w = Identity(u)
    }>
}""")


def kinds(module):
    return {node.op.name for node in module.nodes()} - {"Constant"}


def reason(source, **options):
    with pytest.raises(whorl.DeloopError) as caught:
        whorl.deloop(source, **options)
    return str(caught.value)


def test_loop_that_is_faster_remains_with_the_estimate_and_the_option():
    text = reason(LARGEST, expected={"n": 2})
    assert text.splitlines()[1:] == [
        "  Loop 't': the model would be slower in onnxruntime without it: 13 µs are expected, with it 5.7 µs, at n = 2",
        "  fix: try --target any, in Python target='any'",
    ]
    assert "Loop" in kinds(whorl.deloop(LARGEST, expected={"n": 2}, partial=True))


@pytest.mark.parametrize("options", [{}, {"target": "any"}, {"dims": {"n": 2}}])
def test_expected_length_of_no_dim_is_refused(options):
    with pytest.raises(whorl.WhorlError) as caught:
        whorl.deloop(LARGEST, expected={"n": 2, "rows": 2}, **options)
    what = "no dim is called 'rows', whose length --expect, in Python expected, says"
    assert str(caught.value) == f"{what}\n  fix: choose from n"


@pytest.mark.parametrize("options", [{"expected": {"n": 1000}}, {"target": "any"}, {"only": ["y"]}])
def test_long_loop_goes_and_so_does_one_that_is_required(options):
    assert "Loop" not in kinds(whorl.deloop(LARGEST, **options))


@pytest.mark.parametrize(("length", "op"), [(1, "Max"), (200, "ReduceMax")])
def test_few_iterations_become_copies_where_all_at_once_would_be_slower(length, op):
    assert kinds(whorl.deloop(LARGEST, dims={"n": length})) & {"Max", "ReduceMax"} == {op}


def test_native_code_is_faster_with_a_loop_than_with_an_op_that_goes_over_all_again():
    assert "slower in whorl without it" in reason(LARGEST, target="whorl", expected={"n": 1000})


GREATER = model("""main (float[n] x, float limit) => (float[k] y) {
    shape = Shape(x) zero = Constant <value = int64[1] {0}> () trips = Squeeze(shape, zero)
    none = Constant <value = float[0] {}> ()
    y = Loop (trips, , none) <body = each (int64 i, bool g, float[q] s) => (bool h, float[r] t) {
        h = Identity(g) v = Gather(x, i) w = Unsqueeze(v, zero) c = Greater(v, limit)
        t = If (c) <
            then_branch = more () => (float[q2] p) { p = Concat <axis = 0> (s, w) },
            else_branch = same () => (float[q3] o) { o = Identity(s) }>
    }>
}""")


def test_op_that_a_target_has_not_keeps_the_loop():
    assert "Compress" in kinds(whorl.deloop(GREATER))
    text = reason(GREATER, target="tensorrt")
    assert "Loop 'y': TensorRT has no Compress, which would take its place" in text
    assert text.endswith("fix: try --target any, in Python target='any'")


OUTER = model("""main (float[n, 512] x, float[512] low) => (float[n, 512] y) {
    t, y = Scan (low, x) <num_scan_inputs = 1, body = each (float[512] s, float[512] v)
        => (float[512] u, float[512] w) {
        m = Scan (v) <num_scan_inputs = 1, body = inner (float a) => (float b) { b = Tanh(a) }>
        u = Max(s, m) w = Identity(u)
    }>
}""")


def test_loop_in_a_loop_that_remains_may_go():
    result = whorl.deloop(OUTER, partial=True, expected={"n": 2})
    loops = [node for node in result.nodes() if node.op.name == "Loop"]
    assert len(loops) == 1 and "Tanh" in kinds(result)
