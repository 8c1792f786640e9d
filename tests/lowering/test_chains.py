"""Random chains of ops in one native loop: views of views are read as the arrays they stand for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from lowering.looped import Case, check, draw
from whorl.ir.graph import Op
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.movement.axes import Concat, Slice, Tile, Transpose
from whorl.ops.movement.blocks import DepthToSpace
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.scattering import ScatterElements
from whorl.ops.movement.shapes import Expand, Flatten, Reshape, Squeeze, Unsqueeze
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.reductions import ArgMax, ReduceMax, ReduceSum

LARGEST = 200


@dataclass
class Chain:
    """Ops drawn one after the other, each on a result before it."""

    rng: np.random.Generator
    dtype: np.dtype
    values: list[np.ndarray] = field(default_factory=list)
    steps: list[tuple[Op, list[Any]]] = field(default_factory=list)
    """Inputs of a step: numbers of results, 0 for the chain's own input; arrays are constants."""

    def __post_init__(self) -> None:
        rank = self.rng.integers(0, 4)
        self.values.append(draw(self.rng, [self.extent() for _ in range(rank)], self.dtype, 0))

    def extent(self) -> int:
        return int(self.rng.choice([1, 2, 3, 4, 6, 9]))

    def grow(self) -> None:
        """One more op, if the one drawn fits the value drawn and gives a tensor that is not too large."""
        position = len(self.values) - 1 if self.rng.random() < 0.7 else int(self.rng.integers(len(self.values)))
        makers = [
            *(self.reshape, self.flatten, self.transpose, self.slice, self.gather, self.tile, self.pad, self.concat),
            *(
                self.expand,
                self.reduce,
                self.total,
                self.scatter,
                self.double,
                self.unsqueeze,
                self.position,
                self.blocks,
            ),
        ]
        made = makers[self.rng.integers(len(makers))](self.values[position], position)
        if made is None:
            return
        op, inputs = made
        with np.errstate(all="ignore"):
            result = op.run(*(self.values[x] if isinstance(x, int) else x for x in inputs))
        if result.dtype == self.dtype and 0 < result.size <= LARGEST and result.ndim < 6:
            self.values.append(np.asarray(result))
            self.steps.append((op, inputs))

    def axis(self, x: np.ndarray) -> int:
        return int(self.rng.integers(x.ndim))

    def reshape(self, x: np.ndarray, position: int) -> Any:
        left, shape = x.size, []
        while left > 1:
            factor = int(self.rng.choice([n for n in range(1, left + 1) if left % n == 0]))
            shape.append(factor)
            left //= factor
        return (Reshape(), [position, np.array(shape, np.int64)]) if len(shape) < 6 else None

    def flatten(self, x: np.ndarray, position: int) -> Any:
        return Flatten(int(self.rng.integers(x.ndim + 1))), [position]

    def transpose(self, x: np.ndarray, position: int) -> Any:
        return Transpose(tuple(self.rng.permutation(x.ndim).tolist())), [position]

    def slice(self, x: np.ndarray, position: int) -> Any:
        if not x.ndim:
            return None
        axis, step = self.axis(x), int(self.rng.choice([-2, -1, 1, 2]))
        ends = self.rng.integers(-x.shape[axis], x.shape[axis] + 1, 2)
        return Slice(), [position, ends[:1], ends[1:], np.array([axis]), np.array([step])]

    def gather(self, x: np.ndarray, position: int) -> Any:
        if not x.ndim:
            return None
        axis, shape = self.axis(x), [(), (2,), (3, 1), (7,)][self.rng.integers(4)]
        return Gather(axis), [position, self.rng.integers(-x.shape[axis], x.shape[axis], shape)]

    def tile(self, x: np.ndarray, position: int) -> Any:
        return Tile(), [position, self.rng.integers(1, 4, x.ndim)]

    def pad(self, x: np.ndarray, position: int) -> Any:
        mode = str(self.rng.choice(["constant", "edge", "reflect", "wrap"]))
        return Pad(mode), [position, np.concatenate([self.rng.integers(0, 3, 2 * x.ndim)]).astype(np.int64)]

    def concat(self, x: np.ndarray, position: int) -> Any:
        others = [n for n, y in enumerate(self.values) if y.shape == x.shape]
        picked = self.rng.choice(others, self.rng.integers(1, 4)).tolist()
        return (Concat(self.axis(x)), [position, *picked]) if x.ndim else None

    def expand(self, x: np.ndarray, position: int) -> Any:
        wide = [n if n > 1 or self.rng.random() < 0.5 else self.extent() for n in x.shape]
        return Expand(), [position, np.array([*([2] if self.rng.random() < 0.3 else []), *wide], np.int64)]

    def reduce(self, x: np.ndarray, position: int) -> Any:
        op = (ReduceMax, ReduceSum)[self.rng.integers(2)]
        axes = np.flatnonzero(self.rng.random(x.ndim) < 0.5)
        return op(int(self.rng.integers(2)), 1), [position, axes]

    def total(self, x: np.ndarray, position: int) -> Any:
        return (CumSum(*self.rng.integers(2, size=2).tolist()), [position, np.array(self.axis(x))]) if x.ndim else None

    def scatter(self, x: np.ndarray, position: int) -> Any:
        if not x.ndim:
            return None
        axis = self.axis(x)
        return ScatterElements(axis, "add"), [
            position,
            self.rng.integers(-x.shape[axis], x.shape[axis], x.shape),
            position,
        ]

    def double(self, x: np.ndarray, position: int) -> Any:
        others = [n for n, y in enumerate(self.values) if y.ndim <= x.ndim and _fits(y.shape, x.shape)]
        return Add(), [position, int(self.rng.choice(others))]

    def unsqueeze(self, x: np.ndarray, position: int) -> Any:
        if 1 in x.shape and self.rng.random() < 0.5:
            return Squeeze(), [position, np.array([x.shape.index(1)])]
        return Unsqueeze(), [position, np.array([self.rng.integers(x.ndim + 1)])]

    def position(self, x: np.ndarray, position: int) -> Any:
        if not x.ndim:
            return None
        return (ArgMax(self.axis(x)), [position]) if x.dtype == np.int64 else None

    def blocks(self, x: np.ndarray, position: int) -> Any:
        return (DepthToSpace(2), [position]) if x.ndim == 4 and x.shape[1] % 4 == 0 else None

    def case(self) -> Case:
        """The chain as a case whose constants come after its own input."""
        constants = [x for _, inputs in self.steps for x in inputs if not isinstance(x, int)]
        positions, steps = iter(range(1, 1 + len(constants))), []
        for op, inputs in self.steps:
            passed = [(x + len(constants) if x else 0) if isinstance(x, int) else next(positions) for x in inputs]
            steps.append((op, tuple(passed)))
        shape, fixed = self.values[0].shape, tuple(range(1, 1 + len(constants)))
        ulps = 256 if self.dtype.kind == "f" else 0
        return Case(
            steps[-1][0], lambda rng: [draw(rng, shape, self.dtype, 0), *constants], fixed, ulps=ulps, steps=steps
        )


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    return all(a in (1, b) for a, b in zip(shape[::-1], target[::-1], strict=False))


def chains(seed: int, dtype: str, count: int, length: int) -> list[Case]:
    rng, cases = np.random.default_rng(seed), []
    while len(cases) < count:
        chain = Chain(rng, np.dtype(dtype))
        for _ in range(4 * length):
            if len(chain.steps) < length:
                chain.grow()
        if chain.steps:
            cases.append(chain.case())
    return cases


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 30))]


@pytest.mark.parametrize("seed", SEEDS)
def test_chains_equal_run(seed: int) -> None:
    dtype = ("int64", "float32", "uint8", "int64")[seed % 4]
    check(chains(seed, dtype, 8, 9), seed)
