"""A slow interpreter of kernel programs, to tell a wrong program from wrong machine code.

Scalars are NumPy scalars of the very element type. Iterations of parallel loops run last to first. An index outside a
buffer, an element that is read or left unwritten, iterations of a parallel loop that meet in an element of which one
writes it, and a division by zero are errors.

Statements and expressions become Python functions first, since loops run them often.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.errors import VerifyError, WhorlError
from whorl.ir.graph import as_values
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var, text
from whorl.kernel.program import (
    Assign,
    Call,
    Fail,
    For,
    Poll,
    Program,
    Reserve,
    RunOp,
    Spread,
    Statement,
    Store,
    Swap,
    Take,
    When,
    While,
)
from whorl.kernel.scalar_functions import function_of
from whorl.kernel.verify import constant_zero, parts, parts_in_order
from whorl.kernel.watched_memory import Path, WatchedMemory
from whorl.kernels.table import KERNELS

DEEP = 50
"""Expressions inside each other that are functions calling each other; deeper ones are computed before."""


class Outcome(Struct):
    """How a program ended: its status, its scalars, and the memory that each of its buffers stands for now."""

    status: int
    scalars: list[Any]
    arrays: list[np.ndarray]


def interpret(program: Program, scalars: Sequence[Any], arrays: Sequence[np.ndarray]) -> Outcome:
    """Run a program on contiguous arrays, one for each of its buffers, which it changes in position."""
    machine = _machine(program, scalars)
    for buffer, array in zip(program.buffers, arrays, strict=True):
        if array.dtype != buffer.dtype or not array.flags.c_contiguous:
            raise VerifyError(f"the array of {buffer.name!r} is not what was declared")
        written = np.zeros(array.size, bool) if buffer in program.results else None
        machine.slots[buffer] = _Slot(WatchedMemory(array, array.reshape(-1), written))
    for buffer in program.scratch:
        shape = 0 if buffer.grows else machine.shape(buffer, 0)
        array: np.ndarray = np.zeros(shape, buffer.dtype)
        machine.slots[buffer] = _Slot(WatchedMemory(array, array.reshape(-1), np.zeros(array.size, bool)))
    status = 0
    with np.errstate(all="ignore"):
        try:
            _run(machine.block(program.body))
            for buffer in program.results:
                machine.slots[buffer].memory.require_written(buffer.name)
        except _Failed as failure:
            status = failure.status
    return Outcome(
        status,
        [machine.registers[v.name] for v in program.scalars],
        [machine.slots[buffer].memory.array for buffer in program.buffers],
    )


def shape_in_run(program: Program, buffer: Buffer, scalars: Iterable[Any], unknown: int = 0) -> tuple[int, ...]:
    """The shape of a buffer in a run with these scalars; a length that the caller alone knows is `unknown`."""
    return tuple(_machine(program, scalars).shape(buffer, unknown))


def _machine(program: Program, scalars: Iterable[Any]) -> _Machine:
    return _Machine({v.name: v.dtype.type(x) for v, x in zip(program.scalars, scalars, strict=True)})


class _Failed(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


Action = Callable[[], None]
"""What a statement does."""
Getter = Callable[[], Any]
"""What gives the value of an expression now."""


class _Slot(Struct):
    """What a buffer stands for now."""

    memory: WatchedMemory


def _run(actions: Sequence[Action]) -> None:
    for action in actions:
        action()


class _Machine:
    """The state of a run, and the functions over it that statements and expressions become."""

    def __init__(self, registers: dict[str, Any]) -> None:
        self.registers = registers
        self.slots: dict[Buffer, _Slot] = {}
        self.getters: dict[Expr, Getter] = {}
        self.path: Path = ()
        self.loops = 0

    def slot(self, buffer: Buffer) -> _Slot:
        """What a buffer stands for: nothing, until an op makes it, where it is no buffer of the program."""
        if buffer not in self.slots:
            nothing = np.zeros(0, buffer.dtype)
            self.slots[buffer] = _Slot(WatchedMemory(nothing, nothing))
        return self.slots[buffer]

    def shape(self, buffer: Buffer, unknown: int) -> list[int]:
        return [unknown if n is None else int(self.value(n)()) if isinstance(n, Expr) else n for n in buffer.shape]

    # ---- statements ------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement]) -> list[Action]:
        return [self.statement(statement) for statement in statements if not isinstance(statement, Poll)]

    def statement(self, statement: Statement) -> Action:
        match statement:
            case Assign(var, value):
                return self.assign(var, self.value(value))
            case Store(buffer, index, value):
                return self.store(buffer, self.position(buffer, index), self.value(value))
            case For(var, extent, body, parallel):
                return self.loop(var, self.value(extent), self.block(body), parallel)
            case Spread(first, count, extent, _, body):
                return self.spread(first, count, self.value(extent), self.block(body))
            case When(condition, then, other):
                return self.when(self.value(condition), self.block(then), self.block(other))
            case While(head, condition, body):
                return self.repeat(self.block(head), self.value(condition), self.block(body))
            case Swap(a, b):
                return lambda: self.swap(self.slot(a), self.slot(b))
            case Take(buffer, source):
                return lambda: setattr(self.slot(buffer), "memory", self.slot(source).memory)
            case Reserve(buffer, count):
                value = self.value(count)
                return lambda: self.slot(buffer).memory.reserve(int(value()))
            case RunOp():
                return lambda: self.run_op(statement)
            case Call():
                return self.call(statement)
            case Fail(status):
                return lambda: self.fail(status)
            case _:
                raise VerifyError(f"{statement!r} is no statement")

    def assign(self, var: Var, value: Getter) -> Action:
        registers, name = self.registers, var.name

        def action() -> None:
            registers[name] = value()

        return action

    def store(self, buffer: Buffer, position: Callable[[], int], value: Getter) -> Action:
        slot = self.slot(buffer)

        def action() -> None:
            number, at, memory = value(), position(), slot.memory
            memory.touch(self.path, at, True, buffer.name)
            memory.flat[at] = number
            if memory.written is not None:
                memory.written[at] = True

        return action

    def loop(self, var: Var, extent: Getter, body: Sequence[Action], parallel: bool) -> Action:
        registers, name = self.registers, var.name

        def in_order() -> None:
            for step in range(int(extent())):
                registers[name] = np.int64(step)
                for action in body:
                    action()

        return (lambda: self.in_parallel(name, range(int(extent())), body)) if parallel else in_order

    def in_parallel(self, name: str, steps: range, body: Sequence[Action]) -> None:
        """The iterations of a parallel loop, last to first, each known by the loop's number and its own."""
        self.loops += 1
        number, before = self.loops, self.path
        for step in reversed(steps):
            self.registers[name] = np.int64(step)
            self.path = (*before, (number, step))
            for action in body:
                action()
        self.path = before

    def spread(self, first: Var, count: Var, extent: Getter, body: Sequence[Action]) -> Action:
        """Three ranges, last to first."""

        def action() -> None:
            whole = int(extent())
            bounds = sorted({0, whole // 3, whole // 2, whole})
            for start, end in reversed([*itertools.pairwise(bounds)]):
                self.registers[count.name] = np.int64(end - start)
                self.in_parallel(first.name, range(start, start + 1), body)

        return action

    @staticmethod
    def when(condition: Getter, then: Sequence[Action], other: Sequence[Action]) -> Action:
        return lambda: _run(then if condition() else other)

    @staticmethod
    def repeat(head: Sequence[Action], condition: Getter, body: Sequence[Action]) -> Action:
        def action() -> None:
            _run(head)
            while condition():
                _run(body)
                _run(head)

        return action

    @staticmethod
    def swap(a: _Slot, b: _Slot) -> None:
        a.memory, b.memory = b.memory, a.memory

    @staticmethod
    def fail(status: int) -> None:
        raise _Failed(status)

    def run_op(self, call: RunOp) -> None:
        operands = [None if b is None else self.slot(b).memory.array for b in call.inputs]
        for n, lengths in enumerate(call.input_lengths):
            shape, array = [int(self.value(length)()) for length in lengths], operands[n]
            if array is not None:
                operands[n] = array.reshape(-1)[: math.prod(shape)].reshape(shape)
        try:
            results = as_values(call.op.run(*operands))
        except (WhorlError, ValueError, ArithmeticError, IndexError, TypeError):
            raise _Failed(1) from None
        for registers, buffer, result in zip(call.output_lengths, call.outputs, results, strict=False):
            if (result.ndim, result.dtype) != (len(registers), buffer.dtype):
                raise _Failed(1)
            self.registers |= {var.name: np.int64(n) for var, n in zip(registers, result.shape, strict=True)}
            flat = np.ascontiguousarray(result).reshape(-1)
            self.slot(buffer).memory = WatchedMemory(flat, flat)
        for buffer, result in zip(call.outputs, results, strict=False) if not call.output_lengths else ():
            memory = self.slot(buffer).memory
            if (result.shape, result.dtype) != (memory.array.shape, memory.array.dtype):
                raise _Failed(1)
            memory.array[...] = result
            memory.written = None

    def call(self, call: Call) -> Action:
        """A kernel; all of it in its first part, as its meaning knows no parts."""
        kernel = KERNELS[call.kernel].meaning
        positions = [self.position(buffer, index) for buffer, index in call.addresses]
        numbers = [self.value(n) if isinstance(n, Expr) else _always(n) for n in call.numbers]
        first_part = _always(0) if call.parts is None else self.value(call.parts[0])

        def action() -> None:
            if first_part() > 0:
                return
            arrays: list[np.ndarray] = []
            values = [int(number()) for number in numbers]
            extents = kernel.extents(values, call.dtype)
            for n, ((buffer, _), position, extent) in enumerate(zip(call.addresses, positions, extents, strict=True)):
                memory, first = self.slot(buffer).memory, position()
                if first + extent > memory.flat.size:
                    raise VerifyError(f"{call.kernel} goes beyond {buffer.name!r}")
                arrays.append(memory.flat[first : first + extent])
                if memory.written is not None and n < kernel.written:
                    memory.written[first : first + extent] = True
            kernel.run(arrays, values)

        return action

    # ---- expressions -----------------------------------------------------------------------------------------

    def value(self, expr: Expr) -> Getter:
        """A function for an expression. What is read several times, or lies deep inside, is computed first, once."""
        if expr in self.getters:
            return self.getters[expr]
        order = parts_in_order(expr)
        uses = Counter(inner for part in order for inner in parts(part))
        made: dict[Expr, Getter] = {}
        depths: dict[Expr, int] = {}
        first: list[Getter] = []
        cells: list[Any] = []
        for part in order:
            inside = parts(part)
            made[part], depths[part] = self.part(part, made), 1 + max((depths[each] for each in inside), default=0)
            if inside and part != expr and (uses[part] > 1 or depths[part] > DEEP):
                first.append(made[part])
                made[part], depths[part] = _item(cells, len(cells)), 1
                cells.append(None)
        whole = made[expr]

        def value() -> Any:
            for n, each in enumerate(first):
                cells[n] = each()
            return whole()

        self.getters[expr] = value if first else whole
        return self.getters[expr]

    def part(self, expr: Expr, made: dict[Expr, Getter]) -> Getter:
        """A function for an expression whose parts have functions."""
        match expr:
            case Const(dtype, value):
                return _always(np.asarray(value).astype(dtype)[()])
            case Var():
                return self.register(expr)
            case Load(_, buffer, index):
                return self.load(expr, self.position(buffer, index, made), [made[each] for each in index])
            case Apply(args=args):
                return _applied(function_of(expr), [made[each] for each in args])
            case _:
                pass
        raise VerifyError(f"{expr!r} is no expression")

    def register(self, var: Var) -> Getter:
        registers, name = self.registers, var.name

        def value() -> Any:
            try:
                return registers[name]
            except KeyError:
                raise VerifyError(f"{name!r} has no value") from None

        return value

    def load(self, expr: Load, position: Callable[[], int], index: Sequence[Getter]) -> Getter:
        slot = self.slot(expr.buffer)

        def value() -> Any:
            at, memory = position(), slot.memory
            if memory.written is not None and not memory.written[at]:
                raise VerifyError(f"{text(expr)} at {[int(each()) for each in index]} was never written")
            memory.touch(self.path, at, False, expr.buffer.name)
            return memory.flat[at]

        return value

    def position(
        self, buffer: Buffer, index: Sequence[Expr], made: dict[Expr, Getter] | None = None
    ) -> Callable[[], int]:
        """The position in a row. Behind axes whose index is the number 0, the last index may run over them too."""
        slot = self.slot(buffer)

        def value(expr: Expr) -> Getter:
            return self.value(expr) if made is None or expr not in made else made[expr]

        numbers = [value(each) for each in index]
        lengths = [
            value(n) if isinstance(n, Expr) else (lambda: len(slot.memory.array)) if n is None else _always(n)
            for n in buffer.shape
        ]
        strides = [value(n) if isinstance(n, Expr) else _always(n) for n in buffer.strides]
        zeros = next((n for n, each in enumerate(reversed(index[:-1])) if not constant_zero(each)), len(index) - 1)
        over = lengths[max(0, len(index) - 1 - zeros) :]

        def limits() -> list[int]:
            each = [int(length()) for length in lengths]
            return [*each[:-1], math.prod(int(length()) for length in over)] if each else []

        def position() -> int:
            known, at = [int(number()) for number in numbers], 0
            for n, length, stride in zip(known, lengths, strides):  # noqa: B905 - `strict` takes longer
                if not 0 <= n < length():
                    return checked(known)
                at += n * int(stride())
            return at if at < slot.memory.array.size else checked(known)

        def checked(known: list[int]) -> int:
            most, at = limits(), 0
            for n, limit, stride in zip(known, most, strides, strict=True):
                if not 0 <= n < limit:
                    raise VerifyError(f"{buffer.name}[{', '.join(map(text, index))}] is at {known} of {most}")
                at += n * int(stride())
            if at >= slot.memory.array.size:
                raise VerifyError(f"{buffer.name}[{', '.join(map(text, index))}] is at {known}, beyond its memory")
            return at

        return position


def _always(value: Any) -> Getter:
    return lambda: value


def _item(cells: list[Any], number: int) -> Getter:
    return lambda: cells[number]


def _applied(function: Callable[..., Any], args: Sequence[Getter]) -> Getter:
    if len(args) == 2:
        first, second = args
        return lambda: function(first(), second())
    if len(args) == 1:
        (only,) = args
        return lambda: function(only())
    return lambda: function(*[each() for each in args])
