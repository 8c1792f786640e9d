"""Storage of values that change while a program runs: carried values, and the results of branches and inner loops.

A carried value of one element is a register. A tensor has two buffers, swapped after each iteration, since all next
values are computed before any is overwritten. One whose lengths change has two buffers that grow and a register a
length: memory is asked for in doubling steps, or once where the trip count tells how much it will be. Only the first
length that is not 1 may change at will, because row-major addresses do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import Index, View
from whorl.ir.types import AnyShape, SequenceType, TensorType, Type, lengths_of
from whorl.kernel.program import Swap, Take
from whorl.lowering.builder import KernelBuilder
from whorl.lowering.expressions import Unsupported
from whorl.lowering.native_types import native_type
from whorl.lowering.statements import LENGTHS


def memory_type(value: Value, k: KernelBuilder, what: str = "") -> TensorType:
    """How a value lies in memory: a tensor as it is, a sequence of equal tensors as their rows."""
    title = f"{what}{value.name!r}"
    if not isinstance(value.type, SequenceType):
        return native_type(value.type, title)
    element = native_type(value.type.element, f"an element of {title}")
    if not all(map(k.is_available, lengths_of(element))):
        raise Unsupported(f"{title} is {value.type}")
    return TensorType(element.dtype, (k.count_of(value), *lengths_of(element)))


def rows_type(type: Type) -> Type:
    """How a sequence of equal tensors lies in memory, seen from outside of a program; a tensor as it is."""
    if not isinstance(type, SequenceType) or not isinstance(type.element, TensorType):
        return type
    element = type.element
    return element if isinstance(element.shape, AnyShape) else element.with_shape((UNKNOWN, *element.shape))


def element_type(type: Type) -> SequenceType:
    """The sequence that lies in memory as these rows."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape) or not type.shape:
        raise Unsupported(f"a sequence cannot lie in memory as {type}")
    return SequenceType(type.with_shape(type.shape[1:]))


class GrowableBuffers(Struct, frozen=True):
    """Growable buffers of a carried value whose lengths change, and of the next one; lengths by axis, in registers."""

    now: Buffer
    next: Buffer
    lengths: dict[int, Var]
    lengths_after: dict[int, Var]


StateStorage = Var | tuple[Buffer, Buffer] | GrowableBuffers
"""Storage of a carried value: a register for one element, else the current buffer and the next one."""
Target = tuple[View, Buffer, Index]
"""A tensor, the buffer it goes to, and the index there that comes before its own."""


def growable_buffers(k: KernelBuilder, name: str, type: TensorType) -> GrowableBuffers:
    """Growable buffers for a value whose own lengths, those with names that are new, become registers."""
    after = {axis: k.variable(INT64, "len", once=False) for axis in _own(k, type)}
    before, shape = growable_lengths(k, type), lengths_of(type)
    now, then = (
        Buffer(f"{name}.{hint}", type.dtype, memory_shape(k, shape, registers), True)
        for hint, registers in (("now", before), ("next", after))
    )
    return GrowableBuffers(now, then, before, after)


def growable_lengths(k: KernelBuilder, type: TensorType) -> dict[int, Var]:
    """A register for each length of a value that has a name which is new, and stands for the register from now on."""
    registers = {axis: k.variable(INT64, "len", once=False) for axis in _own(k, type)}
    for axis, register in registers.items():
        k.dims[str(lengths_of(type)[axis])] = register
    return registers


def _own(k: KernelBuilder, type: TensorType) -> list[int]:
    """The axes whose lengths have names that are new."""
    shape = lengths_of(type)
    axes = [n for n, d in enumerate(shape) if not k.is_available(d)]
    if any(shape[n] != dims.name(str(shape[n])) for n in axes) or len({str(shape[n]) for n in axes}) < len(axes):
        raise Unsupported(f"the lengths of {type} depend on each other")
    return axes


def memory_shape(k: KernelBuilder, shape: Sequence[Any], registers: dict[int, Var]) -> tuple[int | Expr | None, ...]:
    """Lengths as memory is addressed: the first that is not 1 takes no part in that, so it may change at will."""
    first = next((n for n, d in enumerate(shape) if d != 1), 0)
    return tuple(
        d if isinstance(d, int) else None if n == first else registers[n] if n in registers else k.length(d)
        for n, d in enumerate(shape)
    )


def first_element(view: View, k: KernelBuilder) -> Expr:
    """The element of a tensor that has only one; the program fails where it has more."""
    for n in view.shape:
        if not isinstance(n, int):
            k.fail_unless(k.compare("eq", k.length(n), k.const(1)), LENGTHS)
    return view.at((k.const(0),) * len(view.shape))


def snapshot_element(view: View, k: KernelBuilder) -> Expr:
    """The one element of a tensor, in a register that no later assignment changes."""
    return snapshot(first_element(view, k), k)


