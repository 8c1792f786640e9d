"""A module as an ONNX graph with the type of every value, which the printer turns into text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from msgspec import Struct
from onnx import GraphProto, ValueInfoProto

from whorl.errors import SaveError, WhorlError
from whorl.formats.mlir.elements import is_repeated
from whorl.formats.onnx.importing import OnnxNode, find_importer
from whorl.formats.onnx.signatures import NEWEST
from whorl.formats.onnx.writer import GraphWriter, Names
from whorl.ir.build import Builder
from whorl.ir.constants import Constant, LazyArray, as_array
from whorl.ir.elements.base import Leaf
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType, Type
from whorl.ir.walk import clone_node
from whorl.ops.control.flow import Loop

DIALECT_OPSET = 22
"""The opset whose forms the dialect has; where it cannot say a module the newest, which bare names are read as."""
Constants = dict[str, np.ndarray | LazyArray]


class Exported(Struct, frozen=True):
    """A graph without the bytes of its constants, the constants, and each name's type and hub name."""

    graph: GraphProto
    constants: Constants
    types: dict[str, Type]
    hints: dict[str, str]
    opset: int


def export_module(module: Module, recipes: bool = False) -> Exported:
    """The graph of a module at the dialect's opset, or the newest where that cannot say it. Errors: SaveError.

    With `recipes`, large constants whose elements repeat are written as the nodes that make them.
    """
    first: WhorlError | None = None
    for opset in (DIALECT_OPSET, NEWEST[""]):
        try:
            return _export_at(module, opset, recipes)
        except DecodeError:
            raise SaveError("regions are nested deeper than protobuf allows", fix="nest fewer graphs") from None
        except SaveError as error:
            first = first or error
    assert first is not None
    raise first


def _export_at(module: Module, opset: int, recipes: bool) -> Exported:
    constants: Constants = {}
    names = Names({value.name for value in module.main.arguments})
    write = TypedWriter(NEWEST | {"": opset}, names, constants, None)
    write.recipes = recipes
    for argument in module.main.arguments:
        write.values[argument] = argument.name
        write.note(argument)
        write.graph.input.append(ValueInfoProto(name=argument.name))
    graph = write.finish(module.main, module.main.results)
    return Exported(graph, constants, write.types, write.hints, opset)


class TypedWriter(GraphWriter):
    """Writes one region, gives results the names they have, and notes the type behind every name."""

    def __init__(self, targets: dict[str, int], names: Names, constants: Constants, outer: TypedWriter | None) -> None:
        super().__init__(targets, names, constants, outer)
        self.types: dict[str, Type] = {} if outer is None else outer.types
        self.hints: dict[str, str] = {} if outer is None else outer.hints
        self.known: dict[str, np.ndarray | None] = {} if outer is None else outer.known
        self.current: Node | None = None
        self.recipes = outer is not None and outer.recipes

    def note(self, value: Value) -> None:
        """Note what a value is behind the name it has here."""
        self.types[self.values[value]] = value.type
        self.known[self.values[value]] = value.known
        self.hints[self.values[value]] = value.name

    def child(self) -> TypedWriter:
        return TypedWriter(self.targets, self.names, self.constants, self)

    def add_inputs(self, arguments: Sequence[Value]) -> None:
        for argument in arguments:
            self.values[argument] = self.fresh(argument.name)
            self.note(argument)
            self.graph.input.append(ValueInfoProto(name=self.values[argument]))

    def finish(
        self,
        region: Region,
        results: Sequence[Value],
        names: Sequence[str] | None = None,
        declared: Mapping[int, Type | None] = MappingProxyType({}),
    ) -> GraphProto:
        for node in region.nodes:
            self.write(node, {})
        self.graph.output.extend(ValueInfoProto(name=self.values[value]) for value in results)
        return self.graph

    def write(self, node: Node, renamed: dict[Value, str]) -> None:
        before, self.current = self.current, node
        if isinstance(node.op, Constant) and (not self.recipes or is_repeated(_array(node.op.value))):
            self.values[node.outputs[0]] = self.constant(node.op.value, node.outputs[0].name)
        else:
            super().write(node, renamed)
        for value in node.outputs:
            self.note(value)
        self.current = before

    def constant(self, value: np.ndarray | LazyArray, hint: str = "const") -> str:
        name = super().constant(value, hint)
        self.types[name] = TensorType(value.dtype, tuple(value.shape))
        return name

    def node(
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        domain: str = "",
        name: str = "",
        **attributes: Any,
    ) -> None:
        super().node(op_type, inputs, outputs, domain, name, **attributes)
        made = () if self.current is None else self.current.outputs
        own = {self.values.get(value) for value in made}
        unknown = [k for k, output in enumerate(outputs) if output and output not in own]
        if not unknown:
            return
        body = attributes.get("body")
        if isinstance(body, GraphProto):
            types = self._loop_types(len(outputs)) or [
                self._unranked(info.name) for info in body.output[op_type == "Loop" :]
            ]
        else:
            made = self._inferred(op_type, inputs, outputs, domain, attributes)
            types = [value.type for value in made]
            self.known |= {outputs[k]: made[k].known for k in unknown}
        for k in unknown:
            self.types[outputs[k]] = types[k]

    def _loop_types(self, count: int) -> Sequence[Type]:
        """The types of all that the current loop gives, where it is written as it is; nothing otherwise."""
        loop = self.current
        if loop is None or not isinstance(loop.op, Loop):
            return ()
        values = {value: value for value in loop.inputs if value is not None}
        types = loop.op.infer_regions(clone_node(loop, values), Inference())
        return types if len(types) == count else ()

    def _unranked(self, name: str) -> Type:
        """The type of what a loop gives, from what its body gives."""
        type = self.types[name]
        return TensorType(type.dtype) if isinstance(type, TensorType) else type

    def _inferred(
        self, op_type: str, inputs: Sequence[str], outputs: Sequence[str], domain: str, attributes: dict[str, Any]
    ) -> list[Value]:
        """What a node between two nodes of the hub gives: types, and elements where they are known."""
        region = Region()
        build = Builder(region, Inference())
        values = [self._stand_in(name, build) for name in inputs]
        fields = {key: value for key, value in attributes.items() if value is not None}
        fields = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
        version = self.schema(op_type, domain).since_version
        node = OnnxNode(op_type, domain, version, "", values, list(outputs), fields)
        read = find_importer(node)
        if read is None:
            raise SaveError(f"the type of what {op_type} gives is not known")
        result = read(node, build)
        return result if isinstance(result, list) else [result]

    def _stand_in(self, name: str, build: Builder) -> Value | None:
        if not name:
            return None
        constant = self.visible.get(name)
        if constant is not None:
            return build.constant(as_array(constant), name)
        return build.region.add_argument(name, self.types[name], self.known.get(name))


def _array(value: np.ndarray | LazyArray) -> np.ndarray | LazyArray:
    """The array behind a constant that holds one as it is."""
    return value.array if isinstance(value, Leaf) else value
