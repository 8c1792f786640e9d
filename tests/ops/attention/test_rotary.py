"""RotaryEmbedding against onnxruntime and complex multiplication."""

import ml_dtypes
import numpy as np
import pytest
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.attention.rotary import RotaryEmbedding

FLOAT32 = np.dtype(np.float32)


def caches(rng, *shape):
    angles = rng.uniform(0, 6, shape)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


@pytest.mark.parametrize("rank", [3, 4])
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("rotated", [0, 4])
@pytest.mark.parametrize("positions", [False, True])
def test_equals_onnxruntime(rank, interleaved, rotated, positions):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3, 5, 8) if rank == 4 else (2, 5, 24)).astype(np.float32)
    pairs = (rotated or 8) // 2
    ids = rng.integers(0, 7, (2, 5)) if positions else None
    cos, sin = caches(rng, *((7, pairs) if positions else (2, 5, pairs)))
    attributes = {"interleaved": interleaved, "rotary_embedding_dim": rotated, "num_heads": 3}
    inputs = [x, cos, sin, ids]
    (expected,) = onnxruntime_run(single_node("RotaryEmbedding", inputs, 23, **attributes), feeds(inputs))
    np.testing.assert_allclose(RotaryEmbedding(**attributes).run(*inputs), expected, rtol=1e-5, atol=1e-6)


def test_turns_pairs_as_complex_numbers():
    rng = np.random.default_rng(1)
    x, angles = rng.normal(size=(1, 1, 3, 4)), rng.uniform(0, 6, (1, 3, 2))
    y = RotaryEmbedding(interleaved=1).run(x, np.cos(angles), np.sin(angles))
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)[:, None]
    np.testing.assert_allclose(y[..., 0::2] + 1j * y[..., 1::2], turned, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_rounded_once(dtype):
    rng = np.random.default_rng(2)
    passed = [rng.normal(size=(2, 3, 5, 8)), *caches(rng, 2, 5, 4)]
    narrow = [value.astype(dtype) for value in passed]
    exact = RotaryEmbedding().run(*(value.astype(np.float64) for value in narrow))
    y = RotaryEmbedding().run(*narrow)
    assert y.dtype == dtype
    half_ulp = 1.01 * float(ml_dtypes.finfo(dtype).eps) / 2
    np.testing.assert_allclose(y.astype(np.float64), exact, rtol=half_ulp, atol=1e-6)


def test_empty_sequence():
    cache = np.ones((2, 0, 4), np.float32)
    assert RotaryEmbedding(num_heads=3).run(np.ones((2, 0, 24), np.float32), cache, cache).shape == (2, 0, 24)


def test_input_remains_as_it_is():
    x, cache = np.ones((1, 1, 2, 4), np.float32), np.full((1, 2, 2), 0.5, np.float32)
    y = RotaryEmbedding().run(x, cache, cache)
    assert (x == 1).all() and not np.shares_memory(x, y)


def test_position_outside_the_caches_is_refused():
    cache = np.ones((3, 2), np.float32)
    with pytest.raises(RunError) as caught:
        RotaryEmbedding().run(np.ones((1, 1, 2, 4), np.float32), cache, cache, np.array([[0, 3]]))
    assert str(caught.value) == "position 3 is outside [-3, 3) of the caches"


def fact(*shape):
    return Known(TensorType(FLOAT32, shape))


@pytest.mark.parametrize(
    ("op", "shape", "pairs", "message"),
    [
        (RotaryEmbedding(), (2, 5, 24), 4, "X has rank 3 and num_heads is not given"),
        (RotaryEmbedding(), (2, 3, 5, 7), 4, "7 of 7 elements of a head cannot be rotated in pairs"),
        (RotaryEmbedding(), (2, 3, 5, 8), 3, "columns of cos_cache is both 4 and 3"),
        (RotaryEmbedding(num_heads=5), (2, 5, 24), 4, "the 24 columns of X are not divisible by 5 heads"),
    ],
)
def test_infer_refuses(op, shape, pairs, message):
    with pytest.raises(TypeRuleError) as caught:
        op.infer(fact(*shape), fact(2, 5, pairs), fact(2, 5, pairs))
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("rows", "positions", "message"),
    [
        ((1, 5), None, "axis 0 of cos_cache is both 2 and 1"),
        ((2, 1), None, "axis 1 of cos_cache is both 5 and 1"),
        ((2, 6), None, "axis 1 of cos_cache is both 5 and 6"),
        ((9,), (1, 5), "axis 0 of position_ids is both 2 and 1"),
        ((9,), (2, 1), "axis 1 of position_ids is both 5 and 1"),
    ],
)
@pytest.mark.parametrize("shape", [(2, 3, 5, 8), (2, 5, 24)])
def test_caches_and_positions_are_not_broadcast(shape, rows, positions, message):
    passed = () if positions is None else (Known(TensorType(np.dtype(np.int64), positions)),)
    op = RotaryEmbedding(num_heads=3 if len(shape) == 3 else None)
    with pytest.raises(TypeRuleError) as caught:
        op.infer(fact(*shape), fact(*rows, 4), fact(*rows, 4), *passed)
    assert caught.value.message == message


def test_infer_of_unranked_input_is_unranked():
    unranked = Known(TensorType(FLOAT32, UNRANKED))
    assert RotaryEmbedding().infer(unranked, unranked, unranked) == unranked.type
