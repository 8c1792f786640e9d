"""Expressions of kernel programs as LLVM values; parts that several expressions of a block share are computed once."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.codegen.frame import Variables
from whorl.codegen.scalars import Scalars, memory_type
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var
from whorl.kernel.verify import parts
from whorl.llvm.function import Block
from whorl.llvm.value import Index, Value

FARTHEST = 1 << 62
"""Elements that no stride reaches, which LLVM does not know."""


class Expressions:
    """Writes expressions. A value is known from its computation to the end of its block, or until memory changes.

    Loads and stores inside parallel loops carry the loops' access groups, so that the vectoriser needs no alias checks:
    with some sixteen arrays it would give up.
    """

    def __init__(self, frame: Variables) -> None:
        self.frame, self.f = frame, frame.f
        self.scalars = Scalars(self.f, self.access)
        self.groups: list[str] = []
        """Access groups of the parallel loops around, outermost first."""
        self.known: dict[Expr, Value] = {}
        self.block: Block = self.f.blocks[-1]

    def forget(self) -> None:
        """Memory or a variable has changed."""
        self.known = {}

    def write(self, expr: Expr) -> Value:
        """The register, or the literal, of an expression. Parts are written in a loop: expressions may be very deep."""
        if isinstance(expr, Const):
            return self.frame.number(expr)
        if self.block is not self.f.blocks[-1]:
            self.block, self.known = self.f.blocks[-1], {}
        waiting = [expr]
        while waiting:
            part = waiting[-1]
            inside = [p for p in parts(part) if not isinstance(p, Const) and p not in self.known]
            if part not in self.known and inside:
                waiting += reversed(inside)
                continue
            if part not in self.known:
                self.known[part] = self._compute(part)
            waiting.pop()
        return self.known[expr]

    def _compute(self, expr: Expr) -> Value:
        match expr:
            case Var():
                return self.frame.read(expr)
            case Load():
                address = self.address(expr.buffer, expr.index)
                value = self.f.load(memory_type(expr.dtype), address, access=self.access())
                return self.scalars.from_memory(value, expr.dtype)
            case Apply():
                return self.scalars.apply(expr, [self.write(a) for a in expr.args])
            case _:
                raise TypeError(f"{expr!r} is no expression")

    def store(self, buffer: Buffer, index: Sequence[Expr], value: Expr) -> None:
        address = self.address(buffer, index)
        stored = self.scalars.to_memory(self.write(value), buffer.dtype)
        self.f.store(stored, address, access=self.access())
        self.forget()

    def address(self, buffer: Buffer, index: Sequence[Expr]) -> Value:
        """The address of an element."""
        f = self.f
        flat = f.index(0)
        for position, stride in zip(index, buffer.strides, strict=True):
            step = f.index(self.write(position))
            if step.text == "0":
                continue
            if isinstance(stride, Expr):
                step = step * self.stride(stride)
            elif stride != 1:
                step = step * stride
            flat = step if flat.text == "0" else flat + step
        start = self.frame.start_of(buffer)
        return f.value("ptr", f"getelementptr inbounds {memory_type(buffer.dtype)}, {start}, {flat}")

    def stride(self, stride: Expr) -> Index:
        """A stride that only the run knows, but as no mere variable: LLVM would guess that such a one is 1.

        It writes vectors for that alone, and single elements for all others.
        """
        number = self.f.index(self.write(stride))
        return self.f.least(number, FARTHEST) if isinstance(stride, Var) else number

    def access(self) -> str:
        """Metadata of an instruction that accesses memory."""
        if not self.groups:
            return ""
        if len(self.groups) == 1:
            return f", !llvm.access.group {self.groups[0]}"
        group = self.f.module.add_metadata(f"!{{{', '.join(self.groups)}}}", *self.groups)
        return f", !llvm.access.group {self.f.refer(group)}"
