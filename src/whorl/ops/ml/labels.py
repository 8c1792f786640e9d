"""Categories and labels: mapping elements to others, one-hot rows, and tables to and from maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.cached_property import cached_property
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import FLOAT32, INT64, STRING, name_of
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import AnyShape, Fact, MapType, SequenceType, TensorType, tensor
from whorl.ops.core.base import require_dtype
from whorl.ops.ml.native_lookup import Lookup
from whorl.ops.ml.tabular import NUMBERS, table, table_dims
from whorl.ops.native.index_maps import cast_view

_NAN = object()
"""What stands for every NaN among keys, so that they are all equal."""


def _key(value: Any) -> Any:
    return _NAN if isinstance(value, float) and math.isnan(value) else value


def looked_up(x: np.ndarray, entries: Mapping[Any, Any], default: Any, dtype: np.dtype) -> np.ndarray:
    """Every element replaced by its entry, or by the default."""
    result = np.empty(x.size, dtype)
    result[:] = [entries.get(_key(value), default) for value in x.reshape(-1).tolist()]
    return result.reshape(x.shape)


class CategoryMapper(Op, frozen=True):
    """Strings to integers or back, by the pairs (cats_strings, cats_int64s). Source: ONNX-ML CategoryMapper-1."""

    domain: ClassVar[str] = "ai.onnx.ml"
    cats_int64s: tuple[int, ...] = ()
    cats_strings: tuple[str, ...] = ()
    default_int64: int = -1
    default_string: str = "_Unused"

    def infer(self, x: Fact) -> TensorType:
        operand = tensor(x)
        require_dtype(operand.dtype, frozenset((STRING, INT64)))
        if len(self.cats_int64s) != len(self.cats_strings):
            raise TypeRuleError(f"has {len(self.cats_int64s)} cats_int64s and {len(self.cats_strings)} cats_strings")
        return operand.with_dtype(INT64 if operand.dtype == STRING else STRING)

    def run(self, x: np.ndarray) -> np.ndarray:
        if x.dtype == STRING:
            entries = dict(zip(self.cats_strings, self.cats_int64s, strict=True))
            return looked_up(x, entries, self.default_int64, INT64)
        return looked_up(x, dict(zip(self.cats_int64s, self.cats_strings, strict=True)), self.default_string, STRING)

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        (x,), strings, integers = inputs, *map(np.array, ([*map(number, self.cats_strings)], self.cats_int64s))
        if x is not None and tensor(x).dtype == STRING:
            return _integer_encoder(strings, integers, self.default_int64)
        return _integer_encoder(integers, strings, number(self.default_string))


def _integer_encoder(keys: np.ndarray, values: np.ndarray, default: int) -> LabelEncoder:
    """Integers for integers."""
    own, entries, other = (np.asarray(array, np.int64) for array in (keys, values, [default]))
    return LabelEncoder(keys_tensor=own, values_tensor=entries, default_tensor=other)


class LabelEncoder(Op, frozen=True, eq=False, dict=True):
    """Each element replaced by the value at its key, or by the default; the last of equal keys counts.

    Keys and values are one attribute each: strings, int64, float32, or a tensor. Source: ONNX-ML LabelEncoder-4.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    default_float: float = -0.0
    default_int64: int = -1
    default_string: str = "_Unused"
    default_tensor: np.ndarray | None = None
    keys_floats: tuple[float, ...] = ()
    keys_int64s: tuple[int, ...] = ()
    keys_strings: tuple[str, ...] = ()
    keys_tensor: np.ndarray | None = None
    values_floats: tuple[float, ...] = ()
    values_int64s: tuple[int, ...] = ()
    values_strings: tuple[str, ...] = ()
    values_tensor: np.ndarray | None = None

    def _read_entries(self, what: str) -> tuple[np.dtype, Sequence[Any]]:
        """The keys or the values, with their element type."""
        array = getattr(self, f"{what}_tensor")
        if array is not None:
            return array.dtype, array.reshape(-1).tolist()
        kinds = (("strings", STRING), ("int64s", INT64), ("floats", FLOAT32))
        matches = [(dtype, getattr(self, f"{what}_{kind}")) for kind, dtype in kinds if getattr(self, f"{what}_{kind}")]
        if not matches:
            raise TypeRuleError(f"has no {what}")
        return matches[0]

    @cached_property
    def keys(self) -> tuple[np.dtype, Sequence[Any]]:
        return self._read_entries("keys")

    @cached_property
    def values(self) -> tuple[np.dtype, Sequence[Any]]:
        return self._read_entries("values")

    @property
    def default(self) -> Any:
        """What an element without a key becomes."""
        dtype = self.values[0]
        if self.default_tensor is not None and self.default_tensor.dtype == dtype:
            return self.default_tensor.reshape(-1).tolist()[0]
        if dtype == STRING:
            return self.default_string
        return self.default_int64 if dtype.kind == "i" else self.default_float

    def infer(self, x: Fact) -> TensorType:
        operand = tensor(x)
        if operand.dtype != self.keys[0]:
            raise TypeRuleError(f"input is {operand}, the keys are {name_of(self.keys[0])}")
        if len(self.keys[1]) != len(self.values[1]):
            raise TypeRuleError(f"has {len(self.keys[1])} keys and {len(self.values[1])} values")
        return operand.with_dtype(self.values[0])

    def run(self, x: np.ndarray) -> np.ndarray:
        return looked_up(x, self._entries, self.default, self.values[0])

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        def array(dtype: np.dtype, elements: Sequence[Any]) -> np.ndarray:
            return np.array([*map(number, elements)], INT64) if dtype == STRING else np.array(elements, dtype)

        keys, values = array(*self.keys), array(*self.values)
        return LabelEncoder(
            keys_tensor=keys, values_tensor=values, default_tensor=array(self.values[0], [self.default])
        )

    any_length = heavy = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        return None if self._lookup is None else [self._lookup.view(k, inputs[0])]

    @cached_property
    def _lookup(self) -> Lookup | None:
        return Lookup.of(self._entries, self.default, self.keys[0], self.values[0])

    @cached_property
    def _entries(self) -> dict[Any, Any]:
        return {_key(k): v for k, v in zip(self.keys[1], self.values[1], strict=True)}


