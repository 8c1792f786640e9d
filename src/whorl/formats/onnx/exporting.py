"""How one hub node becomes ONNX nodes: by field names where the versions agree, else by a registered exporter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from whorl.formats.onnx.importing import VERSIONS
from whorl.formats.onnx.protos import GraphProto
from whorl.formats.onnx.schemas import OpSchema
from whorl.ir.constants import LazyArray
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import Type


class NodeWriter(Protocol):
    """What exporters call: the writer of one graph, `writer.GraphWriter`, which depends on this module."""

    graph: GraphProto
    values: dict[Value, str]

    @property
    def opset(self) -> int: ...

    def name(self, value: Value | None) -> str: ...

    def fresh(self, hint: str) -> str: ...

    def outputs(self, node: Node) -> list[str]: ...

    def node(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        domain: str = "",
        name: str = "",
        **attributes: Any,
    ) -> None: ...

    def constant(self, value: np.ndarray | LazyArray, hint: str = "const") -> str: ...

    def constant_value(self, value: Value | None) -> np.ndarray | None: ...

    def schema(self, op_type: str, domain: str) -> OpSchema: ...

    def add_inputs(self, arguments: Sequence[Value]) -> None: ...

    def write(self, node: Node, renamed: dict[Value, str]) -> None: ...

    def finish(
        self,
        region: Region,
        results: Sequence[Value],
        names: Sequence[str] | None = None,
        declared: Mapping[int, Type | None] = MappingProxyType({}),
    ) -> GraphProto: ...

    def child(self) -> NodeWriter: ...


Exporter = Callable[[Node, NodeWriter], None]
EXPORTERS: dict[str, list[tuple[int, Exporter]]] = {}


def exporter(name: str, *, until: int = 1 << 30) -> Callable[[Exporter], Exporter]:
    """Register a function that writes hub op `name` for target opsets up to and including `until`.

    Where several are registered, the one with the lowest sufficient `until` is taken. The function calls
    `write.node(...)`; it raises SaveError where the target cannot say what the node means.
    """

    def register(function: Exporter) -> Exporter:
        EXPORTERS.setdefault(name, []).append((until, function))
        EXPORTERS[name].sort(key=lambda entry: entry[0])
        return function

    return register


def find_exporter(name: str, opset: int) -> Exporter | None:
    """The function that writes this op at an opset; None for writing by field names."""
    VERSIONS.load(name)
    return next((function for until, function in EXPORTERS.get(name, ()) if opset <= until), None)
