"""Sine, cosine and tangent of float32 angles of any size.

x = M 2^e with a whole M; 2^e 2 / pi modulo 4 comes from a table as a sum of two doubles, the first of 29 bits, so that
M times it is exact. What is left of x 2 / pi after whole quarter turns is then right to 2^-56.
"""

from __future__ import annotations

import math

from msgspec import Struct

from whorl.llvm.formula import polynomial
from whorl.llvm.function import Function
from whorl.llvm.value import Value, literal

_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A424DD2E0
"""The first 320 bits of 2 / pi."""
_TABLE = "@whorl.quarter_turns"
_SIN = (-0.16666655242443085, 0.008332176133990288, -0.000195169763173908)
"""(sin r - r) / r^3 of r^2 for |r| <= pi / 4."""
_COS = (0.04166664555668831, -0.0013887364184483886, 2.443809171381872e-05)
"""(cos r - 1 + r^2 / 2) / r^4 of r^2."""
_ROUNDER = 1.5 * 2.0**52


def _quarter_turns(exponent: int) -> tuple[float, float]:
    """2^(exponent - 150) * 2 / pi modulo 4 as a sum; exponent is that of the bits of a float32."""
    whole = (_TWO_OVER_PI << exponent) % (4 << 470)
    drop = max(0, whole.bit_length() - 29)
    high = whole >> drop << drop
    return high / (1 << 470), (whole - high) / (1 << 470)


def _table() -> str:
    numbers = [x for exponent in range(255) for x in _quarter_turns(exponent)] + [math.nan, math.nan]
    cells = ", ".join(f"double {literal(x, 'double')}" for x in numbers)
    return f"{_TABLE} = private unnamed_addr constant [512 x double] [{cells}]"


class _Angle(Struct, frozen=True):
    """|x| in whole quarter turns, and the sine and the cosine of the rest."""

    quarters: Value
    sin: Value
    cos: Value

    @property
    def is_odd(self) -> Value:
        return (self.quarters & 1).differs(0)


def _angle(f: Function, x: Value) -> _Angle:
    f.module.add_text(_TABLE, _table())
    bits = f.bits(x)
    cell = f.convert("zext", (bits >> 22) & 510, "i64")
    high, low = _load(f, cell), _load(f, cell + 1)
    whole = f.convert("sitofp", (bits & 0x7FFFFF) | 0x800000, "double")
    product, rest = whole * high, whole * low
    rounded = (product + rest) + _ROUNDER
    turn = (product - (rounded - _ROUNDER)) + rest
    r = f.convert("fptrunc", turn * (math.pi / 2), "float")
    square = r * r
    sine = f.muladd(square * r, polynomial(f, square, _SIN), r)
    cosine = f.muladd(square, f.muladd(square, polynomial(f, square, _COS), -0.5), 1.0)
    return _Angle(f.convert("trunc", f.bits(rounded), "i32"), sine, cosine)


def _load(f: Function, cell: Value) -> Value:
    return f.load("double", f.offset(Value(f, "ptr", f.refer(_TABLE)), "double", cell), 8)


def _with_sign(f: Function, x: Value, quarters: Value) -> Value:
    """x, or -x where the second bit of the quarters says so."""
    return f.real(f.bits(x) ^ ((quarters & 2) << 30))


def _unless_small(f: Function, x: Value, result: Value) -> Value:
    """x itself where that is the nearest to its sine and tangent."""
    return f.select(f.intrinsic("fabs", x) < 2.0**-12, x, result)


def sin(f: Function, x: Value) -> Value:
    """1.6 ulp."""
    angle = _angle(f, x)
    size = _with_sign(f, f.select(angle.is_odd, angle.cos, angle.sin), angle.quarters)
    return _unless_small(f, x, f.real(f.bits(size) ^ (f.bits(x) & -(1 << 31))))


def cos(f: Function, x: Value) -> Value:
    """1.6 ulp."""
    angle = _angle(f, x)
    return _with_sign(f, f.select(angle.is_odd, angle.sin, angle.cos), angle.quarters + 1)


def tan(f: Function, x: Value) -> Value:
    """3.2 ulp."""
    angle = _angle(f, x)
    odd = angle.is_odd
    size = f.select(odd, -angle.cos, angle.sin) / f.select(odd, angle.sin, angle.cos)
    return _unless_small(f, x, f.real(f.bits(size) ^ (f.bits(x) & -(1 << 31))))
