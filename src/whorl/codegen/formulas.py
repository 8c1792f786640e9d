"""Formulas over LLVM registers: Python operators append instructions, and the result becomes a function.

Nothing branches, so that the loop vectoriser can widen a function it has inlined. A product that is added goes through
`muladd`, which is one rounding where the machine fuses the two and two roundings where it does not.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Library = dict[str, str]
"""Definitions and declarations that a module needs, by name."""
INTEGER_OF = {"float": "i32", "double": "i64"}
"""The integer of the width of a floating-point type."""
_SUFFIX = {"float": "f32", "double": "f64"}


def real_literal(value: float, kind: str) -> str:
    """A number as LLVM writes it: the bits of the double that equals it."""
    exact = float(np.float32(value)) if kind == "float" else float(value)
    return f"0x{struct.unpack('<Q', struct.pack('<d', exact))[0]:016X}"


@dataclass(frozen=True)
class Number:
    """A register, or a literal, of an LLVM type. The other operand may be a Python number."""

    formula: Formula
    kind: str
    text: str

    def __add__(self, other: Operand) -> Number:
        return self._binary("fadd", "add", other)

    def __sub__(self, other: Operand) -> Number:
        return self._binary("fsub", "sub", other)

    def __rsub__(self, other: Operand) -> Number:
        return self.formula.number(other, self.kind) - self

    def __mul__(self, other: Operand) -> Number:
        return self._binary("fmul", "mul", other)

    def __truediv__(self, other: Operand) -> Number:
        return self._binary("fdiv", "", other)

    def __rtruediv__(self, other: Operand) -> Number:
        return self.formula.number(other, self.kind) / self

    def __neg__(self) -> Number:
        return self.formula.value(self.kind, f"fneg {self.kind} {self.text}")

    def __and__(self, other: Operand) -> Number:
        return self._binary("", "and", other)

    def __or__(self, other: Operand) -> Number:
        return self._binary("", "or", other)

    def __xor__(self, other: Operand) -> Number:
        return self._binary("", "xor", other)

    def __lshift__(self, other: Operand) -> Number:
        return self._binary("", "shl", other)

    def __rshift__(self, other: Operand) -> Number:
        return self._binary("", "lshr", other)

    def __lt__(self, other: Operand) -> Number:
        return self._compare("olt", "ult", other)

    def __gt__(self, other: Operand) -> Number:
        return self._compare("ogt", "ugt", other)

    def __ge__(self, other: Operand) -> Number:
        return self._compare("oge", "uge", other)

    def equals(self, other: Operand) -> Number:
        return self._compare("oeq", "eq", other)

    def differs(self, other: Operand) -> Number:
        """Whether they are two numbers that are not equal."""
        return self._compare("one", "ne", other)

    def is_nan(self) -> Number:
        return self._compare("uno", "", self)

    def _binary(self, real: str, integer: str, other: Operand) -> Number:
        right = self.formula.number(other, self.kind)
        name = real if self.is_real else integer
        return self.formula.value(self.kind, f"{name} {self.kind} {self.text}, {right.text}")

    def _compare(self, real: str, integer: str, other: Operand) -> Number:
        right = self.formula.number(other, self.kind)
        compare = f"fcmp {real}" if self.is_real else f"icmp {integer}"
        return self.formula.value("i1", f"{compare} {self.kind} {self.text}, {right.text}")

    @property
    def is_real(self) -> bool:
        return self.kind in INTEGER_OF


Operand = Number | float


@dataclass
class Formula:
    """The body of a function while it is written."""

    library: Library
    lines: list[str] = field(default_factory=list)

    def value(self, kind: str, instruction: str) -> Number:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"  {name} = {instruction}")
        return Number(self, kind, name)

    def number(self, value: Operand, kind: str) -> Number:
        """A Python number as a literal; a Number as it is."""
        if isinstance(value, Number):
            return value
        return Number(self, kind, real_literal(value, kind) if kind in INTEGER_OF else str(int(value)))

    def intrinsic(self, name: str, *args: Number) -> Number:
        kind = args[0].kind
        function = f"@llvm.{name}.{_SUFFIX[kind]}"
        self.library.setdefault(function, f"declare {kind} {function}({', '.join([kind] * len(args))})")
        return self.value(kind, f"call {kind} {function}({', '.join(f'{kind} {a.text}' for a in args)})")

    def muladd(self, x: Number, y: Operand, z: Operand) -> Number:
        """x * y + z."""
        return self.intrinsic("fmuladd", x, self.number(y, x.kind), self.number(z, x.kind))

    def polynomial(self, x: Number, coefficients: Sequence[float]) -> Number:
        """The sum of coefficient k times the k-th power of x."""
        total = self.number(coefficients[-1], x.kind)
        for coefficient in reversed(coefficients[:-1]):
            total = self.muladd(total, x, coefficient)
        return total

    def short_polynomial(self, x: Number, square: Number, coefficients: Sequence[float]) -> Number:
        """The same sum, of parts that do not wait for each other: pairs of terms, then pairs of pairs."""
        parts = [self.number(c, x.kind) for c in coefficients]
        for power in (x, square):
            odd = parts[1::2]
            parts = [self.muladd(odd[k], power, low) if k < len(odd) else low for k, low in enumerate(parts[::2])]
        fourth = square * square
        total = parts[-1]
        for part in reversed(parts[:-1]):
            total = self.muladd(total, fourth, part)
        return total

    def select(self, condition: Number, x: Operand, y: Operand) -> Number:
        kind = x.kind if isinstance(x, Number) else y.kind if isinstance(y, Number) else ""
        a, b = self.number(x, kind), self.number(y, kind)
        return self.value(kind, f"select i1 {condition.text}, {kind} {a.text}, {kind} {b.text}")

    def clamp(self, x: Number, low: float, high: float) -> Number:
        """The nearest number of a range; NaN stays."""
        raised = self.select(x < low, low, x)
        return self.select(raised > high, high, raised)

    def bits(self, x: Number) -> Number:
        """The bits of a real number as an integer."""
        return self.value(INTEGER_OF[x.kind], f"bitcast {x.kind} {x.text} to {INTEGER_OF[x.kind]}")

    def real(self, x: Number) -> Number:
        """The real number that has these bits."""
        kind = "float" if x.kind == "i32" else "double"
        return self.value(kind, f"bitcast {x.kind} {x.text} to {kind}")

    def convert(self, instruction: str, x: Number, kind: str) -> Number:
        """By a conversion instruction."""
        return self.value(kind, f"{instruction} {x.kind} {x.text} to {kind}")


def define(name: str, arguments: Sequence[str], library: Library, write: Callable[..., Number]) -> str:
    """Add a function to a library; `write(formula, *arguments)` gives its result. Returns its name."""
    if name not in library:
        formula = Formula(library)
        given = [Number(formula, kind, f"%x{k}") for k, kind in enumerate(arguments)]
        answer = write(formula, *given)
        head = f"define internal {answer.kind} {name}({', '.join(f'{x.kind} {x.text}' for x in given)})"
        end = [f"  ret {answer.kind} {answer.text}", "}"]
        library[name] = "\n".join((f"{head} alwaysinline nounwind memory(none) {{", *formula.lines, *end))
    return name
