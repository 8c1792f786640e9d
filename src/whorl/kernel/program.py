"""Kernel programs: what they are made of, and how they print.

A program is one function over flat row-major buffers. Expressions are scalars without side effects; statements run in
order. Buffers may trade places (`Swap`), so that a carried tensor is updated without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from whorl.ir.dtypes import BOOL, INT64, name_of
from whorl.ir.op import Op


@dataclass(frozen=True, eq=False, slots=True)
class Expr:
    """A scalar of one element type."""

    dtype: np.dtype


@dataclass(frozen=True, eq=False, slots=True)
class Const(Expr):
    """A fixed number."""

    value: bool | int | float


@dataclass(frozen=True, eq=False, slots=True)
class Var(Expr):
    """A scalar variable; `once` is true for one that is assigned in a single place before it is read."""

    name: str
    once: bool = True


@dataclass(frozen=True, eq=False, slots=True)
class Load(Expr):
    """The element of a buffer at an index, one expression an axis."""

    buffer: Buffer
    index: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Apply(Expr):
    """A scalar operation: one of `OPS` on arguments, of one element type unless it says other."""

    op: str
    args: tuple[Expr, ...]


def _times(a: int | Expr, b: int | Expr) -> int | Expr:
    if isinstance(a, int) and isinstance(b, int):
        return a * (b or 1)
    if a == 1 or b == 1:
        return b if a == 1 else a
    return Apply(INT64, "mul", tuple(index_const(x) if isinstance(x, int) else x for x in (a, b)))


FUNCTIONS = frozenset(
    (
        *("exp", "expm1", "log", "log1p", "tanh", "sigmoid", "erf", "erfc", "pow", "fmod", "atan2"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"),
    )
)
"""Operations that take many instructions."""
OPS = FUNCTIONS | frozenset(
    (
        *("add", "sum", "sub", "mul", "div", "rem"),
        *("min", "max", "minimum", "maximum"),
        *("neg", "abs", "sqrt", "floor", "ceil", "rint", "trunc"),
        *("and", "or", "xor", "not", "shl", "shr"),
        *("lt", "le", "gt", "ge", "eq", "ne", "isnan"),
        *("select", "cast", "bits"),
    )
)
"""`select` takes a bool and two values; comparisons and `isnan` give a bool; `cast` converts as `Cast` does, `bits` as
`BitCast`; integers wrap, `div` and `rem` of them truncate, and no divisor is 0; a shift by the width or more moves all
bits out; `min` and `max` give NaN where one is NaN. `sum`, `minimum` and `maximum` are `add`, `min` and `max` whose
order in a reduction may change."""


@dataclass(frozen=True, eq=False)
class Buffer:
    """Memory for a tensor, row-major. Lengths are numbers; the first may be None, where the caller knows it alone.

    One that `grows` has as much memory as `Reserve` last asked for. Its lengths may be expressions, which hold where
    an element is read or written, and the first that is not 1 may be None.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int | Expr | None, ...]
    grows: bool = False

    @cached_property
    def strides(self) -> tuple[int | Expr, ...]:
        """Elements from one index to the next, by axis."""
        strides: list[int | Expr] = []
        step: int | Expr = 1
        for length in reversed(self.shape):
            strides.append(step)
            step = _times(step, 1 if length is None else length)
        return tuple(reversed(strides))


@dataclass(slots=True)
class Assign:
    """`var = value`."""

    var: Var
    value: Expr


@dataclass(slots=True)
class Store:
    """`buffer[index] = value`."""

    buffer: Buffer
    index: tuple[Expr, ...]
    value: Expr


@dataclass(slots=True)
class For:
    """`for var in range(extent)`; `parallel` says that no iteration reads or writes what another one writes."""

    var: Var
    extent: Expr
    body: list[Statement] = field(default_factory=list)
    parallel: bool = False


@dataclass(slots=True)
class When:
    """`if condition: then; else: other`."""

    condition: Expr
    then: list[Statement] = field(default_factory=list)
    other: list[Statement] = field(default_factory=list)


