"""`whorl.optimize`: files, protos and modules, which are left as they are."""

import numpy as np
import onnx
import pytest
from onnx_text import ROLLOUT, model

import whorl
from whorl.ir.graph import Module

CHAIN = model("""main (float[2] x) => (float[2] y) <float[2] a = {1, 4}> {
    b = Sqrt (a)
    c = Add (b, b)
    y = Mul (x, c)
}""")
X = np.array([3, 5], np.float32)


def nodes(module: Module) -> list[str]:
    return [node.op.name for node in module.nodes() if node.inputs]


def test_file_proto_and_module_give_the_same(tmp_path):
    path = tmp_path / "chain.onnx"
    onnx.save(CHAIN, path)
    loaded = whorl.load(CHAIN)
    for source in (path, str(path), CHAIN, CHAIN.SerializeToString(), loaded):
        report = whorl.Report()
        module = whorl.optimize(source, report=report)
        assert nodes(module) == ["Mul"] and (report.nodes_before, report.nodes_after) == (3, 1)
        assert whorl.run(module, {"x": X})["y"].tolist() == [6, 20]
    assert nodes(loaded) == ["Sqrt", "Add", "Mul"]


def test_options_reach_the_passes(tmp_path):
    path = tmp_path / "chain.onnx"
    onnx.save(CHAIN, path)
    assert nodes(whorl.optimize(path, limit=1)) == ["Add", "Mul"]
    assert nodes(whorl.optimize(path, only=["dce"])) == ["Sqrt", "Add", "Mul"]
    assert nodes(whorl.optimize(path, disabled=["Sqrt"])) == ["Sqrt", "Add", "Mul"]
    with pytest.raises(whorl.WhorlError, match="there is no pass 'fold'"):
        whorl.optimize(path, only=["fold"])
    with pytest.raises(whorl.WhorlError, match="no pass, rule or op is called 'Sqr'"):
        whorl.optimize(path, disabled=["Sqr"])


def test_loop_that_depends_on_inputs_computes_the_same():
    feeds = {"count": np.array(4), "table": np.arange(12, dtype=np.float32)}
    assert whorl.run(whorl.optimize(ROLLOUT), feeds) == whorl.run(ROLLOUT, feeds)


def test_optimised_model_is_saved_over_its_own_file(tmp_path):
    path = tmp_path / "chain.onnx"
    onnx.save(CHAIN, path)
    whorl.save(whorl.optimize(path), path)
    assert [node.op_type for node in onnx.load(path).graph.node] == ["Mul"]


def test_weights_beside_the_model_are_folded_through(tmp_path):
    path, weight = tmp_path / "model.onnx", np.arange(40_000, dtype=np.float32).reshape(200, 200)
    source = model("main (float[1, 200] x) => (float[1, 200] y) { t = Transpose (w) y = MatMul (x, t) }")
    source.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    onnx.save(source, path, save_as_external_data=True, location="w.bin")
    module = whorl.optimize(path, memory_budget=1 << 16)
    assert nodes(module) == ["MatMul"]
    x = np.ones((1, 200), np.float32)
    assert whorl.run(module, {"x": x})["y"].tobytes() == whorl.run(path, {"x": x})["y"].tobytes()


def test_optional_of_a_constant_remains_an_optional():
    text = """main (float[2] x) => (optional(float[2]) y, float[2] z) {
        k = Constant<value = float[2] {1, 2}> ()
        y = Optional(k)
        e = OptionalGetElement(y)
        z = Add(x, e)
    }"""
    optimized = whorl.optimize(model(text))
    y, z = whorl.InferenceSession(optimized).run(None, {"x": np.float32([3, 4])})
    assert y.tolist() == [1, 2] and z.tolist() == [4, 6]


def test_scan_whose_first_state_is_unknown_is_left_to_the_run():
    """Its later states are known; what is compared with the first one is not."""
    text = """main (int64[2] x) => (float[2] z, int64[2, 2] y) {
        rows = Constant<value = float[2] {1, 2}> ()
        z, y = Scan (rows, rows) <num_scan_inputs = 1, body = outer (float[2] s, float e) => (float[2] t, int64[2] u) {
            t = Identity(s)
            more = Constant<value = float[2] {3, 4}> ()
            u = Scan (x, more) <num_scan_inputs = 1, body = inner (int64[2] a, float b) => (int64[2] c) {
                k = Constant<value = int64[2] {3, 4}> ()
                c = Identity(k)
            }>
        }>
    }"""
    z, y = whorl.InferenceSession(whorl.optimize(model(text))).run(None, {"x": np.int64([1, 2])})
    assert z.tolist() == [1, 2] and y.tolist() == [[3, 4]] * 2
