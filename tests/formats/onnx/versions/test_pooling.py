"""Pooling and RoiAlign in old opsets."""

import numpy as np
import onnx
import pytest
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import LoadError, SaveError

X = np.random.default_rng(0).normal(size=(2, 3, 7, 6)).astype(np.float32)
ROIS = [X, np.array([[0, 0, 4, 4], [1, 1, 3, 5]], np.float32), np.array([0, 1])]


def saved(tmp_path, model, opset):
    """The model written at an opset, after onnx found nothing wrong with it."""
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=opset)
    written = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(written)
    return written


@pytest.mark.parametrize("name", ["LpPool", "GlobalLpPool"])
def test_version_1_norm_has_a_float_power(name):
    attributes = {"kernel_shape": [2, 3]} if name == "LpPool" else {}
    old, new = (single_node(name, [X], opset, p=p, **attributes) for opset, p in ((1, 3.0), (22, 3)))
    np.testing.assert_array_equal(whorl.run(old, feeds([X]))["y0"], whorl.run(new, feeds([X]))["y0"])


def test_version_1_norm_with_a_fraction_is_refused():
    with pytest.raises(LoadError, match=r"p is 2\.5; only whole numbers are implemented"):
        whorl.load(single_node("GlobalLpPool", [X], 1, p=2.5))


def test_version_1_lp_pool_without_a_kernel_is_refused():
    with pytest.raises(LoadError, match="kernel_shape"):
        whorl.load(single_node("LpPool", [X], 1))


@pytest.mark.parametrize("opset", [6, 7, 8, 10, 11, 17, 18, 21, 22])
@pytest.mark.parametrize("name", ["MaxPool", "AveragePool", "LpPool"])
def test_attributes_that_change_nothing_are_dropped(tmp_path, name, opset):
    attributes = {"kernel_shape": [2, 3], "pads": [1, 0, 0, 2], "strides": [2, 1]}
    model = single_node(name, [X], 22, dilations=[1, 1], ceil_mode=0, **attributes)
    written = saved(tmp_path, model, opset)
    (expected,) = whorl.run(model, feeds([X])).values()
    np.testing.assert_array_equal(whorl.run(written, feeds([X]))["y0"], expected)
    if opset > 6:
        np.testing.assert_allclose(onnxruntime_run(written, feeds([X]))[0], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "opset", "attributes", "message"),
    [
        ("MaxPool", 9, {"dilations": [1, 2]}, "dilations=(1, 2) cannot be said"),
        ("MaxPool", 9, {"ceil_mode": 1}, "ceil_mode=1 cannot be said"),
        ("AveragePool", 18, {"dilations": [1, 2]}, "dilations=(1, 2) cannot be said"),
        ("AveragePool", 6, {"count_include_pad": 1}, "count_include_pad=1 cannot be said"),
        ("LpPool", 17, {"ceil_mode": 1}, "ceil_mode=1 cannot be said"),
    ],
)
def test_what_an_opset_cannot_say_is_refused(tmp_path, name, opset, attributes, message):
    model = single_node(name, [X], 22, kernel_shape=[2, 2], **attributes)
    with pytest.raises(SaveError) as raised:
        saved(tmp_path, model, opset)
    assert raised.value.message == message


def test_locations_of_the_maxima_need_opset_8(tmp_path):
    model = single_node("MaxPool", [X], 22, 2, kernel_shape=[2, 2], storage_order=1)
    model.graph.output[1].type.tensor_type.elem_type = onnx.TensorProto.INT64
    with pytest.raises(SaveError) as raised:
        saved(tmp_path, model, 7)
    assert raised.value.message == "the places of the largest elements cannot be said"
    written = saved(tmp_path, model, 8)
    for mine, theirs in zip(whorl.run(model, feeds([X])).values(), onnxruntime_run(written, feeds([X])), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_roi_align_10_does_not_shift_the_regions(tmp_path):
    sizes = {"output_height": 2, "output_width": 3}
    old = single_node("RoiAlign", ROIS, 10, **sizes)
    expected = onnxruntime_run(old, feeds(ROIS))[0]
    np.testing.assert_allclose(whorl.run(old, feeds(ROIS))["y0"], expected, rtol=1e-5, atol=1e-6)
    new = saved(tmp_path, old, 16)
    np.testing.assert_allclose(onnxruntime_run(new, feeds(ROIS))[0], expected, rtol=1e-5, atol=1e-6)
    back = saved(tmp_path, new, 10)
    np.testing.assert_allclose(onnxruntime_run(back, feeds(ROIS))[0], expected, rtol=1e-5, atol=1e-6)


def test_roi_align_with_shifted_regions_needs_opset_16(tmp_path):
    with pytest.raises(SaveError) as raised:
        saved(tmp_path, single_node("RoiAlign", ROIS, 16), 15)
    assert raised.value.message == "regions shifted by half an element cannot be said"
