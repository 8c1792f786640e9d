"""Floats of 8 bits and fewer in float registers: one byte an element, computed with bits.

They are storage only: read into a float, rounded and written as `Cast` says, never computed with. Scaling by a power of
two puts the exponent of a number where a float has it, and makes denormals normal. Rounding to nearest even adds and
subtracts 2**(e + 23 - fraction), whose ulp equals the target's.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import BY_NAME, name_of
from whorl.llvm.formula import define_formula
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Value

_MINUS_NAN = -(1 << 22)


class Layout(Struct, frozen=True):
    """The bits of a type: sign, exponent, fraction. `nan` is the code of NaN, `infinity` that of infinity, or None."""

    width: int
    fraction: int
    bias: int
    largest: float
    nan: int | None = None
    infinity: int | None = None

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    @property
    def has_minus_zero(self) -> bool:
        return self.nan != self.sign


LAYOUTS: dict[np.dtype, Layout] = {
    BY_NAME["float4e2m1"]: Layout(4, 1, 1, 6.0),
    BY_NAME["float6e2m3"]: Layout(6, 3, 1, 7.5),
    BY_NAME["float6e3m2"]: Layout(6, 2, 3, 28.0),
    BY_NAME["float8e4m3fn"]: Layout(8, 3, 7, 448.0, 0x7F),
    BY_NAME["float8e4m3fnuz"]: Layout(8, 3, 8, 240.0, 0x80),
    BY_NAME["float8e5m2"]: Layout(8, 2, 15, 57344.0, 0x7E, 0x7C),
    BY_NAME["float8e5m2fnuz"]: Layout(8, 2, 16, 57344.0, 0x80),
}
POWERS = BY_NAME["float8e8m0"]
"""The type of powers of two."""
MINIFLOATS = frozenset(LAYOUTS) | {POWERS}


def widen(dtype: np.dtype, module: Module) -> str:
    """The function from a byte to the float."""
    write = _from_power if dtype == POWERS else partial(_from_code, layout=LAYOUTS[dtype])
    return define_formula(f"@whorl.from_{name_of(dtype)}", ["i8"], module, write)


def pack(dtype: np.dtype, module: Module) -> str:
    """The function from a float that the type holds to its byte."""
    write = _to_power if dtype == POWERS else partial(_to_code, layout=LAYOUTS[dtype])
    return define_formula(f"@whorl.to_{name_of(dtype)}", ["float"], module, write)


def rounding(dtype: np.dtype, module: Module) -> str:
    """The function from any float to the nearest that the type holds; past the largest, infinity, NaN or the largest.

    NaN is zero, of the other sign, where the type has none.
    """
    return define_formula(f"@whorl.round_{name_of(dtype)}", ["float"], module, partial(_round, layout=LAYOUTS[dtype]))


def _from_code(f: Function, x: Value, layout: Layout) -> Value:
    wide = f.convert("zext", x, "i32")
    code = wide & (layout.sign - 1)
    magnitude = f.real(code << (23 - layout.fraction)) * 2.0 ** (127 - layout.bias)
    if layout.infinity is not None:
        magnitude = f.select(code.equals(layout.infinity), f.number(math.inf, "float"), magnitude)
        magnitude = f.select(f.number(layout.infinity, "i32") < code, f.number(math.nan, "float"), magnitude)
    elif layout.nan is not None and layout.has_minus_zero:
        magnitude = f.select(code.equals(layout.nan), f.number(math.nan, "float"), magnitude)
    bits = f.bits(magnitude) | ((wide & layout.sign) << (32 - layout.width))
    if layout.has_minus_zero:
        return f.real(bits)
    return f.real(f.select((wide & 0xFF).equals(layout.sign), _MINUS_NAN, bits))


def _to_code(f: Function, x: Value, layout: Layout) -> Value:
    size = f.intrinsic("fabs", x)
    code = f.bits(size * 2.0 ** (layout.bias - 127)) >> (23 - layout.fraction)
    if layout.infinity is not None:
        code = f.select(size.equals(math.inf), layout.infinity, code)
    sign = (f.bits(x) >> (32 - layout.width)) & layout.sign
    if layout.nan is None:
        return f.convert("trunc", code | sign, "i8")
    if layout.has_minus_zero:
        return f.convert("trunc", f.select(x.is_nan(), layout.nan, code) | sign, "i8")
    signed = f.select(code.equals(0), code, code | sign)
    return f.convert("trunc", f.select(x.is_nan(), layout.nan, signed), "i8")


def _round(f: Function, x: Value, layout: Layout) -> Value:
    """To nearest even, by adding and subtracting 2**(e + 23 - fraction), whose ulp equals the target's.

    The float addition rounds, so no case distinction on the dropped bits is needed.
    """
    size = f.intrinsic("fabs", x)
    near = f.select(size < 2 * layout.largest, size, 2 * layout.largest)
    normal = 2.0 ** (1 - layout.bias)
    least = f.select(near < normal, normal, near)
    unit = f.real((f.bits(least) & 0x7F800000) + ((23 - layout.fraction) << 23))
    rounded = (near + unit) - unit
    excess = layout.largest if layout.nan is None else math.nan if layout.infinity is None else math.inf
    rounded = f.select(rounded > layout.largest, excess, rounded)
    signed = f.intrinsic("copysign", rounded, x)
    if layout.nan is None:
        return f.select(x.is_nan(), f.intrinsic("copysign", f.number(0, "float"), -x), signed)
    signed = f.select(x.is_nan(), math.nan, signed)
    return signed if layout.has_minus_zero else signed + 0.0


def _from_power(f: Function, x: Value) -> Value:
    """2 to the code less 127, the least of which is a denormal float; the largest code is NaN."""
    bits = f.convert("zext", x, "i32") << 23
    bits = f.select(bits.equals(0), 1 << 22, bits)
    return f.real(f.select(bits.equals(255 << 23), 0x7FC00000, bits))


def _to_power(f: Function, x: Value) -> Value:
    return f.convert("trunc", f.bits(x) >> 23, "i8")
