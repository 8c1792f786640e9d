"""Exponentials and logarithms of either precision, and what is made of them.

The bounds in the docstrings are units in the last place, measured against wider arithmetic. Polynomials are minimax
approximations, found by Remez exchange.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct

from whorl.llvm.formula import clamp, polynomial, short_polynomial
from whorl.llvm.function import Function
from whorl.llvm.value import Value

LOG2_E = 1 / math.log(2)
SQRT_HALF = math.sqrt(0.5)


class Precision(Struct, frozen=True):
    """What a formula has to know of a floating-point type."""

    kind: str
    fraction: int
    """Bits of the significand that are stored."""
    bias: int
    ln2: tuple[float, float]
    """log(2) as a sum: the first part times any exponent is exact."""
    exp_range: tuple[float, float]
    """Below, e^x is 0; above, it is infinite."""
    certain: float
    """1 + e^x is 1 for all x below."""
    expm1: tuple[float, ...]
    """(e^r - 1 - r - r^2 / 2) / r^3 for |r| <= log(2) / 2."""
    log: tuple[float, ...]
    """(log((1 + s) / (1 - s)) - 2 s) / s^3 of s^2, for |s| <= 3 - sqrt(8)."""

    def rounder(self, offset: int = 0) -> float:
        """Added to a number of moderate size, it rounds it to a whole one; the lowest bits hold that plus an offset."""
        return 1.5 * 2.0**self.fraction + offset

    def bits(self, value: float) -> int:
        """The bits of a number of this type."""
        kinds = (np.float32, np.int32) if self.kind == "float" else (np.float64, np.int64)
        return int(kinds[0](value).view(kinds[1]))


SINGLE = Precision(
    "float", 23, 127, (0.693145751953125, 1.428606765330187e-06), (-103.97208404541016, 89.0), -20.0,
    (0.1666666567325592, 0.041666481643915176, 0.008333420380949974, 0.0013933333102613688, 0.0001982409885386005),
    (0.666666656371119, 0.40000337251064005, 0.2853716794064698, 0.23584988384903352),
)  # fmt: skip
DOUBLE = Precision(
    "double", 52, 1023, (0.6931471805601177, -1.7239444525614835e-13), (-745.1332191019412, 710.0), -40.0,
    (0.16666666666666677, 0.041666666666666574, 0.008333333333322078, 0.0013888888888943063, 0.00019841269885180143,
     2.480158719764194e-05, 2.755724502609093e-06, 2.7557387306996857e-07, 2.5108789021003372e-08,
     2.087891031412886e-09),
    (0.6666666666666735, 0.3999999999940748, 0.28571428744142524, 0.22222198378361815, 0.18183575171491548,
     0.15313755605136403, 0.14799067666549012),
)  # fmt: skip


class _Reduced(Struct, frozen=True):
    """x = exponent * log(2) + r with |r| <= log(2) / 2, and e^r - 1.

    Each step waits for the one before, and processors find little else to do meanwhile: terms are summed in pairs, and
    the exponent's bits are those of the number that rounds it.
    """

    exponent: Value
    """Its bits plus an offset, and others above them."""
    less_one: Value


def _reduced(f: Function, p: Precision, x: Value, offset: int, rest: Value | None = None) -> _Reduced:
    """`rest` is a small number that belongs to x."""
    rounder = p.rounder(offset)
    rounded = f.muladd(x, LOG2_E, rounder)
    exponent = rounded - rounder
    r = f.muladd(exponent, -p.ln2[1], f.muladd(exponent, -p.ln2[0], x))
    if rest is not None:
        r = r + rest
    square = r * r
    return _Reduced(f.bits(rounded), f.muladd(square, expm1_tail(f, p, r, square), r))


def expm1_tail(f: Function, p: Precision, r: Value, square: Value) -> Value:
    """(e^r - 1 - r) / r^2 for |r| <= log(2) / 2."""
    return short_polynomial(f, r, square, (0.5, *p.expm1))


def power_of_two(f: Function, p: Precision, biased: Value) -> Value:
    """2^(biased - bias), where that is a normal number; 0 and infinity for the ends. Only the lowest bits are taken."""
    return f.real(biased << p.fraction)


def exp(f: Function, p: Precision, x: Value, rest: Value | None = None) -> Value:
    """e^x; 1.0 ulp.

    It is a product with two powers, each of half the exponent, since that of a denormal number is none of a normal one.
    What vanishes is e^x for an x of which both powers are 0: numbers that become denormal are slow.
    """
    low, high = p.exp_range
    below = f.select(x < low, -2 * p.bias / LOG2_E, x)
    reduced = _reduced(f, p, f.select(below > high, high, below), 2 * p.bias, rest)
    half = f.binary("ashr", reduced.exponent, reduced.exponent.number(1))
    first, other = (power_of_two(f, p, part) for part in (half, reduced.exponent - half))
    return f.muladd(reduced.less_one, first, first) * other


def _expm1_at_least(f: Function, p: Precision, x: Value) -> Value:
    """e^x - 1 for x within the range of finite results, without the sign of zero."""
    reduced = _reduced(f, p, x, p.bias - 1)
    half = power_of_two(f, p, reduced.exponent)
    return f.muladd(reduced.less_one, half, half - 0.5) * 2.0


def expm1(f: Function, p: Precision, x: Value) -> Value:
    """e^x - 1; 1.8 ulp."""
    result = _expm1_at_least(f, p, clamp(f, x, -40.0, p.exp_range[1]))
    return f.intrinsic("copysign", result, x)


def tanh(f: Function, p: Precision, x: Value) -> Value:
    """t / (t + 2) where t = e^2|x| - 1; 2.5 ulp."""
    size = f.intrinsic("fabs", x)
    t = _expm1_at_least(f, p, f.select(size > 20.0, 40.0, size + size))
    return f.intrinsic("copysign", t / (t + 2.0), x)


def sigmoid(f: Function, p: Precision, x: Value) -> Value:
    """1 / (1 + e^-x), in this form also where that is 0 because e^-x overflows; 2.5 ulp of a normal result."""
    reduced = _reduced(f, p, clamp(f, -x, p.certain, p.exp_range[1]), p.bias - 1)
    half = power_of_two(f, p, reduced.exponent)
    return 1.0 / f.muladd(f.muladd(reduced.less_one, half, half), 2.0, 1.0)


def parts(f: Function, p: Precision, x: Value) -> tuple[Value, Value]:
    """A normal positive number as 2^k m with m from sqrt(1/2) to sqrt(2)."""
    shifted = f.bits(x) + (p.bits(1.0) - p.bits(SQRT_HALF))
    k = f.real((shifted >> p.fraction) + p.bits(2.0**p.fraction)) - (2.0**p.fraction + p.bias)
    return k, f.real((shifted & ((1 << p.fraction) - 1)) + p.bits(SQRT_HALF))


def log(f: Function, p: Precision, x: Value) -> Value:
    """The natural logarithm; 1.0 ulp."""
    result = _log_of_finite(f, p, x)
    return f.select(x < math.inf, result, x)


def _log_of_finite(f: Function, p: Precision, x: Value) -> Value:
    """log of a number that is not infinite."""
    is_small, lift = x < 2.0 ** (1 - p.bias), p.fraction + 2
    whole, m = parts(f, p, f.select(is_small, x * 2.0**lift, x))
    k, less_one = f.select(is_small, whole - lift, whole), m - 1.0
    s = less_one / (less_one + 2.0)
    square = s * s
    series, half = polynomial(f, square, p.log) * square, less_one * less_one * 0.5
    low = f.muladd(s, half + series, k * p.ln2[1])
    result = f.muladd(k, p.ln2[0], less_one - (half - low))
    return f.select(x > 0.0, result, f.select(x.equals(0.0), f.number(-math.inf, p.kind), math.nan))


def log1p(f: Function, p: Precision, x: Value) -> Value:
    """log(1 + x), with what the sum loses put back; 1.5 ulp."""
    total = x + 1.0
    lost = f.select(x < 1.0, x - (total - 1.0), 1.0 - (total - x))
    result = _log_of_finite(f, p, total) + lost / total
    above = f.intrinsic("copysign", f.select(x < math.inf, result, x), x)
    at_most = f.select(x.equals(-1.0), f.number(-math.inf, p.kind), math.nan)
    return f.select(x > -1.0, above, at_most)