class OneHotEncoder(Op, frozen=True):
    """A new last axis with 1.0 at the element's category and 0.0 elsewhere; numbers are cut to integers first.

    Errors: a category that is not listed, if `zeros` is 0. Source: ONNX-ML OneHotEncoder-1.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    cats_int64s: tuple[int, ...] = ()
    cats_strings: tuple[str, ...] = ()
    zeros: int = 1

    def infer(self, x: Fact) -> TensorType:
        operand = tensor(x)
        require_dtype(operand.dtype, NUMBERS | {STRING})
        if not self._categories(operand.dtype):
            raise TypeRuleError(f"has no categories for {name_of(operand.dtype)}")
        if isinstance(operand.shape, AnyShape):
            return TensorType(FLOAT32)
        return TensorType(FLOAT32, (*operand.shape, len(self._categories(operand.dtype))))

    def _categories(self, dtype: np.dtype) -> tuple[str, ...] | tuple[int, ...]:
        return self.cats_strings if dtype == STRING else self.cats_int64s

    def run(self, x: np.ndarray) -> np.ndarray:
        categories = self._categories(x.dtype)
        elements = x if x.dtype == STRING else x.astype(np.int64)
        indices = looked_up(elements, {c: k for k, c in enumerate(categories)}, -1, INT64)
        if not self.zeros and (indices < 0).any():
            raise RunError(f"{elements[indices < 0].tolist()[0]!r} is not among the categories")
        return (indices[..., None] == np.arange(len(categories))).astype(np.float32)

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        return OneHotEncoder(tuple(map(number, self.cats_strings)), (), self.zeros)

    any_length = heavy = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        categories = self.cats_int64s
        lookup = Lookup.of({c: k for k, c in enumerate(categories)}, -1, INT64, INT64)
        assert lookup is not None, "indices are no large numbers"
        indices = lookup.view(k, cast_view(k, inputs[0], INT64))
        if not self.zeros:
            with k.nest(indices.shape) as index:
                k.fail_unless(k.compare("ge", indices.at(index), k.const(0)))

        def at(index: Index) -> Expr:
            return k.cast(k.compare("eq", indices.at(index[:-1]), index[-1]), FLOAT32)

        return [k.view(FLOAT32, (*indices.shape, len(categories)), at, 2)]


class ZipMap(Op, frozen=True):
    """A list with one map from class label to score for each row. Source: ONNX-ML ZipMap-1."""

    domain: ClassVar[str] = "ai.onnx.ml"
    classlabels_int64s: tuple[int, ...] = ()
    classlabels_strings: tuple[str, ...] = ()

    def infer(self, x: Fact) -> SequenceType:
        operand = tensor(x)
        require_dtype(operand.dtype, frozenset((FLOAT32,)))
        table_dims(operand)
        if bool(self.classlabels_int64s) == bool(self.classlabels_strings):
            raise TypeRuleError("needs integer labels or string labels, one of the two")
        return SequenceType(MapType(STRING if self.classlabels_strings else INT64, TensorType(FLOAT32, ())))

    @property
    def keys_of_rows(self) -> tuple[str, ...] | tuple[int, ...]:
        return self.classlabels_strings or self.classlabels_int64s

    def run(self, x: np.ndarray) -> list[dict[Any, float]]:
        labels = self.keys_of_rows
        rows = table(x)
        if rows.shape[1] != len(labels):
            raise RunError(f"{rows.shape[1]} columns do not fit {len(labels)} labels")
        return [dict(zip(labels, row, strict=True)) for row in rows.tolist()]


def _map_type(fact: Fact) -> MapType:
    if not isinstance(fact.type, MapType):
        raise TypeRuleError(f"input is {fact.type}, expected a map")
    return fact.type


_CASTS = {"TO_FLOAT": FLOAT32, "TO_INT64": INT64, "TO_STRING": STRING}


class CastMap(Op, frozen=True):
    """The values of a map from int64 in the order of its keys, [1, n]; with SPARSE the key is the column.

    Columns without a key are zero ("0.f" as text), keys past `max_map` are dropped.
    Source: ONNX-ML CastMap-1; text forms: onnxruntime.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    cast_to: str = "TO_FLOAT"
    map_form: str = "DENSE"
    max_map: int = 1

    def infer(self, x: Fact) -> TensorType:
        _map_type(x)
        if self.cast_to not in _CASTS or self.map_form not in ("DENSE", "SPARSE"):
            raise TypeRuleError(f"cast_to {self.cast_to!r} or map_form {self.map_form!r} is not defined")
        return TensorType(_CASTS[self.cast_to], (1, UNKNOWN if self.map_form == "DENSE" else self.max_map))

    def run(self, x: dict[int, Any]) -> np.ndarray:
        dtype = _CASTS[self.cast_to]
        cells = {key: self._cast(value) for key, value in sorted(x.items())}
        if self.map_form == "SPARSE":
            if cells and min(cells) < 0:
                raise RunError(f"key {min(cells)} is negative")
            empty = "0.f" if dtype == STRING else 0
            cells = {key: cells.get(key, empty) for key in range(self.max_map)}
        result = np.empty(len(cells), dtype)
        result[:] = list(cells.values())
        return result.reshape(1, -1)

    def _cast(self, value: Any) -> Any:
        if self.cast_to == "TO_STRING":
            return value if isinstance(value, str) else f"{float(value):f}"
        try:
            return float(value) if self.cast_to == "TO_FLOAT" else int(value)
        except (ValueError, OverflowError) as error:
            raise RunError(f"{value!r} is not a number: {error}") from None


