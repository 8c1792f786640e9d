"""Random programs of pure ops on arguments and constants of one element type, with values that are special."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME, INT64
from whorl.ir.graph import Module, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.core.base import broadcast_shapes
from whorl.ops.elementwise import arithmetic as elementwise
from whorl.ops.elementwise import comparison, logic, nonlinear
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement import axes as movement
from whorl.ops.movement import indexing, shapes
from whorl.ops.reduce import reductions

DTYPES = ("bool", "int8", "uint8", "int32", "int64", "uint16", "float16", "float32", "float64", "bfloat16")
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (2, 3), (2, 1), (1, 3), (0, 3))
_ARITHMETIC = (elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Max, elementwise.Min)
_BITS = (logic.BitwiseAnd, logic.BitwiseOr, logic.BitwiseXor)
_TRUTH = (logic.And, logic.Or, logic.Xor)
_COMPARISONS = (comparison.Equal, comparison.Less, comparison.GreaterOrEqual)


def special(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array of numbers where rules go wrong: zeros of both signs, ones, extremes, NaN; often all the same."""
    if dtype == BOOL:
        pool: list[Any] = [False, True]
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        pool = [0, 1, 2, 3, 7, int(info.max), int(info.min), int(info.max) - 1, *([-1, -2] if info.min else [])]
    else:
        pool = [0.0, -0.0, 1.0, -1.0, 0.5, 4.0, 3.3, -7.25, np.inf, -np.inf, np.nan]
    chosen = rng.choice(len(pool), size=() if rng.random() < 0.5 else shape)
    values = np.array(pool, object)[chosen]
    return np.broadcast_to(np.asarray(values, object), shape).astype(dtype)


