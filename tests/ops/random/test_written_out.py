"""Random ops as draws from a stream: the numbers of `run`, to the bit; what NumPy refuses stays as it is."""

import ml_dtypes
import numpy as np
import pytest

from whorl.ir.build import Builder
from whorl.ir.graph import Region, as_values
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.random.distributions import (
    Bernoulli,
    Dropout,
    Multinomial,
    RandomNormal,
    RandomNormalLike,
    RandomUniform,
    RandomUniformLike,
)
from whorl.ops.random.streams import stream_of
from whorl.ops.random.written_out import write_random
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run
from whorl.runtime.limits import Budget, Limits

X = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
OPS = [
    (RandomNormal(seed=4.0, mean=1.5, scale=0.25, shape=(2, 3)), []),
    (RandomNormal(seed=4.0, dtype=np.dtype(np.float16), shape=(7,)), []),
    (RandomUniform(seed=4.0, low=-2.0, high=5.0, shape=(2, 3)), []),
    (RandomUniform(seed=4.0, dtype=np.dtype(np.float64), shape=()), []),
    (RandomNormalLike(seed=4.0, dtype=BFLOAT16, scale=3.0), [X]),
    (RandomUniformLike(seed=4.0, low=1.0, high=-1.0), [X]),
    (Bernoulli(seed=4.0), [X]),
    (Bernoulli(seed=4.0, dtype=np.dtype(np.bool_)), [X.astype(np.float16)]),
    (Multinomial(seed=4.0, sample_size=20), [X]),
    (Dropout(seed=4), [X, np.array(0.25, np.float32), np.array(True)]),
    (Dropout(seed=4), [X.astype(BFLOAT16), None, np.array(True)]),
]


def written(op, inputs):
    """What the nodes that stand for an op give from a stream at its seed; None where the op stays."""
    region = Region()
    build = Builder(region, Inference())
    stream = build.constant(stream_of(np.random.RandomState(int(op.seed))))
    passed = [None if x is None else build.constant(x) for x in inputs]
    if inputs:
        passed[0] = region.add_argument("x", TensorType(inputs[0].dtype, inputs[0].shape))
    made = write_random(op, passed, stream, build)
    if made is None:
        return None
    region.results = made[0]
    return Plan(region)(Run(Budget(Limits(), lambda: False)), *inputs[:1])


@pytest.mark.parametrize(("op", "inputs"), OPS)
def test_numbers_equal_run(op, inputs):
    for actual, expected in zip(written(op, inputs), as_values(op.run(*inputs)), strict=True):
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        (RandomNormal(seed=4.0, scale=-1.0, shape=(2,)), []),
        (RandomUniform(seed=4.0, high=float("inf"), shape=(2,)), []),
        (Dropout(seed=4), [X]),
        (Dropout(seed=4), [X, np.array(0.0), np.array(True)]),
        (Dropout(seed=4), [X, np.array(1.0), np.array(True)]),
    ],
)
def test_op_that_draws_nothing_or_fails_remains(op, inputs):
    assert written(op, inputs) is None
