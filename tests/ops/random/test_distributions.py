"""Random ops: seeds, streams that go on, shapes and element types; Dropout in both modes."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, shaped
from named_dims import N, shape_of

from whorl.errors import RunError, TypeRuleError
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

LIKE = np.zeros((2, 3), np.float32)
DRAWS = [
    (RandomNormal(seed=1.0, shape=(2, 3)), ()),
    (RandomUniform(seed=1.0, shape=(2, 3)), ()),
    (RandomNormalLike(seed=1.0), (LIKE,)),
    (RandomUniformLike(seed=1.0), (LIKE,)),
    (Bernoulli(seed=1.0), (LIKE + 0.5,)),
    (Multinomial(seed=1.0, sample_size=9), (LIKE,)),
]


@pytest.mark.parametrize(("op", "inputs"), DRAWS, ids=lambda x: getattr(x, "name", ""))
def test_seed_repeats_and_one_generator_goes_on(op, inputs):
    assert not op.pure
    np.testing.assert_array_equal(op.run(*inputs), op.run(*inputs))
    generator = op.generator()
    first, second = op.draw(generator, *inputs), op.draw(generator, *inputs)
    np.testing.assert_array_equal(first, op.run(*inputs))
    assert not np.array_equal(first, second)


def test_no_seed_draws_anew():
    assert not np.array_equal(RandomNormal(shape=(8,)).run(), RandomNormal(shape=(8,)).run())


@pytest.mark.parametrize("seed", [1.5, -1.0, 1e30, float("nan"), float("inf")])
def test_any_float_is_a_seed(seed):
    op = RandomNormal(seed=seed, shape=(4,))
    np.testing.assert_array_equal(op.run(), op.run())
    assert not np.array_equal(op.run(), RandomNormal(seed=1.0, shape=(4,)).run())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_numbers_have_the_dtype_and_the_distribution(dtype):
    dtype = np.dtype(dtype)
    x = RandomNormal(dtype=dtype, mean=5.0, scale=0.5, seed=0.0, shape=(10_000,)).run()
    assert x.dtype == dtype
    assert abs(x.astype(np.float64).mean() - 5) < 0.05 and abs(x.astype(np.float64).std() - 0.5) < 0.05
    y = RandomUniform(dtype=dtype, low=-2.0, high=4.0, seed=0.0, shape=(10_000,)).run().astype(np.float64)
    assert y.min() >= -2 and y.max() <= 4 and abs(y.mean() - 1) < 0.1


def test_scalar_shape_gives_a_scalar():
    x = RandomUniform(shape=()).run()
    assert x.shape == () and x.dtype == np.float32


def test_like_takes_shape_from_any_type_and_dtype_if_reported():
    op = RandomNormalLike(dtype=np.dtype(np.float16))
    assert op.infer(shaped(N, 2, dtype=object)) == TensorType(np.dtype(np.float16), (N, 2))
    assert op.run(np.zeros((2, 0), object)).shape == (2, 0)
    with pytest.raises(TypeRuleError) as error:
        RandomUniformLike().infer(shaped(N, dtype=np.int64))
    assert str(error.value) == "cannot draw int64\n  fix: set dtype to a floating-point type"


def test_negative_length_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        RandomNormal(shape=(2, -1)).infer()
    assert str(error.value) == "shape is [2, -1], lengths must not be negative"


def test_bernoulli_is_certain_at_both_ends():
    p = floats(0, 1, 0, 1)
    assert Bernoulli().run(p).tolist() == [0, 1, 0, 1]
    result = Bernoulli(dtype=np.dtype(np.bool_)).run(p)
    assert result.dtype == np.bool_ and Bernoulli(dtype=np.dtype(np.bool_)).infer(shaped(4)).dtype == np.bool_
    assert abs(Bernoulli(seed=0.0).run(np.full(10_000, 0.3, np.float16)).mean(dtype=np.float64) - 0.3) < 0.02


def test_multinomial_draws_in_proportion():
    x = np.log(floats(1, 3, 0).reshape(1, 3), where=[[True, True, False]], out=np.full((1, 3), -np.inf, np.float32))
    drawn = evaluate(Multinomial(sample_size=10_000, seed=0.0, dtype=np.dtype(np.int64)), x)
    assert drawn.dtype == np.int64 and drawn.shape == (1, 10_000)
    counts = np.bincount(drawn[0], minlength=3)
    assert counts[2] == 0 and abs(counts[1] / 10_000 - 0.75) < 0.02


def test_multinomial_shapes_and_errors():
    assert shape_of(Multinomial(sample_size=4), shaped(N, 3)) == (N, 4)
    assert evaluate(Multinomial(), np.zeros((0, 3), np.float32)).shape == (0, 1)
    with pytest.raises(TypeRuleError, match=r"^the input is float32\[3\], expected rank 2$"):
        Multinomial().infer(shaped(3))
    with pytest.raises(RunError) as error:
        evaluate(Multinomial(), np.full((1, 2), -np.inf, np.float32))
    assert str(error.value) == "row 0 has no class with a probability above 0"


def test_dropout_without_training_is_the_input():
    x = floats(1, 2, 3)
    for inputs in ((x,), (x, floats(0.9)[0:1]), (x, None, np.array(False)), (x, np.array(0.0), np.array(True))):
        y, mask = Dropout().run(*inputs)
        assert y is x and mask.dtype == np.bool_ and mask.all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_dropout_in_training_scales_what_it_keeps(dtype):
    x = np.ones(1000, dtype)
    y, mask = evaluate(Dropout(seed=0), x, np.array(0.75, np.float32), np.array(True))
    assert y.dtype == dtype and 150 < mask.sum() < 350
    np.testing.assert_array_equal(y.astype(np.float32), np.where(mask, 4, 0))


def test_dropout_keeps_infinities_out_of_what_it_drops():
    y, mask = evaluate(Dropout(seed=0), np.full(100, np.inf, np.float32), np.array(0.5), np.array(True))
    assert (y[mask] == np.inf).all() and (y[~mask] == 0).all()


def test_dropout_types_and_errors():
    x, mask = Dropout().infer(shaped(N), shaped(), shaped(dtype=bool))
    assert x.shape == mask.shape == (N,) and mask.dtype == np.bool_
    with pytest.raises(RunError) as error:
        Dropout().run(floats(1), np.array(1.0), np.array(True))
    assert str(error.value) == "the ratio 1.0 is outside [0, 1)"
    with pytest.raises(TypeRuleError) as type_error:
        Dropout().infer(shaped(N), shaped(), shaped(dtype=np.int64))
    assert str(type_error.value) == "training_mode is int64, expected bool"
