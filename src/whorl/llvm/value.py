"""Values of LLVM IR: registers and literals, whose Python operators append instructions to their function."""

from __future__ import annotations

import struct
from typing import Protocol

import numpy as np
from msgspec import Struct

INTEGER_OF = {"float": "i32", "double": "i64"}
"""The integer of the width of a floating-point type."""
_OVERLOADS = {"float": "f32", "double": "f64", "ptr": "p0"}


def scalar_of(type: str) -> str:
    """The element type of a vector type; a scalar type as it is."""
    return type[1:-1].split(" x ", 1)[1] if type.startswith("<") else type


def lanes_of(type: str) -> int:
    """The elements of a vector type; 0 of a scalar type."""
    return int(type[1:].split(" x ", 1)[0]) if type.startswith("<") else 0


def with_scalar(type: str, scalar: str) -> str:
    """A type of as many lanes with another element type."""
    return f"<{lanes_of(type)} x {scalar}>" if lanes_of(type) else scalar


def is_real(type: str) -> bool:
    """Whether it is float or double, or a vector of them."""
    return scalar_of(type) in INTEGER_OF


def overload(type: str) -> str:
    """A type in the name of an intrinsic: v8f32."""
    scalar = scalar_of(type)
    return f"v{lanes_of(type)}{_OVERLOADS.get(scalar, scalar)}" if lanes_of(type) else _OVERLOADS.get(scalar, scalar)


def literal(value: float, type: str) -> str:
    """A number as LLVM writes it, in every lane of a vector; of a real one, the bits of the double that equals it."""
    scalar = scalar_of(type)
    if lanes_of(type):
        return "<" + ", ".join([f"{scalar} {literal(value, scalar)}"] * lanes_of(type)) + ">"
    if scalar == "i1":
        return "true" if value else "false"
    if scalar not in INTEGER_OF:
        return str(int(value))
    exact = float(np.float32(value)) if scalar == "float" else float(value)
    return f"0x{struct.unpack('<Q', struct.pack('<d', exact))[0]:016X}"


class Writer(Protocol):
    """The function that a value's instructions are appended to."""

    def binary(self, instruction: str, a: Value, b: Value) -> Value: ...
    def compare(self, predicate: str, a: Value, b: Value) -> Value: ...
    def negate(self, x: Value) -> Value: ...


class Value(Struct, frozen=True):
    """A register or a literal of a type. As text, both: `float %t.1`; the other operand may be a Python number.

    Integers are bits: they wrap, and compare and shift without a sign.
    """

    writer: Writer
    type: str
    text: str

    def __str__(self) -> str:
        return f"{self.type} {self.text}"

    def number(self, value: Operand) -> Value:
        """A Python number as a literal of this type; a value as it is."""
        if isinstance(value, Value):
            return value
        return type(self)(self.writer, self.type, literal(value, self.type))

    def __add__(self, other: Operand) -> Value:
        return self._binary("fadd", "add", other)

    def __sub__(self, other: Operand) -> Value:
        return self._binary("fsub", "sub", other)

    def __rsub__(self, other: Operand) -> Value:
        return self.number(other) - self

    def __mul__(self, other: Operand) -> Value:
        return self._binary("fmul", "mul", other)

    def __truediv__(self, other: Operand) -> Value:
        return self._binary("fdiv", "udiv", other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self.number(other) / self

    def __neg__(self) -> Value:
        return self.writer.negate(self)

    def __and__(self, other: Operand) -> Value:
        return self.writer.binary("and", self, self.number(other))

    def __or__(self, other: Operand) -> Value:
        return self.writer.binary("or", self, self.number(other))

    def __xor__(self, other: Operand) -> Value:
        return self.writer.binary("xor", self, self.number(other))

    def __lshift__(self, other: Operand) -> Value:
        return self.writer.binary("shl", self, self.number(other))

    def __rshift__(self, other: Operand) -> Value:
        return self.writer.binary("lshr", self, self.number(other))

    def __lt__(self, other: Operand) -> Value:
        return self._compare("olt", "ult", other)

    def __gt__(self, other: Operand) -> Value:
        return self._compare("ogt", "ugt", other)

    def __ge__(self, other: Operand) -> Value:
        return self._compare("oge", "uge", other)

    def equals(self, other: Operand) -> Value:
        return self._compare("oeq", "eq", other)

    def differs(self, other: Operand) -> Value:
        """Whether they are two numbers that are not equal; false where one is NaN."""
        return self._compare("one", "ne", other)

    def is_nan(self) -> Value:
        return self.writer.compare("uno", self, self)

    def _binary(self, real: str, integer: str, other: Operand) -> Value:
        return self.writer.binary(real if is_real(self.type) else integer, self, self.number(other))

    def _compare(self, real: str, integer: str, other: Operand) -> Value:
        return self.writer.compare(real if is_real(self.type) else integer, self, self.number(other))


Operand = Value | float


class Index(Value, frozen=True):
    """An i64 that counts or indexes: its arithmetic never overflows, so LLVM may assume that; it has a sign."""

    def number(self, value: Operand) -> Index:
        if isinstance(value, Value):
            return value if isinstance(value, Index) else Index(self.writer, value.type, value.text)
        return Index(self.writer, self.type, literal(value, self.type))

    def __add__(self, other: Operand) -> Index:
        return self._index("add nsw", other)

    def __sub__(self, other: Operand) -> Index:
        return self._index("sub nsw", other)

    def __rsub__(self, other: Operand) -> Index:
        return self.number(other) - self

    def __mul__(self, other: Operand) -> Index:
        return self._index("mul nsw", other)

    def __rmul__(self, other: Operand) -> Index:
        return self.number(other) * self

    def __floordiv__(self, other: Operand) -> Index:
        """Truncated, as the machine divides; no divisor is 0."""
        return self._index("sdiv", other)

    def __and__(self, other: Operand) -> Index:
        return self._index("and", other)

    def __lt__(self, other: Operand) -> Value:
        return self.writer.compare("slt", self, self.number(other))

    def __le__(self, other: Operand) -> Value:
        return self.writer.compare("sle", self, self.number(other))

    def __gt__(self, other: Operand) -> Value:
        return self.writer.compare("sgt", self, self.number(other))

    def __ge__(self, other: Operand) -> Value:
        return self.writer.compare("sge", self, self.number(other))

    def _index(self, instruction: str, other: Operand) -> Index:
        made = self.writer.binary(instruction, self, self.number(other))
        return Index(made.writer, made.type, made.text)
