"""Kernel programs: what they are made of, and how they print.

A program is one function over flat row-major buffers. Expressions are scalars without side effects; statements run in
order. Buffers may trade memory (`Swap`), so that a carried tensor is updated without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct, field

from whorl.ir.dtypes import name_of
from whorl.ir.graph import Op
from whorl.ir.native.expressions import Buffer, Expr, Var, text


class Assign(Struct):
    """`var = value`."""

    var: Var
    value: Expr


class Store(Struct):
    """`buffer[index] = value`."""

    buffer: Buffer
    index: tuple[Expr, ...]
    value: Expr


class For(Struct):
    """`for var in range(extent)`; `parallel` says that no iteration reads or writes what another one writes."""

    var: Var
    extent: Expr
    body: list[Statement] = field(default_factory=lambda: list[Statement]())
    parallel: bool = False


class Spread(Struct):
    """Runs `body` for ranges `first .. first + count`, which make up `0 .. extent`, on several cores where that pays.

    Ranges come in any order, or at once: none reads or writes what another one writes. A step takes about as long as
    `work` scalar operations.
    """

    first: Var
    count: Var
    extent: Expr
    work: Expr
    body: list[Statement] = field(default_factory=lambda: list[Statement]())


class When(Struct):
    """`if condition: then; else: other`."""

    condition: Expr
    then: list[Statement] = field(default_factory=lambda: list[Statement]())
    other: list[Statement] = field(default_factory=lambda: list[Statement]())


class While(Struct):
    """Runs `head`, stops unless `condition` holds, runs `body`, and starts again.

    `of_blocks`: the body is a part of a program that stands there several times, and as long as what is in no loop.
    `of_op`: an op goes through its elements so; it is no loop over time.
    """

    head: list[Statement]
    condition: Expr
    body: list[Statement] = field(default_factory=lambda: list[Statement]())
    of_blocks: bool = False
    of_op: bool = False


class Swap(Struct):
    """The two buffers trade their memory."""

    a: Buffer
    b: Buffer


class Take(Struct):
    """`buffer` takes over the memory and the contents of `source`, which from then on has none.

    A program holds it until `merge_takes` has shown that nothing uses `source` later.
    """

    buffer: Buffer
    source: Buffer


class Reserve(Struct):
    """Gives a buffer that grows memory for so many elements, keeping those it has; no memory ends the program."""

    buffer: Buffer
    count: Expr


class RunOp(Struct):
    """Computes an op that has no native form by its `run`: from whole buffers into whole buffers, by the runtime.

    Where only the run knows the lengths, `input_lengths` are those of the inputs, `output_lengths` the registers for
    those of the outputs, which grow.
    """

    op: Op
    inputs: list[Buffer | None]
    outputs: list[Buffer]
    node: str = ""
    input_lengths: list[tuple[Expr, ...]] = field(default_factory=list[tuple[Expr, ...]])
    output_lengths: list[tuple[Var, ...]] = field(default_factory=list[tuple[Var, ...]])


class Call(Struct):
    """Runs one of `KERNELS` on memory that starts at elements of buffers, and on numbers; `polls`: as `Poll` does.

    A number that only the run knows is an expression. `parts`: only so many of its `PARTS`, from one on.
    """

    kernel: str
    addresses: list[tuple[Buffer, tuple[Expr, ...]]]
    numbers: tuple[int | Expr, ...]
    polls: bool = False
    parts: tuple[Expr, Expr] | None = None

    def numbers_or(self, unknown: int) -> tuple[int, ...]:
        """The numbers, with one in the place of those that only the run knows."""
        return tuple(n if isinstance(n, int) else unknown for n in self.numbers)

    @property
    def dtype(self) -> np.dtype:
        return self.addresses[0][0].dtype


class Poll(Struct):
    """Counts the work that comes next, and now and then asks the runtime whether to go on; if not, the program ends.

    `work` is done as many times as `times` says, if that is no number before the run.
    """

    work: int
    times: Expr | None = None


class Fail(Struct):
    """Ends the program with a status that is not 0.

    `reason` says why, `node` is the title of what failed, `around` the titles of the regions it is in, outermost first,
    with the number of the iteration where one is a loop's body.
    """

    status: int = 1
    reason: str = ""
    node: str = ""
    around: tuple[tuple[str, Var | None], ...] = ()

    @property
    def iterations(self) -> list[Var]:
        """The numbers of the iterations around it, outermost first."""
        return [number for _, number in self.around if number is not None]


Statement = Assign | Store | For | Spread | When | While | Swap | Take | Reserve | RunOp | Call | Poll | Fail


class Program(Struct):
    """A function: scalar parameters that come back changed, buffers given by the caller, scratch buffers, statements.

    `calls` are the `RunOp` statements in the order of their numbers. `results` are buffers that the caller gives
    without contents; unless it fails, the program stores every element of them.
    """

    scalars: list[Var]
    buffers: list[Buffer]
    scratch: list[Buffer]
    body: list[Statement]
    calls: list[RunOp] = field(default_factory=list[RunOp])
    results: list[Buffer] = field(default_factory=list[Buffer])
    origin: Program | None = None
    """The program before it was optimised, kept where both are to be run and compared."""

    @property
    def growing(self) -> list[Buffer]:
        """The buffers whose memory grows, in the order of their capacities."""
        return [buffer for buffer in (*self.buffers, *self.scratch) if buffer.grows]

    def __str__(self) -> str:
        lines = [f"scalar {v.name}: {name_of(v.dtype)}" for v in self.scalars]
        lines += [f"buffer {_declared(b)}" for b in self.buffers]
        lines += [f"scratch {_declared(b)}" for b in self.scratch]
        return "\n".join((*lines, *_block(self.body, "")))


def text_of(statements: Sequence[Statement]) -> str:
    """Statements as a program prints them."""
    return "\n".join(_block(statements, ""))


def _declared(buffer: Buffer) -> str:
    lengths = ("?" if n is None else text(n) if isinstance(n, Expr) else str(n) for n in buffer.shape)
    return f"{buffer.name}: {name_of(buffer.dtype)}[{', '.join(lengths)}]{', grows' if buffer.grows else ''}"


def _block(statements: Sequence[Statement], indent: str) -> Iterator[str]:
    for statement in statements:
        match statement:
            case Assign(var, value):
                yield f"{indent}{var.name} = {text(value)}"
            case Store(buffer, index, value):
                yield f"{indent}{buffer.name}[{', '.join(map(text, index))}] = {text(value)}"
            case For(var, extent, body, parallel):
                yield f"{indent}{'parallel ' if parallel else ''}for {var.name} < {text(extent)}:"
                yield from _block(body, indent + "  ")
            case Spread(first, count, extent, work, body):
                yield f"{indent}spread {first.name}, {count.name} < {text(extent)} by {text(work)}:"
                yield from _block(body, indent + "  ")
            case When(condition, then, other):
                yield f"{indent}if {text(condition)}:"
                yield from _block(then, indent + "  ")
                if other:
                    yield f"{indent}else:"
                    yield from _block(other, indent + "  ")
            case While(head, condition, body):
                yield f"{indent}while:"
                yield from _block(head, indent + "  ")
                yield f"{indent}  stop unless {text(condition)}"
                yield from _block(body, indent + "  ")
            case Swap(a, b):
                yield f"{indent}swap {a.name}, {b.name}"
            case Take(buffer, source):
                yield f"{indent}{buffer.name} = take {source.name}"
            case Reserve(buffer, count):
                yield f"{indent}reserve {buffer.name}, {text(count)}"
            case RunOp(op, inputs, outputs):
                operands = ", ".join("_" if b is None else b.name for b in inputs)
                yield f"{indent}{', '.join(b.name for b in outputs)} = run {op.name}({operands})"
            case Call(kernel, addresses, numbers, parts=parts):
                memory = [f"{b.name}[{', '.join(map(text, index))}]" for b, index in addresses]
                shown = [text(n) if isinstance(n, Expr) else str(n) for n in numbers]
                only = "" if parts is None else f" parts {text(parts[0])}, {text(parts[1])}"
                yield f"{indent}{kernel}({', '.join((*memory, *shown))}){only}"
            case Poll(work, times):
                yield f"{indent}poll {work}" + ("" if times is None else f" * {text(times)}")
            case Fail(status):
                yield f"{indent}fail {status}"
