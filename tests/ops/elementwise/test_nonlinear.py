"""Activation functions: their limits, one rounding for narrow floats, shapes, and messages."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, shaped
from named_dims import N, shape_of

from whorl.errors import RunError, TypeRuleError
from whorl.ir.graph import as_values
from whorl.ops.elementwise.nonlinear import (
    Celu,
    Elu,
    Gelu,
    HardSigmoid,
    HardSwish,
    LeakyRelu,
    Mish,
    PRelu,
    Relu,
    Selu,
    Shrink,
    Sigmoid,
    Softplus,
    Softsign,
    SwiGLU,
    Swish,
    ThresholdedRelu,
)

BFLOAT16 = ml_dtypes.bfloat16
INF, NAN = np.inf, np.nan
SMOOTH = (Celu(2.0), Elu(), Gelu(), Gelu("tanh"), HardSwish(), LeakyRelu(), Mish(), Selu(), Sigmoid(), Softplus())


def run(op, *inputs):
    return as_values(evaluate(op, *inputs))[0]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (Relu(), [0, 0, INF, NAN]),
        (LeakyRelu(), [-INF, 0, INF, NAN]),
        (ThresholdedRelu(), [0, 0, INF, 0]),
        (Elu(), [-1, 0, INF, NAN]),
        (Celu(2.0), [-2, 0, INF, NAN]),
        (HardSigmoid(), [0, 0.5, 1, NAN]),
        (Sigmoid(), [0, 0.5, 1, NAN]),
        (Softplus(), [0, np.float32(np.log(2)), INF, NAN]),
        (Shrink(), [-INF, 0, INF, 0]),
    ],
)
def test_limits(op, expected):
    np.testing.assert_array_equal(run(op, floats(-INF, 0, INF, NAN)), floats(*expected))


@pytest.mark.parametrize("op", [*SMOOTH, Swish(0.5), Softsign()])
def test_large_arguments_neither_overflow_nor_vanish(op):
    x = floats(-80, 80)
    with np.errstate(all="ignore"):
        exact = op.run(x.astype(np.float64))
    np.testing.assert_allclose(run(op, x), exact, rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("op", SMOOTH)
@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16])
def test_narrow_floats_are_computed_in_float32_and_rounded_once(op, dtype):
    x = np.linspace(-4, 4, 99).astype(dtype)
    result = run(op, x)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, run(op, x.astype(np.float32)).astype(dtype))


def test_relu_of_integers_and_of_a_narrow_scalar():
    assert run(Relu(), np.array([-128, 5], np.int8)).tolist() == [0, 5]
    result = run(Relu(), np.array(-1, BFLOAT16))
    assert result.dtype == BFLOAT16 and result.shape == () and result == 0


def test_shrink_of_integers_truncates_the_bias():
    x = np.array([-3, 0, 3], np.int8)
    assert run(Shrink(bias=1.5, lambd=1.5), x).tolist() == [-1, 0, 1]
    assert run(Shrink(bias=-1.0), np.array([255, 0], np.uint8)).tolist() == [0, 0]


def test_prelu_slope_broadcasts_to_the_input_only():
    x = floats(-2, -0.0, 3, NAN).reshape(2, 2)
    np.testing.assert_array_equal(run(PRelu(), x, floats(0.5)), floats(-1, 0, 3, NAN).reshape(2, 2))
    assert shape_of(PRelu(), shaped(N, 3, 4), shaped(3, 1)) == (N, 3, 4)
    with pytest.raises(TypeRuleError) as error:
        PRelu().infer(shaped(3), shaped(2, 3))
    assert str(error.value) == "the slope is float32[2, 3], which does not broadcast to float32[3]"
    with pytest.raises(RunError) as run_error:
        run(PRelu(), np.ones(3), np.ones((2, 3)))
    assert str(run_error.value) == "the slope of shape [2, 3] does not broadcast to [3]"


def test_swiglu_does_not_broadcast():
    gate, value = floats(0, 1, -2), floats(5, 2, 3)
    np.testing.assert_allclose(run(SwiGLU(), gate, value), [0, 2 / (1 + np.exp(-1)), -6 / (1 + np.exp(2))], rtol=1e-6)
    assert shape_of(SwiGLU(), shaped(N, 3), shaped(2, 3)) == (2, 3)
    with pytest.raises(TypeRuleError) as error:
        SwiGLU().infer(shaped(2, 3), shaped(1, 3))
    assert str(error.value) == "the gate is float32[2, 3], the value float32[1, 3], expected equal shapes"
    with pytest.raises(RunError) as run_error:
        run(SwiGLU(), np.ones((2, 3)), np.ones((1, 3)))
    assert str(run_error.value) == "the shapes [2, 3] of the gate and [1, 3] of the value differ"


def test_gelu_of_an_unknown_approximation_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        Gelu("erf").infer(shaped(2))
    assert str(error.value) == "approximate 'erf' does not exist\n  fix: none or tanh"
