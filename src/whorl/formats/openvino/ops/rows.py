"""What maps 1:1: a layer type and a hub op in one row, from which the reader and the writer both follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from whorl.formats.openvino.ops.nodes import emit
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.layers import types_of
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Attribute, Source, Sources
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import TensorType

O = TypeVar("O", bound=Op)


class Field(Struct, frozen=True):
    """A field of the op that the layer has as an attribute, with the conversions of its value."""

    name: str
    attribute: str
    read: Callable[[IrNode], Any]
    write: Callable[[Any], Attribute]


def integer(name: str, attribute: str = "", default: int | None = None) -> Field:
    """A whole number."""
    key = attribute or name
    return Field(name, key, lambda node: node.integer(key, default), int)


def number(name: str, attribute: str = "", default: float | None = None) -> Field:
    """A floating-point number."""
    key = attribute or name
    return Field(name, key, lambda node: node.number(key, default), float)


def flag(name: str, attribute: str = "", default: bool = False, opposite: bool = False) -> Field:
    """A truth value, which the hub has as 0 or 1; `opposite`: the attribute is true where the field is 0."""
    key = attribute or name
    return Field(
        name, key, lambda node: int(node.flag(key, default) != opposite), lambda value: bool(value) != opposite
    )


def choice(name: str, names: Mapping[str, str], attribute: str = "", default: str | None = None) -> Field:
    """One of several texts: the hub's by OpenVINO's."""
    key, hub = attribute or name, {text.lower(): value for text, value in names.items()}
    layer = {value: text for text, value in names.items()}
    return Field(name, key, lambda node: hub[node.text(key, default, tuple(hub))], layer.__getitem__)


Reads = Callable[[IrNode, Builder, O], list[Value]]
Writes = Callable[[O, Node, NetWriter, "Row[Any]"], Sources]


class Row(Struct, Generic[O], frozen=True):
    """A layer type since some opsets, and the op that means the same.

    `reads` makes hub nodes around the op where the inputs need it, `writes` layers around the layer. `only`: values of
    the op's fields that the layer type implies. `written` is the opset in files, the last of `opsets` unless given, and
    0 for a row that is only read. `constants` are attributes that every written layer has.
    """

    type: str
    opsets: int | tuple[int, ...]
    op: type[O]
    fields: Sequence[Field] = ()
    reads: Reads[O] | None = None
    writes: Writes[O] | None = None
    inputs: int | None = 1
    only: Mapping[str, Any] = field(default_factory=dict)
    written: int | None = None
    constants: Mapping[str, Attribute] = field(default_factory=dict)

    @property
    def versions(self) -> tuple[int, ...]:
        """The opsets whose layers are read by this row."""
        return self.opsets if isinstance(self.opsets, tuple) else (self.opsets,)

    @property
    def opset(self) -> int:
        """The opset of the layers that are written."""
        return self.versions[-1] if self.written is None else self.written

    def read(self, node: IrNode, build: Builder) -> list[Value]:
        """The hub nodes of a layer."""
        op = self.op(**{each.name: each.read(node) for each in self.fields}, **self.only)
        if self.reads is not None:
            return self.reads(node, build, op)
        inputs = node.inputs if self.inputs is None else [node.required(index) for index in range(self.inputs)]
        return emit(node, build, op, *inputs)

    def write(self, op: O, node: Node, writer: NetWriter) -> Sources:
        """The layers of a hub node."""
        return self.layer(op, node, writer) if self.writes is None else self.writes(op, node, writer, self)

    def layer(
        self,
        op: O,
        node: Node,
        writer: NetWriter,
        inputs: Sequence[Source] | None = None,
        types: Sequence[TensorType] | None = None,
    ) -> list[Source]:
        """The layer itself, of the node's inputs and output types, or of others."""
        sources = [writer.source(value) for value in node.inputs] if inputs is None else inputs
        attributes = {each.attribute: each.write(getattr(op, each.name)) for each in self.fields} | {**self.constants}
        return writer.layer(self.type, self.opset, sources, types or types_of(node.outputs), "", **attributes)

    def applies(self, op: Op) -> bool:
        """Whether the layer type means this op."""
        return self.opset > 0 and all(getattr(op, name) == value for name, value in self.only.items())


def register(rows: Sequence[Row[Any]]) -> None:
    """Let readers and writers of layers follow rows; of several rows for an op the first that applies is written."""
    by_op: dict[type[Op], list[Row[Any]]] = {}
    for row in rows:
        importer(row.type, *row.versions)(row.read)
        if row.opset:
            by_op.setdefault(row.op, []).append(row)
    for kind, candidates in by_op.items():
        exporter(kind)(_written_by(candidates))


def _written_by(rows: Sequence[Row[Any]]) -> Callable[[Op, Node, NetWriter], Sources]:
    return lambda op, node, writer: next(row for row in rows if row.applies(op)).write(op, node, writer)
