"""Elements of 2, 4 and 6 bits, packed as files hold them, unpacked as they are read."""

from __future__ import annotations

import math

import numpy as np

from whorl.ir.dtypes import SIGNED, UNSIGNED, bits
from whorl.ir.elements.base import Elements, Memo
from whorl.ir.elements.mapping import mapping_of
from whorl.ir.elements.regions import Region, lengths_of, runs


def unpacked(data: np.ndarray, dtype: np.dtype, first: int, count: int) -> np.ndarray:
    """`count` elements of a narrow type from bytes, the low bits first, from the element `first` on."""
    width = bits(dtype)
    per, span = _group(width)
    begin, end = first // per, -(-(first + count) // per)
    words = _words(data[begin * span : end * span], span)
    shifts = np.arange(per, dtype=words.dtype) * words.dtype.type(width)
    lanes = ((words[:, None] >> shifts) & words.dtype.type((1 << width) - 1)).astype(np.uint8)
    codes = lanes.reshape(-1)[first % per : first % per + count]
    if dtype in SIGNED:
        sign = (codes >> (width - 1)).astype(np.int8)
        return (codes.astype(np.int8) - (sign << width)).astype(np.int8).astype(dtype)
    return codes.astype(dtype) if dtype in UNSIGNED else codes.view(dtype)


def _group(width: int) -> tuple[int, int]:
    """How many elements fill how many bytes."""
    whole = math.lcm(width, 8)
    return whole // width, whole // 8


def _words(data: np.ndarray, span: int) -> np.ndarray:
    """Every `span` bytes as one number, the first byte lowest; the last of them may lack bytes."""
    if span == 1:
        return data
    padded = np.concatenate([data, np.zeros(-len(data) % span, np.uint8)]).reshape(-1, span)
    return (padded.astype(np.uint32) << (8 * np.arange(span, dtype=np.uint32))).sum(axis=1, dtype=np.uint32)


class Packed(Elements):
    """A leaf: elements of a narrow type in the bytes of a file, row-major."""

    __slots__ = ("data",)

    def __init__(self, data: np.ndarray, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        super().__init__(dtype, shape)
        self.data = data

    def compute(self, region: Region, memo: Memo) -> np.ndarray:
        parts = [self.flat(start, stop) for start, stop in runs(self.shape, region)]
        flat = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return flat.reshape(lengths_of(region))

    def flat(self, start: int, stop: int) -> np.ndarray:
        part = unpacked(self.data, self.dtype, start, stop - start)
        mapping = mapping_of(self.data)
        if mapping is not None:
            mapping.note(part)
        return part


def packed_bytes(array: np.ndarray) -> np.ndarray:
    """The elements of a narrow type as bytes, the low bits first."""
    width = bits(array.dtype)
    per, span = _group(width)
    word = np.uint8 if span == 1 else np.uint32
    codes = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & np.uint8((1 << width) - 1)
    size = packed_size(array.dtype, codes.shape)
    codes = np.concatenate([codes, np.zeros(-len(codes) % per, np.uint8)]).reshape(-1, per).astype(word)
    words = np.bitwise_or.reduce(codes << (np.arange(per, dtype=word) * word(width)), axis=1)
    return (words[:, None] >> (8 * np.arange(span, dtype=word))).astype(np.uint8).reshape(-1)[:size]


def packed_size(dtype: np.dtype, shape: tuple[int, ...]) -> int:
    """The bytes that elements take in a file."""
    return (math.prod(shape) * bits(dtype) + 7) // 8
