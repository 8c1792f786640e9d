"""Reductions in old opsets."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from evaluation import evaluate, floats, module_of, unranked
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.ir.graph import REGISTRY
from whorl.ops.reduce.logarithmic_reductions import ReduceLogSum
from whorl.ops.reduce.reductions import ArgMax, ReduceMax, ReduceMin, ReduceSum

KINDS = (
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
)
X = np.random.default_rng(0).uniform(0.5, 2, (2, 3, 4)).astype(np.float32)
AXES = np.array([-1, 0])


def saved(module, path, opset):
    """The file that a module becomes, checked."""
    whorl.save(module, path / "m.onnx", opset=opset)
    model = onnx.load(path / "m.onnx")
    onnx.checker.check_model(model, full_check=True)
    return model


def refused(module, path, opset):
    with pytest.raises(SaveError) as caught:
        whorl.save(module, path / "m.onnx", opset=opset)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("attributes", "axes"), [({}, (0, 1, 2)), ({"axes": [2, 0]}, (0, 2)), ({"axes": [1]}, (1,))])
def test_axes_are_read_from_the_attribute(kind, attributes, axes):
    model = single_node(kind, [X], 11, keepdims=0, **attributes)
    expected = evaluate(REGISTRY[kind](keepdims=0), X, np.array(axes))
    np.testing.assert_array_equal(whorl.run(model, {"x0": X})["y0"], expected)


@pytest.mark.parametrize("opset", [11, 18])
def test_integer_logarithm_is_computed_in_float64(opset):
    x = np.array([[3, 4], [2**40, 0]])
    inputs = [x] if opset < 18 else [x, np.array([1])]
    model = single_node("ReduceLogSum", inputs, opset, keepdims=0, **({"axes": [1]} if opset < 18 else {}))
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    assert whorl.run(model, feeds(inputs))["y0"].tolist() == [1, 27]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opset", [6, 10, 11, 13, 17, 18, 28])
@pytest.mark.parametrize("noop", [0, 1])
@pytest.mark.parametrize("axes", [None, AXES, np.array([], np.int64)])
def test_constant_axes_are_written_for_every_opset(tmp_path, kind, opset, noop, axes):
    op = REGISTRY[kind](keepdims=0, noop_with_empty_axes=noop)
    model = saved(module_of(op, [X, axes], [1]), tmp_path, opset)
    expected = evaluate(op, X, axes)
    np.testing.assert_allclose(whorl.run(model, {"x0": X})["y0"], expected, rtol=1e-6)
    if 7 <= opset <= 18:
        np.testing.assert_allclose(onnxruntime_run(model, {"x0": X})[0], expected, rtol=1e-5)


def test_computed_axes_need_13_or_18(tmp_path):
    module = module_of(ReduceSum(), [X, AXES])
    assert refused(module, tmp_path, 12) == (
        "ReduceSum 'op': the axes are computed at run time\n  fix: opset 13 or later can say it"
    )
    saved(module, tmp_path, 13)
    assert refused(module_of(ReduceMax(), [X, AXES]), tmp_path, 17) == (
        "ReduceMax 'op': the axes are computed at run time\n  fix: opset 18 or later can say it"
    )


def test_negative_axis_of_unknown_rank_needs_11(tmp_path):
    for module in (module_of(ReduceSum(), [unranked(), AXES], [1]), module_of(ArgMax(axis=-1), [unranked()])):
        whorl.save(module, tmp_path / "m.onnx", opset=11)
        assert refused(module, tmp_path, 10).endswith(
            "'op': axis -1 counts from the end of a tensor of unknown rank\n  fix: opset 11 or later can say it"
        )


@pytest.mark.parametrize("opset", [6, 11, 12, 18, 19, 20])
@pytest.mark.parametrize("op_class", [ReduceMax, ReduceMin])
@pytest.mark.parametrize("shape", [(2, 3), (0, 3)])
def test_bool_extremes_are_written_for_every_opset(tmp_path, op_class, opset, shape):
    x = np.arange(np.prod(shape)).reshape(shape) % 4 == 0
    model = saved(module_of(op_class(), [x, np.array([0])], [1]), tmp_path, opset)
    result = whorl.run(model, {"x0": x})["y0"]
    np.testing.assert_array_equal(result, evaluate(op_class(), x, np.array([0])))


def test_element_type_unknown_to_an_opset_is_refused(tmp_path):
    module = module_of(ReduceLogSum(), [np.ones(2, ml_dtypes.bfloat16)])
    assert refused(module, tmp_path, 12) == (
        "ReduceLogSum 'op': input 0 is tensor(bfloat16), which version 11 of ReduceLogSum does not take\n"
        "  fix: opset 13 or later can say it"
    )


def test_last_of_equal_elements_needs_12(tmp_path):
    module = module_of(ArgMax(axis=-1, select_last_index=1), [X])
    assert refused(module, tmp_path, 11) == (
        "ArgMax 'op': the last of equal elements is asked for\n  fix: opset 12 or later can say it"
    )
    saved(module, tmp_path, 12)


@pytest.mark.parametrize("opset", [6, 10, 11, 13])
def test_argument_axis_is_counted_from_the_front_before_11(tmp_path, opset):
    x = floats([1, 3, 2], [6, 5, 4])
    (node,) = (model := saved(module_of(ArgMax(axis=-1, keepdims=0), [x]), tmp_path, opset)).graph.node
    assert {a.name: a.i for a in node.attribute}["axis"] == (1 if opset < 11 else -1)
    assert whorl.run(model, {"x0": x})["y0"].tolist() == [1, 0]
