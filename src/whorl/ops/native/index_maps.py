"""Native forms that move elements: index arithmetic on the views that a kernel builder `k` makes.

An index is a tuple of int64 expressions, one an axis. A length is a number or, for ops that take any, a dim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from whorl.ir import dims
from whorl.ir.dims import Dim, Linear
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View, fixed
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.ops.core.base import accumulator

T = TypeVar("T")

MOST_SELECTED = 16
"""Known elements up to which one of them is selected by comparing its index; more are put in memory."""
MOST_PARTS = 8
"""Parts of length 1 up to which a concatenation selects among them where it is read."""


def lengths(type: Type) -> tuple[Dim, ...]:
    """The shape of a tensor of known rank."""
    assert isinstance(type, TensorType) and not isinstance(type.shape, AnyShape)
    return type.shape


def fixed_lengths(type: Type) -> tuple[int, ...]:
    """The shape of a tensor whose lengths are all numbers."""
    return tuple(fixed(n) for n in lengths(type))


def all_fixed(lengths: Sequence[Dim]) -> bool:
    """Whether every length is a number."""
    return all(isinstance(n, int) for n in lengths)


def require_lengths(k: NativeBuilder, shape: Sequence[Dim], expected: Sequence[Dim]) -> None:
    """End the program with a failure unless lengths are those that are expected."""
    for length, other in zip(shape, expected, strict=True):
        if length != other:
            k.fail_unless(k.compare("eq", k.length(length), k.length(other)))


def fit(k: NativeBuilder, shape: Sequence[Dim], expected: Sequence[Dim]) -> bool:
    """Whether lengths may be those that are expected; the program fails where only the run tells that they are not."""
    if any(isinstance(n, int) and isinstance(m, int) and n != m for n, m in zip(shape, expected, strict=True)):
        return False
    require_lengths(k, shape, expected)
    return True


def fit_below(k: NativeBuilder, shape: Sequence[Dim], limits: Sequence[Dim]) -> bool:
    """Whether no length may be beyond its limit; the program fails where only the run tells that one is."""
    for length, limit in zip(shape, limits, strict=True):
        if isinstance(length, int) and isinstance(limit, int):
            if length > limit:
                return False
        elif length != limit:
            k.fail_unless(k.compare("le", k.length(length), k.length(limit)))
    return True


def is_larger(a: Dim, b: Dim) -> bool:
    """Whether a length is surely larger than another; a dim counts as larger than a number."""
    return a > b if isinstance(a, int) and isinstance(b, int) else not isinstance(a, int) and isinstance(b, int)


def known_numbers(view: View) -> list[int | None]:
    """The elements of a small integer tensor in a row, None for each that only the run knows."""
    if view.known is None:
        return [None] * view.fixed_size
    return [e if isinstance(e, int) else None for e in view.known.flat]


def all_numbers(view: View) -> list[int] | None:
    """The elements of a small integer tensor in a row, if they are all known."""
    if view.known is None and not isinstance(view.size, int):
        return None
    numbers = [e for e in known_numbers(view) if e is not None]
    return numbers if len(numbers) == view.size else None


def read_element(k: NativeBuilder, view: View, position: int = 0) -> Expr:
    """The element at a position of a scalar or a tensor with one axis; of any tensor for position 0."""
    rank = len(view.shape)
    return view.at((k.const(0),) * (rank - 1) + (k.const(position),) * min(rank, 1))


def read_index(k: NativeBuilder, view: View, index: Index) -> Expr:
    """An element of an integer tensor as int64, which is what indices are."""
    return k.cast(view.at(index), INT64)


def read_int64(k: NativeBuilder, view: View, position: int = 0) -> Expr:
    """An element of a scalar or a tensor with one axis, as int64; the number itself where it is known."""
    number = None if view.known is None else view.known.reshape(-1)[position]
    return k.const(number) if isinstance(number, int | Linear) else k.cast(read_element(k, view, position), INT64)


def ravel_index(k: NativeBuilder, index: Sequence[Expr], shape: Sequence[Dim]) -> Expr:
    """The row-major position of an index."""
    position: Expr = k.const(0)
    for i, length in zip(index, shape, strict=True):
        position = k.add(k.mul(position, k.const(length)), i)
    return position


def map_indices(
    k: NativeBuilder, x: View, shape: Sequence[Dim], source: Callable[[Index], Sequence[Expr]], cost: int = 1
) -> View:
    """The tensor whose element at an index is x's at `source(index)`."""
    return k.view(x.dtype, shape, lambda index: x.at(tuple(source(index))), x.cost + cost)


