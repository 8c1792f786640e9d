"""What becomes a library of C functions: a program, its inputs and outputs, and the numbers of the C interface."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.codegen.statuses import NO_MEMORY
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import TensorType
from whorl.lowering.arena import ALIGNMENT
from whorl.lowering.graph_program import GraphProgram

ELEMENT_TYPES = {
    BY_NAME[name]: number
    for name, number in (
        *(("float32", 1), ("uint8", 2), ("int8", 3), ("uint16", 4), ("int16", 5), ("int32", 6), ("int64", 7)),
        *(("bool", 9), ("float16", 10), ("float64", 11), ("uint32", 12), ("uint64", 13), ("complex64", 14)),
        *(("complex128", 15), ("bfloat16", 16), ("float8e4m3fn", 17), ("float8e4m3fnuz", 18), ("float8e5m2", 19)),
        *(("float8e5m2fnuz", 20), ("uint4", 21), ("int4", 22), ("float4e2m1", 23), ("float8e8m0", 24)),
        *(("uint2", 25), ("int2", 26), ("float6e2m3", 27), ("float6e3m2", 28)),
    )
}
"""The numbers of element types in the C interface: those of ONNX."""
BAD_ARGUMENT = -1
COMMON_MESSAGES = {
    0: "done",
    NO_MEMORY: "memory was refused",
    BAD_ARGUMENT: "an argument is a null pointer or a negative length",
}
MARK = "whorl_library_1"
"""The function that marks a library of this version of the interface, and says what its functions begin with."""


LARGE = 1 << 12
"""Bytes up to which LLVM sees the contents of a constant."""
OPEN = -1
"""In a shape, a length that only the run knows."""
MOST_AXES = 8
"""Axes of an output that the library gives memory to."""


class Port(Struct, frozen=True):
    """An input or output of a library. Where lengths are `OPEN`, `dims` has the names, empty texts among them.

    `count` is the name, like a length's, of the one element of an input that says how often a loop collects, or the
    number that it is.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    dims: tuple[str, ...] = ()
    count: str | int = ""

    @property
    def type(self) -> TensorType:
        named = (dims.name(name) if name else UNKNOWN for name in self.dims or [""] * len(self.shape))
        return TensorType(self.dtype, tuple(d if n == OPEN else n for n, d in zip(self.shape, named, strict=True)))

    @property
    def is_open(self) -> bool:
        return OPEN in self.shape

    @property
    def bytes(self) -> int:
        return OPEN if self.is_open else math.prod(self.shape) * self.dtype.itemsize


class Library(Struct, frozen=True):
    """What becomes one library: a program, and what its functions say of it."""

    name: str
    inputs: Sequence[Port]
    outputs: Sequence[Port]
    graph: GraphProgram

    @property
    def workspace_bytes(self) -> int:
        """Scratch memory, with room to align it."""
        return self.graph.arena.size + ALIGNMENT if self.graph.arena.size else 0
