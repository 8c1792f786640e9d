"""Arithmetic element by element: wrapping, rounding, NaN, what inference follows, and messages."""

import inspect

import ml_dtypes
import numpy as np
import pytest
from evaluation import listed, shaped
from named_dims import INT64, N, known_of

from whorl.errors import RunError, TypeRuleError
from whorl.ir.build import Builder
from whorl.ir.dtypes import BY_NAME, name_of
from whorl.ir.graph import REGISTRY, Region, as_types, as_values
from whorl.ir.infer import Inference
from whorl.ir.types import Known, OptionalType, SequenceType, TensorType, fact_of
from whorl.ops.core.base import Elementwise
from whorl.ops.elementwise.arithmetic import (
    Abs,
    Add,
    Ceil,
    Clip,
    Div,
    Floor,
    Identity,
    Max,
    Mean,
    Min,
    Mod,
    Mul,
    Neg,
    Reciprocal,
    Round,
    Sign,
    Sub,
    Sum,
)
from whorl.ops.elementwise.logic import BitShift
from whorl.ops.movement.shapes import Reshape, Shape

OPS = sorted(
    name
    for name, op in REGISTRY.items()
    if issubclass(op, Elementwise)
    and op.__module__.startswith("whorl.ops.elementwise.")
    and not op.__module__.endswith(".casting")
)
BFLOAT16 = ml_dtypes.bfloat16


def run(op, *inputs):
    """`op.run` as the interpreter calls it: no warning may get out."""
    with np.errstate(all="ignore"):
        return as_values(op.run(*inputs))[0]


def sample(name):
    return BitShift("LEFT") if name == "BitShift" else REGISTRY[name]()


def arguments(name, x):
    """As many inputs as the op takes, all of them `x` but for a divisor, a condition and bounds."""
    passed = inspect.signature(REGISTRY[name].run).parameters.values()
    count = 3 if any(p.kind is p.VAR_POSITIONAL for p in passed) else len(passed) - 1
    inputs = [x] * count
    if name in ("Div", "Mod"):
        inputs[1] = np.ones_like(x)
    if name == "Where":
        inputs[0] = np.ones(x.shape, np.bool_)
    if name == "Clip":
        inputs[1:] = [np.zeros((), x.dtype), np.ones((), x.dtype)]
    return inputs


def same(result, expected, dtype):
    expected = np.array(expected, dtype)
    assert result.dtype == dtype
    if dtype == BFLOAT16:
        result, expected = result.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("name", OPS)
def test_every_op_keeps_its_word_on_scalars_empties_and_strides(name):
    op, dtypes = sample(name), REGISTRY[name].dtypes or set(BY_NAME.values()) - {np.dtype(object)}
    for dtype in dtypes:
        table = np.array([[0, 1, 1], [1, 1, 0]]).astype(dtype)
        for x in (table, table[:, ::2], table.T, table[:0], np.ones((), np.int8).astype(dtype)):
            inputs = arguments(name, x)
            before = [y.tobytes() for y in inputs]
            result = run(op, *inputs)
            (type,) = as_types(op.infer(*map(fact_of, inputs)))
            assert (result.dtype, result.shape) == (type.dtype, type.shape), name_of(dtype)
            assert [y.tobytes() for y in inputs] == before


@pytest.mark.parametrize("name", OPS)
def test_every_op_knows_its_dtype_where_nothing_else_is_known(name):
    dtype = next(iter(REGISTRY[name].dtypes), np.dtype(np.float32))
    inputs = arguments(name, np.ones(2, dtype))
    type = sample(name).infer(*(Known(TensorType(x.dtype)) for x in inputs))
    assert type == TensorType(run(sample(name), *inputs).dtype)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_integer_arithmetic_wraps(dtype):
    low, high, one = np.array(np.iinfo(dtype).min, dtype), np.array(np.iinfo(dtype).max, dtype), np.array(1, dtype)
    same(run(Add(), high, one), low, dtype)
    same(run(Sub(), low, one), high, dtype)
    same(run(Mul(), high, high), 1, dtype)


def test_bfloat16_arithmetic_remains_bfloat16_and_rounds_once():
    x, y = np.array([1, 256], BFLOAT16), np.array([2**-9, 1], BFLOAT16)
    same(run(Add(), x, y), [1, 256], BFLOAT16)
    same(run(Div(), x, np.array(3, BFLOAT16)), [0.333984375, 85.5], BFLOAT16)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_div_of_integers_truncates_toward_zero_and_the_smallest_by_minus_one_wraps(dtype):
    low = np.iinfo(dtype).min
    x, y = np.array([7, -7, 7, -7, low, 0], dtype), np.array([2, 2, -2, -2, -1, -3], dtype)
    same(run(Div(), x, y), [3, -3, -3, 3, low, 0], dtype)


def test_div_of_unsigned_integers_floors():
    same(run(Div(), np.array([255, 7], np.uint8), np.array([2, 255], np.uint8)), [127, 0], np.uint8)


@pytest.mark.parametrize("op", [Div(), Mod(), Mod(fmod=1)])
def test_integer_division_by_zero_is_an_error_with_its_location(op):
    with pytest.raises(RunError) as error:
        run(op, np.array([[1, 2]]), np.array([[3, 0]]))
    assert str(error.value) == "integer division by zero, at [0, 1] of the divisor"
    with pytest.raises(RunError, match=r"^integer division by zero$"):
        run(op, np.array([1, 2]), np.array(0))


def test_division_by_zero_of_nothing_is_nothing():
    same(run(Div(), np.zeros((0, 1), np.int64), np.zeros(2, np.int64)), np.zeros((0, 2)), np.int64)


