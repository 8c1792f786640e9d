"""Writing kernel statements: folded expressions, nests, and views of tensors that are computed where they are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from functools import partial
from operator import is_
from typing import Any

import numpy as np
from msgspec.structs import replace

from whorl.ir.constants import FixedArray, as_array
from whorl.ir.dims import Dim
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import Address, T
from whorl.ir.native.expressions import FUNCTIONS, Apply, Buffer, Expr, Load, Var
from whorl.ir.native.view import Index, View
from whorl.ir.types import TensorType, lengths_of
from whorl.kernel.program import RunOp, Statement, Take
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import all_statements, used_by
from whorl.lowering.deferred import DeferredArray
from whorl.lowering.graph_program import MOST_ELEMENTS
from whorl.lowering.run_lengths import RunLengths
from whorl.lowering.statements import LENGTHS

MATERIALIZE_COST = 48
"""Cost per element above which a tensor is materialised instead of computed again at every use."""
LONGEST = 1 << 20
"""The largest of several lengths of one tensor, where only the run knows them."""
REREAD_COST = 4
"""Cost per element above which a tensor is materialised where one use reads each element many times."""
FUNCTION_COST = 5
"""Operations that a function such as `exp` counts for: enough not to be computed at every reading of an element."""


class KernelBuilder(RunLengths):
    """Writes programs on tensors: views, memory for them, and who may write it again.

    `most_iterations`: how many a run may do in any one execution of a loop inside, which else makes the program fail.
    """

    def __init__(self, most_iterations: int | None = None) -> None:
        super().__init__()
        self.most_iterations = most_iterations
        self.fixed: set[Buffer] = set()
        self.calls: list[RunOp] = []
        self.constants: dict[Buffer, FixedArray] = {}
        self.owners: dict[Buffer, Any] = {}
        self.may_reuse: set[Buffer] = set()
        self.may_append: Buffer | None = None
        self.is_repeated = False
        self._memory: dict[Buffer, Buffer] = {}
        self._grown: dict[Buffer, tuple[Dim, ...]] = {}
        self.from_caller: set[Buffer] = set()
        self.readers: Sequence[object] = ()
        self._shared_results: dict[tuple[int, Hashable], tuple[list[Statement], Any]] = {}

    def name_lengths(self, type: TensorType, view: View) -> View:
        """The view with the lengths that its type says; names that are new stand for what the view has."""
        shape: list[Dim] = []
        for dim, length in zip(lengths_of(type), view.shape, strict=True):
            if length != dim:
                count = self.let(self.length(length), "n")
                self.fail_unless(self.compare("le", count, self.const(MOST_ELEMENTS)), LENGTHS)
                self.equate(dim, length)
                self.name_length(dim, count)
            shape.append(length if isinstance(length, int) else dim)
        return view if tuple(shape) == view.shape else replace(view, shape=tuple(shape))

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

    # ---- tensors ---------------------------------------------------------------------------------------------

    def temporary(self, dtype: np.dtype, shape: Sequence[Dim], hint: str = "s") -> Buffer:
        """Scratch memory for a tensor; it grows where the lengths are known at run time only."""
        known = self.shape_in_run(shape)
        if known is not None:
            buffer = self.memory(self.fresh(hint), dtype, known)
        else:
            lengths = tuple(n if isinstance(n, int) else self.let(self.length(n), "n") for n in shape)
            buffer = Buffer(self.fresh(hint), dtype, lengths, True)
            self._grown[buffer] = tuple(shape)
        self.scratch.append(buffer)
        self.fixed.add(buffer)
        if buffer.grows:
            self.reserve(buffer, shape)
        return buffer

    def reserve(self, buffer: Buffer, shape: Sequence[Dim]) -> None:
        """Memory for a shape in a buffer that grows."""
        unknown = [self.length(n) for n in shape if not isinstance(n, int)]
        bound = math.prod(n for n in shape if isinstance(n, int))
        longest = LONGEST if len(unknown) > 1 else MOST_ELEMENTS // max(1, bound)
        total: Expr = self.const(bound)
        for n in unknown:
            if bound * longest > MOST_ELEMENTS:
                bound = MOST_ELEMENTS // longest
                self.fail_unless(self.compare("le", total, self.const(bound)), LENGTHS)
            self.fail_unless(self.compare("le", n, self.const(longest)), LENGTHS)
            total, bound = self.mul(total, n), bound * longest
        self.reserve_count(buffer, total)

    def share(self, key: Hashable, write: Callable[[], T]) -> T:
        """What `write` gives and writes, made once for each key and block of statements."""
        here = id(self.block), key
        if here not in self._shared_results:
            # The block is stored too: while it lives, no other one has its id.
            self._shared_results[here] = self.block, write()
        return self._shared_results[here][1]

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
        return buffer in self.read_by(view)

    def read_by(self, view: View) -> set[Buffer]:
        """The buffers that an element of a tensor, or the statements that compute one, read."""
        block: list[Statement] = []
        with self.into(block):
            element = view.at(tuple(self.variable(INT64, "probe") for _ in view.shape))
        result = {part.buffer for part in parts_in_order(element) if isinstance(part, Load)}
        return result.union(*map(used_by, all_statements(block)))

    def may_change(self, view: View) -> bool:
        """Whether elements are read from memory of the caller, which another thread may write during the run."""
        return not self.from_caller.isdisjoint(self.read_by(view))

    def writable(self, view: View) -> Buffer:
        """Memory that holds a tensor and may be written: its own where nobody reads it later, else a copy."""
        taken = self.overwritable(view)
        if taken is not None:
            return taken
        buffer = self.reusable(view.dtype, view.shape)
        self.fill(buffer, view)
        return buffer

    def overwritable(self, view: View) -> Buffer | None:
        """The memory that holds a tensor, to be written, where nobody reads it later."""
        return self.take(view.buffer) if view.buffer is not None and view.buffer in self.may_reuse else None

    def reusable(self, dtype: np.dtype, shape: Sequence[Dim]) -> Buffer:
        """Scratch memory for a result, over which its last reader may write; not in a loop, which makes it again."""
        buffer = self.temporary(dtype, shape)
        if not self.is_repeated:
            self.may_reuse.add(buffer)
        return buffer

    @contextmanager
    def repeating(self, body: list[Statement]) -> Generator[None]:
        """Append to the body of a loop for a while."""
        outer, self.is_repeated = self.is_repeated, True
        try:
            with self.into(body):
                yield
        finally:
            self.is_repeated = outer

    def take(self, source: Buffer) -> Buffer:
        """A name for what will be written over a tensor, in the memory that it has."""
        buffer = Buffer(self.fresh("s"), source.dtype, source.shape, source.grows)
        if source in self.shapes:
            self.shapes[buffer] = self.shapes[source]
        self.block.append(Take(buffer, source))
        self._memory[buffer] = self.memory_of(source)
        self.may_reuse.add(buffer)
        return buffer

    def memory_of(self, buffer: Buffer) -> Buffer:
        """The buffer whose memory this one has taken over."""
        return self._memory.get(buffer, buffer)

    def constant(self, array: FixedArray, type: TensorType, known: np.ndarray | None = None) -> View:
        """A tensor whose contents are the same in every run, in memory that the caller gives."""
        buffer = Buffer(f"k{next(self._numbers)}", type.dtype, tuple(array.shape))
        self.constants[buffer] = array if isinstance(array, DeferredArray) else np.ascontiguousarray(as_array(array))
        self.fixed.add(buffer)
        return View(type.dtype, tuple(array.shape), self.view_of(buffer).at, 1, buffer, known)

    def run_op(self, op: Op, inputs: Sequence[View | None], outputs: Sequence[TensorType]) -> list[View]:
        """An op computed by its `run`, from buffers that never trade places into scratch memory."""
        operands = [None if x is None else self._whole(x) for x in inputs]
        results = [self.temporary(t.dtype, lengths_of(t)) for t in outputs]
        call = RunOp(op, operands, results, self.node)
        self.calls.append(call)
        self.may_fail = True
        self.block.append(call)
        return [self.view_of(buffer) for buffer in results]

    def run_any(self, op: Op, inputs: Sequence[View | None], outputs: Sequence[TensorType]) -> list[View]:
        """An op computed by its `run` from tensors whose lengths only the run knows."""
        operands = [None if x is None else x if x.buffer is not None else self.copy(x) for x in inputs]
        lengths = [() if x is None else tuple(self.length(n) for n in x.shape) for x in operands]
        buffers: list[Buffer] = []
        output_lengths: list[tuple[Var, ...]] = []
        views: list[View] = []
        for type in outputs:
            registers = tuple(self.variable(INT64, "n") for _ in lengths_of(type))
            shape: tuple[int | Expr | None, ...] = registers
            buffers.append(Buffer(self.fresh("s"), type.dtype, shape, True))
            self.add_scratch(buffers[-1])
            output_lengths.append(registers)
            views.append(self.view_of(buffers[-1], [self.new_length(var) for var in registers]))
        call = RunOp(
            op, [None if x is None else x.buffer for x in operands], buffers, self.node, lengths, output_lengths
        )
        self.calls.append(call)
        self.may_fail = True
        self.block.append(call)
        return views

    def _whole(self, view: View) -> Buffer:
        if view.buffer is not None and view.buffer in self.fixed and self.fills(view):
            return view.buffer
        buffer = self.temporary(view.dtype, view.shape)
        self.fill(buffer, view)
        return buffer

    def fills(self, view: View) -> bool:
        """Whether a tensor that lies in a buffer is all that this holds."""
        assert view.buffer is not None
        return self.shapes.get(view.buffer, view.buffer.shape) == self.shape_in_run(view.shape)

    def contiguous(self, view: View) -> Address | None:
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
            case _:
                pass
        return None

    def address(self, view: View) -> Address:
        """The first element of a tensor in memory, where the others follow; it is computed there if need be."""
        result = self.contiguous(view)
        if result is not None:
            return result
        buffer = self.temporary(view.dtype, view.shape)
        self.fill(buffer, view)
        return buffer, (self.const(0),) * len(view.shape)

    def view_of(self, buffer: Buffer, shape: Sequence[Dim] | None = None, prefix: Index = ()) -> View:
        """The tensor that lies in a buffer, or behind a fixed prefix of its index; a shape is named where it grows."""
        if shape is None:
            known = self.shapes.get(buffer) or self._grown.get(buffer)
            shape = known or [n for n in buffer.shape if isinstance(n, int)]
            assert len(shape) == len(buffer.shape), "memory that grows is viewed by a shape"
        inner = tuple(shape)
        whole = buffer if not prefix else None
        zeros = (self.const(0),) * (len(inner) - 1)

        def flat(position: Expr) -> Expr:
            return self.load(buffer, (*prefix, *zeros, position) if inner else prefix)

        return View(buffer.dtype, inner, lambda index: self.load(buffer, (*prefix, *index)), 1, whole, None, flat)

    def scalar(self, value: Expr, shape: Sequence[Dim] = (), known: np.ndarray | None = None) -> View:
        """A tensor of one element, held in a register."""
        return View(value.dtype, tuple(shape), lambda index: value, 0, None, known)

    def fill(self, buffer: Buffer, view: View, prefix: Index = ()) -> None:
        """Compute a tensor into a buffer."""
        with self.nest(view.shape) as index:
            self.store(buffer, (*prefix, *index), view.at(index))

    def materialise(self, view: View) -> View:
        """The tensor computed here once: in a register if it has one element, else in scratch memory."""
        if view.buffer is not None or view.size == 0:
            return view
        if view.size == 1:
            zero = (self.const(0),) * len(view.shape)
            return self.scalar(self.let(view.at(zero)), view.shape, view.known)
        return self.copy(view)

    def copy(self, view: View) -> View:
        """The tensor in scratch memory of its own."""
        buffer = self.temporary(view.dtype, view.shape)
        self.fill(buffer, view)
        return self.view_of(buffer, view.shape)

    def cache_in_nest(self, view: View) -> View:
        """The view with its elements in registers, for readers that are all in one nest of its shape."""
        cached: list[tuple[Any, Index, Expr]] = []

        def at(index: Index) -> Expr:
            for block, position, element in cached:
                if block is self.block and len(position) == len(index) and all(map(is_, position, index)):
                    return element
            cached.append((self.block, index, self.let(view.at(index))))
            return cached[-1][-1]

        return View(view.dtype, view.shape, at, min(view.cost, REREAD_COST), None, view.known)

    def materialise_costly(self, view: View) -> View:
        """The view itself, or the tensor kept, where reading an element again costs much."""
        return view if view.cost <= MATERIALIZE_COST and view.size != 1 else self.materialise(view)

    def materialise_reread(self, view: View) -> View:
        """The view itself, or the tensor kept, where each element is read many times and costs more than a load."""
        return view if view.cost <= REREAD_COST else self.materialise(view)

    def flat(self, view: View) -> Callable[[Expr], Expr] | None:
        """An element by its row-major position, where that takes no division."""
        if view.flat is None and view.buffer is not None:
            return self.view_of(view.buffer, view.shape).flat
        return view.flat

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
        return View(dtype, tuple(shape), at, cost, None, known, flat)

    def elementwise(
        self, scalar: Callable[..., Expr | None], inputs: Sequence[View | None], output: TensorType
    ) -> list[View] | None:
        """A tensor whose element is a function of the input elements at its index; None if that function gives none."""
        operands = [x for x in inputs if x is not None]
        with self.into([]):
            probe = scalar(self, *(Var(x.dtype, "probe") for x in operands))
        if probe is None:
            return None

        def value(elements: Sequence[Expr]) -> Expr:
            result = scalar(self, *elements)
            assert result is not None
            return result

        operands = self.narrow(operands)
        shape = self._common_shape(operands, output)
        operands = [
            self.materialise_costly(x) if x.size == math.prod(shape) else self.materialise_reread(x) for x in operands
        ]
        origin = (self.const(0),) * len(shape)
        direct = [self.flat(x) if x.shape == shape and x.size not in (0, 1) else None for x in operands]
        is_flat = all(x.size == 1 or element is not None for x, element in zip(operands, direct, strict=True))

        def at(index: Index) -> Expr:
            return value([self.broadcast_element(x, index) for x in operands])

        def flat(position: Expr) -> Expr:
            pairs = zip(operands, direct, strict=True)
            return value(
                [self.broadcast_element(x, origin) if element is None else element(position) for x, element in pairs]
            )

        cost = _operations(probe) + sum(x.cost for x in operands)
        return [self.view(output.dtype, shape, at, cost, flat if is_flat else None)]

    def _common_shape(self, operands: Sequence[View], output: TensorType) -> tuple[Dim, ...]:
        """The shape of an elementwise result. Lengths that are not proved to agree must, or the program fails."""
        shape: list[Dim] = list(output.shape)  # type: ignore[arg-type]
        for x in operands:
            for axis, n in enumerate(x.shape, len(shape) - len(x.shape)):
                if n == 1:
                    continue
                if not self.is_available(shape[axis]):
                    shape[axis] = n
                elif n != shape[axis]:
                    self.require_agreement(n, shape[axis])
        return tuple(shape)

    def require_broadcast(self, shape: Sequence[Dim], target: Sequence[Dim]) -> None:
        """End the program with a failure unless a shape broadcasts to a target; a length that may be 1 must not be."""
        for n, expected in zip(shape, target[len(target) - len(shape) :], strict=True):
            if n not in (1, expected):
                self.require_agreement(n, expected)

    def broadcast_element(self, view: View, index: Index) -> Expr:
        """The element that broadcasting puts at an index of a larger shape."""
        offset = len(index) - len(view.shape)
        zero = self.const(0)
        return view.at(tuple(zero if n == 1 else i for n, i in zip(view.shape, index[offset:], strict=True)))


def _operations(expr: Expr) -> int:
    """About how many operations an expression takes, functions counted for more."""
    ops = [part.op for part in parts_in_order(expr) if isinstance(part, Apply)]
    return max(1, sum(FUNCTION_COST if op in FUNCTIONS else 1 for op in ops))
