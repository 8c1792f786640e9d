"""Random numbers, and Dropout. An op draws from the generator that a session keeps for it, or from a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BOOL, FLOAT32, FLOATS, INT32, INT64, is_float, name_of
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import COMPUTED_FLOATS, one_element, require_dtype, widen
from whorl.ops.elementwise.arithmetic import NUMBERS
from whorl.ops.elementwise.conversion import convert
from whorl.ops.native.index_maps import broadcast_scalar
from whorl.ops.random.seeds import SEEDS


class Random(Op, frozen=True):
    """An op that draws: `draw` takes the generator, so that each iteration of a loop goes on where the last one ended.

    `run` draws from a new generator: a seed gives the same numbers every time.
    """

    abstract: ClassVar[bool] = True

    pure = False
    seed: float | None = None

    def generator(self) -> np.random.RandomState:
        """A new generator at the seed, or at the next of `SEEDS` where there is none.

        NumPy has promised never to change the stream of this one, so that a seed means the same everywhere.
        """
        return np.random.RandomState(SEEDS.following() if self.seed is None else whole_seed(self.seed))

    def run(self, *inputs: Any) -> Any:
        return self.draw(self.generator(), *inputs)

    def draw(self, generator: np.random.RandomState, *inputs: Any) -> Any:
        """The outputs, with numbers from the generator."""
        raise TypeError(f"{self.name} does not draw")


def whole_seed(seed: float) -> int:
    """The seed as an integer of 32 bits: itself where it is one, else the bits of the float32."""
    if float(seed).is_integer():
        return int(seed) % (1 << 32)
    return int(np.float32(seed).view(np.uint32))


def _drawn(dtype: np.dtype, shape: tuple[int, ...]) -> TensorType:
    """The type of a drawn tensor of a shape that attributes give."""
    if any(length < 0 for length in shape):
        raise TypeRuleError(f"shape is {list(shape)}, lengths must not be negative")
    return TensorType(_floating(dtype), shape)


def _floating(dtype: np.dtype) -> np.dtype:
    if dtype not in COMPUTED_FLOATS:
        raise TypeRuleError(f"cannot draw {name_of(dtype)}", fix="set dtype to a floating-point type")
    return dtype


class RandomNormal(Random, frozen=True):
    """Numbers of the normal distribution with a mean and a standard deviation. Source: ONNX RandomNormal-22."""

    dtype: np.dtype = FLOAT32
    mean: float = 0.0
    scale: float = 1.0
    shape: tuple[int, ...] = ()

    def infer(self) -> TensorType:
        return _drawn(self.dtype, self.shape)

    def draw(self, generator: np.random.RandomState, *inputs: Any) -> np.ndarray:
        return convert(np.asarray(generator.normal(self.mean, self.scale, self.shape)), self.dtype)


class RandomUniform(Random, frozen=True):
    """Numbers spread evenly over [low, high). Source: ONNX RandomUniform-22."""

    dtype: np.dtype = FLOAT32
    high: float = 1.0
    low: float = 0.0
    shape: tuple[int, ...] = ()

    def infer(self) -> TensorType:
        return _drawn(self.dtype, self.shape)

    def draw(self, generator: np.random.RandomState, *inputs: Any) -> np.ndarray:
        return convert(np.asarray(generator.uniform(self.low, self.high, self.shape)), self.dtype)


class RandomNormalLike(Random, frozen=True):
    """RandomNormal in the shape of the input, and in its element type unless `dtype` says another.

    Source: ONNX RandomNormalLike-22.
    """

    dtype: np.dtype | None = None
    mean: float = 0.0
    scale: float = 1.0

    def infer(self, like: Fact) -> TensorType:
        return tensor(like).with_dtype(_floating(self.dtype or tensor(like).dtype))

    def draw(self, generator: np.random.RandomState, *inputs: Any) -> np.ndarray:
        (like,) = inputs
        return convert(np.asarray(generator.normal(self.mean, self.scale, like.shape)), self.dtype or like.dtype)


class RandomUniformLike(Random, frozen=True):
    """RandomUniform in the shape of the input, and in its element type unless `dtype` says another.

    Source: ONNX RandomUniformLike-22.
    """

    dtype: np.dtype | None = None
    high: float = 1.0
    low: float = 0.0

    def infer(self, like: Fact) -> TensorType:
        return tensor(like).with_dtype(_floating(self.dtype or tensor(like).dtype))

    def draw(self, generator: np.random.RandomState, *inputs: Any) -> np.ndarray:
        (like,) = inputs
        return convert(np.asarray(generator.uniform(self.low, self.high, like.shape)), self.dtype or like.dtype)


class Bernoulli(Random, frozen=True):
    """1 with the probability that the input says, else 0. Source: ONNX Bernoulli-22."""

    dtype: np.dtype | None = None

    def infer(self, probability: Fact) -> TensorType:
        require_dtype(tensor(probability).dtype, COMPUTED_FLOATS)
        target = self.dtype or tensor(probability).dtype
        require_dtype(target, NUMBERS | {BOOL})
        return tensor(probability).with_dtype(target)

    def draw(self, generator: np.random.RandomState, *inputs: Any) -> np.ndarray:
        (probability,) = inputs
        hits = np.asarray(generator.uniform(size=probability.shape) < widen(probability))
        return convert(hits, self.dtype or probability.dtype)


class Multinomial(Random, frozen=True):
    """`sample_size` class numbers a row, drawn with probabilities proportional to e^x.

    Shapes: [batch, classes] to [batch, sample_size]. Source: ONNX Multinomial-22.
    """

    dtype: np.dtype = INT32
    sample_size: int = 1

    def infer(self, x: Fact) -> TensorType:
        type = tensor(x)
        require_dtype(type.dtype, COMPUTED_FLOATS)
        require_dtype(self.dtype, frozenset((INT32, INT64)))
        if isinstance(type.shape, AnyShape):
            return TensorType(self.dtype, (UNKNOWN, self.sample_size))
        if len(type.shape) != 2:
            raise TypeRuleError(f"the input is {type}, expected rank 2")
        return TensorType(self.dtype, (type.shape[0], self.sample_size))

    def draw(self, generator: np.random.RandomState, *inputs: Any) -> np.ndarray:
        (x,) = inputs
        return draw_classes(generator, x, self.sample_size).astype(self.dtype)


def draw_classes(generator: np.random.RandomState, x: np.ndarray, count: int) -> np.ndarray:
    """So many class numbers a row. Errors: RunError."""
    if x.ndim != 2:
        raise RunError(f"the input has shape {list(x.shape)}, expected rank 2")
    rows = [_draw_row(generator, row, number, count) for number, row in enumerate(widen(x).astype(np.float64))]
    return np.array(rows, np.int64).reshape(len(rows), count)


def _draw_row(generator: np.random.RandomState, row: np.ndarray, number: int, count: int) -> np.ndarray:
    weights = np.exp(row - row.max(initial=-np.inf))
    total = weights.sum()
    if not total > 0:
        raise RunError(f"row {number} has no class with a probability above 0")
    levels = np.cumsum(weights)
    return np.searchsorted(levels, generator.uniform(size=count) * levels[-1], side="right")


class Dropout(Random, frozen=True):
    """In training mode x / (1 - ratio) with each element kept with probability 1 - ratio, else x; and what was kept.

    The ratio is 0.5 where it is omitted, training mode False. Source: ONNX Dropout-22.
    """

    any_length = True

    seed: int | None = None

    def infer(self, x: Fact, ratio: Fact | None = None, training: Fact | None = None) -> tuple[TensorType, TensorType]:
        require_dtype(tensor(x).dtype, FLOATS)
        if ratio is not None and not is_float(tensor(ratio).dtype):
            raise TypeRuleError(f"the ratio is {name_of(tensor(ratio).dtype)}, expected a floating-point type")
        if training is not None and tensor(training).dtype != BOOL:
            raise TypeRuleError(f"training_mode is {name_of(tensor(training).dtype)}, expected bool")
        return tensor(x), tensor(x).with_dtype(BOOL)

    def run(self, *inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        return super().run(*inputs) if chance_of(*inputs) else _undropped(inputs[0])

    def draw(self, generator: np.random.RandomState, *inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        x, chance = inputs[0], chance_of(*inputs)
        if not chance:
            return _undropped(x)
        mask = np.asarray(generator.uniform(size=x.shape) >= chance)
        return np.where(mask, widen(x) * (1 / (1 - chance)), 0).astype(x.dtype, copy=False), mask

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, training = inputs[0], inputs.optional(2)
        if training is not None and (training.known is None or training.known.reshape(-1).tolist() != [False]):
            return None
        return [x, broadcast_scalar(k, k.const(True, BOOL), x.shape)]


def chance_of(x: np.ndarray, ratio: np.ndarray | None = None, training: np.ndarray | None = None) -> float:
    """The probability with which Dropout drops an element: 0 where it does not train."""
    if training is None or not one_element(training, "training_mode"):
        return 0.0
    chance = 0.5 if ratio is None else float(one_element(ratio, "the ratio"))
    if not 0 <= chance < 1:
        raise RunError(f"the ratio {chance} is outside [0, 1)")
    return chance


def _undropped(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x, np.ones(x.shape, np.bool_)
