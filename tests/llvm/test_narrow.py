"""float16 and bfloat16 in generated code: every value read, every tie rounded, with and without the machine's help."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from codegen.maps import mapped
from msgspec.structs import replace

from whorl.codegen import emit
from whorl.codegen.target import host
from whorl.ir.dtypes import BY_NAME


@pytest.fixture(params=["instructions", "bits"])
def half(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The conversions of half by the machine, if it has them, or by computing with bits."""
    if request.param == "bits":
        monkeypatch.setattr(emit, "host", lambda: replace(host(), has_half=False))
    elif not host().has_half:
        pytest.skip("this processor has no instructions for half")


def every(name: str) -> np.ndarray:
    return np.arange(1 << 16, dtype=np.uint16).view(BY_NAME[name])


def around(name: str, wide: str) -> np.ndarray:
    """All values, the points halfway between neighbours, and what lies next to these on either side."""
    with np.errstate(all="ignore"):
        values = np.sort(every(name).astype(wide))
        values = values[np.isfinite(values)]
        middles = values[:-1] + np.diff(values) / 2
        ends = np.array([np.finfo(wide).max, np.inf, np.nan, np.finfo(wide).smallest_subnormal], wide)
        points = np.concatenate([values, middles, ends, [float(values[-1]) * 1.001]])
        near = [np.nextafter(points, np.array(side, wide)) for side in (-np.inf, np.inf)]
        return np.concatenate([points, *near, -ends]).astype(wide)


def cast(name: str):
    return lambda k, x: k.cast(x, BY_NAME[name])


def same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal bits, but for NaN."""
    assert actual.dtype == expected.dtype
    with np.errstate(all="ignore"):
        usual = ~np.isnan(expected)
        np.testing.assert_array_equal(~np.isnan(actual), usual)
    kind = f"u{actual.dtype.itemsize}"
    np.testing.assert_array_equal(actual.view(kind)[usual], expected.view(kind)[usual])


@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.usefixtures("half")
def test_every_narrow_value_is_read_exactly(name: str, wide: str) -> None:
    with np.errstate(all="ignore"):
        same(mapped(cast(wide), [every(name)], wide), every(name).astype(wide))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.usefixtures("half")
def test_every_narrow_value_is_retained(name: str) -> None:
    same(mapped(lambda k, x: k.add(x, k.const(-0.0, x.dtype)), [every(name)], name), every(name))


@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.usefixtures("half")
def test_wider_value_is_rounded_once_to_nearest_even(name: str, wide: str) -> None:
    x = around(name, wide)
    with np.errstate(all="ignore"):
        same(mapped(cast(name), [x], name), x.astype(BY_NAME[name]))


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.usefixtures("half")
def test_arithmetic_is_rounded_after_every_operation(name: str, op: str) -> None:
    rng = np.random.default_rng(0)
    x, y, z = (rng.permutation(every(name)) for _ in range(3))
    reference = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[op]
    with np.errstate(all="ignore"):
        expected = reference(reference(x, y), z)
    same(mapped(lambda k, a, b, c: k.apply(op, k.apply(op, a, b), c), [x, y, z], name), expected)


def test_sum_that_may_be_reordered_is_rounded_too() -> None:
    x = np.array([256, 1, 3], ml_dtypes.bfloat16)
    same(mapped(lambda k, a: k.apply("sum", a, k.const(1, a.dtype)), [x], "bfloat16"), x + ml_dtypes.bfloat16(1))
