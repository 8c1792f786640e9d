"""Transposed convolutions and columns to images, against onnxruntime and beyond."""

import numpy as np
import pytest
from evaluation import evaluate
from ops.windows.samples import Case, normal
from peer import assert_same

from whorl.ops.windows.transposed_convolution import Col2Im, ConvTranspose


@pytest.mark.parametrize("seed", range(25))
def test_conv_transpose_is_onnxruntimes(seed):
    case = Case(seed)
    w = normal(case.rng, case.group * case.depth, case.features, *case.kernel)
    attributes = case.attributes
    if attributes.get("auto_pad"):  # where SAME asks for more than is reached, onnxruntime gives less
        attributes["strides"] = [min(s, k) for s, k in zip(case.strides, case.kernel, strict=True)]
    if seed % 3 == 0:
        reached = [(n - 1) * s + p for n, s, p in zip(case.lengths, attributes["strides"], case.span, strict=True)]
        attributes = {k: v for k, v in attributes.items() if k != "pads"}
        attributes["output_shape"] = [n - (p > 1) for n, p in zip(reached, case.span, strict=True)]
    elif seed % 3 == 1:
        attributes["output_padding"] = [s - 1 for s in attributes["strides"]]
    assert_same("ConvTranspose", [case.x(), w, case.bias()], 11, **attributes)


def test_conv_transpose_longer_than_its_sums_ends_in_the_bias():
    x, w, b = np.ones((1, 1, 2), np.float32), np.ones((1, 1, 1), np.float32), np.full(1, 5, np.float32)
    op = ConvTranspose(strides=(2,), output_shape=(5,))
    assert evaluate(op, x, w, b).tolist() == [[[6, 5, 6, 5, 5]]]


def test_conv_transpose_same_gives_length_times_stride():
    x, w = np.ones((1, 1, 3), np.float32), np.ones((1, 1, 1), np.float32)
    op = ConvTranspose(strides=(4,), auto_pad="SAME_UPPER")
    assert evaluate(op, x, w).shape == (1, 1, 12)


def test_integers_in_col2im_wrap_in_their_own_type():
    columns = np.full((1, 2, 2), 100, np.int8)
    result = evaluate(Col2Im(), columns, np.array([3]), np.array([2]))
    assert result.dtype == np.int8 and result.tolist() == [[[100, -56, 100]]]
