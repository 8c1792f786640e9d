"""A function of the onnx dialect as an ONNX graph, so that the reader of ONNX files says what every op means."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from google.protobuf.message import DecodeError
from msgspec import Struct, field
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, helper

from whorl.errors import LoadError, WhorlError
from whorl.formats.mlir.dialect import VERSION, OpForm, form_of
from whorl.formats.mlir.own_ops import nodes_of
from whorl.formats.mlir.syntax import Argument, Block, Function, Operation, Program
from whorl.formats.onnx.dtypes import TO_ONNX
from whorl.formats.onnx.signatures import NEWEST
from whorl.formats.onnx.tensors import proto_of, type_to
from whorl.ir import dims
from whorl.ir.types import AnyShape, TensorType, Type

_KINDS = AttributeProto
_NAME = "onnx_node_name"
_RETURNS = ("onnx.Return", "func.return")


class Note(Struct, frozen=True):
    """What the text says of a value besides what makes it: its type, its place, and attributes that no op knows."""

    type: Type | None
    location: str
    texts: dict[str, str] = field(default_factory=dict)


class Converted(Struct):
    """A function as a model, with notes about its values by name, and where each name of a value or node stands."""

    model: ModelProto
    notes: dict[str, Note]
    result_names: list[str]
    terminator: str
    positions: dict[str, int]


def convert_function(program: Program, function: Function) -> Converted:
    """The model of a function with a body. Errors: LoadError with the place in the text."""
    try:
        return _Converter(program).function(function)
    except DecodeError:
        location = program.locate(function.position)
        raise LoadError(
            f"{location}: regions are nested deeper than protobuf allows", fix="nest fewer regions"
        ) from None


Names = ChainMap[str, str]
"""SSA names, as the text has them, to the names of values in the graph; blank for `none`."""


class _Converter:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.used: set[str] = set()
        self.notes: dict[str, Note] = {}
        self.functions: list[FunctionProto] = []
        self.positions: dict[str, int] = {}

    def refuse(self, message: str, position: int, fix: str = "") -> NoReturn:
        raise LoadError(f"{self.program.locate(position)}: {message}", fix=fix)

    # ---- functions and blocks --------------------------------------------------------------------------------

    def function(self, function: Function) -> Converted:
        block = function.block
        assert block is not None
        names: Names = ChainMap()
        graph = GraphProto(name=function.name)
        for argument in block.arguments:
            if argument.type is None:
                self._define_none(argument.name, names, function.position)
            else:
                self._add_input(argument, graph, names, function.position)
        last = self._add_operations(block, graph, names, _RETURNS, function.position)
        results = [self._operand(name, names, last) for name in last.operands]
        if len(results) != len(function.results):
            self.refuse(f"returns {len(results)} values, the function gives {len(function.results)}", last.position)
        for name, type in zip(results, function.results, strict=True):
            if name and type is None:
                self.refuse("a value is returned where the function gives none", last.position)
            if type is not None:
                graph.output.append(self._info(name, type, last.position))
        opsets = [helper.make_opsetid(domain, version) for domain, version in NEWEST.items()]
        model = helper.make_model_gen_version(graph, opset_imports=opsets, functions=self.functions)
        return Converted(model, self.notes, self._result_names(function), last.name, self.positions)

    def _result_names(self, function: Function) -> list[str]:
        names: list[str] = []
        for index, (key, type) in enumerate(zip(function.result_attributes, function.results, strict=True)):
            name = key.get("onnx.name")
            if type is not None:
                names.append(name if isinstance(name, str) and name and name not in names else f"output_{index}")
        return names

    def _add_input(self, argument: Argument, graph: GraphProto, names: Names, position: int) -> None:
        if argument.type is None:
            self.refuse(f"argument %{argument.name} has no value", position)
        key = argument.attributes.get("onnx.name")
        hint = key if isinstance(key, str) and key else argument.name
        name = self._define(argument.name, hint, names, position)
        type = with_dim_names(argument.type, argument.attributes.get("onnx.dim_params"))
        graph.input.append(self._info(name, type, position))
        default = argument.attributes.get("onnx.default")
        if isinstance(default, np.ndarray):
            graph.initializer.append(proto_of(default, name))
        self.notes[name] = Note(type, argument.location, argument.texts)

    def _add_operations(
        self, block: Block, graph: GraphProto, names: Names, ends: Sequence[str], position: int
    ) -> Operation:
        """Add what a block computes; returns what ends it."""
        for index, operation in enumerate(block.operations):
            if operation.name in ends:
                if index + 1 < len(block.operations):
                    self.refuse("nothing may follow", block.operations[index + 1].position)
                return operation
            self._add(operation, graph, names)
        self.refuse(f"the block does not end with {ends[0]}", position)

    def _block(self, block: Block, names: Names, operation: Operation) -> GraphProto:
        graph = GraphProto(name=f"line_{self.program.coordinates(operation.position)[0]}")
        inner = names.new_child()
        for argument in block.arguments:
            self._add_input(argument, graph, inner, operation.position)
        last = self._add_operations(block, graph, inner, ("onnx.Yield", *_RETURNS), operation.position)
        if len(last.operands) != len(last.types.inputs):
            self.refuse(f"has {len(last.operands)} operands of {len(last.types.inputs)} types", last.position)
        for name, type in zip(last.operands, last.types.inputs, strict=True):
            graph.output.append(self._info(self._operand(name, inner, last), type, last.position))
        return graph

    def _info(self, name: str, type: Type | None, position: int) -> Any:
        if not name or type is None:
            self.refuse("a value is expected here, not none", position)
        return helper.make_value_info(name, type_to(type))

    # ---- names -----------------------------------------------------------------------------------------------

    def _define_none(self, ssa: str, names: Names, position: int) -> None:
        """A name that stands for nothing."""
        if ssa in names:
            self.refuse(f"%{ssa} is defined a second time", position)
        names[ssa] = ""

    def _define(self, ssa: str, hint: str, names: Names, position: int) -> str:
        if ssa in names:
            self.refuse(f"%{ssa} is defined a second time", position)
        name, count = hint, 0
        while name in self.used:
            count += 1
            name = f"{hint}'{count}"
        self.used.add(name)
        names[ssa] = name
        self.positions[name] = position
        return name

    def _operand(self, ssa: str, names: Names, operation: Operation) -> str:
        if ssa in names:
            return names[ssa]
        first = f"{ssa}#0" if "#" not in ssa else ssa.removesuffix("#0")
        if first in names and f"{ssa}#1" not in names:
            return names[first]
        self.refuse(f"%{ssa} is used before it is defined", operation.position)

    # ---- operations ------------------------------------------------------------------------------------------

    def _add(self, operation: Operation, graph: GraphProto, names: Names) -> None:
        types = operation.types
        if len(types.results) != len(operation.results):
            self.refuse(f"has {len(operation.results)} results of {len(types.results)} types", operation.position)
        if types.inputs and len(types.inputs) != len(operation.operands):
            self.refuse(f"has {len(operation.operands)} operands of {len(types.inputs)} types", operation.position)
        if operation.name == "onnx.NoValue":
            names.update(dict.fromkeys(operation.results, ""))
            return
        inputs = [self._operand(name, names, operation) for name in operation.operands]
        try:
            form = form_of(operation)
        except WhorlError as error:
            self.refuse(error.message, operation.position, error.fix)
        attributes, unknown = self._attributes(operation, form)
        outputs = [self._output(operation, index, names, unknown) for index in range(len(operation.results))]
        graphs = [self._block(block, names, operation) for block in operation.blocks]
        if len(graphs) != len(form.regions):
            self.refuse(f"{form.name} has {len(form.regions)} regions, not {len(graphs)}", operation.position)
        attributes += [
            AttributeProto(name=k, g=g, type=_KINDS.GRAPH) for k, g in zip(form.regions, graphs, strict=True)
        ]
        node = NodeProto(op_type=form.name, domain=form.domain, input=_trimmed(inputs, form), output=outputs)
        node.name = str(operation.attributes.get(_NAME, ""))
        self.positions.setdefault(node.name, operation.position)
        node.attribute.extend(attributes)
        if form.domain == VERSION:
            graph.node.append(self._call_own(node, operation))
        else:
            graph.node.append(node if form.version is None else self._call(node, form.version))

    def _output(self, operation: Operation, index: int, names: Names, unknown: dict[str, str]) -> str:
        ssa, type = operation.results[index], operation.types.results[index]
        if type is None and operation.name != "onnx.Constant":
            names[ssa] = ""
            return ""
        name = self._define(ssa, ssa, names, operation.position)
        self.notes[name] = Note(type, operation.location or self._file_location(operation.position), unknown)
        return name

    def _file_location(self, position: int) -> str:
        line, column = self.program.coordinates(position)
        return f'"{self.program.name}":{line}:{column}'

    def _attributes(self, operation: Operation, form: OpForm) -> tuple[list[AttributeProto], dict[str, str]]:
        """The attributes that the op has, and the text of those that it has not."""
        known: list[AttributeProto] = []
        unknown: dict[str, str] = {}
        for key, value in operation.attributes.items():
            name = "value" if key == "sparse_value" else key
            if name in form.kinds and form.kinds[name] != _KINDS.GRAPH:
                known.append(self._attribute(name, value, form.kinds[name], operation))
            elif name not in (_NAME, *form.consumed):
                unknown[name] = operation.texts.get(name, "")
        return known, unknown

    def _attribute(self, name: str, value: Any, kind: int, operation: Operation) -> AttributeProto:
        try:
            return helper.make_attribute(name, _plain(value, kind), attr_type=kind)
        except (TypeError, ValueError, AttributeError, KeyError):
            hint = _KINDS.AttributeType.Name(kind)
            self.refuse(f"attribute {name!r} is not what ONNX expects: {hint}", operation.position)

    def _call(self, node: NodeProto, version: int) -> NodeProto:
        """A call of a function that holds the node, for an op of another version than the rest of the model."""
        inner = NodeProto()
        inner.CopyFrom(node)
        inner.input[:] = _inner_names(node)
        imports = NEWEST | {node.domain: version}
        return self._call_of(node, f"{node.op_type}V{version}", [inner], imports)

    def _call_own(self, node: NodeProto, operation: Operation) -> NodeProto:
        """A call of a function that computes one of onnx-mlir's own ops."""
        try:
            nodes = nodes_of(operation, _inner_names(node), list(node.output))
        except LoadError as error:
            self.refuse(error.message, operation.position, error.fix)
        return self._call_of(node, node.op_type, nodes, NEWEST)

    def _call_of(self, node: NodeProto, name: str, nodes: list[NodeProto], versions: Mapping[str, int]) -> NodeProto:
        key = f"{name}.{len(self.functions)}"
        imports = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
        parameters = [name or f"none.{k}" for k, name in enumerate(_inner_names(node))]
        outputs = [name for name in node.output if name]
        self.functions.append(
            FunctionProto(name=key, domain=VERSION, input=parameters, output=outputs, node=nodes, opset_import=imports)
        )
        return NodeProto(op_type=key, domain=VERSION, name=node.name, input=node.input, output=outputs)


