"""Deformable convolutions, against onnxruntime, convolutions and formulas."""

import numpy as np
import pytest
from evaluation import evaluate
from ops.windows.samples import Case, normal
from peer import assert_same

from whorl.ops.windows.convolution import Conv
from whorl.ops.windows.deformable_convolution import DeformConv


@pytest.mark.parametrize("seed", range(10))
def test_deform_conv_and_col2im_are_onnxruntimes(seed):
    case = Case(seed, rank=2, automatic=False)
    rng, taps, counts = case.rng, int(np.prod(case.kernel)), case.counts()
    steps = {"pads": case.pads, "strides": case.strides, "dilations": case.dilations}
    groups = case.depth if seed % 2 else 1
    offset = 2 * normal(rng, case.batch, groups * taps * 2, *counts)
    mask = normal(rng, case.batch, groups * taps, *counts) if seed % 3 else None
    assert_same(
        "DeformConv",
        [case.x(), case.w(), offset, case.bias(), mask],
        19,
        group=case.group,
        offset_group=groups,
        **steps,
    )
    columns = normal(rng, case.batch, case.depth * taps, int(np.prod(counts)))
    assert_same("Col2Im", [columns, np.array(case.lengths), np.array(case.kernel)], 18, **steps)


@pytest.mark.parametrize("seed", range(5))
def test_deform_conv_without_offsets_is_conv(seed):
    case = Case(seed, rank=1 + seed % 3, automatic=False)
    x, w = case.x(), case.w()
    offset = np.zeros((case.batch, int(np.prod(case.kernel)) * len(case.kernel), *case.counts()), np.float32)
    steps = {key: tuple(getattr(case, key)) for key in ("pads", "strides", "dilations")}
    expected = evaluate(Conv(group=case.group, **steps), x, w)
    np.testing.assert_allclose(evaluate(DeformConv(group=case.group, **steps), x, w, offset), expected, 1e-4, 1e-5)