def test_div_of_floats_by_zero_follows_ieee():
    same(run(Div(), np.array([1, -1, 0], np.float16), np.array(0, np.float16)), [np.inf, -np.inf, np.nan], np.float16)


def test_mod_has_the_sign_of_the_divisor_and_fmod_of_the_dividend():
    x, y = np.array([7, -7, 7, -7]), np.array([3, 3, -3, -3])
    for dtype in (np.int8, np.int64, np.float16, np.float32, BFLOAT16):
        same(run(Mod(), x.astype(dtype), y.astype(dtype)), [1, 2, -2, -1], dtype)
        same(run(Mod(fmod=1), x.astype(dtype), y.astype(dtype)), [1, -1, 1, -1], dtype)


def test_mod_of_the_smallest_by_minus_one_is_zero():
    same(run(Mod(), np.array([-(2**63)]), np.array([-1])), [0], np.int64)
    same(run(Mod(fmod=1), np.array([-(2**31)], np.int32), np.array([-1], np.int32)), [0], np.int32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, BFLOAT16])
def test_mod_of_infinities_and_zeros_follows_the_table(dtype):
    inf, nan = np.inf, np.nan
    x, y = [0.0, -0.0, 1, -1, inf, 1, nan], [-1, 1, inf, inf, 1, 0, 1]
    result = run(Mod(), np.array(x, dtype), np.array(y, dtype)).astype(np.float64)
    np.testing.assert_array_equal(result, [-0.0, 0.0, 1, inf, nan, nan, nan])
    assert np.signbit(result[:2]).tolist() == [True, False]


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_smallest_integer_is_its_own_negative_and_absolute_value(dtype):
    low = np.array([np.iinfo(dtype).min, -3], dtype)
    same(run(Neg(), low), [low[0], 3], dtype)
    same(run(Abs(), low), [low[0], 3], dtype)
    same(run(Sign(), low), [-1, -1], dtype)


def test_sign_of_unsigned_and_nan():
    same(run(Sign(), np.array([0, 255], np.uint8)), [0, 1], np.uint8)
    same(run(Sign(), np.array([np.nan, -0.0, -np.inf], np.float16)), [np.nan, 0, -1], np.float16)


def test_neg_of_unsigned_is_an_error():
    with pytest.raises(TypeRuleError, match=r"^does not accept uint8$"):
        Neg().infer(shaped(2, dtype=np.uint8))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, BFLOAT16])
def test_round_takes_halves_to_the_even_number(dtype):
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, np.inf], dtype)
    same(run(Round(), x), [0, 2, 2, -0.0, -2, np.inf], dtype)
    same(run(Floor(), x), [0, 1, 2, -1, -2, np.inf], dtype)
    same(run(Ceil(), x), [1, 2, 3, -0.0, -1, np.inf], dtype)
    same(run(Reciprocal(), x[:1]), [2], dtype)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, BFLOAT16])
def test_max_and_min_pass_nan_on_from_any_input(dtype):
    x, y, z = (np.array(v, dtype) for v in ([np.nan, 1, 2], [1, np.nan, 3], [0, 0, 1]))
    same(run(Max(), x, y, z), [np.nan, np.nan, 3], dtype)
    same(run(Min(), x, y, z), [np.nan, np.nan, 1], dtype)


def test_max_of_one_input_is_the_input():
    same(run(Max(), np.array([1, 2])), [1, 2], np.int64)


def test_sum_and_mean_of_many_round_once():
    inputs = [np.array([1], np.float16), *[np.array([2**-11], np.float16)] * 2]
    same(run(Sum(), *inputs), [1 + 2**-10], np.float16)
    same(run(Mean(), *inputs), [np.float16((1 + 2**-10) / 3)], np.float16)


def test_clip_keeps_nan_and_the_upper_bound_rules():
    x, low, high = np.array([np.nan, -5, 0, 5, np.inf], np.float32), np.float32(-1), np.float32(1)
    same(run(Clip(), x, np.array(low), np.array(high)), [np.nan, -1, 0, 1, 1], np.float32)
    same(run(Clip(), x, np.array(high), np.array(low)), [np.nan, -1, -1, -1, -1], np.float32)
    same(run(Clip(), x, None, np.array(high)), [np.nan, -5, 0, 1, 1], np.float32)
    same(run(Clip(), x, np.array(low)), [np.nan, -1, 0, 5, np.inf], np.float32)


def test_clip_takes_a_bound_of_one_element_and_keeps_the_shape():
    same(run(Clip(), np.array(5), np.array([[7]])), 7, np.int64)


def test_clip_bound_of_two_elements_is_an_error():
    with pytest.raises(TypeRuleError) as error:
        Clip().infer(shaped(3), shaped(2))
    assert str(error.value) == "min is float32[2], expected one element"
    with pytest.raises(RunError) as error:
        run(Clip(), np.zeros(3), None, np.zeros(2))
    assert str(error.value) == "max has shape [2], expected one element"


def test_identity_passes_sequences_and_optionals():
    type = OptionalType(SequenceType(TensorType(INT64, (N,))))
    assert Identity().infer(Known(type)) == type
    assert Identity().run(None) is None
    assert known_of(Identity(), listed(1, N)) == [1, N]


def test_inference_names_nothing_after_arithmetic_on_shapes():
    region = Region()
    build = Builder(region, Inference())
    x = region.add_argument("x", TensorType(np.dtype(np.float32), (N, 4)))
    halved = build.add(Div(), build.add(Mul(), build.add(Shape(), x), build.int64(2, 1)), build.int64(1, 2))
    assert build.add(Reshape(), x, halved).type == TensorType(np.dtype(np.float32), (N * 2, 2))
