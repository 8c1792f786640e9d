"""Activations with parameters."""

import numpy as np
import pytest
from formats.openvino.ir_text import constant, layer, net, parameter, result
from formats.openvino.net_text import program_of, refused_to_write, written
from formats.openvino.one_layer import Input, check_layer, check_node, fixed, scalar

from whorl.ops.elementwise.nonlinear import (
    PRelu,
    SwiGLU,
)

X = np.array([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 3.7], np.float32)
INSIDE = np.array([-0.9, -0.3, 0.0, 0.3, 0.9], np.float32)
WHOLE = np.array([-8, -3, 0, 3, 8, 15], np.int32)


def test_activations_with_parameters() -> None:
    check_layer("Elu", 1, [X], {"alpha": 0.7})
    check_layer("Gelu", 7, [X], {"approximation_mode": "ERF"})
    check_layer("Gelu", 7, [X], {"approximation_mode": "TANH"})
    check_layer("HardSigmoid", 1, [X, scalar(0.3, np.float32), scalar(0.4, np.float32)])
    check_layer("Selu", 1, [X, scalar(0.3, np.float32), scalar(0.4, np.float32)])
    check_layer("Swish", 4, [X])
    check_layer("Swish", 4, [X, scalar(0.3, np.float32)])
    check_layer("Swish", 4, [X, np.array(0.3, np.float32)])


def test_parameters_computed_at_run_time() -> None:
    numbers = [np.array(0.3, np.float32), np.array(0.4, np.float32)]
    line = np.clip(X * np.float32(0.3) + np.float32(0.4), 0, 1)
    check_layer("HardSigmoid", 1, [X, *numbers], expected=[line])
    curve = np.float32(0.4) * np.where(X > 0, X, np.float32(0.3) * np.expm1(X))
    check_layer("Selu", 1, [X, *numbers], expected=[curve])


SLOPES: list[tuple[tuple[int, ...], Input]] = [
    ((2, 3, 3), np.array([0.1, 0.2, 0.3], np.float32)),
    ((2, 3, 4), np.array([0.1, 0.2, 0.3], np.float32)),
    ((3, 3), np.array([0.1, 0.2, 0.3], np.float32)),
    ((3,), np.array([0.1, 0.2, 0.3], np.float32)),
    ((2, 3, 4), np.array([0.1], np.float32)),
    ((2, 3, 4), fixed(0.1, dtype=np.float32)),
    ((2, 3, 4), np.array([[0.1], [0.2], [0.3]], np.float32)),
    ((2, 3, 4), np.array(0.5, np.float32)),
]


@pytest.mark.parametrize(("shape", "slope"), SLOPES)
def test_slopes(shape: tuple[int, ...], slope: Input) -> None:
    x = np.linspace(-3, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    check_layer("PRelu", 1, [x, slope])


def test_gate_written() -> None:
    check_node(SwiGLU(0.5), [INSIDE, INSIDE + 1])


def test_slopes_written() -> None:
    x = np.linspace(-3, 2, 12, dtype=np.float32).reshape(2, 2, 3)
    for shape in ((3,), (1,), (2, 1), (2, 1, 1)):
        check_node(PRelu(), [x, np.linspace(0.1, 0.5, int(np.prod(shape)), dtype=np.float32).reshape(shape)])
    check_node(PRelu(), [WHOLE, np.array(2, np.int32)])


def test_slope_of_a_scalar_may_have_an_axis() -> None:
    x = np.array(-2, np.float32)
    check_layer("PRelu", 1, [x, np.array([0.5], np.float32)])
    check_layer("PRelu", 1, [x, fixed(0.5, dtype=np.float32)])


def test_slopes_of_integers_and_of_no_elements() -> None:
    check_layer("PRelu", 1, [np.array([[-3, 4, -5]], np.int32), np.array([2, 3, 4], np.int32)])
    check_layer("PRelu", 1, [np.zeros((0, 3), np.float32), fixed(0.1, 0.2, 0.3, dtype=np.float32)])


def test_one_slope_is_read_as_an_attribute() -> None:
    layers = [parameter(0, "2,3", name="x"), constant(1, 0, 4, "1"), layer(2, "PReLU", 2, name="p"), result(3)]
    text = program_of(net(layers, "0:0-2:0 1:0-2:1 2:2-3:0"), np.array([0.25], np.float32).tobytes())
    assert '%p: float32[2, 3] = LeakyRelu "p" (%x) {alpha = 0.25}' in text


def test_slope_with_one_axis_is_written_with_the_axes_of_x() -> None:
    text = "main(%x: float32[N, 3, 4], %s: float32[4]) { %y: float32[N, 3, 4] = PRelu(%x, %s) return y = %y }"
    assert written(text)[2:] == [
        "Const-1() element_type=i64 shape=3",
        "Reshape-1(1, 2) special_zero=false",
        "PReLU-1(0, 3)",
        "Result-1(4)",
    ]


def test_slope_of_x_of_any_rank_is_refused() -> None:
    text = 'main(%x: float32[*], %s: float32[4]) { %y: float32[*] = PRelu "p" (%x, %s) return y = %y }'
    assert refused_to_write(text) == (
        "PRelu 'p': the slope has one axis, the rank of the input is not known\n  fix: declare its shape"
    )


def test_parameters_that_float32_does_not_represent_stay_inputs() -> None:
    """An attribute is a float32; a constant of float64 that is none keeps all its digits."""
    layers = [
        parameter(0, "2", "f64", name="x"),
        constant(1, 0, 8, "", "f64"),
        layer(2, "Swish", 2, ("FP64",), "opset4", name="s"),
        result(3),
    ]
    connections = "0:0-2:0 1:0-2:1 2:2-3:0"
    assert "Swish" not in program_of(net(layers, connections), np.array(0.1).tobytes())
    assert 'Swish "s" (%x) {alpha = 0.5}' in program_of(net(layers, connections), np.array(0.5).tobytes())
