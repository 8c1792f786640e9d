"""How one ONNX node becomes hub nodes: by field names where the versions agree, else by a registered importer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct, field

from whorl.errors import LoadError, UnsupportedError, format_title
from whorl.formats.onnx.dtypes import from_onnx
from whorl.formats.onnx.protos import GraphProto
from whorl.ir.build import Builder
from whorl.ir.definitions import DEFINITIONS
from whorl.ir.graph import REGISTRY, Op, Value
from whorl.ir.registry import Providers
from whorl.ops.core.custom import CustomOp, ImpureCustomOp


class OnnxNode(Struct):
    """A node as the file has it, with its inputs looked up.

    `version` is the since_version of the operator that applies. `inputs` holds None where an input is blank or
    left out in the middle. Attributes are Python values: int, float, str, tuples of these, arrays, types; GRAPH
    attributes stay protos. An importer may look at element types, never at ranks or dims: a value in a loop body can
    have other ones in a later iteration.
    """

    op_type: str
    domain: str
    version: int
    name: str
    inputs: list[Value | None]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return format_title(self.op_type, self.name or (self.outputs[0] if self.outputs else ""))

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def input(self, index: int) -> Value | None:
        """The input at a position, None where it is omitted."""
        return self.inputs[index] if index < len(self.inputs) else None

    def required(self, index: int) -> Value:
        """The input at a position, or a LoadError."""
        value = self.input(index)
        if value is None:
            raise LoadError(f"input {index} is missing", self.title, "give the input a name")
        return value


Importer = Callable[[OnnxNode, Builder], "Value | list[Value]"]
VERSIONS = Providers()
"""The modules that read or write an operator, by its name; for reading and for writing."""
IMPORTERS: dict[tuple[str, str], list[tuple[int, int, Importer]]] = {}


def importer(name: str, *, since: int = 1, until: int = 1 << 30, domain: str = "") -> Callable[[Importer], Importer]:
    """Register a function for the operator versions `since..until` (since_versions, both inclusive)."""

    def register(function: Importer) -> Importer:
        IMPORTERS.setdefault((domain, name), []).append((since, until, function))
        return function

    return register


def find_importer(node: OnnxNode) -> Importer | None:
    """The function that reads this version of the op, the generic one if the hub's op has the same meaning."""
    if (node.domain, node.op_type) in DEFINITIONS:
        return import_registered
    VERSIONS.load(node.op_type)
    for since, until, function in IMPORTERS.get((node.domain, node.op_type), ()):
        if since <= node.version <= until:
            return function
    op_class = REGISTRY.get(node.op_type)
    return import_by_fields if op_class is not None and op_class.domain == node.domain else None


def import_by_fields(node: OnnxNode, build: Builder) -> list[Value]:
    """Attributes become the fields of the op class of the same name; inputs and outputs keep their places."""
    return build.add_many(make_op(node), node.inputs, node.outputs, name=node.name)


def import_registered(node: OnnxNode, build: Builder) -> list[Value]:
    """A node of an operator that a user registered, with its attributes as the file has them."""
    graph = next((name for name, value in node.attributes.items() if isinstance(value, GraphProto)), None)
    if graph is not None:
        raise UnsupportedError(f"attribute {graph!r} is a graph", node.title, "a registered operator takes none")
    kind = CustomOp if DEFINITIONS[node.domain, node.op_type].pure else ImpureCustomOp
    op = kind(node.op_type, node.domain, tuple(sorted(node.attributes.items())), len(node.outputs))
    return build.add_many(op, node.inputs, node.outputs, name=node.name)


def make_op(node: OnnxNode, **changed: Any) -> Op:
    """The op of the node's type with its attributes as fields; `changed` replaces some (None drops one)."""
    op_class = REGISTRY[node.op_type]
    fields, element_types = op_class.__struct_fields__, element_type_fields(op_class)
    values = {k: v for k, v in {**node.attributes, **changed}.items() if v is not None}
    unknown = [k for k in values if k not in fields]
    if unknown:
        raise UnsupportedError(f"attribute {unknown[0]!r} is not known in version {node.version}", node.title)
    if "output_count" in fields:
        values["output_count"] = len(node.outputs)
    for key, value in values.items():
        if key in element_types and not isinstance(value, np.dtype):
            values[key] = from_onnx(value, f"attribute {key!r}")
    try:
        return op_class(**values)
    except TypeError as error:
        raise LoadError(f"has wrong attributes: {error}", node.title) from None


@functools.cache
def element_type_fields(op_class: type[Op]) -> frozenset[str]:
    """The fields that are element types, which files have numbers for; by the text of annotations, which is quick."""
    texts: dict[str, str] = {}
    for base in reversed(op_class.__mro__):
        texts |= getattr(base, "__annotations__", {})
    return frozenset(name for name in op_class.__struct_fields__ if texts[name].partition(" | ")[0] == "np.dtype")
