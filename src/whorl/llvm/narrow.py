"""Floats narrower than float32 in float registers: read from their bits, rounded to nearest even, and written.

LLVM's own conversion to bfloat calls a function that need not exist; of half, so does a machine that lacks the
instructions, which then computes with bits here.
"""

from __future__ import annotations

import math

import numpy as np

from whorl.ir.dtypes import BY_NAME
from whorl.llvm import minifloats
from whorl.llvm.formula import define_formula
from whorl.llvm.function import Function
from whorl.llvm.minifloats import MINIFLOATS
from whorl.llvm.module import Module
from whorl.llvm.value import Value

FLOAT16, BFLOAT16 = BY_NAME["float16"], BY_NAME["bfloat16"]
_NAN = 0x7FC00000


def is_narrow(dtype: np.dtype) -> bool:
    return dtype in (FLOAT16, BFLOAT16) or dtype in MINIFLOATS


def widen(dtype: np.dtype, module: Module) -> str:
    """The function from the bits of an element to the float."""
    if dtype in MINIFLOATS:
        return minifloats.widen(dtype, module)
    if dtype == BFLOAT16:
        return define_formula("@whorl.from_bfloat", ["i16"], module, _from_bfloat)
    if module.machine.has_half:
        return define_formula("@whorl.from_half", ["i16"], module, _from_half)
    return define_formula("@whorl.from_half_bits", ["i16"], module, _from_half_bits)


def pack(dtype: np.dtype, module: Module) -> str:
    """The function from a float that the type holds to its bits."""
    if dtype in MINIFLOATS:
        return minifloats.pack(dtype, module)
    if dtype == BFLOAT16:
        return define_formula("@whorl.to_bfloat", ["float"], module, _to_bfloat)
    if module.machine.has_half:
        return define_formula("@whorl.to_half", ["float"], module, _to_half)
    return define_formula("@whorl.to_half_bits", ["float"], module, _to_half_bits)


def rounding(dtype: np.dtype, module: Module) -> str:
    """The function from any float to the nearest that the type holds."""
    if dtype in MINIFLOATS:
        return minifloats.rounding(dtype, module)
    if dtype == BFLOAT16:
        return define_formula("@whorl.round_bfloat", ["float"], module, _round_bfloat)
    if module.machine.has_half:
        return define_formula("@whorl.round_half", ["float"], module, _round_half)
    return define_formula("@whorl.round_half_bits", ["float"], module, _round_half_bits)


def to_odd(module: Module) -> str:
    """The function from a double to a float that rounds to a narrow type as the double would."""
    return define_formula("@whorl.to_odd", ["double"], module, _to_odd)


def _from_bfloat(f: Function, x: Value) -> Value:
    return f.real(f.convert("zext", x, "i32") << 16)


def _to_bfloat(f: Function, x: Value) -> Value:
    return f.convert("trunc", f.bits(x) >> 16, "i16")


def _round_bfloat(f: Function, x: Value) -> Value:
    bits = f.bits(x)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & -0x10000
    return f.real(f.select(x.is_nan(), _NAN, rounded))


def _from_half(f: Function, x: Value) -> Value:
    return f.convert("fpext", f.convert("bitcast", x, "half"), "float")


def _to_half(f: Function, x: Value) -> Value:
    return f.convert("bitcast", f.convert("fptrunc", x, "half"), "i16")


def _round_half(f: Function, x: Value) -> Value:
    return f.convert("fpext", f.convert("fptrunc", x, "half"), "float")


def _from_half_bits(f: Function, x: Value) -> Value:
    return half_to_float(f, f.convert("zext", x, "i32"))


def half_to_float(f: Function, wide: Value) -> Value:
    """The float of the bits of a half in an i32, or of a vector of them.

    The exponent is moved by a product, which also makes denormals normal; the largest means infinity or NaN.
    """
    magnitude = f.real((wide & 0x7FFF) << 13) * 2.0**112
    special = f.bits(magnitude) | 0x7F800000
    bits = f.select((wide & 0x7C00).equals(0x7C00), special, f.bits(magnitude))
    return f.real(bits | ((wide & 0x8000) << 16))


def _to_half_bits(f: Function, x: Value) -> Value:
    size, sign = f.intrinsic("fabs", x), (f.bits(x) >> 16) & 0x8000
    finite = f.bits(size * 2.0**-112) >> 13
    code = f.select(size < math.inf, finite, f.select(x.is_nan(), f.number(0x7E00, "i32"), 0x7C00))
    return f.convert("trunc", code | sign, "i16")


def _round_half_bits(f: Function, x: Value) -> Value:
    """To nearest even, by adding and subtracting 2**(e + 13), whose ulp equals the half's."""
    size = f.intrinsic("fabs", x)
    least = f.select(size < 2.0**-14, 2.0**-14, size)
    unit = f.real((f.bits(least) & 0x7F800000) + (13 << 23))
    excess = f.select(x.is_nan(), f.number(math.nan, "float"), math.inf)
    rounded = f.select(size < 65520.0, (size + unit) - unit, excess)
    return f.intrinsic("copysign", rounded, x)


def _to_odd(f: Function, x: Value) -> Value:
    """Toward zero, and the last bit set where something was lost."""
    near = f.convert("fptrunc", x, "float")
    back = f.convert("fpext", near, "double")
    away = f.intrinsic("fabs", back) > f.intrinsic("fabs", x)
    lost = f.convert("zext", back.differs(x), "i32")
    return f.real((f.bits(near) - f.convert("zext", away, "i32")) | lost)
