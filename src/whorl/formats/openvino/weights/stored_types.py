"""How constants lie in the weights: the forms of element types that NumPy does not read as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.element_types import NAMES
from whorl.ir.dtypes import BOOL, BY_NAME, FLOAT32, PACKED_BITS, bits

NF4 = np.array(
    [
        -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
        -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
        0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
    ],
    np.float32,
)  # fmt: skip
"""The numbers that the codes of nf4 stand for."""


class StoredType(Struct, frozen=True):
    """An element type of constants: its name, the type it is computed with, the bits of an element, how it is read.

    `decode(bytes, count)` gives a vector. `is_packed`: several elements to a byte, low bits first.
    """

    name: str
    dtype: np.dtype
    bits: int
    decode: Callable[[Any, int], np.ndarray]
    is_packed: bool = False

    def size(self, count: int) -> int:
        """The bytes that elements take; u3 and u6 lie in groups of three bytes."""
        unit = 24 if self.bits in (3, 6) else 8
        return -(-count * self.bits // unit) * (unit // 8)

    def __reduce__(self) -> tuple:
        return _named, (self.name,)


def _plain(dtype: np.dtype) -> Callable[[Any, int], np.ndarray]:
    def decode(data: Any, count: int) -> np.ndarray:
        array = np.frombuffer(data, dtype, count)
        return array if array.flags.aligned else array.copy()

    return decode


def _truth(data: Any, count: int) -> np.ndarray:
    """One byte each; any but zero is true."""
    return np.frombuffer(data, np.uint8, count) != 0


def _single_bits(data: Any, count: int) -> np.ndarray:
    """u1: the high bit first."""
    return np.unpackbits(np.frombuffer(data, np.uint8), count=count)


def _nf4(data: Any, count: int) -> np.ndarray:
    codes = np.frombuffer(data, np.uint8)
    return NF4[np.stack([codes & 15, codes >> 4], -1).reshape(-1)[:count]]


def _split(low_bits: int) -> Callable[[Any, int], np.ndarray]:
    """u3 and u6: of three bytes, two hold the low bits of all elements and one the high bits, the first ones on top."""
    number, high_bits = 16 // low_bits, low_bits // 2

    def decode(data: Any, count: int) -> np.ndarray:
        groups = np.frombuffer(data, np.uint8).reshape(-1, 3).astype(np.uint16)
        shifts = np.arange(number - 1, -1, -1, dtype=np.uint16)
        low = ((groups[:, :1] << 8 | groups[:, 1:2]) >> (shifts * low_bits)) & ((1 << low_bits) - 1)
        high = (groups[:, 2:] >> (shifts * high_bits)) & ((1 << high_bits) - 1)
        return (low | high << low_bits).astype(np.uint8).reshape(-1)[:count]

    return decode


def _types() -> dict[str, StoredType]:
    types = {}
    for hub, (name, _) in NAMES.items():
        dtype = BY_NAME[hub]
        types[name] = StoredType(name, dtype, bits(dtype), _plain(dtype), dtype in PACKED_BITS)
    uint8 = BY_NAME["uint8"]
    types["boolean"] = StoredType("boolean", BOOL, 8, _truth)
    types["u1"] = StoredType("u1", uint8, 1, _single_bits)
    types["u3"] = StoredType("u3", uint8, 3, _split(2))
    types["u6"] = StoredType("u6", uint8, 6, _split(4))
    types["nf4"] = StoredType("nf4", FLOAT32, 4, _nf4)
    return types


STORED = _types()
"""The element types that constants may have, by the name that IR gives them."""


def _named(name: str) -> StoredType:
    return STORED[name]


def stored_type(text: str, where: str) -> StoredType:
    """The element type of a constant. Errors: LoadError OV404."""
    try:
        return STORED[text.strip().lower()]
    except KeyError:
        raise problem("OV404", f"element_type is {text[:40]!r}", where, f"choose from {', '.join(STORED)}") from None
