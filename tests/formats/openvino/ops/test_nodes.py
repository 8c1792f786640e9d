"""What the importers of several families share: constants, lists and lengths of values."""

import numpy as np
import pytest

from whorl.errors import LoadError
from whorl.formats.openvino.ops.nodes import (
    axes_of,
    cast,
    constant_of,
    flat,
    index,
    integers_of,
    length_of,
    length_of_axis,
    like,
    listed,
    number_of,
    one,
)
from whorl.ir.build import Builder
from whorl.ir.dims import Linear
from whorl.ir.dtypes import BY_NAME, INT64
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import UNRANKED, TensorType
from whorl.ops.elementwise.arithmetic import Neg
from whorl.ops.elementwise.casting import Cast
from whorl.runtime.session import Session


@pytest.fixture
def build() -> Builder:
    return Builder(Region(), Inference())


def argument(build: Builder, dtype: str, *shape: object) -> Value:
    return build.region.add_argument("x", TensorType(BY_NAME[dtype], shape if shape != ("*",) else UNRANKED))


def computed(build: Builder, value: Value, x: np.ndarray) -> list:
    """A value of a region with the argument x."""
    build.region.results = [value]
    return Session(Module(build.region, ["y"]), backend="interpreter").execute(None, {"x": x})[0].tolist()


def test_constants_are_seen_through_conversions_in_their_order(build: Builder) -> None:
    x = build.constant(np.array([1.7, -300.2], np.float32))
    converted = build.add(Cast(BY_NAME["float32"]), build.add(Cast(BY_NAME["int8"]), x))
    settings = constant_of(converted)
    assert settings is not None
    assert settings.tolist() == np.array([1.7, -300.2]).astype(np.int64).astype(np.int8).tolist()
    assert settings.dtype == np.float32


def test_what_is_computed_otherwise_is_no_constant(build: Builder) -> None:
    assert constant_of(None) is None
    assert constant_of(argument(build, "int64", 2)) is None
    assert constant_of(build.add(Neg(), build.int64(1))) is None


def test_numbers_are_constants_of_one_element_of_any_rank(build: Builder) -> None:
    assert number_of(build.constant(np.array([[2.5]], np.float32))) == 2.5
    assert number_of(build.int64(1, 2)) is None
    assert number_of(build.int64()) is None
    assert integers_of(build.constant(np.array([[1], [2]], np.int32))) == [1, 2]
    assert integers_of(build.int64()) == []


def test_value_of_the_expected_form_leaves_no_node(build: Builder) -> None:
    x = argument(build, "int64", 2)
    assert cast(build, x, INT64) is index(build, x) is flat(build, x) is listed(build, x) is x
    assert not build.region.nodes


@pytest.mark.parametrize(("dtype", "expected"), [("int32", "int32"), ("int16", "int64"), ("uint8", "int64")])
def test_indices_are_of_the_types_that_onnx_has(build: Builder, dtype: str, expected: str) -> None:
    type = index(build, argument(build, dtype, 2)).type
    assert isinstance(type, TensorType)
    assert type.dtype == BY_NAME[expected]


def test_list_of_a_scalar_has_one_number(build: Builder) -> None:
    assert computed(build, listed(build, argument(build, "int32")), np.array(3, np.int32)) == [3]


def test_one_element_loses_all_axes(build: Builder) -> None:
    assert computed(build, one(build, argument(build, "float32", 1, 1)), np.ones((1, 1), np.float32)) == 1


def test_number_of_the_type_of_a_value(build: Builder) -> None:
    settings = constant_of(like(build, argument(build, "uint8", 2), 7))
    assert settings is not None
    assert (settings.dtype, settings.shape, int(settings)) == (np.uint8, (), 7)


@pytest.mark.parametrize(("shape", "length"), [((), 1), ((5,), 5), ((2, 2), None), (("*",), None)])
def test_length_of_a_list_is_what_its_type_says(build: Builder, shape: tuple, length: int | None) -> None:
    assert length_of(argument(build, "int64", *shape)) == length


def test_list_longer_than_any_rank_is_refused(build: Builder) -> None:
    with pytest.raises(LoadError) as caught:
        length_of(argument(build, "int64", 65))
    assert str(caught.value) == "is given numbers for 65 axes; 64 are possible"


def test_axes_and_lengths_of_any_rank_are_computed(build: Builder) -> None:
    x = argument(build, "float32", "*")
    zeros = np.zeros((4, 5, 6), np.float32)
    assert computed(build, axes_of(build, x), zeros) == [0, 1, 2]
    assert computed(build, length_of_axis(build, x, 1), zeros) == 5


@pytest.mark.parametrize(("axis", "length"), [(0, 4), (-1, 6), (1, 5)])
def test_length_of_an_axis_is_computed_where_it_is_not_known(build: Builder, axis: int, length: int) -> None:
    x = argument(build, "float32", 4, Linear((("n", 1),)), 6)
    assert computed(build, length_of_axis(build, x, axis), np.zeros((4, 5, 6), np.float32)) == length
