"""Expressions of kernel programs: equal ones are one object, and what is known is computed at once.

Hash consing makes sharing visible: an element that is used twice is one object, which is computed once.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Atom, Dim, Linear, Unknown
from whorl.ir.dtypes import BOOL, INT64, is_float
from whorl.ir.native.expressions import FALSE, TRUE, Apply, Buffer, Const, Expr, Load, Var
from whorl.ir.native.view import Index
from whorl.kernel.verify import parts_in_order


class Unsupported(Exception):
    """Something has no native form and is then run by the interpreter. The text says what, `node` where it is."""

    node: Any = None
    """The node of the outermost region."""

    def at(self, node: Any) -> Unsupported:
        self.node = node
        return self


class TooLong(Unsupported):
    """A program has so many outermost `statements` that it is not worth finishing."""

    def __init__(self, statements: int) -> None:
        super().__init__("it is too long for one program")
        self.statements = statements


class LoweringFault(Unsupported):
    """An unforeseen exception, `cause`, ended the lowering of a node."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.cause = cause


@contextmanager
def contained() -> Generator[None]:
    """Turn unforeseen exceptions into a LoweringFault, so that the node that was being lowered can be left out."""
    try:
        yield
    except (Unsupported, TypeRuleError):
        raise
    except Exception as error:
        raise LoweringFault(error) from error


class Expressions:
    """Makes expressions; names stand for lengths that only the run knows."""

    def __init__(self) -> None:
        self.dims: dict[str, Expr] = {}
        self.counts: dict[Any, Dim] = {}
        self._numbers = itertools.count()
        self._expressions: dict[Hashable, Expr] = {}

    def fresh(self, hint: str) -> str:
        """A name that nothing else in the program has."""
        return f"{hint}{next(self._numbers)}"

    def variable(self, dtype: np.dtype, hint: str = "v", once: bool = True) -> Var:
        return Var(dtype, self.fresh(hint), once)

    def const(self, value: float | Dim, dtype: np.dtype = INT64) -> Expr:
        """A number in an element type; integers wrap as they do in arrays. A dim is what it is at run time."""
        if type(value) is int and dtype is INT64 and -_HALF <= value < _HALF:
            return self._shared(("const", dtype, repr(value)), lambda: Const(dtype, value))
        if isinstance(value, Linear | Unknown):
            return self.cast(self.length(value), dtype)
        if dtype == BOOL:
            return TRUE if value else FALSE
        exact = float(np.asarray(value).astype(dtype)) if is_float(dtype) else _as_integer(value, dtype)
        return self._shared(("const", dtype, repr(exact)), lambda: Const(dtype, exact))

    def length(self, dim: Dim) -> Expr:
        """A dim at run time."""
        if isinstance(dim, int):
            return self.const(dim)
        if isinstance(dim, Unknown):
            raise Unsupported("a length is not known")
        terms = [self.mul(self._atom(atom), self.const(factor)) for atom, factor in dim.terms]
        return reduce(self.add, [*terms[1:], self.const(dim.constant)], terms[0])

    def is_available(self, dim: Dim) -> bool:
        """Whether the names in a dim stand for lengths that the program has."""
        return isinstance(dim, int) or (dim is not UNKNOWN and dims.names_in(dim) <= self.dims.keys())

    def _atom(self, atom: Atom) -> Expr:
        if isinstance(atom, str):
            if atom not in self.dims:
                raise Unsupported(f"the length {atom} is not known before it is computed")
            return self.dims[atom]
        args = [self.length(arg) for arg in atom.args]  # type: ignore[arg-type]
        match atom.kind:
            case "floor":
                return self._floor(*args)
            case "mod":
                return self.sub(args[0], self.mul(self._floor(*args), args[1]))
            case "less" | "equal" as kind:
                return self.cast(self.compare("lt" if kind == "less" else "eq", *args), INT64)
            case kind:
                return reduce(lambda x, y: self.apply(kind, x, y), args)

    def _floor(self, x: Expr, y: Expr) -> Expr:
        """x / y rounded down; a dim is never divided by 0."""
        divisor = self.select(self.compare("eq", y, self.const(0)), self.const(1), y)
        quotient, rest = self.div(x, divisor), self.apply("rem", x, divisor)
        is_below = self.compare("lt", self.mul(rest, divisor), self.const(0))
        return self.select(is_below, self.sub(quotient, self.const(1)), quotient)

    def new_length(self, value: Expr) -> Linear:
        """A dim that is this number at run time."""
        name = self.fresh("#")
        self.dims[name] = value
        return dims.name(name)

    def count_of(self, value: Any) -> Dim:
        """The dim that stands for the length of a sequence."""
        if value not in self.counts:
            self.counts[value] = dims.name(self.fresh("#"))
        return self.counts[value]

    def number(self, x: Expr) -> bool | int | float | None:
        """The number that an expression is, if it is a fixed one."""
        return x.value if isinstance(x, Const) else None

    def apply(self, op: str, *args: Expr, dtype: np.dtype | None = None) -> Expr:
        """An operation; index arithmetic on constants is done here."""
        result = args[0].dtype if dtype is None else dtype
        folded = _fold(op, args)
        if folded is not None:
            return folded if isinstance(folded, Expr) else self.const(folded, result)
        key = (op, result, *map(id, args))
        return self._shared(key, lambda: Apply(result, op, args))

    def _shared(self, key: Hashable, make: Callable[[], Expr]) -> Expr:
        if key not in self._expressions:
            self._expressions[key] = make()
        return self._expressions[key]

    def add(self, x: Expr, y: Expr) -> Expr:
        return self.apply("add", x, y)

    def sub(self, x: Expr, y: Expr) -> Expr:
        return self.apply("sub", x, y)

    def mul(self, x: Expr, y: Expr) -> Expr:
        return self.apply("mul", x, y)

    def div(self, x: Expr, y: Expr) -> Expr:
        return self.apply("div", x, y)

    def compare(self, op: str, x: Expr, y: Expr) -> Expr:
        """`lt`, `le`, `gt`, `ge`, `eq` or `ne` as a bool."""
        return self.apply(op, x, y, dtype=BOOL)

    def select(self, condition: Expr, x: Expr, y: Expr) -> Expr:
        return self.apply("select", condition, x, y, dtype=x.dtype)

    def cast(self, x: Expr, dtype: np.dtype) -> Expr:
        """Converted as `Cast` converts; a bool from a number is whether it is not zero."""
        if x.dtype == dtype:
            return x
        if dtype == BOOL:
            return self.compare("ne", x, self.const(0, x.dtype))
        return self.apply("cast", x, dtype=dtype)

    def load(self, buffer: Buffer, index: Index) -> Expr:
        return self._shared(("load", buffer, *map(id, index)), lambda: Load(buffer.dtype, buffer, index))

    def last_index(self, element: Expr) -> Expr | None:
        """The last index of all elements in memory that an element is made of, if they have the same."""
        result = {part.index[-1] for part in parts_in_order(element) if isinstance(part, Load) and part.index}
        return result.pop() if len(result) == 1 else None


