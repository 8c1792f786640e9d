"""The error function and powers of float32."""

from __future__ import annotations

import math

from whorl.codegen.functions.exponentials import DOUBLE, LOG2_E, SINGLE, exp, expm1_tail, parts, power_of_two
from whorl.llvm.formula import clamp, polynomial
from whorl.llvm.function import Function
from whorl.llvm.value import Value

_ERF = (0.12837916370091834, -0.3761260138863616, 0.11283112813373315, -0.02682080672568304, 0.005085130439567918,
        -0.0006535236046825553)  # fmt: skip
"""erf(x) / x - 1 of x^2 for |x| <= 0.8."""
_ERFC = (1.074006907767438, -0.8833944864485632, 0.5902282985002905, -0.31046600846269845, 0.11952906843032764,
         -0.02683982642428914, -0.001226430846077447, 0.003080328055566243, -0.0004831767510492063,
         -0.0003253332951005125)  # fmt: skip
"""erfc(x) e^(x^2) (x + 3) of (x - 3) / (x + 3) for 0 <= x <= 10.2."""


def erf(f: Function, x: Value) -> Value:
    """1.6 ulp."""
    size = f.intrinsic("fabs", x)
    far = f.intrinsic("copysign", 1.0 - _erfc_of_positive(f, f.select(size > 4.0, 4.0, size)), x)
    return f.select(size < 0.8, _erf_near_zero(f, x), far)


def erfc(f: Function, x: Value) -> Value:
    """1 - erf(x), without the cancellation; 4.6 ulp."""
    size = f.intrinsic("fabs", x)
    far = _erfc_of_positive(f, size)
    return f.select(size < 0.8, 1.0 - _erf_near_zero(f, x), f.select(x < 0.0, 2.0 - far, far))


def _erf_near_zero(f: Function, x: Value) -> Value:
    return f.muladd(x, polynomial(f, x * x, _ERF), x)


def _erfc_of_positive(f: Function, x: Value) -> Value:
    """The square of x in the exponent is split into the exact square of its upper half and a rest."""
    x = f.select(x > 11.0, 11.0, x)
    upper = f.real(f.bits(x) & -4096)
    decay = exp(f, SINGLE, -(upper * upper), (upper - x) * (upper + x))
    inverse = 1.0 / (x + 3.0)
    return decay * (inverse * polynomial(f, (x - 3.0) * inverse, _ERFC))


def power(f: Function, x: Value, y: Value) -> Value:
    """x^y as C has it, through double; 0.6 ulp."""
    one = f.intrinsic("fabs", x).equals(1.0)
    exponent = f.convert("fpext", y, "double") * _log2(f, f.intrinsic("fabs", x))
    size = _exp2(f, f.select(one, 0.0, exponent))
    half = y * 0.5
    whole = y.equals(f.intrinsic("rint", y))
    is_odd = whole & half.differs(f.intrinsic("rint", half))
    sign = f.select(is_odd, f.bits(x), 0) & -(1 << 31)
    signed = f.real(f.bits(size) ^ sign)
    no_root = (x < 0.0) & (x > -math.inf) & (whole ^ 1)
    valid = f.select(no_root | x.is_nan() | y.is_nan(), math.nan, signed)
    return f.select(x.equals(1.0) | y.equals(0.0), 1.0, valid)


def _log2(f: Function, x: Value) -> Value:
    """The binary logarithm of a float32 that is not negative, in double, right to 2^-37."""
    k, m = parts(f, DOUBLE, f.convert("fpext", x, "double"))
    s = (m - 1.0) / (m + 1.0)
    square = s * s
    finite = f.muladd(s * f.muladd(square, polynomial(f, square, SINGLE.log), 2.0), LOG2_E, k)
    return f.select(x.equals(0.0), -math.inf, f.select(x.equals(math.inf), math.inf, finite))


def _exp2(f: Function, x: Value) -> Value:
    """2^x of a double as a float32, which may be infinite or denormal."""
    x = clamp(f, x, -300.0, 300.0)
    rounder = DOUBLE.rounder(DOUBLE.bias)
    rounded = x + rounder
    r = (x - (rounded - rounder)) * math.log(2)
    square, power = r * r, power_of_two(f, DOUBLE, f.bits(rounded))
    less_one = f.muladd(square, expm1_tail(f, SINGLE, r, square), r)
    return f.convert("fptrunc", f.muladd(less_one, power, power), "float")
