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
        f'!{_AS_WRITTEN + 3} = !{{!"branch_weights", i32 1, i32 2000}}',
    )
)
"""What a module needs for the loops of routines, which are compiled as they are written."""


FUEL = 1 << 20
"""Work that a program does before it asks whether to go on."""
NO_POLLS = f"ptr null, i64 {1 << 62}"
"""The last two arguments of a polling routine that is to run to its end."""
_UNLIKELY = f"!{_AS_WRITTEN + 3}"
_ASK = "memory(inaccessiblemem: readwrite) nounwind"
"""What asks changes nothing that the program knows of, so that its own values stay in registers."""


def asked(context: str, function: str) -> str:
    """The call that asks the runtime whether to go on; it gives new fuel, or 0."""
    return f"call i64 {function}(ptr {context}) {_ASK}"


class Routine:
    """A function being written. Variables are stack slots, which LLVM turns into registers.

    The function is weak, not internal, so that LLVM does not rebuild it for the numbers of one call. One that `polls`
    takes two arguments more, the context of polls and fuel, and gives the fuel that is left, or 0 where it was stopped.
    """

    def __init__(self, name: str, pointers: Sequence[str], numbers: Sequence[str], polls: bool = False) -> None:
        self.polls = polls
        given = [f"ptr {p}" for p in pointers] + [f"i64 {n}" for n in numbers]
        given += ["ptr %context", "i64 %fuel"] if polls else []
        self.head = f"define weak hidden {'i64' if polls else 'void'} {name}({', '.join(given)}) {ATTRIBUTES} {{"
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        if polls:
            self.left = self.slot("i64")
            self.line(f"store i64 %fuel, ptr {self.left}")

    def text(self) -> str:
        last = ["  ret void"]
        if self.polls:
            fuel = self.value(f"load i64, ptr {self.left}")
            last = [f"  %given = or i64 {fuel}, 1", "  ret i64 %given"]
        return "\n".join((self.head, "entry:", *self.slots, "  br label %body", "body:", *self.lines, *last, "}"))

    def poll(self, work: str) -> None:
        """Count work; once the fuel is used up, ask whether to go on, else return."""
        ask, stop, more, done = (self.fresh(hint) for hint in ("ask", "stop", "more", "polled"))
        fuel = self.sub(self.value(f"load i64, ptr {self.left}"), work)
        self.line(f"store i64 {fuel}, ptr {self.left}")
        self.line(f"br i1 {self.value(f'icmp slt i64 {fuel}, 0')}, label {ask}, label {done}, !prof {_UNLIKELY}")
        self.label(ask)
        given = self.value(asked("%context", self.value("load ptr, ptr %context")))
        self.line(f"br i1 {self.value(f'icmp eq i64 {given}, 0')}, label {stop}, label {more}")
        self.label(stop)
        self.line("ret i64 0")
        self.label(more)
        self.line(f"store i64 {given}, ptr {self.left}")
        self.line(f"br label {done}")
        self.label(done)

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
