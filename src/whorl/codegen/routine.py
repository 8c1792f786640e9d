"""Functions of LLVM IR written by hand: loops, pointers, and vectors of a fixed width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

ATTRIBUTES = 'noinline nounwind "min-legal-vector-width"="512"'
"""Never copied into a caller: its code is large, and compiled once. Vectors stay as wide as they are written."""

_AS_WRITTEN = 1 << 20
AS_WRITTEN = "\n".join(
    (
        f"!{_AS_WRITTEN} = distinct !{{!{_AS_WRITTEN}, !{_AS_WRITTEN + 1}, !{_AS_WRITTEN + 2}}}",
        f'!{_AS_WRITTEN + 1} = !{{!"llvm.loop.unroll.disable"}}',
        f'!{_AS_WRITTEN + 2} = !{{!"llvm.loop.vectorize.enable", i1 false}}',
    )
)
"""What a module needs for the loops of routines, which are compiled as they are written."""


class Routine:
    """A function being written. Variables are stack slots, which LLVM turns into registers.

    The function is weak, not internal, so that LLVM does not rebuild it for the numbers of one call.
    """

    def __init__(self, name: str, pointers: Sequence[str], numbers: Sequence[str]) -> None:
        given = [f"ptr {p}" for p in pointers] + [f"i64 {n}" for n in numbers]
        self.head = f"define weak hidden void {name}({', '.join(given)}) {ATTRIBUTES} {{"
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def text(self) -> str:
        return "\n".join(
            (self.head, "entry:", *self.slots, "  br label %body", "body:", *self.lines, "  ret void", "}")
        )

    def fresh(self, hint: str = "t") -> str:
        self.count += 1
        return f"%{hint}.{self.count}"

    def value(self, instruction: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {instruction}")
        return name

    def line(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name[1:]}:")

    # ---- numbers and places ----------------------------------------------------------------------------------

    def add(self, x: str, y: str | int) -> str:
        return self.value(f"add nsw i64 {x}, {y}")

    def sub(self, x: str | int, y: str | int) -> str:
        return self.value(f"sub nsw i64 {x}, {y}")

    def mul(self, x: str | int, y: str | int) -> str:
        return self.value(f"mul nsw i64 {x}, {y}")

    def down(self, x: str, step: int) -> str:
        """The largest multiple of a power of two that is not above a number."""
        return self.value(f"and i64 {x}, {-step}")

    def least(self, x: str | int, y: str | int) -> str:
        return self.value(f"call i64 @llvm.smin.i64(i64 {x}, i64 {y})")

    def place(self, pointer: str, kind: str, offset: str | int) -> str:
        return pointer if offset == 0 else self.value(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {offset}")

    # ---- control ---------------------------------------------------------------------------------------------

    @contextmanager
    def loop(self, start: str | int, stop: str | int, step: int = 1) -> Iterator[str]:
        """`for i in range(start, stop, step)`."""
        slot = self.slot("i64")
        head, body, done = self.fresh("head"), self.fresh("loop"), self.fresh("done")
        self.line(f"store i64 {start}, ptr {slot}")
        self.line(f"br label {head}")
        self.label(head)
        index = self.value(f"load i64, ptr {slot}")
        self.line(f"br i1 {self.value(f'icmp slt i64 {index}, {stop}')}, label {body}, label {done}")
        self.label(body)
        yield index
        self.line(f"store i64 {self.add(index, step)}, ptr {slot}")
        self.line(f"br label {head}, !llvm.loop !{_AS_WRITTEN}")
        self.label(done)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        then, done = self.fresh("then"), self.fresh("fi")
        self.line(f"br i1 {condition}, label {then}, label {done}")
        self.label(then)
        yield
        self.line(f"br label {done}")
        self.label(done)

    # ---- vectors ---------------------------------------------------------------------------------------------

    def slot(self, kind: str) -> str:
        name = self.fresh("slot")
        self.slots.append(f"  {name} = alloca {kind}")
        return name

    def load(self, kind: str, pointer: str, align: int) -> str:
        return self.value(f"load {kind}, ptr {pointer}, align {align}")

    def store(self, kind: str, value: str, pointer: str, align: int) -> None:
        self.line(f"store {kind} {value}, ptr {pointer}, align {align}")

    def splat(self, vector: str, kind: str, value: str) -> str:
        """A vector that has a number in every lane."""
        if vector == kind:
            return value
        first = self.value(f"insertelement {vector} poison, {kind} {value}, i64 0")
        lanes = vector[1:-1].split(" x ")[0]
        return self.value(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")
