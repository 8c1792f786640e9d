"""Resizing one axis as nodes: what holds for lengths that only a run knows is what the hub's op means."""

import numpy as np
import pytest
from evaluation import evaluate

from whorl.formats.openvino.ops.image.resize_axis import Axis, Resampler, scalar
from whorl.ir.build import Builder
from whorl.ir.dims import Linear
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.image.resampling import Filter
from whorl.ops.image.resize import Resize
from whorl.runtime.session import Session

FLOAT32 = np.dtype(np.float32)
X = np.array([[1, 5, -2, 4], [0, 3, 8, -7]], np.float32)


def resized(x: np.ndarray, count: int, op: Resize) -> np.ndarray:
    """The last axis of x by nodes that know neither its length nor the new one."""
    region = Region()
    build = Builder(region, Inference())
    data = region.add_argument("x", TensorType(FLOAT32, (Linear((("N", 1),)), Linear((("M", 1),)))))
    lengths = region.add_argument("lengths", TensorType(FLOAT32, (4,)))
    length, new, scale, extent = (scalar(build, lengths, k) for k in range(4))
    axis, resampler = Axis(1, length, new, scale, extent), Resampler(build)
    points = resampler.coordinates(axis, op.coordinate_transformation_mode)
    if op.mode == "nearest":
        y = resampler.nearest(data, axis, points, op.nearest_mode)
    else:
        kernel = Filter(op.mode == "cubic", op.cubic_coeff_a, False, bool(op.exclude_outside))
        y = resampler.weighed(data, axis, points, kernel)
    region.results = [y]
    numbers = np.array([x.shape[1], count, count / x.shape[1], count], np.float32)
    feeds = {"x": x, "lengths": numbers}
    return Session(Module(region, ["y"]), backend="interpreter").execute(None, feeds)[0]


def agrees(op: Resize, count: int, x: np.ndarray = X) -> bool:
    """Whether nodes and op give the same to so many elements."""
    expected = evaluate(op, x, None, None, np.array([len(x), count]))
    return np.allclose(resized(x, count, op), expected, rtol=1e-5, atol=1e-5)


COORDINATES = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric"]


@pytest.mark.parametrize("count", [1, 2, 4, 7, 9])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_elements_around_are_weighed_as_the_op_does(coordinates: str, count: int) -> None:
    for mode, outside in (("linear", 0), ("cubic", 0), ("cubic", 1)):
        op = Resize(mode=mode, coordinate_transformation_mode=coordinates, exclude_outside=outside)
        assert agrees(op, count)


@pytest.mark.parametrize("count", [1, 3, 8, 12])
@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_nearest_elements_agree_with_the_op(rounding: str, count: int) -> None:
    for coordinates in COORDINATES:
        assert agrees(Resize(coordinate_transformation_mode=coordinates, nearest_mode=rounding), count)


def test_axis_of_one_element_gives_it_everywhere() -> None:
    for mode in ("nearest", "linear", "cubic"):
        assert agrees(Resize(mode=mode, coordinate_transformation_mode="align_corners"), 5, X[:, :1])


@pytest.mark.parametrize(("count", "chosen"), [(2, [0, 2]), (6, [0, 0, 1, 2, 2, 3])])
def test_simple_rounding_goes_up_where_the_axis_shrinks(count: int, chosen: list[int]) -> None:
    """Four elements to two: 0 and 2; to six: the floor of 0, 2/3, 4/3, 2, 8/3, 10/3."""
    op = Resize(coordinate_transformation_mode="asymmetric", nearest_mode="simple")
    assert resized(X, count, op).tolist() == X[:, chosen].tolist()


def test_centres_without_a_shift_back() -> None:
    """(k + 0.5) / scale, by floor: 0.25, 0.75, 1.25 and so on to twice as many."""
    op = Resize(coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor")
    assert resized(X, 8, op).tolist() == X[:, [0, 0, 1, 1, 2, 2, 3, 3]].tolist()
