"""Draws from a stream that is a tensor: the state of NumPy's old generator goes in, and comes out as draws leave it.

So a loop carries a stream as it carries any value, and machine code draws the same numbers as the interpreter does.
These are no ops of models: `passes.open_streams` writes the random ops of a module as such, for the compiler.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BY_NAME, FLOAT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import known_dims, unknown_shape
from whorl.ops.movement.rearranging import sizes, vector_length
from whorl.ops.native.index_maps import all_fixed, lengths, read_int64
from whorl.ops.random.distributions import draw_classes
from whorl.ops.random.native_streams import WORDS, write_classes, write_normal, write_uniform
from whorl.ops.random.seeds import SEEDS

STREAM = TensorType(BY_NAME["uint32"], (WORDS + 4,))
"""The words of a Mersenne Twister, the position among them, whether a normal number is left over, and its halves."""


def stream_of(generator: np.random.RandomState) -> np.ndarray:
    """Where a generator stands."""
    _, words, position, has_normal, normal = generator.get_state()
    halves = np.array([normal], "<f8").view("<u4")
    return np.concatenate([np.asarray(words), np.array([position, has_normal]), halves]).astype(STREAM.dtype)


def generator_at(stream: np.ndarray) -> np.random.RandomState:
    """A generator that stands where a stream does."""
    generator = np.random.RandomState(0)
    position, has_normal = (int(word) for word in stream[WORDS : WORDS + 2])
    (normal,) = stream[WORDS + 2 :].astype("<u4").view("<f8").tolist()
    generator.set_state(("MT19937", stream[:WORDS], position, has_normal, normal))
    return generator


class NewStream(Op, frozen=True):
    """A stream at the next of `SEEDS`, or by chance."""

    abstract: ClassVar[bool] = True

    pure = False

    def infer(self) -> TensorType:
        return STREAM

    def run(self) -> np.ndarray:
        seed = SEEDS.following()
        if seed is not None:
            return stream_of(np.random.RandomState(seed))
        stream = np.zeros(WORDS + 4, STREAM.dtype)
        stream[:WORDS] = np.frombuffer(os.urandom(4 * WORDS), STREAM.dtype)
        stream[0], stream[WORDS] = 1 << 31, WORDS
        return stream


class Draw(Op, frozen=True):
    """Numbers of a shape, and the stream behind them."""

    abstract: ClassVar[bool] = True

    any_length = True
    overwrites = 0

    def infer(self, stream: Fact, shape: Fact) -> tuple[TensorType, TensorType]:
        count, requested = vector_length(shape, "shape"), known_dims(shape)
        return TensorType(FLOAT64, unknown_shape(count) if requested is None else requested), STREAM

    def run(self, stream: np.ndarray, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        generator = generator_at(stream)
        return np.asarray(self.draw(generator, sizes(shape, "shape"))), stream_of(generator)

    def draw(self, generator: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray | float:
        """Numbers from a generator."""
        raise TypeError(f"{self.name} does not draw")

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        shape = lengths(outputs[0])
        if not all_fixed(shape):
            requested = [k.let(read_int64(k, inputs[1], n)) for n in range(len(shape))]
            for length in requested:
                k.fail_unless(k.compare("ge", length, k.const(0)))
            shape = tuple(k.new_length(length) for length in requested)
        write = write_uniform if isinstance(self, DrawUniform) else write_normal
        return write(k, inputs[0], shape)


class DrawUniform(Draw, frozen=True):
    """Numbers spread evenly over [0, 1)."""

    abstract: ClassVar[bool] = True

    def draw(self, generator: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray | float:
        return generator.random_sample(shape)


class DrawNormal(Draw, frozen=True):
    """Numbers of the normal distribution with mean 0 and standard deviation 1."""

    abstract: ClassVar[bool] = True

    def draw(self, generator: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray | float:
        return generator.standard_normal(shape)


class DrawClasses(Op, frozen=True):
    """`count` class numbers a row of x, drawn with probabilities proportional to e^x, and the stream behind them."""

    abstract: ClassVar[bool] = True

    any_length = True
    overwrites = 0

    dtype: np.dtype
    count: int

    @property
    def name(self) -> str:
        """Errors name the op that a model has."""
        return "Multinomial"

    def infer(self, stream: Fact, x: Fact) -> tuple[TensorType, TensorType]:
        shape = tensor(x).shape
        rows = UNKNOWN if isinstance(shape, AnyShape) else shape[0]
        return TensorType(self.dtype, (rows, self.count)), STREAM

    def run(self, stream: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        generator = generator_at(stream)
        return draw_classes(generator, x, self.count).astype(self.dtype), stream_of(generator)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return write_classes(k, inputs[0], inputs[1], self.count, self.dtype)
