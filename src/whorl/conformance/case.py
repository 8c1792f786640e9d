"""One conformance case: a model, what goes in, and what must come out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto
from onnx.helper import find_min_ir_version_for, make_opsetid

from whorl.conformance.clauses import CLAUSES, Clause
from whorl.conformance.decisions import clauses_of
from whorl.conformance.rules import RULES, Rule
from whorl.conformance.values import Value

Check = Callable[[list[list[Value]]], str]
"""Given the outputs of every run: what is wrong, or an empty string."""


@dataclass(frozen=True, eq=False)
class Case:
    """A model in ONNX text (or built, where text cannot say it) with inputs and one expectation.

    The expectation is one of: `expected` (values of the outputs), `error` (a clean error, no crash, no hang), `check`.
    `control` are inputs of an error case with which the same model must run, so that refusing the model is no pass.
    `repeat` runs in one session must give the same; `sessions` fresh sessions are what a `check` can compare.
    `may_refuse`: a clean error is also fine. `ambiguous`: ONNX's text leaves room, or the model breaks its letter;
    every other case has `clauses`.
    """

    name: str
    rules: tuple[Rule, ...]
    doc: str
    model: str | Callable[[], ModelProto]
    inputs: Mapping[str, Value] = field(default_factory=dict)
    expected: Sequence[Value] | None = None
    error: bool = False
    check: Check | None = None
    control: Mapping[str, Value] | None = None
    opset: int = 17
    tolerance: float = 0.0
    repeat: int = 1
    sessions: int = 1
    may_refuse: bool = False
    ambiguous: bool = False

    def __post_init__(self) -> None:
        if (self.expected is not None) + self.error + (self.check is not None) != 1:
            raise ValueError(f"{self.name}: give exactly one of expected, error and check")
        if unknown := [rule for rule in self.rules if rule not in RULES]:
            raise ValueError(f"{self.name}: no such rule {unknown}")
        for values in (self.inputs, self.control or {}):
            if wrong := [name for name, value in values.items() if not is_value(value)]:
                raise ValueError(f"{self.name}: the inputs {wrong} are not arrays, lists or None")
        if not all(is_value(value) for value in self.expected or ()):
            raise ValueError(f"{self.name}: an expected value is not an array, list or None")

    @cached_property
    def proto(self) -> ModelProto:
        """The model; text without a header gets the one of `opset`.

        A dim's name is one length in the whole model, bodies included, says IR.md; what changes from one iteration to
        the next has none. So the names in the bodies of a case that is not open are for its readers alone.
        """
        proto = self._parsed() if isinstance(self.model, str) else self.model()
        if not self.ambiguous:
            _open_dims(proto.graph)
        return proto

    def _parsed(self) -> ModelProto:
        assert isinstance(self.model, str)
        text = self.model.strip()
        if text.startswith("<"):
            return onnx.parser.parse_model(text)
        version = find_min_ir_version_for([make_opsetid("", self.opset)])
        return onnx.parser.parse_model(f'<ir_version: {version}, opset_import: ["" : {self.opset}]>\n{text}')

    @property
    def clauses(self) -> dict[str, Clause]:
        """The sentences that decide what must come out, by their names; none for an open case."""
        return {} if self.ambiguous else {name: CLAUSES[name] for name in clauses_of(self.name)}

    @cached_property
    def data(self) -> bytes:
        return self.proto.SerializeToString()

    @cached_property
    def control_ops(self) -> tuple[str, ...]:
        """The control-flow ops of the model with their versions, as `Loop-16`."""
        versions = {opset.domain: opset.version for opset in self.proto.opset_import}
        names = {node.op_type for node in nodes_of(self.proto) if node.op_type in ("If", "Loop", "Scan", "SequenceMap")}
        return tuple(f"{name}-{_since(name, versions[''])}" for name in sorted(names))


def is_value(value: Any) -> bool:
    """True for an array, a list of values, or None."""
    if isinstance(value, list):
        return all(is_value(item) for item in value)
    return value is None or isinstance(value, np.ndarray)


def nodes_of(model: ModelProto) -> Iterator[onnx.NodeProto]:
    """Every node of a model: graph, functions, bodies and branches."""
    pending = [*model.graph.node]
    for function in model.functions:
        pending += function.node
    while pending:
        node = pending.pop()
        yield node
        for attribute in node.attribute:
            pending += attribute.g.node


def _open_dims(graph: onnx.GraphProto) -> None:
    """Take the names of dims from what bodies and branches declare."""
    for node in graph.node:
        for attribute in node.attribute:
            inner = attribute.g
            for info in (*inner.input, *inner.output, *inner.value_info):
                for dim in _tensor_type(info.type).shape.dim:
                    dim.ClearField("dim_param")
            _open_dims(inner)


def _tensor_type(type: onnx.TypeProto) -> onnx.TypeProto.Tensor:
    """The type of the tensors that a value is, or holds."""
    while not type.HasField("tensor_type") and (kind := type.WhichOneof("value")) in ("sequence_type", "optional_type"):
        type = getattr(type, kind).elem_type
    return type.tensor_type


def _since(name: str, opset: int) -> int:
    return onnx.defs.get_schema(name, max_inclusive_version=opset).since_version