def broadcast_scalar(k: NativeBuilder, value: Expr, shape: Sequence[Dim]) -> View:
    """A tensor with one expression for every element."""
    return k.view(value.dtype, shape, lambda index: value, 0, lambda position: value)


def embed_numbers(k: NativeBuilder, elements: Sequence[Dim | float], dtype: np.dtype, shape: Sequence[Dim]) -> View:
    """A tensor of numbers in row-major order."""
    if not len(elements):
        return broadcast_scalar(k, k.const(0, dtype), shape)
    if len(elements) > MOST_SELECTED and not any(isinstance(e, Linear) for e in elements):
        return embed_array(k, np.array(elements).astype(dtype).reshape(tuple(map(fixed, shape))))
    numbers = [k.const(e, dtype) for e in elements]

    def flat(position: Expr) -> Expr:
        result = numbers[-1]
        for n, number in reversed(list(enumerate(numbers[:-1]))):
            result = k.select(k.compare("eq", position, k.const(n)), number, result)
        return result

    return k.view(dtype, shape, lambda index: flat(ravel_index(k, index, shape)), len(numbers), flat)


def flat_element(k: NativeBuilder, x: View) -> Callable[[Expr], Expr]:
    """An element by its row-major position, from memory if that takes a division."""
    flat = k.flat(x) or k.flat(k.copy(x))
    assert flat is not None, "a tensor in memory has flat elements"
    return flat


def embed_array(k: NativeBuilder, array: np.ndarray) -> View:
    """A tensor of numbers that are the same in every run."""
    return k.constant(array, TensorType(array.dtype, array.shape))


def reshape_view(k: NativeBuilder, x: View, shape: Sequence[Dim]) -> View:
    """The elements of x in row-major order under another shape of the same size.

    Joining axes of the new shape into one of x is arithmetic on the index. Where an axis would have to be cut, the
    elements are read by their position, from memory if that takes a division.
    """
    shape = tuple(shape)
    if shape == x.shape:
        return x
    if not x.size:
        return broadcast_scalar(k, k.const(0, x.dtype), shape)
    groups = _common_runs(x.shape, shape)
    if any(len(old) > 1 for old, _ in groups):
        flat = flat_element(k, x)
        return k.view(x.dtype, shape, lambda index: flat(ravel_index(k, index, shape)), max(x.cost, 1), flat)

    def at(index: Index) -> Expr:
        source = [k.const(0)] * len(x.shape)
        for (axis,), new in groups:
            source[axis] = ravel_index(k, [index[n] for n in new], [shape[n] for n in new])
        return x.at(tuple(source))

    return k.view(x.dtype, shape, at, x.cost, k.flat(x))


def _common_runs(old: Sequence[Dim], new: Sequence[Dim]) -> list[tuple[list[int], list[int]]]:
    """The shortest runs of axes of two shapes with the same number of elements; axes of length 1 are in none.

    Lengths that only the run knows may be 1: what is left of one shape, once the other one is used up, is such axes, or
    the program has failed because the sizes differ.
    """
    left, right = ([axis for axis, n in enumerate(shape) if n != 1] for shape in (old, new))
    runs: list[tuple[list[int], list[int]]] = []
    while left:
        a, b = [left.pop(0)], right[:1]
        del right[:1]
        while (difference := dims.product(old[i] for i in a) - dims.product(new[i] for i in b)) != 0:
            shorter, rest = (a, left) if isinstance(difference, int) and difference < 0 else (b, right)
            if not isinstance(difference, int) or not rest:
                a, b, left, right = a + left, b + right, [], []
                break
            shorter.append(rest.pop(0))
        runs.append((a, b))
    return runs


def cast_view(k: NativeBuilder, x: View, dtype: np.dtype) -> View:
    """The tensor in another element type."""
    if x.dtype == dtype:
        return x
    flat = k.flat(x)
    direct = None if flat is None else lambda position: k.cast(flat(position), dtype)
    return k.view(dtype, x.shape, lambda index: k.cast(x.at(index), dtype), x.cost + 1, direct)


