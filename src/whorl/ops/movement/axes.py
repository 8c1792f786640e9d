"""Ops that permute, join, cut and repeat axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import accumulate

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim, Linear
from whorl.ir.dtypes import BOOL, STRING
from whorl.ir.elements.base import Elements
from whorl.ir.elements.views import Concatenated, tiled
from whorl.ir.intervals import Interval, Intervals, union
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import KNOWN_LIMIT, UNRANKED, AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import (
    are_numbers,
    known_dims,
    known_ints,
    length_of,
    normal_axis,
    same_dtype,
    unify_lengths,
    unknown_shape,
)
from whorl.ops.core.lazy import lazy_view
from whorl.ops.movement.lengths import ceil_div, minimum, nonnegative, slice_ends, slice_length
from whorl.ops.movement.native_padding import require_nonnegative
from whorl.ops.movement.rearranging import (
    Rearranging,
    as_objects,
    integers,
    require_memory,
    run_axis,
    sizes,
    vector_length,
)
from whorl.ops.native.index_maps import (
    all_fixed,
    all_numbers,
    as_length,
    check_slice,
    concat_views,
    fixed_lengths,
    lengths,
    map_indices,
    read_index,
    read_int64,
    replace_at,
    require_lengths,
    reshape_view,
    slice_axis,
    slice_view,
    transpose_view,
)
from whorl.ops.native.run_time_lengths import LONGEST, slice_at_run_time


class Transpose(Rearranging, frozen=True):
    """Axis k of the result is axis perm[k] of x; without perm the axes are reversed. Source: ONNX Transpose-25."""

    any_length = True
    never_fails = True

    perm: tuple[int, ...] | None = None
    lazily = lazy_view
    moves_elements = True

    def infer(self, x: Fact) -> TensorType:
        type = tensor(x)
        if self.perm is not None and sorted(self.perm) != list(range(len(self.perm))):
            raise TypeRuleError(f"perm {list(self.perm)} is not a permutation")
        if isinstance(type.shape, AnyShape):
            return type.with_shape(UNRANKED if self.perm is None else (UNKNOWN,) * len(self.perm))
        if self.perm is None:
            return type.with_shape(type.shape[::-1])
        if len(self.perm) != len(type.shape):
            raise TypeRuleError(f"perm {list(self.perm)} does not permute the {len(type.shape)} axes of {type}")
        return type.with_shape(tuple(type.shape[axis] for axis in self.perm))

    def run(self, x: np.ndarray) -> np.ndarray:
        if self.perm is not None and len(self.perm) != x.ndim:
            raise RunError(f"perm {list(self.perm)} does not permute the {x.ndim} axes of shape {list(x.shape)}")
        return x.transpose(self.perm)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x,) = inputs
        return [transpose_view(k, x, self.perm or range(len(x.shape))[::-1])]

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        rank = tensor(outputs[0]).rank
        if self.perm is None:
            return rank is not None and rank < 2
        return self.perm == tuple(range(len(self.perm)))


class Concat(Rearranging, frozen=True):
    """The inputs one after the other along `axis`; all other lengths agree. Source: ONNX Concat-13."""

    any_length = True
    never_fails = True

    axis: int

    def lazily(self, *inputs: Elements) -> tuple[Elements, ...]:
        return (Concatenated(inputs, run_axis(self.axis, inputs[0].ndim)),)

    def infer(self, *inputs: Fact) -> TensorType:
        dtype = same_dtype(*inputs)
        shapes = [tensor(x).shape for x in inputs]
        ranked = [s for s in shapes if not isinstance(s, AnyShape)]
        if not ranked:
            return TensorType(dtype)
        rank = len(ranked[0])
        if any(len(s) != rank for s in ranked):
            raise TypeRuleError(f"inputs have ranks {', '.join(str(len(s)) for s in ranked)}, expected one rank")
        if not rank:
            raise TypeRuleError("a scalar has no axis to join", fix="give it an axis with Unsqueeze")
        axis = normal_axis(self.axis, rank)
        result = [
            reduce(lambda a, b: unify_lengths(f"axis {k}", a, b), column) for k, column in _other_axes(ranked, axis)
        ]
        total = sum((s[axis] for s in ranked), start=0) if len(ranked) == len(shapes) else UNKNOWN
        return TensorType(dtype, (*result[:axis], total, *result[axis:]))

    def infer_known(self, *inputs: Fact | None) -> tuple[np.ndarray | None, ...]:
        """An unknown element leaves its neighbours known."""
        facts = [x for x in inputs if x is not None]
        lengths = [_vector(x) for x in facts]
        if None in lengths or all(x.known is None for x in facts):
            return super().infer_known(*inputs)
        if sum(length or 0 for length in lengths) > KNOWN_LIMIT:
            return ()
        elements: list[Dim] = []
        for x, length in zip(facts, lengths, strict=True):
            elements += [UNKNOWN] * (length or 0) if x.known is None else x.known.tolist()
        return (as_objects(elements),)

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        shapes = [x.shape for x in inputs]
        axis = run_axis(self.axis, len(shapes[0]))
        if any((*s[:axis], *s[axis + 1 :]) != (*shapes[0][:axis], *shapes[0][axis + 1 :]) for s in shapes):
            raise RunError(f"cannot join {', '.join(str(list(s)) for s in shapes)} along axis {axis}")
        return np.concatenate(inputs, axis)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [concat_views(k, inputs, self.axis % len(inputs[0].shape))]

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return union(inputs)

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return len(inputs) == 1


def _other_axes(shapes: Sequence[tuple[Dim, ...]], axis: int) -> list[tuple[int, list[Dim]]]:
    return [(k, [s[k] for s in shapes]) for k in range(len(shapes[0])) if k != axis]


def _vector(fact: Fact) -> int | None:
    """The length of a rank-1 tensor that inference could follow."""
    shape = tensor(fact).shape
    if isinstance(shape, AnyShape) or len(shape) != 1 or tensor(fact).dtype == STRING:
        return None
    return shape[0] if isinstance(shape[0], int) else None


class Split(Rearranging, frozen=True):
    """x cut along `axis`: into the lengths of `split`, or `num_outputs` parts of which the last ones may be smaller.

    With neither the parts are equal, and the length must divide. Source: ONNX Split-18 and, for equal parts, Split-13.
    """

    any_length = True

    axis: int = 0
    num_outputs: int | None = None
    output_count: int = 1
    lazily = lazy_view
    moves_elements = True

    def infer(self, x: Fact, split: Fact | None = None) -> tuple[TensorType, ...]:
        type = tensor(x)
        if self.num_outputs is not None and split is not None:
            raise TypeRuleError("both split and num_outputs are given", fix="give one of them")
        if self.num_outputs not in (None, self.output_count):
            raise TypeRuleError(f"num_outputs is {self.num_outputs}, the node has {self.output_count} outputs")
        if split is not None and vector_length(split, "split") not in (None, self.output_count):
            raise TypeRuleError(f"split has {vector_length(split, 'split')} lengths for {self.output_count} outputs")
        if isinstance(type.shape, AnyShape):
            return (type,) * self.output_count
        axis = normal_axis(self.axis, len(type.shape))
        parts = self._parts(type.shape[axis], split)
        return tuple(type.with_shape((*type.shape[:axis], d, *type.shape[axis + 1 :])) for d in parts)

    def _parts(self, length: Dim, split: Fact | None) -> Sequence[Dim]:
        count = self.output_count
        if split is not None:
            requested = known_dims(split)
            if requested is not None and dims.differ(reduce(lambda a, b: a + b, requested, 0), length):
                raise TypeRuleError(f"split {list(requested)} does not add up to {length}")
            return (UNKNOWN,) * count if requested is None else requested
        if self.num_outputs is None:
            if isinstance(length, int) and length % count:
                raise TypeRuleError(f"length {length} is not {count} equal parts", fix="give split or num_outputs")
            return (dims.call("floor", length, count),) * count
        part = ceil_div(length, count)
        if isinstance(length, int) and isinstance(part, int) and part * (count - 1) >= length:
            # Engines disagree on parts of which some would be empty.
            return (part, *(UNKNOWN,) * (count - 1))
        return (part, *(nonnegative(minimum(part, length - part * k)) for k in range(1, count)))

    def run(self, x: np.ndarray, split: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
        axis = run_axis(self.axis, x.ndim)
        length, count = x.shape[axis], self.output_count
        if split is not None:
            parts = sizes(split, "split")
        elif self.num_outputs is None:
            parts = (length // count,) * count
        else:
            part = -(-length // count)
            parts = tuple(max(0, min(part, length - part * k)) for k in range(count))
        if sum(parts) != length or len(parts) != count:
            raise RunError(f"cannot cut axis {axis} of length {length} into {count} parts {list(parts)}")
        return tuple(np.split(x, np.cumsum(parts)[:-1], axis))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, axis = inputs[0], self.axis % len(inputs[0].shape)
        parts: list[Dim] = []
        for n, type in enumerate(outputs):
            part = lengths(type)[axis]
            if not k.is_available(part):
                part = as_length(k, self._read_part(k, x.shape[axis], inputs.optional(1), n))
            require_nonnegative(k, part)
            parts.append(part)
        total = reduce(lambda a, b: a + b, parts)
        if isinstance(total, int) and isinstance(x.shape[axis], int) and total != x.shape[axis]:
            return None
        require_lengths(k, [total], [x.shape[axis]])
        firsts = accumulate(parts, initial=0)
        return [slice_axis(k, x, axis, first, part) for first, part in zip(firsts, parts, strict=False)]

    def _read_part(self, k: NativeBuilder, length: Dim, split: View | None, n: int) -> Expr:
        """A length that inference does not tell."""
        if split is not None:
            part = k.let(read_int64(k, split, n))
            k.fail_unless(k.apply("and", k.compare("ge", part, k.const(0)), k.compare("le", part, k.length(length))))
            return part
        whole = ceil_div(length, self.output_count)
        return k.apply("max", k.apply("min", k.length(whole), k.length(length - whole * n)), k.const(0))

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        split = operands[1] if len(operands) > 1 else None
        return split is None or all(part >= 0 for part in known_ints(split) or (-1,))

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return len(outputs) == 1


class Slice(Rearranging, frozen=True):
    """x[start:end:step] on the axes listed (the first ones without a list), clamped as ONNX says.

    Source: ONNX Slice-13.
    """

    any_length = True

    lazily = lazy_view
    moves_elements = True

    def infer(
        self, x: Fact, starts: Fact, ends: Fact, axes: Fact | None = None, steps: Fact | None = None
    ) -> TensorType:
        type = tensor(x)
        lists = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
        counts = {k: vector_length(fact, k) for k, fact in lists.items() if fact is not None}
        if len({n for n in counts.values() if n is not None}) > 1:
            raise TypeRuleError(f"lists have different lengths: {', '.join(f'{k} {n}' for k, n in counts.items())}")
        if isinstance(type.shape, AnyShape):
            return type
        count = next((n for n in counts.values() if n is not None), None)
        named = known_ints(axes) if axes is not None else None if count is None else tuple(range(count))
        if named is None:
            return type.with_shape(unknown_shape(len(type.shape)))
        shape = list(type.shape)
        columns = (_elements(fact, len(named)) for fact in (starts, ends))
        strides = (1,) * len(named) if steps is None else _elements(steps, len(named))
        for axis, start, end, step in zip(named, *columns, strides, strict=True):
            k = normal_axis(axis, len(shape))
            shape[k] = slice_length(shape[k], start, end, step) if isinstance(step, int) and step else UNKNOWN
        return type.with_shape(tuple(shape))

    def run(
        self,
        x: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        axes: np.ndarray | None = None,
        steps: np.ndarray | None = None,
    ) -> np.ndarray:
        first, last = integers(starts), integers(ends)
        named = list(range(len(first))) if axes is None else integers(axes)
        strides = [1] * len(first) if steps is None else integers(steps)
        if not len(first) == len(last) == len(named) == len(strides):
            raise RunError(f"starts {first}, ends {last}, axes {named} and steps {strides} differ in length")
        if 0 in strides:
            raise RunError(f"steps are {strides}, a step must not be 0")
        cuts = [slice(None)] * x.ndim
        for axis, start, end, step in zip(named, first, last, strides, strict=True):
            k = run_axis(axis, x.ndim)
            low, high = slice_ends(x.shape[k], start, end, step)
            cuts[k] = slice(low, None if high < 0 else high, step)
        return x[tuple(cuts)]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x, starts, ends), axes, steps = inputs[:3], inputs.optional(3), inputs.optional(4)
        if not isinstance(starts.size, int):
            return None
        named = list(range(starts.size)) if axes is None else all_numbers(axes)
        strides = [1] * starts.size if steps is None else all_numbers(steps)
        if named is None or strides is None or len({axis % len(x.shape) for axis in named}) < len(named):
            return None
        if 0 in strides or not starts.size == ends.size == len(named) == len(strides):
            return None
        if not all_fixed((*x.shape, *lengths(outputs[0]))):
            ends = [(read_int64(k, starts, n), read_int64(k, ends, n), step) for n, step in enumerate(strides)]
            return [slice_at_run_time(k, x, [axis % len(x.shape) for axis in named], ends)]
        shape, firsts, step = fixed_lengths(outputs[0]), [k.const(0)] * len(x.shape), [1] * len(x.shape)
        for n, (axis, stride) in enumerate(zip(named, strides, strict=True)):
            axis %= len(x.shape)
            low, high = read_int64(k, starts, n), read_int64(k, ends, n)
            step[axis], firsts[axis] = stride, check_slice(k, low, high, stride, x.shape[axis], shape[axis])
        return [slice_view(k, x, firsts, step, shape)]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_numbers(operands[1:])

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        if len(inputs) < 5 or inputs[4] is None:
            return True
        steps = known_ints(inputs[4])
        return steps is not None and all(step > 0 for step in steps)


def _elements(fact: Fact, count: int) -> tuple[Dim, ...]:
    return known_dims(fact) or (UNKNOWN,) * count


class Tile(Rearranging, frozen=True):
    """x repeated repeats[k] times along axis k. Source: ONNX Tile-13."""

    any_length = True

    moves_elements = True

    def lazily(self, x: Elements, repeats: Elements) -> tuple[Elements, ...] | None:
        views = tiled(x, sizes(repeats.numpy(), "repeats"))
        return None if views is None else (views,)

    def infer(self, x: Fact, repeats: Fact) -> TensorType:
        type, count, requested = tensor(x), vector_length(repeats, "repeats"), known_dims(repeats)
        if isinstance(type.shape, AnyShape):
            return type.with_shape(unknown_shape(count))
        if count not in (None, len(type.shape)):
            raise TypeRuleError(f"repeats has {count} numbers for the {len(type.shape)} axes of {type}")
        if requested is None:
            return type.with_shape(unknown_shape(len(type.shape)))
        return type.with_shape(tuple(d * times for d, times in zip(type.shape, requested, strict=True)))

    def run(self, x: np.ndarray, repeats: np.ndarray) -> np.ndarray:
        times = sizes(repeats, "repeats")
        if len(times) != x.ndim:
            raise RunError(f"repeats {list(times)} has {len(times)} numbers for the {x.ndim} axes of {list(x.shape)}")
        require_memory([d * n for d, n in zip(x.shape, times, strict=True)], x.dtype)
        return np.tile(x, times)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, repeats = inputs
        if repeats.size != len(x.shape):
            return None
        times = [self._times(k, repeats, n) for n in range(len(x.shape))]
        shape = [
            after if k.is_available(after) else before * count
            for before, after, count in zip(x.shape, lengths(outputs[0]), times, strict=True)
        ]
        source = k.materialise_reread(x)
        pairs = [length for pair in zip(times, x.shape, strict=True) for length in pair]
        return [reshape_view(k, map_indices(k, source, pairs, lambda index: index[1::2], 0), shape)]

    def _times(self, k: NativeBuilder, repeats: View, axis: int) -> Dim:
        """How often an axis is repeated; the program fails where that is negative."""
        known = None if repeats.known is None else repeats.known.reshape(-1)[axis]
        if isinstance(known, int | Linear):
            require_nonnegative(k, known)
            return known
        times = k.let(read_int64(k, repeats, axis))
        k.fail_unless(k.compare("ge", times, k.const(0)))
        k.fail_unless(k.compare("le", times, k.const(LONGEST)))
        return as_length(k, times)

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return all(repeats >= 0 for repeats in known_ints(operands[1]) or (-1,))

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return True


class ReverseSequence(Rearranging, frozen=True):
    """The first sequence_lens[i] steps along `time_axis` of batch row i, reversed. Source: ONNX ReverseSequence-28."""

    any_length = True

    batch_axis: int = 1
    time_axis: int = 0

    def infer(self, x: Fact, sequence_lens: Fact) -> TensorType:
        if {self.batch_axis, self.time_axis} != {0, 1}:
            raise TypeRuleError(f"batch_axis is {self.batch_axis}, time_axis {self.time_axis}", fix="use 0 and 1")
        type, lengths = tensor(x), tensor(sequence_lens, "sequence_lens")
        vector_length(sequence_lens, "sequence_lens")
        if not isinstance(type.shape, AnyShape):
            if len(type.shape) < 2:
                raise TypeRuleError(f"takes at least two axes, got {type}")
            if not isinstance(lengths.shape, AnyShape):
                unify_lengths("the batch", type.shape[self.batch_axis], *lengths.shape)
        return type

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        steps, lengths = length_of(operands[0], self.time_axis), inputs[1]
        return isinstance(steps, int) and lengths is not None and 0 <= lengths.low <= lengths.high <= steps

    def run(self, x: np.ndarray, sequence_lens: np.ndarray) -> np.ndarray:
        steps, batch = x.shape[self.time_axis], x.shape[self.batch_axis]
        lengths = np.array(integers(sequence_lens), np.int64)
        if lengths.shape != (batch,):
            raise RunError(f"sequence_lens has {lengths.size} lengths for a batch of {batch}")
        bad = (lengths < 0) | (lengths > steps)
        if bad.any():
            raise RunError(f"sequence length {lengths[bad][0]} is outside [0, {steps}]")
        time = np.arange(steps)
        order = np.where(time < lengths[:, None], lengths[:, None] - 1 - time, time)
        rows = np.moveaxis(x, (self.batch_axis, self.time_axis), (0, 1))
        reversed_rows = rows[np.arange(batch)[:, None], order]
        return np.moveaxis(reversed_rows, (0, 1), (self.batch_axis, self.time_axis))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, lens = inputs
        if len(lens.shape) != 1:
            return None
        steps = x.shape[self.time_axis]
        require_lengths(k, lens.shape, [x.shape[self.batch_axis]])

        def is_legal(so_far: Expr, index: Index) -> Expr:
            length = read_index(k, lens, index)
            inside = k.apply("and", k.compare("ge", length, k.const(0)), k.compare("le", length, k.const(steps)))
            return k.apply("and", so_far, inside)

        def source(index: Index) -> Index:
            time, length = index[self.time_axis], read_index(k, counts, (index[self.batch_axis],))
            mirrored = k.sub(k.sub(length, k.const(1)), time)
            return replace_at(index, self.time_axis, k.select(k.compare("lt", time, length), mirrored, time))

        counts = k.copy(lens) if k.may_change(lens) else k.materialise_reread(lens)
        k.fail_unless(k.reduce(counts.shape, k.const(True, BOOL), is_legal))
        return [map_indices(k, x, x.shape, source, 5)]