def _as_integer(value: float, dtype: np.dtype) -> int:
    """A number in an element type of integers; no array holds one of more than 64 bits, so those go first."""
    low = np.uint64(value & _ALL_BITS) if isinstance(value, int) else np.asarray(value)
    return int(low.astype(dtype))


_ALL_BITS, _HALF = (1 << 64) - 1, 1 << 63
_ON_INTEGERS: dict[str, Callable[[int, int], int | bool]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
    **{name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
}


def _fold(op: str, args: Sequence[Expr]) -> Expr | int | None:
    """What an operation on constants, or with a neutral element, is; only where the result is exact."""
    match op, args:
        case (_, (Const(dtype=t, value=a), Const(value=b))) if t == INT64 and op in _ON_INTEGERS:
            return _ON_INTEGERS[op](int(a), int(b))
        case (("eq" | "le" | "ge"), (x, y)) if x is y and x.dtype == INT64:
            return TRUE
        case ("add", (x, Const(dtype=t, value=0))) if t == INT64:
            return x
        case ("add", (Const(dtype=t, value=0), x)) if t == INT64:
            return x
        case ("sub", (x, Const(dtype=t, value=0))) if t == INT64:
            return x
        case ("mul", (x, Const(dtype=t, value=1))) if t == INT64:
            return x
        case ("mul", (Const(dtype=t, value=1), x)) if t == INT64:
            return x
        case ("and", (x, y)) if x is TRUE or y is TRUE:
            return y if x is TRUE else x
        case ("or", (x, y)) if x is FALSE or y is FALSE:
            return y if x is FALSE else x
        case ("not", (x,)) if x is TRUE or x is FALSE:
            return FALSE if x is TRUE else TRUE
        case ("select", (x, a, b)) if x is TRUE or x is FALSE or a is b:
            return b if x is FALSE else a
        case _:
            pass
    return None