def widen_view(k: NativeBuilder, x: View) -> View:
    """The tensor in the element type of its sums."""
    return cast_view(k, x, accumulator(x.dtype))


def transpose_view(k: NativeBuilder, x: View, perm: Sequence[int]) -> View:
    """Axis j of the result is axis perm[j] of x."""
    order = [int(axis) for axis in np.argsort(perm)]
    return map_indices(k, x, [x.shape[axis] for axis in perm], lambda index: [index[axis] for axis in order], 0)


def broadcast_view(k: NativeBuilder, x: View, shape: Sequence[Dim]) -> View:
    """x broadcast to a shape."""
    if tuple(shape) == x.shape:
        return x
    k.require_broadcast(x.shape, shape)
    source = k.materialise_reread(x)
    return k.view(x.dtype, shape, lambda index: k.broadcast_element(source, index), source.cost)


def slice_view(k: NativeBuilder, x: View, starts: Sequence[Expr], steps: Sequence[int], shape: Sequence[Dim]) -> View:
    """Element j of an axis is x's at start + j * step; a start is an expression, and all that is read is inside x."""

    def source(index: Index) -> list[Expr]:
        strides = [k.mul(i, k.const(step)) for i, step in zip(index, steps, strict=True)]
        return [k.add(stride, start) for stride, start in zip(strides, starts, strict=True)]

    return map_indices(k, x, shape, source, 1)


def slice_axis(k: NativeBuilder, x: View, axis: int, start: Dim, length: Dim) -> View:
    """`length` rows of x along an axis, from `start` on."""
    starts, shape = [k.const(0)] * len(x.shape), list(x.shape)
    starts[axis], shape[axis] = k.const(start), length
    return slice_view(k, x, starts, [1] * len(shape), shape)


def insert_at(items: Sequence[T], axis: int, item: T) -> tuple[T, ...]:
    """An index or shape with one more axis."""
    return (*items[:axis], item, *items[axis:])


def replace_at(items: Sequence[T], axis: int, item: T) -> tuple[T, ...]:
    """An index or shape with another coordinate or length on an axis."""
    return (*items[:axis], item, *items[axis + 1 :])


def select_column(k: NativeBuilder, x: View, n: int) -> View:
    """Element n of every row along the last axis."""
    known = None if x.known is None or not x.is_fixed else x.known.reshape(x.fixed_shape)[..., n]
    return k.view(x.dtype, x.shape[:-1], lambda index: x.at((*index, k.const(n))), x.cost, known=known)


def clamp_index(k: NativeBuilder, value: Expr, low: Dim | Expr, high: Dim | Expr) -> Expr:
    """The value, or the bound that it lies beyond."""
    return k.apply("min", k.apply("max", value, as_expr(k, low)), as_expr(k, high))


def normalise_index(k: NativeBuilder, index: Expr, length: Dim | Expr) -> Expr:
    """An index into an axis counted from the front; a negative one counts from the back."""
    return k.select(k.compare("lt", index, k.const(0)), k.add(index, as_expr(k, length)), index)


def as_expr(k: NativeBuilder, number: Dim | Expr) -> Expr:
    """A number as an expression."""
    return number if isinstance(number, Expr) else k.const(number)


def as_length(k: NativeBuilder, value: Expr) -> Dim:
    """A number that is computed here as a length."""
    number = k.number(value)
    return number if isinstance(number, int) else k.new_length(k.let(value))


def is_in_range(k: NativeBuilder, index: Expr, length: Dim) -> Expr:
    """Whether an index, counted from the front or the back, is inside an axis."""
    return k.apply("and", k.compare("ge", index, k.const(-length)), k.compare("lt", index, k.const(length)))


def require_in_range(k: NativeBuilder, indices: View, length: Dim) -> None:
    """End the program with a failure unless all indices are inside an axis."""
    known = all_numbers(indices) if isinstance(length, int) else None
    if known is not None and isinstance(length, int) and all(-length <= n < length for n in known):
        return
    if indices.size == 1:
        k.fail_unless(is_in_range(k, k.let(read_index(k, indices, (k.const(0),) * len(indices.shape))), length))
        return

    def step(so_far: Expr, index: Index) -> Expr:
        return k.apply("and", so_far, is_in_range(k, read_index(k, indices, index), length))

    k.fail_unless(k.reduce(indices.shape, k.const(True, BOOL), step))


