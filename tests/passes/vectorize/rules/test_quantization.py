"""Quantization of many rows by scales that they share or have."""

import itertools

import numpy as np
import pytest
from passes.vectorize.programs import check
from passes.vectorize.rules.ops import check_op

X = np.array([[1, -2, 3, 40], [5, 6, -7, 8], [0, 0.5, 1.5, 2.5]], np.float32)
SCALES = [np.array(scale, np.float32) for scale in (0.5, [0.5], [0.5, 1, 2], [0.5, 1, 2, 4])]
THREE = [m for m in itertools.product((False, True), repeat=3) if any(m)]


@pytest.mark.parametrize("mapped", THREE)
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: str(scale.shape))
def test_scales_belong_to_the_row(scale, mapped):
    zero = np.asarray(scale * 4).astype(np.int8)
    axis = "axis = 0" if scale.shape == (3,) else "axis = -1"
    check_op(f"QuantizeLinear({{0}}, {{1}}, {{2}}) {{{{{axis}}}}}", [X, scale, zero], mapped, "int8[*]")
    check_op(f"DequantizeLinear({{0}}, {{1}}, {{2}}) {{{{{axis}}}}}", [X.astype(np.int8), scale, zero], mapped)


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
def test_blocks_belong_to_a_row(mapped):
    check_op("QuantizeLinear({0}, {1}) {{axis = 1, block_size = 2}}", [X, np.abs(X[:, :2]) + 1], mapped, "uint8[*]")


@pytest.mark.parametrize("x", [X, X[0], X[0, 1], X[:0], np.float32([np.nan, 1])], ids=lambda x: str(np.shape(x)))
def test_range_is_that_of_each_row(x):
    text = """main(%x: float32[n{dims}]) {{
      %a: uint8[n{dims}], %b: float32[n], %c: uint8[n] = Loop(_, _, %x) {{scanned = (Scanned(),),
        collected = (Collected(), Collected(), Collected())}}
      body(%i: int64[], %g: bool[], %v: float32[{own}]) {{
        %p: uint8[{own}], %q: float32[], %r: uint8[] = DynamicQuantizeLinear(%v)
        return %g, %p, %q, %r
      }}
      return a = %a, b = %b, c = %c
    }}"""
    own = ", ".join(map(str, np.shape(x)))
    text = text.format(own=own, dims=f", {own}" if own else "")
    check(text, *({"x": np.stack([np.roll(x, k) * k for k in range(n)])} for n in (1, 3)))