def _inner_names(node: NodeProto) -> list[str]:
    """The names of the inputs of a node inside a function that holds it; blanks stay."""
    return [f"{name}.{k}" if name else "" for k, name in enumerate(node.input)]


def _trimmed(inputs: list[str], form: OpForm) -> list[str]:
    """The inputs without blanks at the end, which only Loop keeps."""
    operands = list(inputs)
    while operands and not operands[-1] and form.name != "Loop":
        operands.pop()
    return operands


def with_dim_names(type: Type, names: Any) -> Type:
    """The type with the names that `onnx.dim_params = "0:batch,2:length"` gives its dims."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape) or not isinstance(names, str):
        return type
    shape = list(type.shape)
    for axis, name in re.findall(r"(\d+)\s*:\s*([^,]+)", names):
        if int(axis) < len(shape) and not isinstance(shape[int(axis)], int):
            shape[int(axis)] = dims.name(name.strip())
    return TensorType(type.dtype, tuple(shape))


def _plain(value: Any, kind: int) -> Any:
    """An attribute as `helper.make_attribute` takes it for a kind."""
    match kind:
        case _KINDS.INT:
            return TO_ONNX[value] if isinstance(value, np.dtype) else int(value)
        case _KINDS.FLOAT:
            return float(value)
        case _KINDS.STRING:
            return value.encode("utf-8", "surrogateescape")
        case _KINDS.STRINGS:
            return [item.encode("utf-8", "surrogateescape") for item in value]
        case _KINDS.INTS:
            return [int(item) for item in value]
        case _KINDS.FLOATS:
            return [float(item) for item in value]
        case _KINDS.TENSOR:
            return proto_of(value)
        case _KINDS.TYPE_PROTO:
            return type_to(value)
        case _:
            pass
    raise TypeError(f"kind {kind} has no text")
