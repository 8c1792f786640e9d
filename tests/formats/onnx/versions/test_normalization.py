"""BatchNormalization and GroupNormalization in old opsets."""

import numpy as np
import onnx
import pytest
from evaluation import evaluate, module_of, unranked
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.ops.reduce.normalization import (
    BatchNormalization,
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def batch(*shape):
    """X, and scale, B, mean and variance of the shape after axis 0, or of axis 1 alone."""
    return [normal(4, 3, 5), *(np.abs(normal(*shape, seed=k)) for k in range(1, 5))]


def saved(module, path, opset):
    whorl.save(module, path / "m.onnx", opset=opset)
    model = onnx.load(path / "m.onnx")
    onnx.checker.check_model(model, full_check=True)
    return model


def refused(module, path, opset):
    with pytest.raises(SaveError) as caught:
        whorl.save(module, path / "m.onnx", opset=opset)
    return str(caught.value)


def results(model, inputs):
    return list(whorl.run(model, feeds(inputs)).values())


@pytest.mark.parametrize(
    ("opset", "attributes", "outputs", "training"),
    [
        (1, {"consumed_inputs": [0, 0], "is_test": 1}, 1, 0),
        (6, {"is_test": 1}, 1, 0),
        (6, {}, 1, 1),
        (6, {}, 5, 1),
        (7, {}, 1, 0),
        (7, {}, 3, 1),
        (9, {"momentum": 0.5}, 5, 1),
        (14, {"training_mode": 1}, 3, 1),
    ],
)
def test_training_is_reported_as_each_version_tells_it(opset, attributes, outputs, training):
    inputs = batch(3)
    actual = results(single_node("BatchNormalization", inputs, opset, outputs, **attributes), inputs)
    momentum = attributes.get("momentum", 0.9)
    expected = evaluate(BatchNormalization(momentum=momentum, training_mode=training), *inputs)
    for mine, exact in zip(actual, expected, strict=False):
        np.testing.assert_allclose(mine, exact, rtol=1e-6)
    if outputs == 5:
        np.testing.assert_allclose(actual[3], inputs[0].mean((0, 2)), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(actual[4], inputs[0].var((0, 2)), rtol=1e-4)


@pytest.mark.parametrize("outputs", [1, 5])
def test_locations_of_a_channel_are_apart_when_not_spatial(outputs):
    inputs = batch(3, 5)
    x, scale, b, mean, variance = inputs
    actual = results(single_node("BatchNormalization", inputs, 7, outputs, spatial=0), inputs)
    if outputs == 5:
        np.testing.assert_allclose(actual[1], mean * 0.9 + x.mean(0) * 0.1, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(actual[4], x.var(0), rtol=1e-4)
        mean, variance = x.mean(0), x.var(0)
    np.testing.assert_allclose(actual[0], (x - mean) / np.sqrt(variance + 1e-5) * scale + b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("opset", [6, 7, 9, 13, 14, 15, 28])
@pytest.mark.parametrize("training", [0, 1])
@pytest.mark.parametrize("outputs", [1, 3])
def test_batch_is_written_for_every_opset(tmp_path, opset, training, outputs):
    inputs, op = batch(3), BatchNormalization(momentum=0.7, training_mode=training)
    model = saved(module_of(op, inputs, outputs=outputs), tmp_path, opset)
    expected = evaluate(op, *inputs)[:outputs]
    for mine, exact in zip(results(model, inputs), expected, strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-5)
    if not training and 7 <= opset <= 15:
        for theirs, exact in zip(onnxruntime_run(model, feeds(inputs)), expected, strict=True):
            np.testing.assert_allclose(theirs, exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("last", "first", "wide"), [(13, 14, (3, 4)), (14, 15, (1, 2))])
def test_mixed_element_types_need_14_or_15(tmp_path, last, first, wide):
    inputs = [x if k in wide else x.astype(np.float16) for k, x in enumerate(batch(3))]
    module = module_of(BatchNormalization(), inputs)
    saved(module, tmp_path, first)
    assert refused(module, tmp_path, last) == (
        "BatchNormalization 'op': inputs have different element types: float16, float32\n"
        "  fix: opset 15 or later can say it"
    )


def test_instance_normalization_1_is_read():
    inputs = [normal(2, 3, 4, 5), normal(3), normal(3, seed=1)]
    model = single_node("InstanceNormalization", inputs, 1, consumed_inputs=[0, 0, 0])
    np.testing.assert_array_equal(results(model, inputs)[0], evaluate(InstanceNormalization(), *inputs))


@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 4), (0, 6, 4), (2, 6, 0)])
def test_group_scale_is_repeated_for_its_channels_when_read(shape):
    inputs = [normal(*shape), normal(2), normal(2, seed=1)]
    actual = results(single_node("GroupNormalization", inputs, 18, num_groups=2), inputs)[0]
    repeated = [inputs[0], *(np.repeat(x, 3) for x in inputs[1:])]
    np.testing.assert_array_equal(actual, evaluate(GroupNormalization(2), *repeated))


@pytest.mark.parametrize("opset", [6, 13, 17, 20, 21])
@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 4), (2, 6, 2, 2), (0, 6, 4)])
def test_group_is_written_for_every_opset(tmp_path, opset, shape):
    inputs, op = [normal(*shape), normal(6), normal(6, seed=1)], GroupNormalization(2, epsilon=0.1)
    model = saved(module_of(op, inputs), tmp_path, opset)
    expected = evaluate(op, *inputs)
    np.testing.assert_allclose(results(model, inputs)[0], expected, rtol=1e-4, atol=1e-5)
    if opset > 6 and shape[0]:
        np.testing.assert_allclose(onnxruntime_run(model, feeds(inputs))[0], expected, rtol=1e-4, atol=1e-5)


def test_group_that_needs_21_is_refused(tmp_path):
    wide = GroupNormalization(2, stash_type=np.dtype(np.float64))
    for op, x, what in (
        (GroupNormalization(2), unranked(), "an input of unknown rank"),
        (wide, normal(2, 6, 4), "stash_type float64"),
    ):
        module = module_of(op, [x, normal(6), normal(6)])
        assert (
            refused(module, tmp_path, 20) == f"GroupNormalization 'op': has {what}\n  fix: opset 21 or later can say it"
        )


def test_layer_needs_17(tmp_path):
    module = module_of(LayerNormalization(), [normal(2, 3), normal(3)], outputs=3)
    assert "LayerNormalization came with version 17" in refused(module, tmp_path, 16)
    saved(module, tmp_path, 17)
