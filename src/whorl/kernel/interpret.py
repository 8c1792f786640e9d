"""A slow interpreter of kernel programs, to tell a wrong program from wrong machine code.

Scalars are NumPy scalars of the very element type. Iterations of parallel loops run last to first. An index outside a
buffer, an element that is read or left unwritten, iterations of a parallel loop that meet in an element of which one
writes it, and a division by zero are errors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from whorl.errors import VerifyError, WhorlError
from whorl.ir.dtypes import BOOL, FLOAT64, UNSIGNED, is_float
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
from whorl.kernel.verify import constant_zero, parts, parts_in_order
from whorl.kernels.table import KERNELS
from whorl.ops.elementwise.conversion import convert


class Outcome(Struct):
    """How a program ended: its status, its scalars, and the memory that each of its buffers stands for now."""

    status: int
    scalars: list[Any]
    arrays: list[np.ndarray]


def interpret(program: Program, scalars: Sequence[Any], arrays: Sequence[np.ndarray]) -> Outcome:
    """Run a program on contiguous arrays, one for each of its buffers, which it changes in position."""
    machine = _Machine()
    machine.registers = {v.name: v.dtype.type(x) for v, x in zip(program.scalars, scalars, strict=True)}
    for buffer, array in zip(program.buffers, arrays, strict=True):
        if array.dtype != buffer.dtype or not array.flags.c_contiguous:
            raise VerifyError(f"the array of {buffer.name!r} is not what was declared")
        written = np.zeros(array.size, bool) if buffer in program.results else None
        machine.memory[buffer] = _Memory(array, array.reshape(-1), written)
    for buffer in program.scratch:
        shape = 0 if buffer.grows else [int(machine.value(n)) if isinstance(n, Expr) else n or 0 for n in buffer.shape]
        array: np.ndarray = np.zeros(shape, buffer.dtype)
        machine.memory[buffer] = _Memory(array, array.reshape(-1), np.zeros(array.size, bool))
    status = 0
    with np.errstate(all="ignore"):
        try:
            machine.block(program.body)
            for buffer in program.results:
                machine.require_written(buffer)
        except _Failed as failure:
            status = failure.status
    return Outcome(
        status,
        [machine.registers[v.name] for v in program.scalars],
        [machine.memory[buffer].array for buffer in program.buffers],
    )


def shape_in_run(program: Program, buffer: Buffer, scalars: Iterable[Any], unknown: int = 0) -> tuple[int, ...]:
    """The shape of a buffer in a run with these scalars; a length that the caller alone knows is `unknown`."""
    machine = _Machine()
    machine.registers = {v.name: v.dtype.type(x) for v, x in zip(program.scalars, scalars, strict=True)}
    return tuple(unknown if n is None else int(machine.value(n)) if isinstance(n, Expr) else n for n in buffer.shape)


class _Failed(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


Path = tuple[tuple[int, int], ...]
"""The iterations of parallel loops that something is part of, outermost first: the loop's number and its own."""
Step = Callable[[list[Any]], Any]


class _Memory(Struct):
    """An array, its elements in a row, and which of them have been written (None: all)."""

    array: np.ndarray
    flat: np.ndarray
    written: np.ndarray | None = None
    writers: dict[int, Path] = field(default_factory=dict[int, Path])
    readers: dict[int, Path] = field(default_factory=dict[int, Path])


