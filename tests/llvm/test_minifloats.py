"""Element types of 8 bits and fewer in machine code: every code read, and every number around a rounding converted."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest
from written_out import compiled

from whorl.ir.dtypes import BY_NAME, PACKED_BITS, bits, is_float
from whorl.llvm.minifloats import LAYOUTS
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.conversion import SATURATING

INTEGERS = ("int2", "uint2", "int4", "uint4")
MINIFLOATS = (
    *("float4e2m1", "float6e2m3", "float6e3m2", "float8e4m3fn"),
    *("float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0"),
)
OTHERS = ("bool", "int8", "uint8", "int64", "uint64", "float16", "bfloat16", "float32", "float64")


@functools.cache
def sample(name: str) -> np.ndarray:
    """Every value of a small type; of others those where rounding, wrapping or saturation changes."""
    dtype = BY_NAME[name]
    if name in INTEGERS:
        return np.arange(1 << PACKED_BITS[dtype]).astype(np.int8).astype(dtype)
    if name in MINIFLOATS:
        width = 6 if name.startswith("float6") else bits(dtype)
        return np.arange(1 << width).astype(np.uint8).view(dtype)
    if is_float(dtype):
        return around_roundings(name)
    small = np.arange(-300, 301).astype(np.int64)
    return np.concatenate([small, small * 77, small << 40]).astype(dtype)


def around_roundings(name: str) -> np.ndarray:
    """Values of the small types, the middles between neighbours, and their neighbours in a wider type."""
    with np.errstate(all="ignore"):
        known = [sample(small).astype(np.float64) for small in MINIFLOATS]
        values = np.unique(np.concatenate([v[np.isfinite(v)] for v in known]))
        middles = values[:-1] + np.diff(values) / 2
        points = np.concatenate([values, middles, [1e30, -1e30, np.inf, -np.inf, np.nan, -0.0]])
        wide = points.astype(np.float64 if name == "float64" else np.float32)
        near = [np.nextafter(wide, wide.dtype.type(side)) for side in (-np.inf, np.inf)]
        return np.concatenate([wide, *near]).astype(BY_NAME[name])


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal bits, any NaN for a NaN."""
    a, b = (x.astype(np.float64) for x in (actual, expected))
    nan = np.isnan(b)
    np.testing.assert_array_equal(np.isnan(a), nan)
    np.testing.assert_array_equal(
        actual.view(np.uint8).reshape(len(a), -1)[~nan], expected.view(np.uint8).reshape(len(a), -1)[~nan]
    )


def check(source: str, target: str, saturate: int = 1, round_mode: str = "up") -> None:
    op, x = Cast(BY_NAME[target], saturate, round_mode), sample(source)
    with np.errstate(all="ignore"):
        expected = op.run(x)
    actual = compiled(op, [x])
    assert actual is not None
    assert_same(actual[0], expected)


@pytest.mark.parametrize("target", [*INTEGERS, *MINIFLOATS])
@pytest.mark.parametrize("source", ["bool", "int64", "float16", "float32", "float64", "int4", "float8e5m2"])
def test_cast_to_a_small_type_equals_its_meaning(source: str, target: str) -> None:
    if source != target:
        check(source, target)


@pytest.mark.parametrize("source", [*INTEGERS, *MINIFLOATS])
@pytest.mark.parametrize("target", OTHERS)
def test_cast_of_every_small_value_equals_its_meaning(source: str, target: str) -> None:
    check(source, target)


@pytest.mark.parametrize("target", [name for name in MINIFLOATS if BY_NAME[name] in SATURATING])
def test_cast_without_saturation_gives_infinity_or_nan(target: str) -> None:
    check("float32", target, saturate=0)


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("saturate", [0, 1])
def test_cast_to_powers_of_two_rounds_as_requested(mode: str, saturate: int) -> None:
    check("float32", "float8e8m0", saturate, mode)


@pytest.mark.parametrize("name", [name for name in MINIFLOATS if BY_NAME[name] in LAYOUTS])
def test_layout_is_that_of_ml_dtypes(name: str) -> None:
    layout, info = LAYOUTS[BY_NAME[name]], ml_dtypes.finfo(BY_NAME[name])
    assert (layout.width, layout.fraction, layout.largest) == (info.bits, info.nmant, float(info.max))
