"""Feature preparation: selecting, scaling, normalising and filling the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, INT64, STRING
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import require_dtype, snapshot, unify_lengths
from whorl.ops.ml.native_features import exceed, impute, line_up, normalise_rows, scale_columns, select_columns
from whorl.ops.ml.tabular import NUMBERS, numbers, table, table_dims


class ArrayFeatureExtractor(Op, frozen=True):
    """x[..., indices]; a tensor of rank 1 becomes one row. Source: ONNX-ML ArrayFeatureExtractor-1."""

    domain: ClassVar[str] = "ai.onnx.ml"
    polymorphic = True

    def infer(self, x: Fact, indices: Fact) -> TensorType:
        operand, chosen = tensor(x), tensor(indices, "indices")
        require_dtype(operand.dtype, NUMBERS | {STRING})
        if chosen.dtype != INT64:
            raise TypeRuleError(f"indices are {chosen}, expected int64")
        if isinstance(operand.shape, AnyShape):
            return operand
        if not operand.shape:
            raise TypeRuleError("input is a scalar, it has no features")
        count = UNKNOWN if isinstance(chosen.shape, AnyShape) else dims.product(chosen.shape)
        return operand.with_shape((*operand.shape[:-1], count) if len(operand.shape) > 1 else (1, count))

    def run(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        if not x.ndim:
            raise RunError("input is a scalar, it has no features")
        chosen, count = snapshot(indices).reshape(-1), x.shape[-1]
        wrong = chosen[(chosen < 0) | (chosen >= count)]
        if wrong.size:
            raise RunError(f"index {wrong[0]} is outside [0, {count}) of the last axis")
        return np.atleast_2d(x)[..., chosen]

    any_length = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        return [select_columns(k, inputs[0], inputs[1])] if inputs[0].shape else None


class Binarizer(Op, frozen=True):
    """1 where x > threshold, else 0, in the type of x (NaN: 0). Source: ONNX-ML Binarizer-1."""

    domain: ClassVar[str] = "ai.onnx.ml"
    threshold: float = 0.0

    def infer(self, x: Fact) -> TensorType:
        return numbers(x)

    def run(self, x: np.ndarray) -> np.ndarray:
        return (x > self.threshold).astype(x.dtype)

    any_length = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        return [exceed(k, inputs[0], self.threshold)]


class FeatureVectorizer(Op, frozen=True):
    """The inputs side by side as float32 [N, sum(inputdimensions)], each cut or filled with zeros to its width.

    Shapes: [N, C] or [C] each; without `inputdimensions` every input keeps its width.
    Source: ONNX-ML FeatureVectorizer-1.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    inputdimensions: tuple[int, ...] = ()

    def infer(self, *inputs: Fact) -> TensorType:
        if self.inputdimensions and len(self.inputdimensions) != len(inputs):
            raise TypeRuleError(f"has {len(inputs)} inputs and {len(self.inputdimensions)} inputdimensions")
        tables = [table_dims(numbers(x)) for x in inputs]
        width: Dim = 0
        for features in self.inputdimensions or [features for _, features in tables]:
            width = width + features
        return TensorType(FLOAT32, (unify_lengths("the number of rows", *(rows for rows, _ in tables)), width))

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        tables = [table(x) for x in inputs]
        widths = self.inputdimensions or [t.shape[1] for t in tables]
        if len({len(t) for t in tables}) > 1:
            raise RunError(f"inputs have {', '.join(str(len(t)) for t in tables)} rows")
        result = np.zeros((len(tables[0]), sum(widths)), np.float32)
        start = 0
        for rows, width in zip(tables, widths, strict=True):
            used = min(width, rows.shape[1])
            result[:, start : start + used] = rows[:, :used]
            start += width
        return result

    any_length = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        widths = self.inputdimensions or [x.shape[-1] for x in inputs.present()]
        return [line_up(k, inputs.present(), widths)]