def normalise_indices(k: NativeBuilder, indices: View, length: Dim) -> View:
    """Checked indices into an axis as a tensor of int64, counted from the front.

    They are read again after the check. Where another thread may have written them meanwhile, they are clamped.
    """
    known = all_numbers(indices) if isinstance(length, int) else None
    require_in_range(k, indices, length)
    may_change = k.may_change(indices)
    if known is not None and isinstance(length, int) and indices.size == 1:
        return broadcast_scalar(k, k.const(known[0] % length if length else 0), indices.shape)
    if known is not None and min(known, default=0) >= 0:
        return k.view(INT64, indices.shape, lambda index: read_index(k, indices, index), indices.cost)

    def at(index: Index) -> Expr:
        result = normalise_index(k, read_index(k, indices, index), length)
        return clamp_index(k, result, 0, length - 1) if may_change else result

    return k.view(INT64, indices.shape, at, indices.cost + (4 if may_change else 2))


def check_slice(k: NativeBuilder, start: Expr, end: Expr, step: int, length: Dim, count: int) -> Expr:
    """Where `start:end:step` begins on an axis; the program fails unless it takes `count` elements."""
    low, high = (0, length) if step > 0 else (-1, length - 1)
    first = clamp_index(k, normalise_index(k, start, length), 0, high)
    stop = clamp_index(k, normalise_index(k, end, length), low, high)
    span = k.sub(stop, first) if step > 0 else k.sub(first, stop)
    enough = k.compare("gt", span, k.const((count - 1) * abs(step))) if count else k.compare("le", span, k.const(0))
    k.fail_unless(k.apply("and", enough, k.compare("le", span, k.const(count * abs(step)))))
    return k.let(first)


def concat_views(k: NativeBuilder, parts: Sequence[View], axis: int) -> View:
    """The tensors one after the other along an axis: a selection where they are few and small, else put in memory."""
    filled = [x for x in parts if x.shape[axis]]
    if len(filled) < 2:
        return filled[0] if filled else parts[0]
    shape = [*parts[0].shape]
    shape[axis] = sum((x.shape[axis] for x in filled), start=0)
    if not all(map(all_fixed, (shape, *(x.shape for x in filled)))):
        return _concat_at_run_time(k, filled, axis, shape)
    if len(filled) <= MOST_PARTS and all(x.shape[axis] == 1 and x.cost <= 1 for x in filled):
        return _select_part(k, filled, axis, shape)
    buffer, first = k.temporary(parts[0].dtype, shape), 0
    for x in filled:
        with k.nest(x.shape) as index:
            k.store(buffer, replace_at(index, axis, k.add(index[axis], k.const(first))), x.at(index))
        first += fixed(x.shape[axis])
    return k.view_of(buffer)


def _concat_at_run_time(k: NativeBuilder, parts: Sequence[View], axis: int, shape: Sequence[Dim]) -> View:
    """Parts whose lengths only the run knows; a carried value that may grow is extended in place."""
    for x in parts[1:]:
        require_lengths(k, replace_at(x.shape, axis, 1), replace_at(shape, axis, 1))
    start, rest = parts[0], list(parts[1:])
    buffer = start.buffer
    if buffer is not None and k.memory_of(buffer) is k.may_append and all(n == 1 for n in shape[:axis]):
        rest = [x if x.buffer is not buffer else k.copy(x) for x in rest]
        k.reserve(buffer, shape)
    else:
        buffer = k.temporary(start.dtype, shape)
        k.fill(buffer, start)
    first = k.let(k.length(start.shape[axis]))
    for x in rest:
        with k.nest(x.shape) as index:
            k.store(buffer, replace_at(index, axis, k.add(index[axis], first)), x.at(index))
        first = k.add(first, k.length(x.shape[axis]))
    return k.view_of(buffer, shape)


def _select_part(k: NativeBuilder, rows: Sequence[View], axis: int, shape: Sequence[Dim]) -> View:
    def at(index: Index) -> Expr:
        first = replace_at(index, axis, k.const(0))
        result = rows[-1].at(first)
        for n, x in reversed(list(enumerate(rows[:-1]))):
            result = k.select(k.compare("eq", index[axis], k.const(n)), x.at(first), result)
        return result

    return k.view(rows[0].dtype, shape, at, len(rows))
