"""Nodes of operators that a user registered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.definitions import DEFINITIONS, Definition
from whorl.ir.dtypes import name_of
from whorl.ir.graph import Op, as_types, as_values
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import UNRANKED, Fact, TensorType, Type, fact_of


class CustomOp(Op, frozen=True):
    """A node of an operator that is registered: its domain and name in files, and its attributes.

    Its meaning is what was registered. Without types of its own the outputs are of the element type of the first input,
    and of any shape.
    """

    type: str
    of: str
    attributes: tuple[tuple[str, Any], ...] = ()
    output_count: int = 1

    @property
    def title(self) -> str:
        return f"{self.of}.{self.type}"

    def definition(self) -> Definition:
        """What is registered. Errors: RunError where nothing is, as in another process."""
        definition = DEFINITIONS.get((self.of, self.type))
        if definition is None:
            raise RunError(f"{self.title} is not registered", fix="call whorl.register_op first")
        return definition

    def infer(self, *inputs: Fact | None) -> tuple[Type, ...]:
        types = tuple(None if fact is None else fact.type for fact in inputs)
        infer = self.definition().infer
        if infer is not None:
            results = as_types(infer(*types, **dict(self.attributes)))
            if len(results) < self.output_count:
                raise TypeRuleError(
                    f"infer of {self.title} gives {len(results)} types for {self.output_count} outputs",
                    fix="return a type for each output",
                )
            return results[: self.output_count]
        first = next((type for type in types if isinstance(type, TensorType)), None)
        if first is None:
            raise TypeRuleError(f"{self.title} has no tensor among its inputs", fix="register it with infer")
        return (TensorType(first.dtype, UNRANKED),) * self.output_count

    def run(self, *inputs: Any) -> tuple[Any, ...]:
        results = as_values(self.definition().run(*inputs, **dict(self.attributes)))
        if len(results) < self.output_count:
            raise RunError(f"{self.title} gave {len(results)} of {self.output_count} outputs")
        facts = [None if x is None else fact_of(x) for x in inputs]
        for index, (value, type) in enumerate(zip(results, self.infer(*facts), strict=False)):
            if isinstance(type, TensorType) and (not isinstance(value, np.ndarray) or value.dtype != type.dtype):
                shown = name_of(value.dtype) if isinstance(value, np.ndarray) else value.__class__.__name__
                raise RunError(
                    f"output {index} of {self.title} is {shown}, its type says {name_of(type.dtype)}",
                    fix="register it with an infer that gives this type",
                )
        return results[: self.output_count]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        lower = self.definition().lower
        return None if lower is None else lower(k, inputs, outputs)


class ImpureCustomOp(CustomOp, frozen=True):
    """A node of an operator that is registered as one that does more than give outputs, or other ones every time."""

    pure: ClassVar[bool] = False

    @property
    def can_repeat(self) -> bool:
        return self.definition().repeatable
