"""Numbers as MLIR prints them: six digits where they say it all, else the shortest that LLVM gives, else the bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from whorl.ir.dtypes import BOOL, COMPLEX, INTEGERS, STRING, bits

_PADDING = 3
"""Zeros that LLVM writes out before it turns to an exponent."""


def element_text(value: Any, dtype: np.dtype) -> str:
    """One element of a tensor."""
    if dtype == BOOL:
        return "true" if value else "false"
    if dtype in INTEGERS:
        return str(int(value))
    if dtype == STRING:
        return string_text(value)
    if dtype in COMPLEX:
        part = value.real.dtype
        return f"({float_text(value.real, part)},{float_text(value.imag, part)})"
    return float_text(value, dtype)


def float_text(value: Any, dtype: np.dtype) -> str:
    """A float of the given type; infinities and NaN, and what has no decimal point, as the bits."""
    number = float(value)
    if np.isfinite(number):
        sign = "-" if np.signbit(number) else ""
        digits, exponent = _digits(abs(number), 6)
        short = f"{sign}{digits[0]}.{digits[1:]:0<6}e{exponent:+03d}"
        if _same(short, number, dtype):
            return short
        plain = _default(*_digits(abs(number), _precision(dtype)), _precision(dtype))
        if "." in plain:
            return sign + plain
    return f"0x{int(np.asarray(value, dtype).view(f'u{dtype.itemsize}')):0{(bits(dtype) + 3) // 4}X}"


def _precision(dtype: np.dtype) -> int:
    """The decimal digits that LLVM takes for enough to tell two numbers of a type apart."""
    return 2 + (ml_dtypes.finfo(dtype).nmant + 1) * 59 // 196


def _digits(number: float, precision: int) -> tuple[str, int]:
    """The leading digits without zeros at the end, and the exponent of the first, by LLVM's two steps.

    It first cuts off what needs more bits than the digits wanted, then rounds what is left half up. So it may give
    fewer digits than the best, and `6.2` has no six that say it.
    """
    if not number:
        return "0", 0
    significand, divisor = number.as_integer_ratio()
    exponent = 1 - divisor.bit_length()
    significand *= 5**-exponent
    surplus = max(significand.bit_length() - (precision * 196 + 58) // 59, 0) * 59 // 196
    text, exponent = _stripped(significand // 10**surplus, exponent + surplus)
    dropped = len(text) - precision
    if dropped > 0:
        text, exponent = _stripped(int(text[:precision]) + (text[precision] >= "5"), exponent + dropped)
    return text, exponent + len(text) - 1


def _stripped(number: int, exponent: int) -> tuple[str, int]:
    """The digits of `number * 10**exponent` without zeros at the end, and the exponent of the last."""
    text = str(number)
    short = text.rstrip("0")
    return short, exponent + len(text) - len(short)


def _same(text: str, number: float, dtype: np.dtype) -> bool:
    return float(np.asarray(float(text)).astype(dtype)) == number


def _default(digits: str, first: int, precision: int) -> str:
    """LLVM's own choice between plain and scientific notation."""
    last = first - len(digits) + 1
    scientific = last > _PADDING or len(digits) + last > precision if last >= 0 else first < 0 and -first > _PADDING
    if scientific:
        return f"{digits[0]}.{digits[1:] or '0'}E{first:+d}"
    if last >= 0:
        return digits + "0" * last
    return f"{digits[: first + 1]}.{digits[first + 1 :]}" if first >= 0 else f"0.{'0' * (-first - 1)}{digits}"


def string_text(text: str) -> str:
    """A text in double quotes; what is not printable ASCII is written as the bytes of its UTF-8."""
    return f'"{"".join(map(_byte, text.encode("utf-8", "surrogateescape")))}"'


def _byte(code: int) -> str:
    return chr(code) if 32 <= code < 127 and code not in b'"\\' else "\\\\" if code == 92 else f"\\{code:02X}"