class Draw:
    """One random program: two arguments, and nodes over constants and what there is already, the last values mostly."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype = BY_NAME[DTYPES[seed % len(DTYPES)]]
        region = Region("main")
        self.build = Builder(region, Inference())
        self.values = [
            region.add_argument(name, TensorType(self.dtype, self._pick(SHAPES[1:-1] if seed % 7 else SHAPES)))
            for name in "xy"
        ]
        for _ in range(self.rng.integers(3, 10)):
            self._node()
        region.results = [v for v in self.values[2:] if not self._is_read(v)] or self.values[-1:]
        self.module = Module(region, [f"r{k}" for k in range(len(region.results))])
        self.feeds = {v.name: special(self.rng, v.type.dtype, v.type.shape) for v in region.arguments}

    def _pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def _constant(self, dtype: np.dtype | None = None) -> Value:
        return self.build.constant(special(self.rng, dtype or self.dtype, self._pick(SHAPES[:-1])), "c")

    def _is_read(self, value: Value) -> bool:
        return any(value in node.inputs for node in self.build.region.nodes)

    def _of(self, dtype: np.dtype) -> list[Value]:
        actual = [v for v in self.values if v.type.dtype == dtype]
        return actual[-2:] if self.rng.random() < 0.7 else actual

    def _operands(self, dtype: np.dtype, count: int) -> list[Value]:
        """Values that broadcast, constants among them."""
        actual = [self._constant(dtype) if self.rng.random() < 0.4 else self._pick(self._of(dtype))]
        while len(actual) < count:
            other = self._constant(dtype) if self.rng.random() < 0.4 else self._pick(self._of(dtype))
            try:
                np.broadcast_shapes(*(v.type.shape for v in (*actual, other)))
            except ValueError:
                continue
            actual.append(other)
        return actual

    def _node(self) -> None:
        kind = self._pick(
            ("arithmetic", "arithmetic", "arithmetic", "unary", "move", "move", "truth", "choice", "cast")
        )
        dtype = self.dtype
        if kind == "truth" or (dtype == BOOL and kind == "arithmetic"):
            self._truth()
        elif kind == "arithmetic":
            ops = (*_ARITHMETIC, *(_BITS if dtype.kind in "iu" else (elementwise.Div,)))
            self._add(self._pick(ops)(), *self._operands(dtype, 2))
        elif kind == "unary":
            self._unary()
        elif kind == "move":
            self._move()
        elif kind == "choice":
            conditions = self._of(BOOL) or [self._constant(BOOL)]
            x, y = self._operands(dtype, 2)
            condition = self._pick(conditions) if self.rng.random() < 0.6 else self._constant(BOOL)
            self._try(comparison.Where(), condition, x, y)
        else:
            (x,) = self._operands(dtype, 1)
            wide = self._add(Cast(BY_NAME[self._pick(("int64", "float64", "int32", "float32"))]), x, keep=False)
            self._add(Cast(dtype), wide)

    def _truth(self) -> None:
        if self.dtype != BOOL and (not self._of(BOOL) or self.rng.random() < 0.6):
            self._add(self._pick(_COMPARISONS)(), *self._operands(self.dtype, 2))
        elif self.rng.random() < 0.3:
            self._add(logic.Not(), self._pick(self._of(BOOL)))
        else:
            self._add(self._pick(_TRUTH)(), *self._operands(BOOL, 2))

    def _unary(self) -> None:
        if self.dtype == BOOL:
            self._add(logic.Not(), self._pick(self._of(BOOL)))
            return
        ops: list[Any] = [elementwise.Abs()]
        if self.dtype.kind != "u":
            ops += [elementwise.Neg(), elementwise.Neg(), elementwise.Sign(), nonlinear.Relu()]
        if self.dtype.kind in "iu":
            ops.append(logic.BitwiseNot())
        else:
            ops += [elementwise.Floor(), elementwise.Round()]
        self._add(self._pick(ops), self._pick(self._of(self.dtype)))

    def _move(self) -> None:
        x = self._pick(self._of(self.dtype))
        shape, rank = x.type.shape, len(x.type.shape)
        which = self._pick(("transpose", "reshape", "unsqueeze", "concat", "slice", "gather", "expand", "reduce"))
        if which == "transpose" and rank > 1:
            self._add(movement.Transpose(tuple(self.rng.permutation(rank).tolist())), x)
        elif which == "reshape" and 0 not in shape:
            self._add(shapes.Reshape(), x, self.build.int64(*self._pick(((-1,), (1, -1), (-1, 1), shape or (1,)))))
        elif which == "unsqueeze" and rank < 3:
            wide = self._add(shapes.Unsqueeze(), x, self.build.int64(0))
            if self.rng.random() < 0.5:
                self._add(shapes.Squeeze(), wide, self.build.int64(0))
        elif which == "concat" and rank:
            self._try(movement.Concat(0), *(self._pick(self._of(self.dtype)) for _ in range(3)))
        elif which == "slice" and rank:
            self._add(movement.Slice(), x, self.build.int64(int(self.rng.integers(-1, 2))), self.build.int64(9))
        elif which == "gather" and rank and shape[0]:
            self._add(indexing.Gather(0), x, self.build.constant(np.array(self.rng.integers(shape[0]), INT64)))
        elif which == "expand":
            self._add(shapes.Expand(), x, self.build.int64(*broadcast_shapes(shape, self._pick(((1,), shape)))))
        elif which == "reduce" and self.dtype != BOOL and rank:
            self._add(self._pick((reductions.ReduceMax, reductions.ReduceSum))(), x, self.build.int64(rank - 1))

    def _try(self, op: Any, *inputs: Value) -> None:
        try:
            if isinstance(op, movement.Concat):
                np.concatenate([np.zeros(v.type.shape) for v in inputs])
            else:
                np.broadcast_shapes(*(v.type.shape for v in inputs))
        except ValueError:
            return
        self._add(op, *inputs)

    def _add(self, op: Any, *inputs: Value, keep: bool = True) -> Value:
        value = self.build.add(op, *inputs)
        if keep:
            self.values.append(value)
        return value
