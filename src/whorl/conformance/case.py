"""One conformance case: a model, what goes in, and what must come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import onnx
from msgspec import Struct, field
from onnx import ModelProto

from whorl.conformance.checks import Check
from whorl.conformance.clauses import CLAUSES, Clause
from whorl.conformance.rules import RULES, Rule
from whorl.conformance.values import Value
from whorl.ir.cached_property import cached_property


class Case(Struct, frozen=True, eq=False, dict=True):
    """A model in ONNX text with inputs and one expectation.

    The expectation is one of: `expected` (values of the outputs), `error` (a clean error, no crash, no hang), `check`.
    `control` are inputs of an error case with which the same model must run, so that refusing the model is no pass.
    `repeat` runs in one session must give the same; `sessions` fresh sessions are what a `check` can compare.
    `may_refuse`: a clean error is also fine. `decided_by`: names of CLAUSES that say what must come out. `ambiguous`:
    none does, as ONNX's text leaves room, or the model breaks its letter.
    """

    name: str
    rules: tuple[Rule, ...]
    doc: str
    model: str
    inputs: Mapping[str, Value] = field(default_factory=dict)
    expected: Sequence[Value] | None = None
    error: bool = False
    check: Check | None = None
    control: Mapping[str, Value] | None = None
    tolerance: float = 0.0
    repeat: int = 1
    sessions: int = 1
    may_refuse: bool = False
    ambiguous: bool = False
    decided_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.expected is not None) + self.error + (self.check is not None) != 1:
            raise ValueError(f"{self.name}: give exactly one of expected, error and check")
        if unknown := [rule for rule in self.rules if rule not in RULES]:
            raise ValueError(f"{self.name}: no such rule {unknown}")
        if unknown := [name for name in self.decided_by if name not in CLAUSES]:
            raise ValueError(f"{self.name}: no such sentence {unknown}")
        if self.ambiguous == bool(self.decided_by):
            raise ValueError(f"{self.name}: a case is open, or sentences decide it")

    @cached_property
    def proto(self) -> ModelProto:
        return onnx.parser.parse_model(self.model)

    @property
    def clauses(self) -> dict[str, Clause]:
        """The sentences that decide what must come out, by their names; none for an open case."""
        return {name: CLAUSES[name] for name in self.decided_by}

    @cached_property
    def data(self) -> bytes:
        return self.proto.SerializeToString()

    @cached_property
    def control_ops(self) -> tuple[str, ...]:
        """The control-flow ops of the model with their versions, as `Loop-16`."""
        versions = {opset.domain: opset.version for opset in self.proto.opset_import}
        names = {node.op_type for node in nodes_of(self.proto) if node.op_type in ("If", "Loop", "Scan", "SequenceMap")}
        return tuple(f"{name}-{_since(name, versions[''])}" for name in sorted(names))


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


def _since(name: str, opset: int) -> int:
    return onnx.defs.get_schema(name, max_inclusive_version=opset).since_version