def snapshot(value: Expr, k: KernelBuilder) -> Expr:
    """A number in a register that no later assignment changes."""
    if isinstance(value, Var) and not value.once:
        copy = k.variable(value.dtype)
        k.assign(copy, value)
        return copy
    return k.let(value)


def require_same_shapes(
    results: Sequence[View],
    states: Sequence[TensorType],
    storages: Sequence[StateStorage],
    unchanging: int,
    k: KernelBuilder,
) -> None:
    """Refuse a carried value that changes a length of memory that does not grow; the first `unchanging` change none."""
    for number, (view, type, storage) in enumerate(zip(results, states, storages, strict=True)):
        growing = storage.lengths if isinstance(storage, GrowableBuffers) and number >= unchanging else {}
        shape = lengths_of(type)
        pairs = enumerate(zip(shape, view.shape, strict=False))
        fixed = [after if axis in growing else before for axis, (before, after) in pairs]
        require_lengths(view.shape, fixed if len(fixed) == len(shape) else shape, k)


def commit_iteration(
    results: Sequence[View], storages: Sequence[StateStorage], elements: Sequence[Target], k: KernelBuilder
) -> None:
    """Parallel assignment: compute every next state, then overwrite the old ones.

    One by one would let a later result read a state that is already the next one.
    """
    targets, changes = list(elements), list[Callable[[], None]]()
    for view, storage in zip(results, storages, strict=True):
        match storage:
            case Var():
                changes.append(_assignment(storage, snapshot_element(view, k), k))
            case GrowableBuffers():
                changes += _growth(view, storage, targets, k)
            case (now, after):
                changes += _change(view, now, after, targets, k)
    fill_all(k, targets)
    for change in changes:
        change()


def _assignment(var: Var, value: Expr, k: KernelBuilder) -> Callable[[], None]:
    return lambda: k.assign(var, value)


def _change(
    view: View, now: Buffer, after: Buffer, targets: list[Target], k: KernelBuilder
) -> list[Callable[[], None]]:
    """What makes a result the carried value, unless it lies there already."""
    if view.buffer is now:
        return []
    source = view.buffer
    if source is not None and k.memory_of(source) is now:
        return [lambda: k.block.append(Take(now, source))]
    targets.append((view, after, ()))
    return [lambda: k.block.append(Swap(now, after))]


def _growth(view: View, storage: GrowableBuffers, targets: list[Target], k: KernelBuilder) -> list[Callable[[], None]]:
    """What makes a result the carried value: its lengths, and its memory unless it lies there already."""
    lengths = {axis: snapshot(k.length(view.shape[axis]), k) for axis in storage.lengths}
    changes = [_assignment(storage.lengths[axis], value, k) for axis, value in lengths.items()]
    if view.buffer is not None and k.memory_of(view.buffer) is storage.now:
        takes = [] if view.buffer is storage.now else [Take(storage.now, view.buffer)]
        return [*changes, lambda: k.block.extend(takes)]
    for axis, value in lengths.items():
        k.assign(storage.lengths_after[axis], value)
    k.reserve(storage.next, view.shape)
    targets.append((view, storage.next, ()))
    return [*changes, lambda: k.block.append(Swap(storage.now, storage.next))]


def fill_all(k: KernelBuilder, targets: Sequence[Target]) -> None:
    """Compute tensors into buffers, those of one shape in one nest, so that what they share is computed once."""
    groups: dict[tuple[Any, ...], list[Target]] = {}
    for target in targets:
        groups.setdefault(target[0].shape, []).append(target)
    for shape, members in groups.items():
        with k.nest(shape) as index:
            values = [k.let(view.at(index)) for view, _, _ in members]
            for value, (_, buffer, prefix) in zip(values, members, strict=True):
                k.store(buffer, (*prefix, *index), value)


def carried_view(storage: StateStorage, type: TensorType, k: KernelBuilder) -> View:
    """A carried value as it is now."""
    match storage:
        case Var():
            return k.scalar(storage, lengths_of(type))
        case GrowableBuffers():
            return k.view_of(storage.now, lengths_of(type))
        case _:
            pass
    return k.view_of(storage[0], lengths_of(type))


def growable_scratch(k: KernelBuilder, type: TensorType) -> GrowableBuffers:
    """Scratch memory for a value whose lengths change."""
    storage = growable_buffers(k, k.fresh("g"), type)
    k.add_scratch(storage.now)
    k.add_scratch(storage.next)
    return storage


def require_lengths(lengths: Sequence[Any], expected: Sequence[Any], k: KernelBuilder) -> None:
    """Refuse a tensor of another shape, in the program where only the run tells."""
    if len(lengths) != len(expected):
        raise Unsupported("a value changes its rank")
    for a, b in zip(lengths, expected, strict=True):
        if a != b:
            if isinstance(a, int) and isinstance(b, int):
                raise Unsupported("a value changes its shape")
            k.fail_unless(k.compare("eq", k.length(a), b if isinstance(b, Expr) else k.length(b)), LENGTHS)
