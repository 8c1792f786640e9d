"""How names, texts, numbers and the elements of tensors are written in the text form, and how they are read back."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from whorl.errors import LoadError
from whorl.ir.dtypes import BOOL, COMPLEX, FLOATS, INTEGERS, STRING, name_of

STRING_FORM = r'"(?:[^"\\\n]|\\.)*"'
"""A text in double quotes, as a regular expression."""
BARE_FORM = r"[A-Za-z_\/][A-Za-z0-9_.\/']*"
"""A name that needs no quotes; the slash is escaped because lark writes regular expressions between slashes."""
HINT_FORM = r"[A-Za-z0-9_.\/']+"
"""What follows the % of a value whose name needs no quotes."""

_limits_of: Callable[[np.dtype], Any] = ml_dtypes.finfo
_RESERVED = frozenset(
    ("_", "None", "True", "False", "nan", "inf", "return", "seq", "optional", "map", "defaults", "metadata")
)
_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_ESCAPED = {character: f"\\{letter}" for letter, character in _ESCAPES.items()}
_ESCAPE_FORM = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_BARE, _HINT = re.compile(BARE_FORM), re.compile(HINT_FORM)
_STRINGS = re.compile(rf"\s*({STRING_FORM})")


def quote(text: str) -> str:
    """A text in double quotes; what cannot be printed is escaped."""
    return f'"{"".join(map(_escape, text))}"'


def _escape(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def unquote(text: str) -> str:
    """What `quote` made the text from."""
    return _ESCAPE_FORM.sub(_unescape, text[1:-1]) if "\\" in text else text[1:-1]


def _unescape(match: re.Match[str]) -> str:
    letter = match[4]
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    code = int(match[1] or match[2] or match[3] or "110000", 16)
    if code > 0x10FFFF:
        raise LoadError(f"{match[0]} is no escape", fix=r"write \\ \" \n \r \t \x41 \u0041 or \U00000041")
    return chr(code)


def word(text: str) -> str:
    """A name, quoted where it is not made of letters, digits and `_ . / '` or means something else."""
    return text if _BARE.fullmatch(text) and text not in _RESERVED else quote(text)


def value_name(hint: str, number: int = 0) -> str:
    """`%hint`, and `%hint~1` for the second value of that name in a region."""
    name = hint if _HINT.fullmatch(hint) else quote(hint)
    return f"%{name}~{number}" if number else f"%{name}"


def number_text(value: Any) -> str:
    """The fewest digits from which a float is read back; the payload of a NaN is not kept."""
    text = str(value)
    return text if type(value)(float(text)) == value else repr(float(value))


def _complex_text(value: Any) -> str:
    real, imaginary = number_text(value.real), number_text(value.imag)
    return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}j"


def elements_text(array: np.ndarray) -> str:
    """The elements in order, separated by spaces."""
    flat, dtype = array.reshape(-1), array.dtype
    if dtype in INTEGERS:
        return " ".join(map(str, flat.astype(object)))
    show = quote if dtype == STRING else str if dtype == BOOL else _complex_text if dtype in COMPLEX else number_text
    return " ".join(map(show, flat))


def read_elements(text: str, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """The array that `elements_text` made the text from. Errors: LoadError without a place."""
    what = f"{name_of(dtype)}[{', '.join(map(str, shape))}]"
    if text.strip() == "...":
        raise LoadError(f"the elements of {what} were left out", fix="print the module without `elide`")
    items = _strings(text, what) if dtype == STRING else text.split()
    if len(items) != math.prod(shape):
        raise LoadError(f"{what} has {math.prod(shape)} elements, not {len(items)}")
    flat = np.empty(len(items), dtype)
    if dtype == STRING:
        flat[:] = [unquote(item) for item in items]
    elif items:
        flat[:] = _numbers(items, dtype)
    try:
        return flat.reshape(shape)
    except ValueError:
        raise LoadError(f"no array has the shape of {what}") from None


def _strings(text: str, what: str) -> list[str]:
    items: list[str] = []
    position = 0
    while match := _STRINGS.match(text, position):
        items.append(match[1])
        position = match.end()
    if rest := text[position:].strip():
        raise LoadError(f"{rest.split()[0]!r} among the elements of {what} is no text", fix="put it in double quotes")
    return items


def _numbers(items: list[str], dtype: np.dtype) -> np.ndarray:
    read = _truth if dtype == BOOL else int if dtype in INTEGERS else complex if dtype in COMPLEX else float
    values: list[Any] = []
    for item in items:
        try:
            if "_" in item or not item.isascii():
                raise ValueError
            values.append(read(item))
        except ValueError:
            raise LoadError(f"{item!r} is no element of a {name_of(dtype)} tensor") from None
    if dtype in INTEGERS:
        limits = ml_dtypes.iinfo(dtype)
        for value, item in zip(values, items, strict=True):
            if not int(limits.min) <= value <= int(limits.max):
                raise LoadError(f"{item} is outside the range of {name_of(dtype)}, {limits.min} to {limits.max}")
        return np.array(values, object).astype(dtype)
    wide = np.array(values)
    with np.errstate(all="ignore"):
        result = wide.astype(dtype)
        lost = np.flatnonzero(_is_lost(wide, result))
    endless = (k for k in np.flatnonzero(np.isinf(wide)) if is_endless(items[k], wide[k]))
    if (first := next(iter((*lost, *endless)), None)) is not None:
        raise LoadError(f"{items[first]} is outside the range of {name_of(dtype)}")
    return result


def _is_lost(wide: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Where elements are not what was read: types without infinities have their largest number, or NaN, instead."""
    back = result.astype(wide.dtype)
    lost = (np.isfinite(wide) != np.isfinite(back)) | (np.isnan(wide) != np.isnan(back))
    if result.dtype not in FLOATS:
        return lost
    limits = _limits_of(result.dtype)
    return lost | (np.isfinite(wide) & (np.abs(wide) > float(limits.max) * (1 + float(limits.eps) / 2)))


def is_endless(text: str, value: Any) -> bool:
    """Whether a number is too large for Python, which then reads an infinity."""
    return bool(np.isinf(value)) and "inf" not in text.lower()


def _truth(text: str) -> bool:
    return ("False", "True").index(text) == 1
