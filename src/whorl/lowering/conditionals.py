"""Storage of what an If gives: memory that either branch fills, or that of a value which a branch hands on.

A branch may give a carried value as it is, with rows behind its end, or changed, where nothing reads it later: all that
lies in its memory already, and so does the result. An iteration that appends or changes a row if a condition holds
costs that row. What lies anywhere else is copied to memory of the If.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from whorl.ir.native.expressions import Buffer, Var
from whorl.ir.native.view import View
from whorl.ir.types import TensorType, lengths_of
from whorl.kernel.program import Take
from whorl.lowering.builder import KernelBuilder
from whorl.lowering.native_types import is_single
from whorl.lowering.storage import (
    GrowableBuffers,
    Target,
    fill_all,
    growable_lengths,
    growable_scratch,
    require_lengths,
    snapshot_element,
)


class HandedOn(Struct, frozen=True):
    """A result in memory where each branch has it already; lengths by axis, in registers."""

    buffer: Buffer
    lengths: dict[int, Var]


Storage = Var | Buffer | GrowableBuffers | HandedOn


def result_storage(type: TensorType, views: Sequence[View], bases: Iterable[View], k: KernelBuilder) -> Storage:
    """Where a result is put of which the branches have these views: a register for one element, else memory.

    `bases` are values whose memory the branches may have written, each with the one name that is read later.
    """
    if is_single(type):
        return k.variable(type.dtype, "r", once=False)
    for base in bases:
        if base.buffer is not None and all(_lies_in(view, base, k) for view in views):
            return HandedOn(base.buffer, growable_lengths(k, type))
    if all(map(k.is_available, lengths_of(type))):
        return k.temporary(type.dtype, lengths_of(type))
    return growable_scratch(k, type)


def _lies_in(view: View, base: View, k: KernelBuilder) -> bool:
    """Whether a tensor lies in the memory of a value, of whose lengths it may change the first if the memory grows."""
    memory = base.buffer
    if memory is None or view.buffer is None or k.memory_of(view.buffer) is not memory:
        return False
    if len(view.shape) != len(base.shape):
        return False
    first = next((n for n, length in enumerate(base.shape) if length != 1), 0) if memory.grows else None
    pairs = enumerate(zip(view.shape, base.shape, strict=True))
    return all(n == first or a == b for n, (a, b) in pairs)


def store_results(views: Sequence[View], storages: Sequence[Storage], k: KernelBuilder) -> None:
    """Store the results of a branch."""
    targets: list[Target] = []
    for view, storage in zip(views, storages, strict=False):
        match storage:
            case Var():
                k.assign(storage, snapshot_element(view, k))
            case HandedOn():
                _assign_lengths(storage.lengths, view, k)
                if view.buffer is not None and view.buffer is not storage.buffer:
                    k.block.append(Take(storage.buffer, view.buffer))
            case GrowableBuffers():
                _assign_lengths(storage.lengths, view, k)
                k.reserve(storage.now, view.shape)
                targets.append((view, storage.now, ()))
            case _:
                require_lengths(view.shape, storage.shape, k)
                targets.append((view, storage, ()))
    fill_all(k, targets)


def _assign_lengths(lengths: dict[int, Var], view: View, k: KernelBuilder) -> None:
    for axis, register in lengths.items():
        k.assign(register, k.length(view.shape[axis]))


def view_of_storage(storage: Storage, type: TensorType, k: KernelBuilder) -> View:
    """The result, after either branch."""
    match storage:
        case Var():
            return k.scalar(storage, lengths_of(type))
        case GrowableBuffers():
            return k.view_of(storage.now, lengths_of(type))
        case HandedOn():
            return k.view_of(storage.buffer, lengths_of(type))
        case _:
            pass
    return k.view_of(storage, lengths_of(type))
