"""Random programs of constants only: every element type, every layout in memory, special values, ops of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.errors import WhorlError
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME, COMPLEX, STRING
from whorl.ir.graph import REGISTRY, Module, Op, Region, Value
from whorl.ir.infer import Inference
from whorl.ops.core.base import Elementwise
from whorl.ops.elementwise import logic
from whorl.ops.elementwise.casting import Cast
from whorl.ops.linear import products as linear
from whorl.ops.linear import quantization
from whorl.ops.movement import axes as movement
from whorl.ops.movement import filling, indexing, padding, shapes
from whorl.ops.reduce import reductions

DTYPES = tuple(BY_NAME.values())
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.3, -7.25, 100.0, np.inf, -np.inf, np.nan)
POINTWISE = tuple(
    sorted((c for c in REGISTRY.values() if issubclass(c, Elementwise) and c is not Cast), key=lambda c: c.__name__)
)
REDUCTIONS = (reductions.ReduceSum, reductions.ReduceMean, reductions.ReduceMax, reductions.ReduceMin)
LARGEST = 4000
"""Elements that a value may have."""


def elements(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Special values of an element type, often all the same."""
    count = 1 if rng.random() < 0.3 else int(np.prod(shape))
    if dtype == STRING:
        array = np.array(rng.choice(np.array(["", "a", "Zürich", "b" * 9], object), count), object)
    elif dtype == BOOL:
        array = rng.random(count) < 0.5
    elif dtype in COMPLEX:
        array = rng.choice(SPECIAL, 2 * count).view(complex).astype(dtype)
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        pool = np.array([0, 1, 2, 3, 100, info.max, info.min, info.max - 1], object)
        array = rng.choice(pool, count).astype(np.uint64 if dtype.kind == "u" else np.int64, casting="unsafe")
        array = array.astype(dtype)
    else:
        array = rng.choice(SPECIAL, count).astype(np.float32).astype(dtype)
    return np.broadcast_to(array.reshape(-1)[:1].reshape(()), shape) if count == 1 else array.reshape(shape)


