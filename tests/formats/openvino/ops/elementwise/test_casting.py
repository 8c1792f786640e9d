"""Conversions of the element type."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of, written
from formats.openvino.one_layer import check_layer, check_node

from whorl.errors import LoadError
from whorl.ir.dtypes import BY_NAME
from whorl.ops.elementwise.casting import Cast, CastLike

X = np.array([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 3.7], np.float32)


@pytest.mark.parametrize("target", ["i32", "u8", "i8", "boolean", "f16", "i64"])
def test_conversions(target: str) -> None:
    least = 0 if target == "u8" else -100
    check_layer("Convert", 1, [np.array([least, 0.3, 2.7, 100.9], np.float32)], {"destination_type": target})
    check_layer("Convert", 1, [np.array([-2, 0, 3, 300, -300], np.int64)], {"destination_type": target})
    check_layer("Convert", 1, [np.array([True, False])], {"destination_type": target})


def test_conversion_to_the_type_of_another() -> None:
    check_layer("ConvertLike", 1, [X, np.array([1])])


TYPES = "float32", "float16", "bfloat16", "int8", "uint8", "int64", "bool"


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", [*TYPES, "int16"])
def test_conversions_written(source: str, target: str) -> None:
    x = np.array([0, 1, 3, 100]) if source in ("uint8", "bool") else np.array([-100, -1, 0, 2.5])
    if target.startswith("uint"):
        x = np.abs(x)
    check_node(Cast(BY_NAME[target]), [x.astype(BY_NAME[source])])


@pytest.mark.parametrize("target", ["float8e4m3fn", "float8e5m2"])
def test_conversions_to_few_bits_keep_within_the_range(target: str) -> None:
    check_node(CastLike(), [np.array([0.3, 1e6, -1e6, np.inf, np.nan], np.float32), np.zeros(1, BY_NAME[target])])


@pytest.mark.parametrize("saturate", [0, 1])
def test_cast_to_powers_of_two_rounds_up_or_down(saturate: int) -> None:
    x = np.array([0.3, 1, 3, 5, 1e38, 1e-38], np.float32)
    for mode in ("up", "down"):
        check_node(Cast(BY_NAME["float8e8m0"], saturate, mode), [x], dynamic=[False])


def test_cast_to_the_type_it_has_leaves_no_layer() -> None:
    assert written("main(%x: float32[2]) { %y: float32[2] = Cast(%x) {to = float32} return y = %y }") == [
        "Parameter-1() shape=2 element_type=f32",
        "Identity-16(0)",
        "Result-1(1)",
    ]


def test_cast_of_few_elements_or_none() -> None:
    check_node(Cast(BY_NAME["int32"]), [np.zeros((0, 3), np.float32)], dynamic=[False])
    check_node(Cast(BY_NAME["int32"]), [np.array(-2.7, np.float32)])


def test_cast_keeps_low_bits_of_short_integers() -> None:
    """OpenVINO's CPU plugin saturates a float that becomes int8 directly, so it goes by way of int32."""
    assert written("main(%x: float32[2]) { %y: int8[2] = Cast(%x) {to = int8} return y = %y }")[1:3] == [
        "Convert-1(0) destination_type=i32",
        "Convert-1(1) destination_type=i8",
    ]


def test_convert_to_an_unknown_type_is_refused() -> None:
    layers = [parameter(0, "2", name="x"), layer(1, "Convert", 1, destination_type="f12", name="c"), result(2)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-1:0 1:1-2:0"))
    assert str(caught.value).startswith("Convert 'c' (line 5): OV404: destination_type of Convert 'c' ")


def test_convert_to_eight_bits_is_a_cast_without_saturation() -> None:
    layers = [parameter(0, "2", name="x"), layer(1, "Convert", 1, destination_type="f8e5m2", name="c"), result(2)]
    assert program_of(net(layers, "0:0-1:0 1:1-2:0")) == (
        "n(%x: float32[2]) {\n"
        '  %c: float8e5m2[2] = Cast "c" (%x) {to = float8e5m2, saturate = 0, round_mode = "nearest"}\n'
        "  return c = %c\n"
        "}\n"
    )
