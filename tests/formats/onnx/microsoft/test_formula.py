"""What formulas share: constants of numbers, refusals, names of the nodes; and models that onnxruntime optimised."""

import numpy as np
import onnx
import onnxruntime
import pytest
from formats.onnx.microsoft.contributed_peer import compare, floats, model_of
from onnx_text import model

import whorl

MLP = model(
    """
    main (float[n, 8] x) => (float[n, 8] y) <float[8] b = {1, 2, 3, 4, 5, 6, 7, 8}> {
        half = Constant<value = float {0.5}> ()
        root = Constant<value = float {1.4142135}> ()
        one = Constant<value = float {1}> ()
        w = ConstantOfShape<value = float[1] {0.125}> (shape)
        shape = Constant<value_ints = [8, 8]> ()
        product = MatMul(x, w)
        sum = Add(product, b)
        scaled = Div(sum, root)
        erf = Erf(scaled)
        more = Add(erf, one)
        gate = Mul(sum, more)
        y = Mul(gate, half)
    }""",
    opset=17,
)


def test_model_that_onnxruntime_optimised_is_written_as_plain_onnx(tmp_path):
    path, plain = tmp_path / "fused.onnx", tmp_path / "plain.onnx"
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(path)
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(MLP.SerializeToString(), options)
    fused = {node.op_type for node in onnx.load(path).graph.node if node.domain == "com.microsoft"}
    assert fused == {"Gelu"}
    whorl.save(whorl.optimize(path), plain)
    written = onnx.load(plain)
    onnx.checker.check_model(written, full_check=True)
    assert {entry.domain for entry in written.opset_import} == {""}
    x = floats(np.random.default_rng(0), 3, 8)
    (expected,) = onnxruntime.InferenceSession(MLP.SerializeToString()).run(None, {"x": x})
    (actual,) = onnxruntime.InferenceSession(plain).run(None, {"x": x})
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def test_operators_without_a_formula_are_refused_all_at_once():
    text = "main (float[2] x) => (float[2] y) { a = com.microsoft.BitmaskDropout(x) y = com.microsoft.Swirl(a) }"
    with pytest.raises(whorl.UnsupportedError) as caught:
        whorl.load(model(text, domains=', "com.microsoft": 1'))
    assert str(caught.value) == (
        "the model uses ops that are not supported:\n"
        "  BitmaskDropout 'a': version 1 is not implemented\n"
        "  Swirl 'y': Swirl is not an operator of com.microsoft 1\n"
        "  fix: replace them, or add model-local functions that define them"
    )


def test_formula_runs_as_native_code():
    rng = np.random.default_rng(0)
    inputs = [floats(rng, 2, 3, 8), floats(rng, 2, 3, 8), floats(rng, 8)]
    compare("SkipLayerNormalization", inputs, backend="native")


def test_nodes_of_a_formula_have_the_name_of_the_node():
    module = whorl.load(model_of("BiasGelu", [np.ones((2, 3), np.float32), np.ones(3, np.float32)]))
    assert [node.title for node in module.main.nodes] == ["Add 'node'", "Gelu 'node'"]
