"""Ops of convolutions by filters in blocks: what they give by `run`."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.lowering.block_convolution import BlockConvolution, ChannelTerms, FilterBias, FilterBlocks
from whorl.ops.elementwise.arithmetic import Add, Mul
from whorl.ops.reduce.normalization import BatchNormalization
from whorl.ops.windows.convolution import Conv


def test_filters_and_bias_take_in_what_is_done_to_each_feature() -> None:
    """conv(x, w') + b' is the normalization, the product and the sum after conv(x, w) + b."""
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(shape) for shape in ((2, 4, 5, 5), (6, 2, 3, 3), (6,)))
    scale, shift, mean, factor, term = (rng.standard_normal(6) for _ in range(5))
    variance = rng.uniform(1, 2, 6)
    steps = (BatchNormalization(epsilon=0.1), Mul(), Add())
    values = [scale, shift, mean, variance, factor.reshape(6, 1, 1), term.reshape(1, 6, 1, 1)]
    conv = Conv(group=2)
    normalized, *_ = steps[0].run(conv.run(x, w, b), *values[:4])
    expected = normalized * values[4] + values[5]
    packed, bias = FilterBlocks(2, steps).run(w, *values), FilterBias(6, True, steps).run(b, *values)
    np.testing.assert_allclose(
        BlockConvolution(conv, w.shape).run(x, packed, bias, None), expected, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("limits", [None, (0.0, 0.5)])
@pytest.mark.parametrize("group", [1, 2])
def test_convolution_by_blocks_adds_a_tensor_and_keeps_to_limits(
    group: int, limits: tuple[float, float] | None
) -> None:
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((1, 4, 6), (4, 4 // group, 3)))
    added = rng.standard_normal((1, 4, 4)).astype(np.float32)
    packed, bias = FilterBlocks(group).run(w), FilterBias(4, False).run(w)
    assert not bias.any() and bias.shape == (4,)
    result = BlockConvolution(Conv(group=group), w.shape, limits).run(x, packed, bias, None, added)
    expected = Conv(group=group).run(x, w) + added
    np.testing.assert_allclose(result, expected if limits is None else expected.clip(*limits), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("group", [1, 2])
def test_transformed_filters_convolve_as_others_do(group: int) -> None:
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(shape) for shape in ((2, 4, 9, 7), (26, 4 // group, 3, 3), (26,)))
    packed, bias = FilterBlocks(group, is_transformed=True).run(w), FilterBias(26, True).run(b)
    assert packed.shape == (group, 26 // group * (4 // group) * 16)
    conv = Conv(group=group, pads=(1, 1, 1, 1))
    result = BlockConvolution(conv, w.shape, is_transformed=True).run(x, packed, bias, None)
    np.testing.assert_allclose(result, conv.run(x, w, b), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("is_rectified", [False, True])
def test_channels_are_changed_before_they_are_convolved(is_rectified: bool) -> None:
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(shape) for shape in ((2, 4, 5, 7), (6, 4, 1, 1), (6,)))
    scale, shift, mean, factor = (rng.standard_normal(4) for _ in range(4))
    variance, term = rng.uniform(1, 2, 4), np.array(0.5)
    steps = (BatchNormalization(epsilon=0.1), Mul(), Add())
    terms = ChannelTerms(4, steps).run(scale, shift, mean, variance, factor.reshape(4, 1, 1), term)
    normalized, *_ = steps[0].run(x, scale, shift, mean, variance)
    changed = normalized * factor.reshape(4, 1, 1) + term
    expected = Conv().run(np.maximum(changed, 0) if is_rectified else changed, w, b)
    op = BlockConvolution(Conv(), w.shape, is_rectified=is_rectified)
    result = op.run(x, FilterBlocks(1).run(w), FilterBias(6, True).run(b), terms=terms)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def test_narrow_filters_are_widened_once() -> None:
    w = np.full((2, 1, 1), 0.1, np.float16)
    assert FilterBlocks(1).run(w).dtype == np.float32 and FilterBias(2, False).run(w).dtype == np.float32


@pytest.mark.parametrize("steps", [(BatchNormalization(),), (BatchNormalization(), Mul())])
def test_channels_far_from_zero_lose_no_digits(steps: tuple[BatchNormalization | Mul, ...]) -> None:
    """Where x is near a mean of 1e5, x * factor and the mean * factor agree in all but the last digits of float32."""
    rng = np.random.default_rng(0)
    x = (1e5 + rng.standard_normal((1, 4, 5, 7))).astype(np.float32)
    numbers = [np.full(4, n, np.float32) for n in (1, 0.5, 1e5, 1, 3)[: 3 + len(steps)]]
    terms = ChannelTerms(4, steps).run(*numbers)
    w = np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1)
    result = BlockConvolution(Conv(), w.shape).run(x, FilterBlocks(1).run(w), FilterBias(4, False).run(w), terms=terms)
    exact = ((x.astype(np.float64) - 1e5) / np.sqrt(1 + 1e-5) + 0.5) * (3 if len(steps) > 1 else 1)
    np.testing.assert_allclose(result, exact, rtol=1e-6, atol=1e-6)
