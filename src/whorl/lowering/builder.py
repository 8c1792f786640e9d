"""Writing kernel statements: folded expressions, nests, and views of tensors that are computed where they are read."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from whorl.ir import dims
from whorl.ir.dims import Atom, Linear
from whorl.ir.dtypes import BOOL, INT64, is_float
from whorl.ir.op import Op
from whorl.ir.types import TensorType
from whorl.kernel.program import (
    FALSE,
    FUNCTIONS,
    TRUE,
    Apply,
    Assign,
    Buffer,
    Call,
    Const,
    Expr,
    Fail,
    For,
    Load,
    Reserve,
    RunOp,
    Statement,
    Store,
    Var,
    When,
    While,
)
from whorl.kernel.verify import parts_in_order

Index = tuple[Expr, ...]
MATERIALIZE_COST = 48
"""Operations an element may cost before a tensor is computed once and kept, not again at every use."""
LONGEST = 1 << 20
"""The largest of several lengths of one tensor, where only the run knows them."""
MOST_TRIPS = 1 << 24
"""The largest bound of a loop inside, so that a program answers in time when it is asked to stop."""
LENGTHS = "the lengths are others than this program can take"
"""Why a program fails that is made for some of the lengths only that an op allows."""
REREAD_COST = 4
"""Operations an element may cost before it is computed once and kept, where one use reads it many times."""
FUNCTION_COST = 5
"""Operations that a function such as `exp` counts for: enough not to be computed at every reading of an element."""


@dataclass(frozen=True, eq=False)
class View:
    """A tensor: `at(index)` is the expression of an element. `cost` counts the operations of one.

    A length is a number or a dim whose names the builder knows at run time. `buffer` is set where the elements simply lie in memory, row-major; `flat`, where an element can be had by its
    row-major position just as well.
    """

    dtype: np.dtype
    shape: tuple[Any, ...]
    at: Callable[[Index], Expr]
    cost: int = 0
    buffer: Buffer | None = None
    known: np.ndarray | None = None
    flat: Callable[[Expr], Expr] | None = None

    @property
    def size(self) -> Any:
        return math.prod(self.shape)

    @property
    def is_fixed(self) -> bool:
        """Whether every length is a number."""
        return all(isinstance(n, int) for n in self.shape)


class Unsupported(Exception):
    """Something has no native form and is then run by the interpreter. The text says what, `node` where it is."""

    node: Any = None
    """The node of the outermost region."""

    def at(self, node: Any) -> Unsupported:
        self.node = node
        return self


class KernelBuilder:
    """Appends statements to the current block; equal expressions are one object."""

    def __init__(self) -> None:
        self.block: list[Statement] = []
        self.scratch: list[Buffer] = []
        self.fixed: set[Buffer] = set()
        self.calls: list[RunOp] = []
        self.constants: dict[Buffer, np.ndarray] = {}
        self.most_trips = MOST_TRIPS
        self.dims: dict[str, Expr] = {}
        self.counts: dict[Any, Linear] = {}
        self.owners: dict[Buffer, Any] = {}
        self.may_reuse: set[Buffer] = set()
        self.may_append: Buffer | None = None
        self.readers: Sequence[Op] = ()
        self.shared: dict[Any, Any] = {}
        self.may_fail = False
        self.node = ""
        self.around: tuple[tuple[str, Var | None], ...] = ()
        self._numbers = itertools.count()
        self._expressions: dict[tuple, Expr] = {}

    # ---- expressions -----------------------------------------------------------------------------------------

    def const(self, value: bool | int | float | Linear, dtype: np.dtype = INT64) -> Expr:
        """A number in an element type; integers wrap as they do in arrays. A dim is what it is at run time."""
        if isinstance(value, Linear):
            return self.cast(self.length(value), dtype)
        if dtype == BOOL:
            return TRUE if value else FALSE
        exact = float(np.asarray(value).astype(dtype)) if is_float(dtype) else int(np.asarray(value).astype(dtype))
        return self._shared(("const", dtype, repr(exact)), lambda: Const(dtype, exact))

    def length(self, dim: int | Linear) -> Expr:
        """A dim at run time."""
        if isinstance(dim, int):
            return self.const(dim)
        terms = [self.mul(self._atom(atom), self.const(factor)) for atom, factor in dim.terms]
        return reduce(self.add, terms[1:] + [self.const(dim.constant)], terms[0])

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
            case kind:
                return reduce(lambda x, y: self.apply(kind, x, y), args)

    def _floor(self, x: Expr, y: Expr) -> Expr:
        """x / y rounded down; the program fails where y is 0."""
        self.fail_unless(self.compare("ne", y, self.const(0)))
        quotient, rest = self.div(x, y), self.apply("rem", x, y)
        is_below = self.compare("lt", self.mul(rest, y), self.const(0))
        return self.select(is_below, self.sub(quotient, self.const(1)), quotient)

    def name_lengths(self, type: TensorType, view: View) -> View:
        """The view with the lengths that its type says; names that are new stand for what the view has."""
        shape = []
        for dim, length in zip(type.shape, view.shape, strict=True):  # type: ignore[arg-type]
            if length != dim:
                self.name_length(dim, self.let(self.length(length), "n"))
            shape.append(length if isinstance(length, int) else dim)
        return view if tuple(shape) == view.shape else replace(view, shape=tuple(shape))

    def new_length(self, value: Expr) -> Linear:
        """A dim that is this number at run time."""
        name = self.fresh("#")
        self.dims[name] = value
        return dims.name(name)

    def count_of(self, value: Any) -> Linear:
        """The dim that stands for the length of a sequence."""
        if value not in self.counts:
            self.counts[value] = dims.name(self.fresh("#"))
        return self.counts[value]

    def name_length(self, dim: Any, value: Expr) -> None:
        """Say what a dim is at run time: its name stands for the value, or the program fails unless it is that."""
        new = isinstance(dim, Linear) and dim == dims.name(str(dim)) and str(dim) not in self.dims
        if new:
            self.dims[str(dim)] = value
        else:
            self.fail_unless(self.compare("eq", self.length(dim), value), LENGTHS)

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

    def _shared(self, key: tuple, make: Callable[[], Expr]) -> Expr:
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

    # ---- statements ------------------------------------------------------------------------------------------

    def variable(self, dtype: np.dtype, hint: str = "v", once: bool = True) -> Var:
        return Var(dtype, self.fresh(hint), once)

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

    def fail_unless(self, condition: Expr, reason: str = "a value or a length is refused") -> None:
        """End the program with a failure where a condition does not hold."""
        if condition is not TRUE:
            self.may_fail = True
            self.block.append(When(condition, [], [Fail(1, reason, self.node, self.around)]))

    @contextmanager
    def failing_at(self, node: str, around: tuple[tuple[str, Var | None], ...]) -> Iterator[None]:
        """What fails inside is a failure of this node, in the regions around it."""
        outer, self.node, self.around = (self.node, self.around), node, around
        try:
            yield
        finally:
            self.node, self.around = outer

    def failing_as(self, node: str, view: View) -> View:
        """A view whose elements, wherever they are computed, fail as elements of a node."""
        if view.buffer is not None or not view.cost:
            return view
        around = self.around

        def there(element: Callable[..., Expr], *position: Any) -> Expr:
            with self.failing_at(node, around):
                return element(*position)

        flat = None if view.flat is None else partial(there, view.flat)
        return replace(view, at=partial(there, view.at), flat=flat)

    @contextmanager
    def when(self, condition: Expr) -> Iterator[None]:
        """Statements that run only where a condition holds."""
        statement = When(condition)
        with self.into(statement.then):
            yield
        self.block.append(statement)

    @contextmanager
    def repeat_while(self, condition: Callable[[], Expr]) -> Iterator[None]:
        """Statements that run again and again, each time only if a condition, computed anew, holds."""
        statement = While([], TRUE)
        with self.into(statement.head):
            statement.condition = condition()
        with self.into(statement.body):
            yield
        self.block.append(statement)

    @contextmanager
    def into(self, block: list[Statement]) -> Iterator[None]:
        """Append to another block for a while."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer

    @contextmanager
    def loop(self, extent: int | Linear | Expr, parallel: bool = False, hint: str = "i") -> Iterator[Expr]:
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
    def nest(self, shape: Sequence[Any], parallel: bool = True) -> Iterator[Index]:
        """A nest over every index of a shape."""
        if not shape:
            yield ()
            return
        with self.loop(shape[0], parallel) as first, self.nest(shape[1:], parallel) as rest:
            yield (first, *rest)

    def reduce(self, extents: Sequence[Any], first: Expr, step: Callable[[Expr, Index], Expr]) -> Expr:
        """`for index in extents: acc = step(acc, index)` from `first`, here and now; the result is in a register."""
        acc = self.variable(first.dtype, "acc", once=False)
        self.assign(acc, first)
        with self.nest(extents, parallel=False) as index:
            self.assign(acc, step(acc, index))
        result = self.variable(first.dtype)
        self.assign(result, acc)
        return result

    # ---- tensors ---------------------------------------------------------------------------------------------

    def temporary(self, dtype: np.dtype, shape: Sequence[Any], hint: str = "s") -> Buffer:
        """Scratch memory for a tensor; it grows where the lengths are known at run time only."""
        lengths = tuple(n if isinstance(n, int) else self.let(self.length(n), "n") for n in shape)
        grows = not all(isinstance(n, int) for n in lengths)
        buffer = Buffer(self.fresh(hint), dtype, lengths, grows)
        self.scratch.append(buffer)
        self.fixed.add(buffer)
        if grows:
            self.reserve(buffer, shape)
        return buffer

    def reserve(self, buffer: Buffer, shape: Sequence[Any]) -> None:
        """Memory for a shape in a buffer that grows."""
        unknown = [n for n in shape if not isinstance(n, int)]
        for n in unknown if len(unknown) > 1 else ():
            self.fail_unless(self.compare("le", self.length(n), self.const(LONGEST)), LENGTHS)
        self.reserve_count(buffer, reduce(self.mul, [self.length(n) for n in shape]))

    def reserve_count(self, buffer: Buffer, count: Expr) -> None:
        """Memory for so many elements in a buffer that grows."""
        self.may_fail = True
        self.block.append(Reserve(buffer, count))

    def add_scratch(self, buffer: Buffer) -> None:
        """Memory of the program that trades places, or grows, as statements say."""
        self.scratch.append(buffer)

    def fresh(self, hint: str) -> str:
        """A name that nothing else in the program has."""
        return f"{hint}{next(self._numbers)}"

    # ---- memory that may be written again ------------------------------------------------------------------------

    def own(self, value: Any, view: View, reused: set[Buffer]) -> None:
        """Say that a value lies in memory that was reused; what lies there under another name too is nobody's."""
        if view.buffer is not None and (view.buffer in reused or view.buffer in self.owners):
            self.owners[view.buffer] = value if view.buffer in reused else None

    def owned_by(self, value: Any, view: View) -> Buffer | None:
        """The memory of a value that nothing else lies in."""
        return view.buffer if view.buffer is not None and self.owners.get(view.buffer) is value else None

    def reads(self, view: View, buffer: Buffer) -> bool:
        """Whether the elements of a tensor are computed from what lies in memory."""
        with self.into([]):
            index = tuple(self.variable(INT64, "probe") for _ in view.shape)
            return any(isinstance(part, Load) and part.buffer is buffer for part in parts_in_order(view.at(index)))

    def writable(self, view: View) -> Buffer:
        """Memory that holds a tensor and may be written: its own where nobody reads it later, else a copy."""
        if view.buffer is not None and view.buffer in self.may_reuse:
            return view.buffer
        buffer = self.temporary(view.dtype, view.shape)
        self.fill(buffer, view)
        self.may_reuse.add(buffer)
        return buffer

    def constant(self, array: np.ndarray, type: TensorType, known: np.ndarray | None = None) -> View:
        """A tensor whose contents are the same in every run, in memory that the caller gives."""
        buffer = Buffer(f"k{next(self._numbers)}", type.dtype, tuple(array.shape))
        self.constants[buffer] = array
        self.fixed.add(buffer)
        return View(type.dtype, tuple(array.shape), self.view_of(buffer).at, 1, buffer, known)

    def run_op(self, op: Op, inputs: Sequence[View | None], outputs: Sequence[TensorType]) -> list[View]:
        """An op computed by its `run`, from buffers that never trade places into scratch memory."""
        given = [None if x is None else self._whole(x) for x in inputs]
        results = [self.temporary(t.dtype, tuple(int(d) for d in t.shape)) for t in outputs]  # type: ignore[arg-type, union-attr]
        call = RunOp(op, given, results, self.node)
        self.calls.append(call)
        self.may_fail = True
        self.block.append(call)
        return [self.view_of(buffer) for buffer in results]

    def run_any(self, op: Op, inputs: Sequence[View | None], outputs: Sequence[TensorType]) -> list[View]:
        """An op computed by its `run` from tensors whose lengths only the run knows."""
        given = [None if x is None else x if x.buffer is not None else self.copied(x) for x in inputs]
        lengths = [() if x is None else tuple(self.length(n) for n in x.shape) for x in given]
        buffers, found, views = [], [], []
        for type in outputs:
            registers = tuple(self.variable(INT64, "n") for _ in type.shape)  # type: ignore[union-attr]
            shape: tuple[int | Expr | None, ...] = registers
            buffers.append(Buffer(self.fresh("s"), type.dtype, shape, True))
            self.add_scratch(buffers[-1])
            found.append(registers)
            views.append(self.view_of(buffers[-1], [self.new_length(var) for var in registers]))
        call = RunOp(op, [None if x is None else x.buffer for x in given], buffers, self.node, lengths, found)
        self.calls.append(call)
        self.may_fail = True
        self.block.append(call)
        return views

    def _whole(self, view: View) -> Buffer:
        if view.buffer is not None and view.buffer in self.fixed and view.buffer.shape == view.shape:
            return view.buffer
        buffer = self.temporary(view.dtype, view.shape)
        self.fill(buffer, view)
        return buffer

    def call(self, kernel: str, places: Sequence[tuple[Buffer, Index]], numbers: tuple[int, ...]) -> None:
        """Run a kernel on memory that starts at elements of buffers."""
        self.block.append(Call(kernel, list(places), numbers))

    def contiguous(self, view: View) -> tuple[Buffer, Index] | None:
        """The first element of a tensor in memory, if the others follow in row-major order."""
        flat = self.flat(view)
        if flat is None:
            return None
        probe, zero = self.variable(INT64, "probe"), self.const(0)
        element = flat(probe)
        if not isinstance(element, Load) or element.dtype != element.buffer.dtype:
            return None
        last = element.index[-1] if element.index else None
        if last is probe:
            return element.buffer, (*element.index[:-1], zero)
        match last:
            case Apply(op="add", args=(start, end)) if end is probe and probe not in parts_in_order(start):
                return element.buffer, (*element.index[:-1], start)
        return None

    def place(self, view: View) -> tuple[Buffer, Index]:
        """The first element of a tensor in memory, where the others follow; it is computed there if need be."""
        found = self.contiguous(view)
        if found is not None:
            return found
        buffer = self.temporary(view.dtype, view.shape)
        self.fill(buffer, view)
        return buffer, (self.const(0),) * len(view.shape)

    def last_index(self, element: Expr) -> Expr | None:
        """The last index of all elements in memory that an element is made of, if they have the same."""
        found = {part.index[-1] for part in parts_in_order(element) if isinstance(part, Load) and part.index}
        return found.pop() if len(found) == 1 else None

    def view_of(self, buffer: Buffer, shape: Sequence[int] | None = None, prefix: Index = ()) -> View:
        """The tensor that lies in a buffer, or behind a fixed prefix of its index."""
        inner = tuple(shape) if shape is not None else tuple(n or 0 for n in buffer.shape)  # type: ignore[misc]
        whole = buffer if not prefix else None
        zeros = (self.const(0),) * (len(inner) - 1)

        def flat(position: Expr) -> Expr:
            return self.load(buffer, (*prefix, *zeros, position) if inner else prefix)

        return View(buffer.dtype, inner, lambda index: self.load(buffer, (*prefix, *index)), 1, whole, None, flat)

    def scalar(self, value: Expr, shape: tuple[int, ...] = (), known: np.ndarray | None = None) -> View:
        """A tensor of one element, held in a register."""
        return View(value.dtype, shape, lambda index: value, 0, None, known)

    def fill(self, buffer: Buffer, view: View, prefix: Index = ()) -> None:
        """Compute a tensor into a buffer."""
        with self.nest(view.shape) as index:
            self.store(buffer, (*prefix, *index), view.at(index))

    def kept(self, view: View) -> View:
        """The tensor computed here once: in a register if it has one element, else in scratch memory."""
        if view.buffer is not None or view.size == 0:
            return view
        if view.size == 1:
            zero = (self.const(0),) * len(view.shape)
            return self.scalar(self.let(view.at(zero)), view.shape, view.known)
        return self.copied(view)

    def copied(self, view: View) -> View:
        """The tensor in scratch memory of its own."""
        buffer = self.temporary(view.dtype, view.shape)
        self.fill(buffer, view)
        return self.view_of(buffer, view.shape)

    def cheap(self, view: View) -> View:
        """The view itself, or the tensor kept, where reading an element again costs much."""
        return view if view.cost <= MATERIALIZE_COST and view.size != 1 else self.kept(view)

    def reread(self, view: View) -> View:
        """The view itself, or the tensor kept, where each element is read many times and costs more than a load."""
        return view if view.cost <= REREAD_COST else self.kept(view)

    def flat(self, view: View) -> Callable[[Expr], Expr] | None:
        """An element by its row-major position, where that takes no division."""
        if view.flat is None and view.buffer is not None:
            return self.view_of(view.buffer, view.shape).flat
        return view.flat

    def view(
        self,
        dtype: np.dtype,
        shape: Sequence[Any],
        at: Callable[[Index], Expr],
        cost: int,
        flat: Callable[[Expr], Expr] | None = None,
        known: np.ndarray | None = None,
    ) -> View:
        """A tensor computed where it is read."""
        return View(dtype, tuple(shape), at, cost, None, known, flat)

    def elementwise(
        self, scalar: Callable[..., Expr | None], inputs: Sequence[View | None], output: TensorType
    ) -> list[View] | None:
        """A tensor whose element is a function of the input elements at its index; None if that function gives none."""
        given = [x for x in inputs if x is not None]
        with self.into([]):
            probe = scalar(self, *(Var(x.dtype, "probe") for x in given))
        if probe is None:
            return None

        def value(elements: Sequence[Expr]) -> Expr:
            found = scalar(self, *elements)
            assert found is not None
            return found

        shape = self._common_shape(given, output)
        given = [self.cheap(x) if x.size == math.prod(shape) else self.reread(x) for x in given]
        origin = (self.const(0),) * len(shape)
        direct = [self.flat(x) if x.shape == shape and x.size not in (0, 1) else None for x in given]
        is_flat = all(x.size == 1 or element is not None for x, element in zip(given, direct, strict=True))

        def at(index: Index) -> Expr:
            return value([self.aligned(x, index) for x in given])

        def flat(position: Expr) -> Expr:
            pairs = zip(given, direct, strict=True)
            return value([self.aligned(x, origin) if element is None else element(position) for x, element in pairs])

        cost = _operations(probe) + sum(x.cost for x in given)
        return [self.view(output.dtype, shape, at, cost, flat if is_flat else None)]

    def _common_shape(self, given: Sequence[View], output: TensorType) -> tuple[Any, ...]:
        """The shape of an elementwise result. Lengths that are not proved to agree must, or the program fails."""
        shape: list[Any] = list(output.shape)  # type: ignore[arg-type]
        for x in given:
            for axis, n in enumerate(x.shape, len(shape) - len(x.shape)):
                if n == 1:
                    continue
                if not isinstance(shape[axis], int) and dims.names_in(shape[axis]) - self.dims.keys():
                    shape[axis] = n
                elif n != shape[axis]:
                    self.fail_unless(self.compare("eq", self.length(n), self.length(shape[axis])), LENGTHS)
        return tuple(shape)

    def require_broadcast(self, shape: Sequence[Any], target: Sequence[Any]) -> None:
        """End the program with a failure unless a shape broadcasts to a target; a length that may be 1 must not be."""
        for n, wanted in zip(shape, target[len(target) - len(shape) :], strict=True):
            if n not in (1, wanted):
                self.fail_unless(self.compare("eq", self.length(n), self.length(wanted)), LENGTHS)

    def aligned(self, view: View, index: Index) -> Expr:
        """The element that broadcasting puts at an index of a larger shape."""
        offset = len(index) - len(view.shape)
        zero = self.const(0)
        return view.at(tuple(zero if n == 1 else i for n, i in zip(view.shape, index[offset:], strict=True)))


def _operations(expr: Expr) -> int:
    """About how many operations an expression takes, functions counted for more."""
    ops = [part.op for part in parts_in_order(expr) if isinstance(part, Apply)]
    return max(1, sum(FUNCTION_COST if op in FUNCTIONS else 1 for op in ops))


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
    return None