class _Machine(Struct):
    registers: dict[str, Any] = field(default_factory=dict[str, Any])
    memory: dict[Buffer, _Memory] = field(default_factory=dict[Buffer, _Memory])
    plans: dict[Expr, list[Step]] = field(default_factory=dict[Expr, list[Step]])
    path: Path = ()
    loops: int = 0

    # ---- statements ------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Assign(var, value):
                self.registers[var.name] = self.value(value)
            case Store(buffer, index, value):
                number, position = self.value(value), self.position(buffer, index, [int(self.value(i)) for i in index])
                memory = self.memory[buffer]
                self.touch(memory, position, True, buffer)
                memory.flat[position] = number
                if memory.written is not None:
                    memory.written[position] = True
            case For(var, extent, body, parallel):
                steps = range(int(self.value(extent)))
                if parallel:
                    self.in_parallel(var, steps, body)
                else:
                    for step in steps:
                        self.registers[var.name] = np.int64(step)
                        self.block(body)
            case Spread():
                self.spread(statement)
            case When(condition, then, other):
                self.block(then if self.value(condition) else other)
            case While(head, condition, body):
                self.block(head)
                while self.value(condition):
                    self.block(body)
                    self.block(head)
            case Swap(a, b):
                self.memory[a], self.memory[b] = self.memory[b], self.memory[a]
            case Take(buffer, source):
                self.memory[buffer] = self.memory[source]
            case Reserve(buffer, count):
                self.reserve(self.memory[buffer], int(self.value(count)))
            case RunOp():
                self.run_op(statement)
            case Call():
                self.call(statement)
            case Poll():
                pass
            case Fail(status):
                raise _Failed(status)

    def in_parallel(self, var: Var, steps: range, body: Sequence[Statement]) -> None:
        """The iterations of a parallel loop, last to first, each known by the loop's number and its own."""
        self.loops += 1
        number = self.loops
        for step in reversed(steps):
            self.registers[var.name] = np.int64(step)
            self.path = (*self.path, (number, step))
            self.block(body)
            self.path = self.path[:-1]

    def spread(self, spread: Spread) -> None:
        """Three ranges, last to first."""
        extent = int(self.value(spread.extent))
        bounds = sorted({0, extent // 3, extent // 2, extent})
        for first, end in reversed([*itertools.pairwise(bounds)]):
            self.registers |= {spread.first.name: np.int64(first), spread.count.name: np.int64(end - first)}
            self.in_parallel(spread.first, range(first, first + 1), spread.body)

    def touch(self, memory: _Memory, position: int, writes: bool, buffer: Buffer) -> None:
        """Refuse an element that another iteration of the same parallel loop has written, or read before this write."""
        if not self.path:
            return
        for paths in (memory.writers, memory.readers) if writes else (memory.writers,):
            for ours, theirs in zip(self.path, paths.get(position, ()), strict=False):
                if ours != theirs:
                    if ours[0] == theirs[0]:
                        raise VerifyError(
                            f"iterations of a parallel loop meet in element {position} of {buffer.name!r}"
                        )
                    break
        (memory.writers if writes else memory.readers)[position] = self.path

    def require_written(self, buffer: Buffer) -> None:
        """Refuse a result of which elements were never stored."""
        memory = self.memory[buffer]
        if memory.written is not None and not memory.written.all():
            count = int((~memory.written).sum())
            raise VerifyError(f"{count} of {memory.flat.size} elements of the result {buffer.name!r} were never stored")

    def reserve(self, memory: _Memory, count: int) -> None:
        """More memory for a buffer that grows; what is new was never written."""
        missing = max(0, count - memory.flat.size)
        if memory.written is None:
            memory.written = np.ones(memory.flat.size, bool)
        memory.flat = memory.array = np.append(memory.flat, np.zeros(missing, memory.flat.dtype))
        memory.written = np.append(memory.written, np.zeros(missing, bool))

    def run_op(self, call: RunOp) -> None:
        operands = [None if b is None else self.memory[b].array for b in call.inputs]
        for n, lengths in enumerate(call.input_lengths):
            shape, array = [int(self.value(length)) for length in lengths], operands[n]
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
            self.memory[buffer] = _Memory(flat, flat)
        for buffer, result in zip(call.outputs, results, strict=False) if not call.output_lengths else ():
            memory = self.memory[buffer]
            if (result.shape, result.dtype) != (memory.array.shape, memory.array.dtype):
                raise _Failed(1)
            memory.array[...] = result
            memory.written = None

    def call(self, call: Call) -> None:
        """A kernel; all of it in its first part, as its meaning knows no parts."""
        if call.parts is not None and self.value(call.parts[0]) > 0:
            return
        kernel = KERNELS[call.kernel].meaning
        parts: list[np.ndarray] = []
        numbers = [int(self.value(n)) if isinstance(n, Expr) else n for n in call.numbers]
        extents = kernel.extents(numbers, call.dtype)
        for number, ((buffer, index), extent) in enumerate(zip(call.addresses, extents, strict=True)):
            memory, first = self.memory[buffer], self.position(buffer, index, [int(self.value(i)) for i in index])
            if first + extent > memory.flat.size:
                raise VerifyError(f"{call.kernel} goes beyond {buffer.name!r}")
            parts.append(memory.flat[first : first + extent])
            if memory.written is not None and number < kernel.written:
                memory.written[first : first + extent] = True
        kernel.run(parts, numbers)

    # ---- expressions -----------------------------------------------------------------------------------------

    def value(self, expr: Expr) -> Any:
        if expr not in self.plans:
            self.plans[expr] = self.plan(expr)
        values: list[Any] = []
        for step in self.plans[expr]:
            values.append(step(values))
        return values[-1]

    def plan(self, expr: Expr) -> list[Step]:
        """Each part of an expression as a function of the values of the parts before it."""
        order = parts_in_order(expr)
        positions = {part: n for n, part in enumerate(order)}
        return [self.step(part, [positions[inner] for inner in parts(part)]) for part in order]

    def step(self, expr: Expr, positions: list[int]) -> Step:
        match expr:
            case Const(dtype, value):
                number = np.asarray(value).astype(dtype)[()]
                return lambda values: number
            case Var():
                return lambda values: self.register(expr)
            case Load():
                return lambda values: self.load(expr, [int(values[p]) for p in positions[: len(expr.index)]])
            case Apply():
                function = _function(expr)
                return lambda values: function(*[values[p] for p in positions])
            case _:
                pass
        raise VerifyError(f"{expr!r} is no expression")

    def register(self, var: Var) -> Any:
        if var.name not in self.registers:
            raise VerifyError(f"{var.name!r} has no value")
        return self.registers[var.name]

    def load(self, expr: Load, index: list[int]) -> Any:
        position, memory = self.position(expr.buffer, expr.index, index), self.memory[expr.buffer]
        if memory.written is not None and not memory.written[position]:
            raise VerifyError(f"{text(expr)} at {index} was never written")
        self.touch(memory, position, False, expr.buffer)
        return memory.flat[position]

    def position(self, buffer: Buffer, index: Sequence[Expr], numbers: list[int]) -> int:
        """The position in a row. Behind axes whose index is the number 0, the last index may run over them too."""
        array = self.memory[buffer].array
        limits = [int(self.value(n)) if isinstance(n, Expr) else len(array) if n is None else n for n in buffer.shape]
        for axis in range(len(limits) - 2, -1, -1):
            if not constant_zero(index[axis]):
                break
            limits[-1] *= limits[axis]
        position = 0
        for number, limit, stride in zip(numbers, limits, buffer.strides, strict=True):
            if not 0 <= number < limit:
                raise VerifyError(f"{buffer.name}[{', '.join(map(text, index))}] is at {numbers} of {limits}")
            position += number * (int(self.value(stride)) if isinstance(stride, Expr) else stride)
        if position >= array.size:
            raise VerifyError(f"{buffer.name}[{', '.join(map(text, index))}] is at {numbers}, beyond its memory")
        return position


# ---- operations ----------------------------------------------------------------------------------------------


def _is_nan(x: Any) -> bool:
    return bool(x != x)


def _choose(condition: Any, x: Any, y: Any) -> Any:
    return x if condition else y


def _function(expr: Apply) -> Callable[..., Any]:
    """An operation on NumPy scalars."""
    op, source, target = expr.op, expr.args[0].dtype, expr.dtype
    if op == "select":
        return _choose
    if op == "cast":
        return _on_scalar(lambda x: convert(x, target, False))
    if op == "bits":
        return _on_scalar(lambda x: x.view(target))
    if op == "not" and source == BOOL:
        return np.logical_not
    if op == "isnan":
        return _is_nan
    if op in _COMMON:
        return _COMMON[op]
    if not is_float(source):
        whole: Callable[..., int] = _ON_INTEGER[op] if op in _ON_INTEGER else _ON_INTEGERS[op]
        return lambda *args: _wrapped(whole(*(int(a) for a in args), target), target)
    if op in _EXACTLY:
        exact = np.vectorize(_EXACTLY[op], otypes=[FLOAT64])
        return _on_scalar(lambda x: np.asarray(exact(x.astype(FLOAT64))).astype(target))
    return _ON_FLOATS[op]


def _on_scalar(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[Any], Any]:
    return lambda x: function(np.asarray(x))[()]


def _wrapped(number: int, dtype: np.dtype) -> Any:
    if dtype == BOOL:
        return np.bool_(number)
    width = 8 * dtype.itemsize
    low = 0 if dtype in UNSIGNED else -(1 << (width - 1))
    return dtype.type((number - low) % (1 << width) + low)


def _quotient(x: int, y: int, dtype: np.dtype) -> int:
    if y == 0:
        raise VerifyError("a division by zero")
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _right(x: int, y: int, dtype: np.dtype) -> int:
    width = 8 * dtype.itemsize
    return x >> y if 0 <= y < width else -1 if x < 0 else 0


def _logarithm(x: float) -> float:
    return math.log(x) if x > 0 else float(np.log(x))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x)) if x < 0 else x


