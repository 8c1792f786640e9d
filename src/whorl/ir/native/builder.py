"""What an op may write while it is lowered: the builder of kernel programs as ops see it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

import numpy as np

from whorl.ir.dims import Dim, Linear
from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import Index, View
from whorl.ir.types import TensorType

T = TypeVar("T")

Address = tuple[Buffer, Index]
"""The first element of a tensor in memory; the others follow in row-major order."""


class NativeBuilder(Protocol):
    """Writes one program: expressions of elements, statements in order, and views of the tensors that they make.

    Expressions have no effects and may be used any number of times; statements run where they are written. Only
    lengths that are numbers reach an op that does not take `any_length`.
    """

    readers: Sequence[object]
    """The ops that read the results of the op being lowered."""
    may_append: Buffer | None
    """Memory of a carried value, to which a Concat may add where it lies."""

    # ---- expressions ---------------------------------------------------------------------------------------------

    def const(self, value: float | Dim, dtype: np.dtype = INT64) -> Expr:
        """A number in an element type; integers wrap as they do in arrays. A dim is what it is at run time."""
        ...

    def number(self, x: Expr) -> bool | int | float | None:
        """The number that an expression is, if it is a fixed one."""
        ...

    def length(self, dim: Dim) -> Expr:
        """A dim at run time."""
        ...

    def is_available(self, dim: Dim) -> bool:
        """Whether the names in a dim stand for lengths that the program has."""
        ...

    def is_positive(self, dim: Dim) -> bool:
        """Whether a length is surely not 0."""
        ...

    def new_length(self, value: Expr) -> Linear:
        """A dim that is this number at run time."""
        ...

    def apply(self, op: str, *args: Expr, dtype: np.dtype | None = None) -> Expr:
        """One of `expressions.OPS`, in the element type of the first argument unless told otherwise."""
        ...

    def add(self, x: Expr, y: Expr) -> Expr: ...
    def sub(self, x: Expr, y: Expr) -> Expr: ...
    def mul(self, x: Expr, y: Expr) -> Expr: ...
    def div(self, x: Expr, y: Expr) -> Expr: ...
    def compare(self, op: str, x: Expr, y: Expr) -> Expr:
        """`lt`, `le`, `gt`, `ge`, `eq` or `ne` as a bool."""
        ...

    def select(self, condition: Expr, x: Expr, y: Expr) -> Expr: ...
    def cast(self, x: Expr, dtype: np.dtype) -> Expr:
        """Converted as `Cast` converts; a bool from a number is whether it is not zero."""
        ...

    def load(self, buffer: Buffer, index: Index) -> Expr: ...
    def last_index(self, element: Expr) -> Expr | None:
        """The last index of all elements in memory that an element is made of, if they have the same."""
        ...

    # ---- statements ----------------------------------------------------------------------------------------------

    def let(self, value: Expr, hint: str = "t") -> Expr:
        """The value computed here, in a register."""
        ...

    def variable(self, dtype: np.dtype, hint: str = "v", once: bool = True) -> Var:
        """A register; `once` where it is assigned in a single place before it is read."""
        ...

    def assign(self, var: Var, value: Expr) -> None: ...
    def store(self, buffer: Buffer, index: Index, value: Expr) -> None: ...
    def fail_unless(self, condition: Expr, reason: str = ...) -> None:
        """End the program with a failure where a condition does not hold."""
        ...

    def require_broadcast(self, shape: Sequence[Dim], target: Sequence[Dim]) -> None:
        """End the program with a failure unless a shape broadcasts to a target."""
        ...

    def when(self, condition: Expr) -> AbstractContextManager[None]:
        """Statements that run only where a condition holds."""
        ...

    def repeat_while(self, condition: Callable[[], Expr]) -> AbstractContextManager[None]:
        """Statements that run again and again, each time only if a condition, computed anew, holds."""
        ...

    def loop(self, extent: Dim | Expr, parallel: bool = False, hint: str = "i") -> AbstractContextManager[Expr]:
        """A loop over `range(extent)`; `parallel` where no iteration reads or writes what another one writes."""
        ...

    def nest(self, shape: Sequence[Dim], parallel: bool = True) -> AbstractContextManager[Index]:
        """A nest over every index of a shape."""
        ...

    def reduce(self, extents: Sequence[Dim], first: Expr, step: Callable[[Expr, Index], Expr]) -> Expr:
        """`for index in extents: acc = step(acc, index)` from `first`, here and now; the result is in a register."""
        ...

    def call(self, kernel: str, addresses: Sequence[Address], numbers: tuple[int | Expr, ...]) -> None:
        """Run one of the kernels on memory that starts at elements of buffers, and on numbers."""
        ...

    def share(self, key: Hashable, write: Callable[[], T]) -> T:
        """What `write` gives and writes, made once for each key and block of statements."""
        ...

    def into(self, block: list[Any]) -> AbstractContextManager[None]:
        """Append statements to another block for a while."""
        ...

    # ---- tensors -------------------------------------------------------------------------------------------------

    def view(
        self,
        dtype: np.dtype,
        shape: Sequence[Dim],
        at: Callable[[Index], Expr],
        cost: int,
        flat: Callable[[Expr], Expr] | None = None,
        known: np.ndarray | None = None,
    ) -> View:
        """A tensor computed where it is read."""
        ...

    def view_of(self, buffer: Buffer, shape: Sequence[Dim] | None = None, prefix: Index = ()) -> View:
        """The tensor that lies in a buffer, or behind a fixed prefix of its index; a shape is named where it grows."""
        ...

    def scalar(self, value: Expr, shape: Sequence[Dim] = (), known: np.ndarray | None = None) -> View:
        """A tensor of one element, in a register."""
        ...

    def constant(self, array: np.ndarray, type: TensorType, known: np.ndarray | None = None) -> View:
        """A tensor whose contents are the same in every run."""
        ...

    def elementwise(
        self, scalar: Callable[..., Expr | None], inputs: Sequence[View | None], output: TensorType
    ) -> list[View] | None:
        """A tensor whose element is a function of the elements of the inputs that are there; None if it gives none."""
        ...

    def flat(self, view: View) -> Callable[[Expr], Expr] | None:
        """An element by its row-major position, where that takes no division."""
        ...

    def broadcast_element(self, view: View, index: Index) -> Expr:
        """The element that broadcasting puts at an index of a larger shape."""
        ...

    def materialise(self, view: View) -> View:
        """The tensor computed here once: in a register if it has one element, else in scratch memory."""
        ...

    def materialise_costly(self, view: View) -> View:
        """The view itself, or the tensor materialised where reading an element again costs much."""
        ...

    def materialise_reread(self, view: View) -> View:
        """The view itself, or the tensor materialised where many reads of an element cost more than one load each."""
        ...

    # ---- memory --------------------------------------------------------------------------------------------------

    def temporary(self, dtype: np.dtype, shape: Sequence[Dim], hint: str = "s") -> Buffer:
        """Scratch memory for a tensor; it grows where the lengths are known at run time only."""
        ...

    def reserve(self, buffer: Buffer, shape: Sequence[Dim]) -> None:
        """Memory for a shape in a buffer that grows."""
        ...

    def fill(self, buffer: Buffer, view: View, prefix: Index = ()) -> None:
        """Compute a tensor into a buffer."""
        ...

    def copy(self, view: View) -> View:
        """The tensor in scratch memory of its own."""
        ...

    def writable(self, view: View) -> Buffer:
        """Memory that holds a tensor and may be written: its own where it has no later reader, else a copy."""
        ...

    def overwritable(self, view: View) -> Buffer | None:
        """The memory that holds a tensor, to be written, where it has no later reader."""
        ...

    def reusable(self, dtype: np.dtype, shape: Sequence[Dim]) -> Buffer:
        """Scratch memory for a result, over which its last reader may write."""
        ...

    def address(self, view: View) -> Address:
        """Where a tensor lies in memory; it is computed there if need be."""
        ...

    def contiguous(self, view: View) -> Address | None:
        """Where a tensor lies in memory, if it does, its elements in row-major order."""
        ...

    def memory_of(self, buffer: Buffer) -> Buffer:
        """The buffer whose memory this one has taken over."""
        ...

    def may_change(self, view: View) -> bool:
        """Whether elements are read from memory of the caller, which another thread may write during the run."""
        ...
