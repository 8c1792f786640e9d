"""Regions while they are written: what a region reads of the regions around it becomes a captured argument."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.errors import UnsupportedError
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT64
from whorl.ir.graph import Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import AnyShape, TensorType, tensor
from whorl.mdf.model import Datum
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.shapes import Expand, Shape

SETS = dims.name("sets")
"""The length of the last axis of what differs by parameter set: a program serves batches of any length."""


class NotElementwiseError(UnsupportedError):
    """A batch cannot have its axis behind all others, since something looks at whole arrays."""


class Traced(Struct, frozen=True, eq=False):
    """A value that only the run knows, in the region where it was made."""

    value: Value
    scope: Scope

    @property
    def type(self) -> TensorType:
        return tensor(self.value)


class Scope:
    """A region being written; `batched` values have a last axis for the parameter sets of a batch."""

    def __init__(self, region: Region, inference: Inference, outer: Scope | None = None, batched: bool = False) -> None:
        self.region, self.inference, self.outer, self.batched = region, inference, outer, batched
        self.sets: Traced | None = None
        """In the outermost region, a value that differs by parameter set."""
        self.build = Builder(region, inference)
        self.captured: list[Value] = []
        self.made: dict[tuple[Value, str], Value] = {}
        """Values that were cast or repeated to a type."""
        self._inside: dict[Value, Value] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], Value] = {}

    def inner(self, name: str) -> Scope:
        """A region inside this one."""
        return Scope(Region(name), self.inference, self, self.batched)

    def traced(self, value: Value) -> Traced:
        """A value of this region."""
        return Traced(value, self)

    def argument(self, name: str, type: TensorType) -> Traced:
        """A new argument of this region."""
        return self.traced(self.region.add_argument(name, type))

    def value(self, datum: Datum, whole: bool = False) -> Value:
        """A known or traced value as a value of this region; numbers are float64 unless they stay `whole`."""
        if isinstance(datum, Traced):
            return self._local(datum)
        array = as_number(datum, whole)
        return self.constant(array[..., np.newaxis] if self.batched else array)

    def constant(self, array: np.ndarray) -> Value:
        """A constant of this region, one for equal arrays."""
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._constants:
            self._constants[key] = self.build.constant(array)
        return self._constants[key]

    def repeated(self, value: Value, shape: tuple[dims.Dim, ...]) -> Value:
        """A value repeated to a shape whose last length may be that of the batch."""
        numbers = [length for length in shape if isinstance(length, int)]
        target = self.build.int64(*numbers)
        if SETS in shape:
            length = self.build.add(Shape(start=-1), self._local(self._outermost.sets_value))
            target = self.build.add(Concat(axis=0), target, length) if numbers else length
        return self.build.add(Expand(), value, target)

    @property
    def _outermost(self) -> Scope:
        return self if self.outer is None else self.outer._outermost

    @property
    def sets_value(self) -> Traced:
        """What tells how long a batch is."""
        if self.sets is None:
            raise UnsupportedError("nothing differs by parameter set")
        return self.sets

    def floats(self, datum: Datum) -> Value:
        """A value as float64."""
        value = self.value(datum)
        return value if tensor(value).dtype == FLOAT64 else self.build.add(Cast(to=FLOAT64), value)

    def truth(self, datum: Datum) -> Value:
        """A value as a condition."""
        value = self.value(datum)
        return value if tensor(value).dtype == BOOL else self.build.add(Cast(to=BOOL), value)

    def _local(self, datum: Traced) -> Value:
        if datum.scope is self:
            return datum.value
        if self.outer is None:
            raise UnsupportedError(f"value {datum.value.name!r} is read outside the region that makes it")
        if datum.value not in self._inside:
            self.captured.append(self.outer._local(datum))
            inside = self.region.add_argument(datum.value.name, datum.value.type, datum.value.known)
            self._inside[datum.value] = inside
        return self._inside[datum.value]


def is_sequence(datum: Datum) -> bool:
    """Whether a value is a sequence of ONNX; it lives for one evaluation."""
    return isinstance(datum, Traced) and not isinstance(datum.value.type, TensorType)


def lengths(datum: Traced) -> tuple[dims.Dim, ...]:
    """The shape of a value, all of it known but for the length of a batch. Errors: UnsupportedError."""
    try:
        if not differs_by_set(datum.type):
            return known_shape(datum.type)
        return (*element_shape(datum.type, True), SETS)
    except UnsupportedError as error:
        raise UnsupportedError(f"{datum.value.name!r} is {error.message}") from None


def differs_by_set(type: TensorType) -> bool:
    """Whether a value has the axis of a batch."""
    return not isinstance(type.shape, AnyShape) and type.shape[-1:] == (SETS,)


def element_shape(type: TensorType, batched: bool) -> tuple[int, ...]:
    """The shape that a value has for each parameter set. Errors: UnsupportedError."""
    if not batched or isinstance(type.shape, AnyShape):
        return known_shape(type)
    return known_shape(type.with_shape(type.shape[:-1]))


def known_shape(type: TensorType) -> tuple[int, ...]:
    """A shape of numbers. Errors: UnsupportedError."""
    dims = () if isinstance(type.shape, AnyShape) else tuple(dim for dim in type.shape if isinstance(dim, int))
    if len(dims) != type.rank:
        raise UnsupportedError(f"{type}, of a shape that only the run knows")
    return dims


def as_number(datum: Datum, whole: bool = False) -> np.ndarray:
    """A known value as an array that native code can take: numbers as float64, truth values as they are."""
    try:
        array = np.asarray(datum)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise UnsupportedError(f"{str(datum)[:60]!r} is no array of numbers", fix="run the model by the interpreter")
    if array.dtype.kind == "b" or (whole and array.dtype.kind in "iu"):
        return array
    return array.astype(np.float64)


def is_same(a: Datum, b: Datum) -> bool:
    """Whether two values are known to be equal, in shape and in every number."""
    if a is b:
        return True
    if isinstance(a, Traced) or isinstance(b, Traced):
        return isinstance(a, Traced) and isinstance(b, Traced) and a.value is b.value
    if a is None or b is None or isinstance(a, str | dict) or isinstance(b, str | dict):
        return type(a) is type(b) and a == b
    x, y = np.asarray(a), np.asarray(b)
    floats = x.dtype.kind == "f" and y.dtype.kind == "f"
    return x.shape == y.shape and (x.dtype == bool) == (y.dtype == bool) and np.array_equal(x, y, equal_nan=floats)
