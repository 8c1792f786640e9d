"""Gemm in old opsets, and matrix products that an opset does not have."""

import numpy as np
import onnx
import pytest
from evaluation import evaluate, module_of, unranked
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.ops.linear.einsum import Einsum
from whorl.ops.linear.products import Gemm, MatMul


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def refused(module, path, opset):
    with pytest.raises(SaveError) as caught:
        whorl.save(module, path / "m.onnx", opset=opset)
    return str(caught.value)


@pytest.mark.parametrize(("opset", "attributes"), [(6, {"broadcast": 1}), (7, {})])
def test_addend_is_broadcast_when_read(opset, attributes):
    inputs = [normal(2, 3), normal(3, 4), normal(4)]
    model = single_node("Gemm", inputs, opset, alpha=0.5, **attributes)
    result = whorl.run(model, feeds(inputs))["y0"]
    np.testing.assert_array_equal(result, evaluate(Gemm(alpha=0.5), *inputs))


@pytest.mark.parametrize("opset", [6, 7, 10, 11, 13])
@pytest.mark.parametrize("shape", [None, (2, 4), (4,), (1, 4), (1,), (), (1, 1)])
def test_addend_is_written_for_every_opset(tmp_path, opset, shape):
    inputs = [normal(2, 3), normal(4, 3), None if shape is None else np.asarray(normal(*shape), np.float32)]
    op = Gemm(alpha=0.5, beta=2.0, transB=1)
    whorl.save(module_of(op, inputs), tmp_path / "m.onnx", opset=opset)
    model = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(model)
    expected = evaluate(op, *inputs)
    np.testing.assert_allclose(whorl.run(model, feeds(inputs))["y0"], expected, rtol=1e-6)
    if opset > 6:
        np.testing.assert_allclose(onnxruntime_run(model, feeds(inputs))[0], expected, rtol=1e-5)


@pytest.mark.parametrize("addend", [normal(2, 1), unranked()])
def test_column_addend_needs_7(tmp_path, addend):
    module = module_of(Gemm(), [normal(2, 3), normal(3, 4), addend])
    whorl.save(module, tmp_path / "m.onnx", opset=7)
    shape = "*" if addend is not None and not isinstance(addend, np.ndarray) else "2, 1"
    assert refused(module, tmp_path, 6) == (
        f"Gemm 'op': C is float32[{shape}], which may broadcast along columns\n  fix: opset 7 or later can say it"
    )


@pytest.mark.parametrize("op", [Gemm(), MatMul()])
def test_integer_product_needs_9(tmp_path, op):
    module = module_of(op, [np.eye(2, dtype=np.int32)] * 2)
    assert refused(module, tmp_path, 8) == (
        f"{op.name} 'op': input 0 is tensor(int32), which version {7 if op.name == 'Gemm' else 1} of {op.name} "
        "does not take\n  fix: opset 9 or later can say it"
    )
    whorl.save(module, tmp_path / "m.onnx", opset=9)


def test_einsum_needs_12(tmp_path):
    module = module_of(Einsum("ij->ji"), [normal(2, 3)])
    assert "Einsum came with version" in refused(module, tmp_path, 11)
    whorl.save(module, tmp_path / "m.onnx", opset=12)
