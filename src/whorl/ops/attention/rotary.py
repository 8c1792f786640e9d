"""Rotary positional embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.graph import Op, Value
from whorl.ir.types import Fact, TensorType, lengths_of, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    require_dtype,
    same_dtype,
    snapshot,
    unify_lengths,
    widen,
)
from whorl.ops.core.writer import Writer, has_elements
from whorl.ops.movement.indexing import Gather


class RotaryEmbedding(Op, frozen=True):
    """Each pair (a, b) of a head becomes (a cos - b sin, a sin + b cos), by the angles of the token's position.

    Pairs are the two halves of the first `rotary_embedding_dim` elements (0: of all), or neighbours if `interleaved`.
    Inputs: X [batch, heads, sequence, size] or [batch, sequence, heads * size] with `num_heads`; cos and sin
    [positions, pairs] with position_ids [batch, sequence], or [batch, sequence, pairs] without. 16-bit floats are
    computed in float32 and rounded once. Source: ONNX RotaryEmbedding-23.
    """

    interleaved: int = 0
    num_heads: int | None = None
    rotary_embedding_dim: int = 0

    def infer(self, x: Fact, cos: Fact, sin: Fact, position_ids: Fact | None = None) -> TensorType:
        require_dtype(same_dtype(x, cos, sin), COMPUTED_FLOATS)
        size = self._head_size(x)
        rotated = self.rotary_embedding_dim or size
        if isinstance(rotated, int) and (rotated % 2 or (isinstance(size, int) and rotated > size)):
            raise TypeRuleError(f"{rotated} of {size} elements of a head cannot be rotated in pairs")
        shape = dims_of(x, tensor(x).rank or 4, "X")
        positions = shape[0], shape[-2 if len(shape) == 4 else 1]
        for name, cache in (("cos_cache", cos), ("sin_cache", sin)):
            *rows, columns = dims_of(cache, 3 if position_ids is None else 2, name)
            unify_lengths(f"columns of {name}", rotated // 2, columns)
            if position_ids is None:
                _check_positions(name, rows, positions)
        if position_ids is not None:
            _check_positions("position_ids", dims_of(position_ids, 2, "position_ids"), positions)
        return tensor(x)

    def _head_size(self, x: Fact) -> Dim:
        rank = tensor(x).rank
        if rank in (None, 4):
            return dims_of(x, 4, "X")[3]
        if not self.num_heads:
            raise TypeRuleError(f"X has rank {rank} and num_heads is not given", fix="give rank 4, or 3 with num_heads")
        hidden = dims_of(x, 3, "X")[2]
        if isinstance(hidden, int) and hidden % self.num_heads:
            raise TypeRuleError(f"the {hidden} columns of X are not divisible by {self.num_heads} heads")
        return hidden // self.num_heads

    def run(
        self, x: np.ndarray, cos: np.ndarray, sin: np.ndarray, position_ids: np.ndarray | None = None
    ) -> np.ndarray:
        check_types(self, x, cos, sin, position_ids)
        by_token = x.swapaxes(1, 2) if x.ndim == 4 else self._split(x)
        if position_ids is not None:
            cos, sin = _rows(cos, position_ids), _rows(sin, position_ids)
        cos, sin = widen(cos)[:, :, None], widen(sin)[:, :, None]
        first, second = _pairs(self.rotary_embedding_dim or by_token.shape[3], self.interleaved)
        a, b = widen(by_token[..., first]), widen(by_token[..., second])
        y = by_token.copy()
        y[..., first], y[..., second] = cos * a - sin * b, sin * a + cos * b
        return y.swapaxes(1, 2) if x.ndim == 4 else y.reshape(x.shape)

    def decompose(self, inputs: Sequence[Value | None], build: Builder) -> list[Value] | None:
        x, cos, sin, position_ids = (*inputs, None)[:4]
        if x is None or cos is None or sin is None or not self._is_regular(x, cos, sin, position_ids):
            return None
        write, shape, dtype = Writer(build), lengths_of(tensor(x)), tensor(x).dtype
        wide = accumulator(dtype)
        heads = x if len(shape) == 4 else self._split_node(write, x)
        size = _number(self._head_size(x))
        rotated = self.rotary_embedding_dim or size
        if position_ids is not None:
            cos, sin = (write.node(Gather(0), cache, position_ids) for cache in (cos, sin))
        cos, sin = (write.unsqueeze(write.cast(each, wide), 1 if len(shape) == 4 else 2) for each in (cos, sin))
        pairs = _pairs(rotated, self.interleaved)
        a, b = (write.cast(write.slice(heads, 3, s.start, s.stop, s.step or 1), wide) for s in pairs)
        first = write.cast(write.sub(write.mul(cos, a), write.mul(sin, b)), dtype)
        second = write.cast(write.add(write.mul(sin, a), write.mul(cos, b)), dtype)
        if self.interleaved:
            both = write.concat([write.unsqueeze(each, 4) for each in (first, second)], 4)
            parts = [write.reshape_lengths(both, (*lengths_of(tensor(heads))[:3], rotated))]
        else:
            parts = [first, second]
        y = write.concat([*parts, *([write.slice(heads, 3, rotated, size)] if rotated < size else [])], 3)
        return [write.reshape_lengths(y, shape)]

    def _is_regular(self, x: Value, cos: Value, sin: Value, position_ids: Value | None) -> bool:
        """Whether the length of a head is a number, and there surely is an angle for each token."""
        if not has_elements(x, cos, sin, position_ids) or not isinstance(self._head_size(x), int):
            return False
        shape = lengths_of(tensor(x))
        tokens = shape[0], shape[-2 if len(shape) == 4 else 1]
        angles = (cos, sin) if position_ids is None else (position_ids,)
        return all(lengths_of(tensor(each))[:2] == tokens for each in angles)

    def _split_node(self, write: Writer, x: Value) -> Value:
        heads, shape = self.num_heads or 1, lengths_of(tensor(x))
        return write.reshape_lengths(x, (*shape[:2], heads, shape[2] // heads))

    def _split(self, x: np.ndarray) -> np.ndarray:
        heads = self.num_heads or 1
        return x.reshape(*x.shape[:2], heads, x.shape[2] // heads)


def _number(length: Dim) -> int:
    assert isinstance(length, int)
    return length


def _check_positions(what: str, rows: Sequence[Dim], positions: Sequence[Dim]) -> None:
    """Refuse what is not given for the batch and the tokens of X."""
    for axis, (actual, expected) in enumerate(zip(rows, positions, strict=True)):
        unify_lengths(f"axis {axis} of {what}", expected, actual)


def _pairs(rotated: int, interleaved: int) -> tuple[slice, slice]:
    """Where the first and the second elements of the pairs are."""
    if interleaved:
        return slice(0, rotated, 2), slice(1, rotated, 2)
    return slice(0, rotated // 2), slice(rotated // 2, rotated)


def _rows(cache: np.ndarray, positions: np.ndarray) -> np.ndarray:
    positions = snapshot(positions)
    bad = positions[(positions < -len(cache)) | (positions >= len(cache))]
    if bad.size:
        raise RunError(f"position {bad[0]} is outside [{-len(cache)}, {len(cache)}) of the caches")
    return cache[positions]
