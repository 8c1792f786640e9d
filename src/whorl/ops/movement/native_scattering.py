"""Native forms of scattering: checked indices, updates combined with what is there, and rows of a cache."""

from __future__ import annotations

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import Index, View
from whorl.ops.native.index_maps import is_in_range, normalise_index, read_index, replace_at


def read_checked(k: NativeBuilder, indices: View, index: Index, length: Dim) -> Expr:
    """A checked index into an axis, counted from the front."""
    target = k.let(read_index(k, indices, index))
    k.fail_unless(is_in_range(k, target, length))
    return k.let(normalise_index(k, target, length))


_ON_BOOL = {"add": "or", "max": "or", "mul": "and", "min": "and"}


def combine_at(k: NativeBuilder, buffer: Buffer, index: Index, value: Expr, reduction: str) -> None:
    """Store a value at an index, combined by a reduction with the element there; updates must come in order."""
    if reduction != "none":
        how = _ON_BOOL[reduction] if buffer.dtype == BOOL else reduction
        value = k.apply(how, k.load(buffer, index), value)
    k.store(buffer, index, value)


def write_rows(
    k: NativeBuilder, cache: View, update: View, write_indices: View | None, axis: int, is_circular: bool
) -> View:
    """The update at `write_indices[b]` and on along an axis of the cache, for each batch row b.

    The program fails unless a linear update lies inside the cache; a circular one is no longer than the cache.
    """
    length, count = k.length(cache.shape[axis]), k.length(update.shape[axis])
    buffer = k.writable(cache)
    with k.loop(cache.shape[0]) as batch:
        first = k.const(0) if write_indices is None else k.let(read_index(k, write_indices, (batch,)))
        if is_circular:
            first = k.let(normalise_index(k, k.apply("rem", first, k.apply("max", length, k.const(1))), length))
        else:
            inside = k.compare("le", first, k.sub(length, count))
            k.fail_unless(k.apply("and", k.compare("ge", first, k.const(0)), inside))
        with k.nest(update.shape[1:]) as rest:
            row = k.add(first, rest[axis - 1])
            if is_circular:
                row = k.select(k.compare("ge", row, length), k.sub(row, length), row)
            k.store(buffer, (batch, *replace_at(rest, axis - 1, row)), update.at((batch, *rest)))
    return k.view_of(buffer, cache.shape)