@dataclass(slots=True)
class While:
    """Runs `head`, stops unless `condition` holds, runs `body`, and starts again."""

    head: list[Statement]
    condition: Expr
    body: list[Statement] = field(default_factory=list)


@dataclass(slots=True)
class Swap:
    """The two buffers trade their memory."""

    a: Buffer
    b: Buffer


@dataclass(slots=True)
class Take:
    """`buffer` takes over the memory and the contents of `source`, which from then on has none.

    A program holds it until `merge_taken` has shown that nothing uses `source` later.
    """

    buffer: Buffer
    source: Buffer


@dataclass(slots=True)
class Reserve:
    """Gives a buffer that grows memory for so many elements, keeping those it has; no memory ends the program."""

    buffer: Buffer
    count: Expr


@dataclass(slots=True)
class RunOp:
    """Computes an op that has no native form by its `run`: from whole buffers into whole buffers, by the runtime.

    Where only the run knows the lengths, `given` are those of the inputs, and `found` what those of the outputs, which
    grow, are put into.
    """

    op: Op
    inputs: list[Buffer | None]
    outputs: list[Buffer]
    node: str = ""
    given: list[tuple[Expr, ...]] = field(default_factory=list)
    found: list[tuple[Var, ...]] = field(default_factory=list)


@dataclass(slots=True)
class Call:
    """Runs one of `KERNELS` on memory that starts at elements of buffers, and on numbers; `polls`: as `Poll` does."""

    kernel: str
    places: list[tuple[Buffer, tuple[Expr, ...]]]
    numbers: tuple[int, ...]
    polls: bool = False

    @property
    def dtype(self) -> np.dtype:
        return self.places[0][0].dtype


@dataclass(slots=True)
class Poll:
    """Counts the work that comes next, and now and then asks the runtime whether to go on; if not, the program ends."""

    work: int


@dataclass(slots=True)
class Fail:
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


Statement = Assign | Store | For | When | While | Swap | Take | Reserve | RunOp | Call | Poll | Fail


@dataclass(slots=True)
class Program:
    """A function: scalar parameters that come back changed, buffers given by the caller, scratch buffers, statements.

    `calls` are the `RunOp` statements in the order of their numbers. `results` are buffers that the caller gives
    without contents; unless it fails, the program stores every element of them. What lies in `spare` ones after a run
    has no meaning.
    """

    scalars: list[Var]
    buffers: list[Buffer]
    scratch: list[Buffer]
    body: list[Statement]
    calls: list[RunOp] = field(default_factory=list)
    results: list[Buffer] = field(default_factory=list)
    spare: list[Buffer] = field(default_factory=list)
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
                given = ", ".join("_" if b is None else b.name for b in inputs)
                yield f"{indent}{', '.join(b.name for b in outputs)} = run {op.name}({given})"
            case Call(kernel, places, numbers):
                given = [f"{b.name}[{', '.join(map(text, index))}]" for b, index in places]
                yield f"{indent}{kernel}({', '.join((*given, *map(str, numbers)))})"
            case Poll(work):
                yield f"{indent}poll {work}"
            case Fail(status):
                yield f"{indent}fail {status}"


def text(expr: Expr) -> str:
    """An expression as it prints."""
    match expr:
        case Const():
            return str(expr.value)
        case Var():
            return expr.name
        case Load():
            return f"{expr.buffer.name}[{', '.join(map(text, expr.index))}]"
        case Apply():
            name = f"cast<{name_of(expr.dtype)}>" if expr.op == "cast" else expr.op
            return f"{name}({', '.join(map(text, expr.args))})"
    raise TypeError(f"{expr!r} is no expression")


def is_true(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.value is True


def index_const(value: int) -> Const:
    """A number as an index."""
    return Const(INT64, value)


TRUE, FALSE = Const(BOOL, True), Const(BOOL, False)