_COMMON: dict[str, Callable[[Any, Any], Any]] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "min": lambda x, y: x if x < y or x != x else y,
    "max": lambda x, y: x if x > y or x != x else y,
    "minimum": lambda x, y: x if x < y or x != x else y,
    "maximum": lambda x, y: x if x > y or x != x else y,
}
_ON_INTEGER: dict[str, Callable[[int, np.dtype], int]] = {
    "not": lambda x, dtype: ~x,
    "neg": lambda x, dtype: -x,
    "abs": lambda x, dtype: abs(x),
}
_ON_INTEGERS: dict[str, Callable[[int, int, np.dtype], int]] = {
    "add": lambda x, y, dtype: x + y,
    "sum": lambda x, y, dtype: x + y,
    "sub": lambda x, y, dtype: x - y,
    "mul": lambda x, y, dtype: x * y,
    "div": _quotient,
    "rem": lambda x, y, dtype: x - y * _quotient(x, y, dtype),
    "pow": lambda x, y, dtype: pow(x, y % (1 << 64), 1 << 64),
    "and": lambda x, y, dtype: x & y,
    "or": lambda x, y, dtype: x | y,
    "xor": lambda x, y, dtype: x ^ y,
    "shl": lambda x, y, dtype: x << y if 0 <= y < 8 * dtype.itemsize else 0,
    "shr": _right,
}
_EXACTLY: dict[str, Callable[[float], float]] = {
    "c_log": _logarithm,
    "erf": math.erf,
    "erfc": math.erfc,
    "sigmoid": _sigmoid,
}
_ON_FLOATS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sum": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "fmod": np.fmod,
    "atan2": np.arctan2,
    "neg": np.negative,
    "abs": np.abs,
    **{name: getattr(np, name) for name in ("sqrt", "floor", "ceil", "rint", "trunc", "exp", "expm1", "log", "log1p")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
