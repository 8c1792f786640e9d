"""Optimizers by their formulas, and Gradient, which has types only."""

import ml_oracle
import numpy as np
import pytest
from written_out import check_written_out

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.types import Known, TensorType
from whorl.ops.ml.training import Adagrad, Adam, Gradient, Momentum

RATE, FIRST, LATER = np.array(0.5, np.float32), np.array(0), np.array(3)
X, G, V, H = (np.array(values, np.float32) for values in ([1, -2], [0.5, 0.25], [0.1, 0.2], [4, 9]))
FLOAT32 = np.dtype(np.float32)


def test_adagrad_follows_its_formula():
    op = Adagrad(norm_coefficient=0.5, decay_factor=0.25, epsilon=0.0)
    x, h = ml_oracle.result(op, RATE, LATER, X, G, H)
    g = 0.5 * X + G
    np.testing.assert_allclose(h, H + g * g, rtol=1e-6)
    np.testing.assert_allclose(x, X - 0.5 / 1.75 * g / np.sqrt(h), rtol=1e-6)


def test_adam_corrects_the_rate_only_after_the_first_update():
    op = Adam(alpha=0.5, beta=0.75, epsilon=0.125, norm_coefficient_post=0.25)
    for count, rate in ((FIRST, 0.5), (LATER, 0.5 * np.sqrt(1 - 0.75**3) / (1 - 0.5**3))):
        x, v, h = ml_oracle.result(op, RATE, count, X, G, V, H)
        np.testing.assert_allclose(v, 0.5 * V + 0.5 * G, rtol=1e-6)
        np.testing.assert_allclose(h, 0.75 * H + 0.25 * G * G, rtol=1e-6)
        np.testing.assert_allclose(x, 0.75 * (X - rate * v / (np.sqrt(h) + 0.125)), rtol=1e-6)


@pytest.mark.parametrize("mode", ["standard", "nesterov"])
@pytest.mark.parametrize(("count", "beta"), [(FIRST, 1.0), (LATER, 0.25)])
def test_momentum_takes_the_whole_gradient_at_first(count, beta, mode):
    op = Momentum(alpha=0.5, beta=0.25, mode=mode, norm_coefficient=0.0)
    x, v = ml_oracle.result(op, RATE, count, X, G, V)
    np.testing.assert_allclose(v, 0.5 * V + beta * G, rtol=1e-6)
    np.testing.assert_allclose(x, X - 0.5 * (G + 0.5 * v if mode == "nesterov" else v), rtol=1e-6)


def test_several_tensors_are_independent_and_keep_their_types():
    op = Momentum(alpha=0.5, beta=0.25, mode="standard", norm_coefficient=0.0)
    wide = [a.astype(np.float64) for a in (X, G, V)]
    pairs = [array for group in zip((X, G, V), wide, strict=True) for array in group]
    x0, x1, v0, v1 = ml_oracle.result(op, RATE, LATER, *pairs)
    assert [a.dtype.name for a in (x0, x1, v0, v1)] == ["float32", "float64", "float32", "float64"]
    np.testing.assert_allclose(x0, x1, rtol=1e-6)


def test_wrong_number_of_tensors_is_refused():
    passed = [Known(TensorType(np.dtype(t), ())) for t in ("float32", "int64", "float32", "float32")]
    with pytest.raises(TypeRuleError, match="has 2 tensors, expected a multiple of 3"):
        Adagrad().infer(*passed)


def test_gradient_has_the_types_of_what_it_derives_by():
    op = Gradient(xs=("a", "b"), zs=("c",), y="loss")
    passed = [Known(TensorType(FLOAT32, (n,))) for n in (2, 3, 4)]
    assert op.infer(*passed) == (passed[0].type, passed[1].type)


def test_gradient_does_not_run_and_says_why():
    with pytest.raises(RunError, match="the gradient of 'loss' needs the graph that computes it"):
        Gradient(xs=("a",), y="loss").run(X)


@pytest.mark.parametrize("count", [FIRST, LATER])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "op",
    [
        Adagrad(norm_coefficient=0.5, decay_factor=0.25),
        Adam(norm_coefficient=0.25, norm_coefficient_post=0.5),
        Momentum(alpha=0.5, beta=0.25, mode="standard", norm_coefficient=0.5),
        Momentum(alpha=0.5, beta=0.25, mode="nesterov", norm_coefficient=0.5),
    ],
)
def test_training_step_is_written_out(op, count, dtype):
    passed = [a.astype(dtype) for a in (X, X + 1, G, G - 1, V, V, H, H)[: 2 * (2 + op.states)]]
    check_written_out(op, [RATE.reshape(1), count, *passed], 2 * (1 + op.states), 1e-6)


def test_training_step_of_lengths_that_may_differ_remains_one_op():
    region, names = Region(), ("N", "M", "N")
    types = [TensorType(FLOAT32, ()), TensorType(np.dtype(np.int64), ()), *(vector(name) for name in names)]
    values = [region.add_argument("x", type) for type in types]
    assert Adagrad().decompose(values, Builder(region, Inference())) is None


def vector(name):
    return TensorType(FLOAT32, (dims.name(name),))
