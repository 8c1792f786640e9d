"""The rules of kernel programs: element types that agree, variables assigned before they are read, buffers declared.

LLVM takes a program that breaks one without a word and may do anything: a wrong number far from the mistake.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct, field

from whorl.errors import VerifyError
from whorl.ir.dtypes import BOOL, FLOAT32, INT32, INT64, is_float, name_of
from whorl.ir.native.expressions import OPS, Apply, Buffer, Const, Expr, Load, Var, text
from whorl.kernel.program import (
    Assign,
    Call,
    Fail,
    For,
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
from whorl.kernels.table import KERNELS

_COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
_TWO = _COMPARISONS | frozenset(
    (
        *("add", "sum", "sub", "mul", "div", "rem", "min", "max", "minimum", "maximum", "pow", "fmod", "atan2"),
        *("and", "or", "xor", "shl", "shr"),
    )
)
_LOGIC = frozenset(("and", "or", "xor", "not"))
_ON_INTEGERS = frozenset(("rem", "shl", "shr"))
_ON_ANY_NUMBER = frozenset(
    ("add", "sum", "sub", "mul", "div", "min", "max", "minimum", "maximum", "neg", "abs", "pow", "cast", "bits")
)


def verify_program(program: Program) -> None:
    """Raise VerifyError where a program breaks a rule; a bug in whoever built it."""
    check = _Check({*program.buffers, *program.scratch})
    if len(check.buffers) < len(program.buffers) + len(program.scratch):
        raise VerifyError("a buffer is declared twice")
    for buffer in program.results:
        if buffer.grows or buffer not in program.buffers:
            raise VerifyError(f"the result {buffer.name!r} lies in memory that the caller does not see")
    for var in program.scalars:
        check.name(var)
    check.block(program.body, frozenset(program.scalars))
    if [call for call in check.calls if call not in program.calls]:
        raise VerifyError("a call has no number")


class _Check(Struct):
    """The walk over a program: what it has seen so far."""

    buffers: set[Buffer]
    names: dict[str, Var] = field(default_factory=dict[str, Var])
    assigned_once: set[Var] = field(default_factory=set[Var])
    reads: dict[Expr, frozenset[Var]] = field(default_factory=dict[Expr, frozenset[Var]])
    calls: list[RunOp] = field(default_factory=list[RunOp])

    def name(self, var: Var) -> None:
        if self.names.setdefault(var.name, var) is not var:
            raise VerifyError(f"two variables are called {var.name!r}")

    def assign(self, var: Var) -> None:
        self.name(var)
        if var.once and var in self.assigned_once:
            raise VerifyError(f"{var.name!r} is assigned twice")
        self.assigned_once.add(var)

    # ---- statements ------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement], before: frozenset[Var]) -> frozenset[Var]:
        """The variables that surely have a value after the statements."""
        known = before
        for statement in statements:
            known = self.statement(statement, known)
        return known

    def statement(self, statement: Statement, known: frozenset[Var]) -> frozenset[Var]:
        match statement:
            case Assign(var, value):
                self.read(value, known, var.dtype)
                self.assign(var)
                return known | {var}
            case Store(buffer, index, value):
                self.check_address(buffer, index, known)
                self.read(value, known, buffer.dtype)
            case For():
                return self.loop(statement, known)
            case Spread():
                self.spread(statement, known)
            case When(condition, then, other):
                self.read(condition, known, BOOL)
                return self.block(then, known) & self.block(other, known)
            case While(head, condition, body):
                first = self.block(head, known)
                self.read(condition, first, BOOL)
                self.block(body, first)
                return first
            case Swap(a, b):
                self.declared(a, b)
                if (a.dtype, a.grows) != (b.dtype, b.grows) or (not a.grows and a.shape != b.shape):
                    raise VerifyError(f"{a.name!r} and {b.name!r} trade memory and are not alike")
            case Take(buffer, source):
                if (buffer.dtype, buffer.grows) != (source.dtype, source.grows) or buffer.shape != source.shape:
                    raise VerifyError(f"{buffer.name!r} takes the memory of {source.name!r} and is not like it")
                self.declared(source)
                self.buffers.add(buffer)
            case Reserve(buffer, count):
                self.declared(buffer)
                self.read(count, known, INT64)
                if not buffer.grows:
                    raise VerifyError(f"{buffer.name!r} does not grow")
            case RunOp(_, inputs, outputs):
                self.declared(*(b for b in inputs if b is not None), *outputs)
                self.calls.append(statement)
                for length in itertools.chain(*statement.input_lengths):
                    self.read(length, known, INT64)
                for var in itertools.chain(*statement.output_lengths):
                    self.assign(var)
                    known |= {var}
            case Call():
                self.call(statement, known)
            case Fail(status):
                if status == 0:
                    raise VerifyError("a failure has status 0")
                return frozenset(self.names.values())
            case _:
                pass
        return known

    def loop(self, loop: For, known: frozenset[Var]) -> frozenset[Var]:
        """Iterations of a parallel loop know nothing of each other, and nobody knows which came last."""
        self.read(loop.extent, known, INT64)
        if loop.var.dtype != INT64 or loop.var in known:
            raise VerifyError(f"{loop.var.name!r} counts and is {name_of(loop.var.dtype)}, or has a value already")
        self.assign(loop.var)
        changed = frozenset(_assigned(loop.body))
        if loop.var in changed:
            raise VerifyError(f"{loop.var.name!r} counts and is assigned")
        if loop.parallel:
            known -= changed
        self.block(loop.body, known | {loop.var})
        return known

    def spread(self, spread: Spread, known: frozenset[Var]) -> None:
        """Ranges know nothing of each other, and nobody knows what they leave in variables."""
        for number in (spread.extent, spread.work):
            self.read(number, known, INT64)
        own = (spread.first, spread.count)
        for var in own:
            if var.dtype != INT64 or var in known:
                raise VerifyError(f"{var.name!r} bounds a range and is {name_of(var.dtype)}, or has a value already")
            self.assign(var)
        for statement in _inside(spread.body):
            if isinstance(statement, Swap | Take | Reserve | RunOp | Spread):
                raise VerifyError(f"{type(statement).__name__} is for one core alone")
        self.block(spread.body, known.difference(_assigned(spread.body)).union(own))

    def call(self, call: Call, known: frozenset[Var]) -> None:
        if call.kernel not in KERNELS:
            raise VerifyError(f"there is no kernel {call.kernel!r}")
        kernel = KERNELS[call.kernel].meaning
        expected = [call.dtype] * len(kernel.extents(call.numbers_or(1), call.dtype))
        for table in kernel.tables:
            expected[table] = INT32
        for number, narrow in kernel.narrow.items():
            if call.dtype == FLOAT32 and number < len(call.addresses) and call.addresses[number][0].dtype in narrow:
                expected[number] = call.addresses[number][0].dtype
        if [b.dtype for b, _ in call.addresses] != expected:
            raise VerifyError(f"{call.kernel} takes {len(expected)} addresses: {', '.join(map(name_of, expected))}")
        for buffer, index in call.addresses:
            self.check_address(buffer, index, known)
        if call.parts is not None and not kernel.factors:
            raise VerifyError(f"{call.kernel} is not taken in parts")
        for number in (*call.numbers, *(call.parts or ())):
            if isinstance(number, Expr):
                self.read(number, known, INT64)

    def declared(self, *buffers: Buffer) -> None:
        for buffer in buffers:
            if buffer not in self.buffers:
                raise VerifyError(f"{buffer.name!r} is not declared")

    def check_address(self, buffer: Buffer, index: Sequence[Expr], known: frozenset[Var]) -> None:
        self.declared(buffer)
        if len(index) != len(buffer.shape):
            raise VerifyError(f"{buffer.name!r} has {len(buffer.shape)} axes, the index {len(index)}")
        for position in (*index, *(n for n in buffer.shape if isinstance(n, Expr))):
            self.read(position, known, INT64)

    # ---- expressions -----------------------------------------------------------------------------------------

    def read(self, expr: Expr, known: frozenset[Var], dtype: np.dtype) -> None:
        """Check an expression where it is evaluated."""
        if expr.dtype != dtype:
            raise VerifyError(f"{text(expr)} is {name_of(expr.dtype)}, expected {name_of(dtype)}")
        for part in parts_in_order(expr):
            if part not in self.reads:
                self.reads[part] = self.checked(part)
        missing = [var.name for var in self.reads[expr] - known]
        if missing:
            raise VerifyError(f"{', '.join(sorted(missing))} may have no value in {text(expr)}")

    def checked(self, expr: Expr) -> frozenset[Var]:
        """The variables that an expression reads; its parts have been checked."""
        match expr:
            case Var():
                return frozenset((expr,))
            case Load(dtype, buffer, index):
                self.declared(buffer)
                if len(index) != len(buffer.shape) or buffer.dtype != dtype:
                    raise VerifyError(f"{text(expr)} reads a {name_of(buffer.dtype)} with {len(buffer.shape)} axes")
                if any(position.dtype != INT64 for position in index):
                    raise VerifyError(f"an index of {text(expr)} is not int64")
            case Apply():
                problem = _problem(expr)
                if problem:
                    raise VerifyError(f"{text(expr)}: {problem}")
            case _:
                pass
        return frozenset[Var]().union(*(self.reads[part] for part in parts(expr)))


_WITHOUT_PARTS = Const, Var


def parts(expr: Expr) -> tuple[Expr, ...]:
    """What an expression is made of."""
    match expr:
        case Load():
            return expr.index + expr.buffer.run_lengths
        case Apply():
            return expr.args
        case _:
            pass
    return ()


def parts_in_order(expr: Expr, seen: set[Expr] | None = None) -> list[Expr]:
    """An expression and all inside it, each once and after its own parts; as deep as it may be.

    Without what was `seen`, whose parts have been as well; all of these are afterwards.
    """
    seen = set() if seen is None else seen
    order: list[Expr] = []
    stack: list[Expr | None] = [expr]
    while stack:
        part = stack.pop()
        if part is None:
            order.append(stack.pop())  # type: ignore[arg-type]  # what None was put above
        elif part not in seen:
            seen.add(part)
            if isinstance(part, _WITHOUT_PARTS):
                order.append(part)
                continue
            stack += (part, None)
            for inner in parts(part):
                if not isinstance(inner, _WITHOUT_PARTS):
                    stack.append(inner)
                elif inner not in seen:
                    seen.add(inner)
                    order.append(inner)
    return order


def _inside(statements: Sequence[Statement]) -> Iterator[Statement]:
    for statement in statements:
        yield statement
        match statement:
            case For(body=body) | Spread(body=body):
                yield from _inside(body)
            case When(then=then, other=other):
                yield from _inside((*then, *other))
            case While(head=head, body=body):
                yield from _inside((*head, *body))
            case _:
                pass


def _assigned(statements: Sequence[Statement]) -> Iterator[Var]:
    for statement in statements:
        match statement:
            case Assign(var):
                yield var
            case For(body=body) | Spread(body=body):
                yield from _assigned(body)
            case When(then=then, other=other):
                yield from _assigned((*then, *other))
            case While(head=head, body=body):
                yield from _assigned((*head, *body))
            case _:
                pass


def _problem(expr: Apply) -> str:
    """What is wrong with the element types of an operation; empty where nothing is."""
    op, dtypes, result = expr.op, [a.dtype for a in expr.args], expr.dtype
    if op not in OPS:
        return "there is no such operation"
    if len(dtypes) != (3 if op == "select" else 2 if op in _TWO else 1):
        return f"takes no {len(dtypes)} operands"
    if op == "select":
        return "" if dtypes == [BOOL, result, result] else "chooses by a bool among two of the result's type"
    if op in ("cast", "bits"):
        same_width = op == "cast" or dtypes[0].itemsize == result.itemsize
        return "" if result != BOOL and same_width else "does not convert to that"
    if any(d != dtypes[0] for d in dtypes):
        return f"operands are {', '.join(map(name_of, dtypes))}"
    if result != (BOOL if op in _COMPARISONS or op == "isnan" else dtypes[0]):
        return f"gives no {name_of(result)}"
    if op in _COMPARISONS:
        return ""
    source = dtypes[0]
    if op in _LOGIC:
        return "works on bits" if is_float(source) else ""
    if op in _ON_INTEGERS:
        return "works on integers" if is_float(source) or source == BOOL else ""
    if op in _ON_ANY_NUMBER:
        return "works on numbers" if source == BOOL else ""
    return "" if is_float(source) else "works on floats"


def constant_zero(expr: Expr) -> bool:
    """Whether an expression is the number 0."""
    return isinstance(expr, Const) and expr.value == 0