class DictVectorizer(Op, frozen=True):
    """The values of a map in the order of the vocabulary, [1, n]; keys that are missing give zero or "".

    Source: ONNX-ML DictVectorizer-1; the leading axis: onnxruntime.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    int64_vocabulary: tuple[int, ...] = ()
    string_vocabulary: tuple[str, ...] = ()

    def infer(self, x: Fact) -> TensorType:
        operand = _map_type(x)
        if operand.key != (STRING if self.string_vocabulary else INT64):
            raise TypeRuleError(f"input is {operand}, its keys are not those of the vocabulary")
        if not isinstance(operand.value, TensorType):
            raise TypeRuleError(f"input is {operand}, expected scalars as values")
        return TensorType(operand.value.dtype, (1, len(self.string_vocabulary or self.int64_vocabulary)))

    def run(self, x: dict[Any, Any]) -> np.ndarray:
        dtype = value_dtype(x)
        result = np.empty(len(self.string_vocabulary or self.int64_vocabulary), dtype)
        empty = "" if dtype == STRING else 0
        result[:] = [x.get(key, empty) for key in self.string_vocabulary or self.int64_vocabulary]
        return result.reshape(1, -1)


def value_dtype(x: Mapping[Any, Any]) -> np.dtype:
    """The element type of a map's values: that of arrays and NumPy scalars, else string, int64 or float32."""
    value = next(iter(x.values()), 0.0)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype
    if isinstance(value, str):
        return STRING
    return INT64 if isinstance(value, int) else FLOAT32
