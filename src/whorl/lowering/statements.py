"""Statements of kernel programs: assignments, loops, branches and failures, appended to the current block."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from whorl.ir import dims
from whorl.ir.dims import Dim, Linear
from whorl.ir.dtypes import INT64
from whorl.ir.native.builder import Address
from whorl.ir.native.expressions import TRUE, Buffer, Const, Expr, Var
from whorl.ir.native.view import Index
from whorl.kernel.program import Assign, Call, Fail, For, Reserve, Statement, Store, When, While
from whorl.lowering.expressions import Expressions

LENGTHS = "the lengths are others than this program can take"
"""Why a program fails that is made for some of the lengths only that an op allows."""
ITERATIONS = "a loop wants more iterations than the run may do"


class Statements(Expressions):
    """Appends statements to the current block."""

    def __init__(self) -> None:
        super().__init__()
        self.block: list[Statement] = []
        self.scratch: list[Buffer] = []
        self.may_fail = False
        self.node = ""
        self.around: tuple[tuple[str, Var | None], ...] = ()

    def let(self, value: Expr, hint: str = "t") -> Expr:
        """The value computed here and kept in a register."""
        if isinstance(value, Const | Var):
            return value
        var = self.variable(value.dtype, hint)
        self.block.append(Assign(var, value))
        return var

    def assign(self, var: Var, value: Expr) -> None:
        self.block.append(Assign(var, value))

    def store(self, buffer: Buffer, index: Index, value: Expr) -> None:
        self.block.append(Store(buffer, index, value))

    def name_length(self, dim: Any, value: Expr) -> None:
        """Say what a dim is at run time: its name stands for the value, or the program fails unless it is that."""
        new = isinstance(dim, Linear) and dim == dims.name(str(dim)) and str(dim) not in self.dims
        if new:
            self.dims[str(dim)] = value
        else:
            self.fail_unless(self.compare("eq", self.length(dim), value), LENGTHS)

    def fail_unless(self, condition: Expr, reason: str = "a value or a length is refused") -> None:
        """End the program with a failure where a condition does not hold."""
        if condition is not TRUE:
            self.may_fail = True
            self.block.append(When(condition, [], [Fail(1, reason, self.node, self.around)]))

    @contextmanager
    def failing_at(self, node: str, around: tuple[tuple[str, Var | None], ...]) -> Generator[None]:
        """What fails inside is a failure of this node, in the regions around it."""
        outer, self.node, self.around = (self.node, self.around), node, around
        try:
            yield
        finally:
            self.node, self.around = outer

    @contextmanager
    def when(self, condition: Expr) -> Generator[None]:
        """Statements that run only where a condition holds."""
        statement = When(condition)
        with self.into(statement.then):
            yield
        self.block.append(statement)

    @contextmanager
    def repeat_while(self, condition: Callable[[], Expr]) -> Generator[None]:
        """Statements that run again and again, each time only if a condition, computed anew, holds."""
        statement = While([], TRUE, of_op=True)
        with self.into(statement.head):
            statement.condition = condition()
        with self.into(statement.body):
            yield
        self.block.append(statement)

    @contextmanager
    def into(self, block: list[Statement]) -> Generator[None]:
        """Append to another block for a while."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer

    @contextmanager
    def loop(self, extent: Dim | Expr, parallel: bool = False, hint: str = "i") -> Generator[Expr]:
        """A loop over `range(extent)`; one over a single number is no loop."""
        if extent == 1:
            yield self.const(0)
            return
        var = self.variable(INT64, hint, once=False)
        count = extent if isinstance(extent, Expr) else self.length(extent)
        statement = For(var, count, [], parallel)
        with self.into(statement.body):
            yield var
        self.block.append(statement)

    @contextmanager
    def nest(self, shape: Sequence[Dim], parallel: bool = True) -> Generator[Index]:
        """A nest over every index of a shape."""
        if not shape:
            yield ()
            return
        with self.loop(shape[0], parallel) as first, self.nest(shape[1:], parallel) as rest:
            yield (first, *rest)

    def reduce(self, extents: Sequence[Dim], first: Expr, step: Callable[[Expr, Index], Expr]) -> Expr:
        """`for index in extents: acc = step(acc, index)` from `first`, here and now; the result is in a register."""
        acc = self.variable(first.dtype, "acc", once=False)
        self.assign(acc, first)
        with self.nest(extents, parallel=False) as index:
            self.assign(acc, step(acc, index))
        result = self.variable(first.dtype)
        self.assign(result, acc)
        return result

    def call(self, kernel: str, addresses: Sequence[Address], numbers: tuple[int | Expr, ...]) -> None:
        """Run a kernel on memory that starts at elements of buffers."""
        self.block.append(Call(kernel, list(addresses), numbers))

    def reserve_count(self, buffer: Buffer, count: Expr) -> None:
        """Memory for so many elements in a buffer that grows."""
        self.may_fail = True
        self.block.append(Reserve(buffer, count))

    def add_scratch(self, buffer: Buffer) -> None:
        """Memory of the program that trades places, or grows, as statements say."""
        self.scratch.append(buffer)
