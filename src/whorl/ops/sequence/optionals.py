"""Optionals: a value or nothing. At run time the value itself, or None."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Op
from whorl.ir.types import Fact, OptionalType, TensorType, Type


class Optional(Op, frozen=True):
    """The input as an optional; without one, an empty optional of element type `type`. Source: ONNX Optional-28."""

    type: Type | None = None

    def infer(self, value: Fact | None = None) -> OptionalType:
        if value is not None:
            return OptionalType(value.type)
        if self.type is None:
            raise TypeRuleError("is empty and says no element type", fix="give the attribute 'type'")
        return OptionalType(self.type)

    def run(self, value: Any = None) -> Any:
        return value


class OptionalGetElement(Op, frozen=True):
    """What is inside an optional; a tensor or sequence as it is. Source: ONNX OptionalGetElement-28.

    Errors: the optional is empty.
    """

    def infer(self, value: Fact) -> Type:
        return value.type.element if isinstance(value.type, OptionalType) else value.type

    def run(self, value: Any) -> Any:
        if value is None:
            raise RunError("the optional is empty", fix="ask OptionalHasElement first")
        return value


class OptionalHasElement(Op, frozen=True):
    """Whether there is something inside; True for tensors and sequences, False for an omitted input.

    Source: ONNX OptionalHasElement-28.
    """

    def infer(self, value: Fact | None = None) -> TensorType:
        return TensorType(BOOL, ())

    def infer_known(self, *inputs: Fact | None) -> tuple[np.ndarray | None, ...]:
        value = inputs[0] if inputs else None
        if value is not None and isinstance(value.type, OptionalType):
            return (None,)
        return (np.array(value is not None, dtype=object),)

    def run(self, value: Any = None) -> np.ndarray:
        return np.array(value is not None)
