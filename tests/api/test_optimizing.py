"""`whorl.optimize`: files, protos and modules, which are left as they are."""

import numpy as np
import onnx
import pytest
from onnx_text import ROLLOUT, model

import whorl

CHAIN = model("""main (float[2] x) => (float[2] y) <float[2] a = {1, 4}> {
    b = Sqrt (a)
    c = Add (b, b)
    y = Mul (x, c)
}""")
X = np.array([3, 5], np.float32)


def nodes(module: whorl.ir.graph.Module) -> list[str]:  # type: ignore[name-defined]
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