class Imputer(Op, frozen=True):
    """imputed value where x equals the replaced value (a NaN equals a NaN), else x.

    One imputed value serves all features; otherwise there is one for each entry of the last axis.
    Source: ONNX-ML Imputer-1.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    imputed_value_floats: tuple[float, ...] = ()
    imputed_value_int64s: tuple[int, ...] = ()
    replaced_value_float: float = 0.0
    replaced_value_int64: int = 0

    def infer(self, x: Fact) -> TensorType:
        operand = numbers(x)
        if not self._values(operand.dtype):
            raise TypeRuleError(f"has no imputed values for {operand}")
        return operand

    def _values(self, dtype: np.dtype) -> tuple[float, ...] | tuple[int, ...]:
        return self.imputed_value_int64s if dtype.kind == "i" else self.imputed_value_floats

    def run(self, x: np.ndarray) -> np.ndarray:
        replaced = self.replaced_value_int64 if x.dtype.kind == "i" else self.replaced_value_float
        values = np.array(self._values(x.dtype), x.dtype)
        if not x.ndim or len(values) != x.shape[-1]:
            values = values[0]
        missing = np.isnan(x) if replaced != replaced else x == replaced
        return np.where(missing, values, x)

    any_length = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        x = inputs[0]
        values, replaced = self._values(x.dtype), self.replaced_value_float
        if x.dtype.kind == "i":
            replaced, limits = self.replaced_value_int64, np.iinfo(x.dtype)
            if any(not limits.min <= number <= limits.max for number in (*values, replaced)):
                return None
        return [impute(k, x, np.array(values, x.dtype), replaced)]


class Normalizer(Op, frozen=True):
    """Each row over its MAX (the largest element), L1 (sum of |x|) or L2 norm, float32; a row of norm 0 stays.

    Shapes: [N, C] or [C]. Source: ONNX-ML Normalizer-1; the sign of MAX: onnxruntime.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    norm: str = "MAX"

    def infer(self, x: Fact) -> TensorType:
        if self.norm not in ("MAX", "L1", "L2"):
            raise TypeRuleError(f"norm {self.norm!r} is none of MAX, L1, L2")
        operand = numbers(x)
        table_dims(operand)
        return operand.with_dtype(FLOAT32)

    def run(self, x: np.ndarray) -> np.ndarray:
        if table(x).shape[1] == 0:
            return x.astype(np.float32, copy=False)
        rows = x.astype(np.float32, copy=False)
        if self.norm == "L2":
            squares = (x * x).astype(np.float32, copy=False)
            total = squares.sum(axis=-1, keepdims=True)
            return np.where(total == 0, rows, np.copysign(np.sqrt(squares / total), rows))
        if self.norm == "MAX":
            divisor = rows.max(axis=-1, keepdims=True)
        else:
            divisor = np.abs(rows).sum(axis=-1, keepdims=True)
        return np.where(divisor == 0, rows, rows / divisor)

    any_length = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        return [normalise_rows(k, inputs[0], self.norm)]


class Scaler(Op, frozen=True):
    """(x - offset) * scale in float32 (float64 inputs: computed in float64); one value each, or one a feature.

    Source: ONNX-ML Scaler-1.
    """

    domain: ClassVar[str] = "ai.onnx.ml"
    offset: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()

    def infer(self, x: Fact) -> TensorType:
        operand = numbers(x)
        if operand.rank:
            assert not isinstance(operand.shape, AnyShape)
            features = operand.shape[-1]
            for what, values in (("offset", self.offset), ("scale", self.scale)):
                if len(values) > 1 and dims.differ(features, len(values)):
                    raise TypeRuleError(f"{what} has {len(values)} elements for {features} features")
        return TensorType(FLOAT32, operand.shape)

    def run(self, x: np.ndarray) -> np.ndarray:
        wide = x if x.dtype == np.float64 else x.astype(np.float32, copy=False)
        offset = np.array(self.offset or (0.0,), np.float32)
        scale = np.array(self.scale or (1.0,), np.float32)
        for what, values in (("offset", offset), ("scale", scale)):
            if len(values) != 1 and values.shape != x.shape[-1:]:
                raise RunError(f"{what} has {len(values)} elements for an input of shape {list(x.shape)}")
        if not x.ndim:
            offset, scale = offset[0], scale[0]
        return ((wide - offset) * scale).astype(np.float32, copy=False)

    any_length = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> list[View] | None:
        offset, scale = (np.array(row, np.float32) for row in (self.offset or (0.0,), self.scale or (1.0,)))
        result = scale_columns(k, inputs[0], offset, scale)
        return None if result is None else [result]