def laid_out(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array that is row-major, transposed, every second element of another, reversed, or one element repeated."""
    match rng.integers(5):
        case 0:
            return elements(rng, dtype, shape[::-1]).T
        case 1 if shape:
            return elements(rng, dtype, (*shape[:-1], 2 * shape[-1]))[..., ::2]
        case 2 if shape:
            return elements(rng, dtype, shape)[::-1]
    return elements(rng, dtype, shape)


class Draw:
    """A random program; all its values are results."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        region = Region()
        self.build = Builder(region, Inference())
        self.values: list[Value] = []
        self.expected: list[np.ndarray | None] = []
        for _ in range(self.rng.integers(2, 5)):
            self._constant(self._dtype(), self._shape())
        for _ in range(self.rng.integers(3, 14)):
            self._node()
        region.results = list(self.values)
        self.module = Module(region, [f"r{k}" for k in range(len(self.values))])

    def _dtype(self) -> np.dtype:
        if self.rng.random() < 0.6:
            return BY_NAME[str(self.rng.choice(["float32", "float64", "float16", "bfloat16", "int64", "int8", "bool"]))]
        return DTYPES[self.rng.integers(len(DTYPES))]

    def _shape(self) -> tuple[int, ...]:
        return tuple(int(n) for n in self.rng.choice([0, 1, 1, 2, 3, 4, 5, 7], self.rng.integers(0, 4)))

    def _constant(self, dtype: np.dtype, shape: tuple[int, ...]) -> Value:
        return self._add(self.build.constant(laid_out(self.rng, dtype, shape)), None)

    def _add(self, value: Value, expected: np.ndarray | None) -> Value:
        self.values.append(value)
        self.expected.append(value.owner.op.value if expected is None else expected)  # type: ignore[union-attr]
        return value

    def _pick(self) -> tuple[Value, np.ndarray]:
        k = int(self.rng.integers(len(self.values)))
        return self.values[k], self.expected[k]  # type: ignore[return-value]

    def _ints(self, *numbers: int) -> tuple[Value, np.ndarray]:
        array = np.array(numbers, np.int64)
        return self.build.constant(array), array

    def _node(self) -> None:
        x, array = self._pick()
        made = self._drawn(x, array)
        if made is None:
            return
        op, inputs = made
        arrays = [each[1] for each in inputs]
        try:
            op.infer(*(each[0] for each in inputs))
            with np.errstate(all="ignore"):
                answer = op.run(*arrays)
        except (WhorlError, ArithmeticError, ValueError, TypeError, IndexError, AttributeError):
            return
        results = answer if isinstance(answer, tuple) else (answer,)
        if any(not isinstance(r, np.ndarray | np.generic) or np.size(r) > LARGEST for r in results):
            return
        region = self.build.region
        count = len(region.nodes)
        try:
            outputs = self.build.add_many(
                op, [each[0] for each in inputs], [f"v{count}.{k}" for k in range(len(results))]
            )
        except WhorlError:
            return
        for value, result in zip(outputs, results, strict=True):
            self._add(value, np.asarray(result))

    def _drawn(self, x: Value, array: np.ndarray) -> tuple[Op, list[tuple[Any, np.ndarray]]] | None:
        """An op and its operands, the first of them x; it may not fit them."""
        rng, rank = self.rng, array.ndim
        one = (x, array)
        match rng.integers(18):
            case 0 | 1 | 2 | 3 | 4:
                return self._pointwise(one)
            case 5:
                return Cast(self._dtype()), [one]
            case 6:
                return movement.Transpose(tuple(int(k) for k in rng.permutation(rank))), [one]
            case 7:
                return shapes.Reshape(), [one, self._ints(*(int(n) for n in rng.permutation([*array.shape, 1])))]
            case 8:
                return shapes.Reshape(), [one, self._ints(-1, *(array.shape[-1:] if array.size else ()))]
            case 9 if rank:
                steps = [int(k) for k in rng.choice([-2, -1, 1, 2], rank)]
                firsts = [int(k) for k in rng.integers(-3, 4, rank)]
                ends = [-9 if k < 0 else 9 for k in steps]
                settings = [self._ints(*firsts), self._ints(*ends), self._ints(*range(rank)), self._ints(*steps)]
                return movement.Slice(), [one, *settings]
            case 10:
                return shapes.Expand(), [one, self._ints(2, *(n if n != 1 else 3 for n in array.shape))]
            case 11 if rank:
                return movement.Concat(int(rng.integers(-rank, rank))), [one, one, self._pick()]
            case 12 if rank:
                return movement.Tile(), [one, self._ints(*(int(n) for n in rng.integers(0, 3, rank)))]
            case 13:
                kind = REDUCTIONS[rng.integers(len(REDUCTIONS))]
                axes = [self._ints(int(rng.integers(rank)))] if rank and rng.random() < 0.5 else []
                return kind(keepdims=int(rng.integers(2))), [one, *axes]
            case 14:
                return self._quantized(one)
            case 15 if rank:
                return indexing.Gather(0), [one, self._ints(*(int(k) for k in rng.integers(-2, 2, 2)))]
            case 16 if rank:
                return movement.Split(0, None, 2), [one, self._ints(1, array.shape[0] - 1)]
            case 17:
                return self._other(one)
        return None

    def _pointwise(self, one: tuple[Value, np.ndarray]) -> tuple[Op, list[tuple[Any, np.ndarray]]] | None:
        kind = POINTWISE[self.rng.integers(len(POINTWISE))]
        try:
            op = kind("LEFT") if kind is logic.BitShift else kind()
        except TypeError:
            return None
        same = [k for k, array in enumerate(self.expected) if array is not None and array.dtype == one[1].dtype]
        others = [same[self.rng.integers(len(same))] for _ in range(self.rng.integers(0, 3))]
        return op, [one, *((self.values[k], self.expected[k]) for k in others)]  # type: ignore[list-item]

    def _quantized(self, one: tuple[Value, np.ndarray]) -> tuple[Op, list[tuple[Any, np.ndarray]]]:
        per_axis = one[1].ndim > 1 and self.rng.random() < 0.5
        count = one[1].shape[1] if per_axis else 1
        scale = self.rng.random(count).astype(np.float32) + np.float32(0.01)
        shift = self.rng.integers(0, 5, count)
        is_float = one[1].dtype.kind == "f"
        point = shift.astype(np.uint8 if is_float else one[1].dtype)
        kind = quantization.QuantizeLinear if is_float else quantization.DequantizeLinear
        return kind(), [one, (self.build.constant(scale), scale), (self.build.constant(point), point)]

    def _other(self, one: tuple[Value, np.ndarray]) -> tuple[Op, list[tuple[Any, np.ndarray]]]:
        rank = one[1].ndim
        match self.rng.integers(4):
            case 0:
                return linear.MatMul(), [one, self._pick()]
            case 1:
                return shapes.Flatten(0), [one]
            case 2:
                return filling.ConstantOfShape(), [self._ints(*one[1].shape)]
        return padding.Pad(), [one, self._ints(*([1] * (2 * rank)))]
