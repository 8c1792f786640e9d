"""Upsample, Resize and GridSample in old opsets."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import LoadError, SaveError

X = np.random.default_rng(0).normal(size=(1, 2, 10, 4)).astype(np.float32)


def floats(*elements):
    return np.array(elements, np.float32)


def resize(inputs, opset, op_type="Resize", **attributes):
    """A node whose inputs but the first are initializers."""
    model = single_node(op_type, inputs, opset, **attributes)
    for info in list(model.graph.input)[1:]:
        value = inputs[int(info.name[1:])]
        model.graph.initializer.append(numpy_helper.from_array(value, info.name))
        model.graph.input.remove(info)
    return model


def saved(tmp_path, model, opset):
    """The model written at an opset, after onnx found nothing wrong with it."""
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=opset)
    written = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(written)
    return written


def mine(model, *inputs):
    return whorl.run(model, feeds(inputs))["y0"]


def theirs(model, *inputs):
    return onnxruntime_run(model, feeds(inputs))[0]


# ---- reading -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scale", [1, 1.3, 2, 2.5])
def test_upsample_9_and_7_are_onnxruntimes(mode, scale):
    scales = floats(1, 1, scale, 2)
    model = resize([X, scales], 9, "Upsample", mode=mode)
    np.testing.assert_allclose(mine(model, X), theirs(model, X), atol=1e-5)
    older = single_node("Upsample", [X], 7, mode=mode, scales=scales.tolist())
    np.testing.assert_array_equal(mine(older, X), mine(model, X))


def test_upsample_1_scales_height_and_width():
    old = single_node("Upsample", [X], 1, mode="bilinear", height_scale=2.0, width_scale=1.5)
    new = resize([X, floats(1, 1, 2, 1.5)], 9, "Upsample", mode="linear")
    np.testing.assert_array_equal(mine(old, X), mine(new, X))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", [(1, 1, 2, 3), (1, 1, 0.7, 0.5), (1, 1, 0.7, 2), (1, 1, 2.5, 0.5)])
@pytest.mark.parametrize("constant", [True, False])
def test_resize_10_is_onnxruntimes(mode, scales, constant):
    inputs = [X, floats(*scales)]
    model = (resize if constant else single_node_resize)(inputs, 10, mode=mode)
    passed = inputs[:1] if constant else inputs
    np.testing.assert_allclose(mine(model, *passed), theirs(model, *passed), atol=1e-5)


def single_node_resize(inputs, opset, **attributes):
    return single_node("Resize", inputs, opset, **attributes)


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "floor"])
@pytest.mark.parametrize("scale", [0.5, 0.75, 2, 3])
@pytest.mark.parametrize("opset", [11, 13])
def test_resize_11_half_pixel_for_nearest_neighbours(opset, rounding, scale):
    attributes = {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": rounding}
    model = resize([X, floats(), floats(1, 1, scale, 1)], opset, **attributes)
    np.testing.assert_array_equal(mine(model, X), theirs(model, X))


def test_resize_11_half_pixel_for_nearest_neighbours_is_no_interpolation():
    attributes = {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "mode": "linear"}
    with pytest.raises(LoadError, match="tf_half_pixel_for_nn is known with round_prefer_floor and floor only"):
        whorl.load(resize([X, floats(), floats(1, 1, 2, 1)], 11, **attributes))


def test_grid_sample_16_has_its_own_names_of_modes():
    grid = np.random.default_rng(1).uniform(-1, 1, (1, 3, 3, 2)).astype(np.float32)
    for mode in ({}, {"mode": "bilinear"}, {"mode": "bicubic"}, {"mode": "nearest"}):
        model = single_node("GridSample", [X, grid], 16, **mode)
        np.testing.assert_allclose(mine(model, X, grid), theirs(model, X, grid), atol=1e-5)


# ---- writing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opset", [11, 12, 13, 17, 18])
@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resize_of_some_axes_is_written_for_all_axes_before_18(tmp_path, opset, sized, mode):
    target = [None, None, np.array([9, 15])] if sized else [None, floats(1.5, 0.7)]
    model = single_node("Resize", [X, *target], 19, mode=mode, axes=[3, -2])
    written = saved(tmp_path, model, opset)
    expected = mine(model, X, *target)
    np.testing.assert_allclose(mine(written, X, *target), expected, atol=1e-6)
    np.testing.assert_allclose(theirs(written, X, *target), expected, atol=1e-4)


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_regions_of_some_axes_are_written_for_all_axes_before_18(tmp_path, opset):
    inputs = [X, floats(0.1, 0.2, 0.9, 0.8), None, np.array([5, 3])]
    attributes = {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"}
    model = single_node("Resize", inputs, 19, axes=[2, 3], **attributes)
    written = saved(tmp_path, model, opset)
    expected = mine(model, *inputs)
    np.testing.assert_allclose(mine(written, *inputs), expected, atol=1e-6)
    np.testing.assert_allclose(theirs(written, *inputs), expected, atol=1e-4)


@pytest.mark.parametrize("opset", [6, 7, 8, 9, 10])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("axes", [None, [2, 3]])
def test_growing_by_constant_scales_goes_back_to_upsample(tmp_path, opset, mode, axes):
    scales = floats(2, 2.5) if axes else floats(1, 1, 2, 2.5)
    attributes = {"mode": mode, "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    model = resize([X, None, scales], 19, axes=axes, **attributes)
    written = saved(tmp_path, model, opset)
    assert written.graph.node[-1].op_type == ("Resize" if opset == 10 else "Upsample")
    np.testing.assert_array_equal(mine(written, X), mine(model, X))
    if opset > 6:
        np.testing.assert_allclose(theirs(written, X), mine(model, X), atol=1e-5)


def test_shrinking_by_constant_scales_goes_back_to_resize_10(tmp_path):
    attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "ceil"}
    model = resize([X, None, floats(1, 1, 0.7, 0.5)], 19, **attributes)
    written = saved(tmp_path, model, 10)
    np.testing.assert_array_equal(mine(written, X), mine(model, X))
    np.testing.assert_array_equal(theirs(written, X), mine(model, X))


@pytest.mark.parametrize(
    ("opset", "target", "attributes", "message"),
    [
        (
            18,
            [None, floats(1, 1, 2, 2)],
            {"coordinate_transformation_mode": "half_pixel_symmetric"},
            "coordinate_transformation_mode='half_pixel_symmetric' cannot be said",
        ),
        (17, [None, floats(1, 1, 2, 2)], {"mode": "linear", "antialias": 1}, "antialias=1 cannot be said"),
        (
            17,
            [None, None, np.array([1, 2, 3, 3])],
            {"keep_aspect_ratio_policy": "not_larger"},
            "keep_aspect_ratio_policy='not_larger' cannot be said",
        ),
        (
            10,
            [None, None, np.array([1, 2, 3, 3])],
            {"coordinate_transformation_mode": "asymmetric"},
            "only scales of asymmetric nearest and linear resizing can be said",
        ),
        (
            10,
            [None, floats(1, 1, 2, 0.5)],
            {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
            "nearest_mode='floor' cannot be said with scales [1.0, 1.0, 2.0, 0.5]",
        ),
        (
            9,
            [None, floats(1, 1, 0.5, 0.5)],
            {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "ceil"},
            "scales below 1 cannot be said",
        ),
        (
            6,
            [None, floats(1, 2, 2, 2)],
            {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
            "scales [1.0, 2.0, 2.0, 2.0] cannot be said",
        ),
    ],
)
def test_what_an_opset_cannot_say_is_refused(tmp_path, opset, target, attributes, message):
    with pytest.raises(SaveError) as raised:
        saved(tmp_path, resize([X, *target], 19, **attributes), opset)
    assert raised.value.message == message


def test_scales_that_are_computed_need_opset_11(tmp_path):
    attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    model = single_node("Resize", [X, None, floats(1, 1, 2, 2)], 19, **attributes)
    with pytest.raises(SaveError) as raised:
        saved(tmp_path, model, 10)
    assert raised.value.message == "only constant scales can be said"


def test_axes_of_an_unknown_rank_need_opset_18(tmp_path):
    node = helper.make_node("Resize", ["x0", "", "x2"], ["y0"], axes=[-1])
    infos = [helper.make_tensor_value_info("x0", TensorProto.FLOAT, None)]
    infos.append(helper.make_tensor_value_info("x2", TensorProto.FLOAT, [1]))
    outputs = [helper.make_tensor_value_info("y0", TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "one_node", infos, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10)
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=18)
    with pytest.raises(SaveError) as raised:
        saved(tmp_path, model, 17)
    assert raised.value.message == "resizes some axes of a tensor of unknown rank"


@pytest.mark.parametrize("mode", ["linear", "cubic", "nearest"])
def test_grid_sample_is_written_with_its_old_names(tmp_path, mode):
    grid = np.random.default_rng(1).uniform(-1, 1, (1, 3, 3, 2)).astype(np.float32)
    model = single_node("GridSample", [X, grid], 20, mode=mode)
    written = saved(tmp_path, model, 16)
    np.testing.assert_allclose(theirs(written, X, grid), mine(model, X, grid), atol=1e-5)
    np.testing.assert_array_equal(mine(written, X, grid), mine(model, X, grid))


def test_grid_sample_of_a_volume_needs_opset_20(tmp_path):
    x, grid = np.zeros((1, 1, 2, 2, 2), np.float32), np.zeros((1, 1, 1, 1, 3), np.float32)
    with pytest.raises(SaveError) as raised:
        saved(tmp_path, single_node("GridSample", [x, grid], 20), 19)
    assert raised.value.message == "samples a tensor of rank 5"
