"""Functions of the onnx dialect as MLIR text, as onnx-mlir prints them."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
import onnx
from msgspec import Struct, field
from onnx import AttributeProto, GraphProto, NodeProto

from whorl.formats.mlir.dialect import OWN_NAMES
from whorl.formats.mlir.elements import print_dense
from whorl.formats.mlir.exporting import Exported
from whorl.formats.mlir.numbers import float_text, string_text
from whorl.formats.mlir.protos import Note
from whorl.formats.mlir.syntax import Function, Program
from whorl.formats.mlir.types import element_text, type_text, types_text
from whorl.formats.onnx.dtypes import FROM_ONNX
from whorl.formats.onnx.schemas import OpSchema
from whorl.formats.onnx.tensors import array_of, type_from
from whorl.ir.constants import as_array
from whorl.ir.dtypes import FLOAT32
from whorl.ir.types import Type, same_kind

_KINDS = AttributeProto
_VARIADIC = onnx.defs.OpSchema.FormalParameterOption.Variadic
_OPTIONAL = onnx.defs.OpSchema.FormalParameterOption.Optional
_ONE_OUTPUT = {op: name for name, op in OWN_NAMES.items()}


class Style(Struct, frozen=True):
    """What is printed besides the program."""

    locations: bool = False


class Signature(Struct):
    """What stands in the head of a function: its name, attributes as text, and the types of its results.

    `absent` are the numbers of the arguments that are none, of which the graph knows nothing.
    """

    name: str
    argument_texts: list[dict[str, str]] = field(default_factory=list)
    results: Sequence[Type | None] = ()
    result_texts: Sequence[dict[str, str]] = ()
    texts: dict[str, str] = field(default_factory=dict)
    terminator: str = "onnx.Return"
    location: str = ""
    absent: frozenset[int] = frozenset()


class Locations:
    """Aliases of locations, in the order in which they are met."""

    def __init__(self, aliases: Mapping[str, str], style: Style) -> None:
        self.aliases, self.style = aliases, style
        self.names: dict[str, str] = {}

    def suffix(self, location: str) -> str:
        """` loc(#loc1)`, or nothing where locations are not printed."""
        if not self.style.locations:
            return ""
        text = self.aliases.get(location, location) or "unknown"
        return f" loc({self.names.setdefault(text, f'#loc{len(self.names) or str()}')})"

    def lines(self) -> list[str]:
        """The definitions of the aliases."""
        return [f"{name} = loc({text})" for text, name in self.names.items()]


class FunctionPrinter:
    """Prints one function: names are given first, those of a block before those of the regions inside."""

    def __init__(self, exported: Exported, notes: Mapping[str, Note], style: Style, locations: Locations) -> None:
        self.exported, self.notes, self.style, self.locations = exported, notes, style, locations
        self.names: dict[str, str] = {}
        self.none = ""
        self.lines: list[str] = []
        self.owners = Counter(exported.hints.values())
        self.read = _read_names(exported.graph)

    def function(self, signature: Signature, indent: str) -> list[str]:
        """The lines of the function."""
        graph = self.exported.graph
        first = 0
        if _needs_none(graph, self) or None in signature.results:
            self.none, first = "%0", 1
        self._number(graph, first, 0, signature.absent)
        arguments = self._arguments(signature)
        results = [
            f"{type_text(t)}{_dictionary(x)}" for t, x in zip(signature.results, signature.result_texts, strict=True)
        ]
        arrow = f" -> {_bracketed(results, signature)}" if results else ""
        attributes = f" attributes{_dictionary(signature.texts)}" if signature.texts else ""
        self.lines.append(f"{indent}func.func @{_symbol(signature.name)}({', '.join(arguments)}){arrow}{attributes} {{")
        inner = indent + "  "
        if self.none:
            self._line(inner, f'{self.none} = "onnx.NoValue"() <{{value}}> : () -> none', "")
        declared = iter(graph.output)
        returned = ["" if type is None else next(declared).name for type in signature.results]
        self._block(graph, inner, signature.terminator, returned)
        self._line(indent, "}", signature.location)
        return self.lines

    def _line(self, indent: str, text: str, location: str) -> None:
        self.lines.append(f"{indent}{text}{self.locations.suffix(location)}")

    # ---- names and types -------------------------------------------------------------------------------------

    def _number(self, graph: GraphProto, value: int, argument: int, absent: Set[int] = frozenset()) -> None:
        for info in graph.input:
            while argument in absent:
                argument += 1
            self.names[info.name] = f"%arg{argument}"
            argument += 1
        for tensor in self._constants(graph):
            self.names[tensor] = f"%{value}"
            value += 1
        for node in graph.node:
            outputs = self.padded_outputs(node)
            for k, name in enumerate(outputs):
                if name:
                    self.names[name] = f"%{value}" if len(outputs) == 1 else f"%{value}#{k}"
            value += 1
        for node in graph.node:
            for inner in _graphs(node):
                self._number(inner, value, argument)

    def _constants(self, graph: GraphProto) -> list[str]:
        declared = {info.name for info in graph.input}
        return [tensor.name for tensor in graph.initializer if tensor.name not in declared]

    def type(self, name: str) -> Type | None:
        """The type that is printed for a name; None for a blank."""
        if not name:
            return None
        type, hint = self.exported.types[name], self.exported.hints.get(name, "")
        note = self.notes.get(hint)
        if note is None or note.type is None or name in self.exported.constants or self.owners[hint] > 1:
            return type
        return note.type if same_kind(note.type, type) else type

    def _shown(self, name: str) -> str:
        return self.names[name] if name else self.none

    def _arguments(self, signature: Signature) -> list[str]:
        declared = iter(self.exported.graph.input)
        count = len(self.exported.graph.input) + len(signature.absent)
        return [
            self._argument(k, "" if k in signature.absent else next(declared).name, signature) for k in range(count)
        ]

    def _argument(self, index: int, name: str, signature: Signature) -> str:
        texts = signature.argument_texts[index] if index < len(signature.argument_texts) else {}
        note = self.notes.get(name)
        location = self.locations.suffix(note.location if note else "")
        shown = self.names[name] if name else f"%arg{index}"
        return f"{shown}: {type_text(self.type(name))}{_dictionary(texts)}{location}"

    # ---- blocks and operations -------------------------------------------------------------------------------

    def _block(self, graph: GraphProto, indent: str, terminator: str, values: Sequence[str]) -> None:
        for name in self._constants(graph):
            self._constant(name, indent)
        for node in graph.node:
            self._operation(node, indent)
        word = "return" if terminator == "func.return" else terminator
        types = ", ".join(type_text(self.type(name)) for name in values)
        shown = ", ".join(map(self._shown, values))
        self._line(indent, f"{word} {shown} : {types}" if values else word, "")

    def _constant(self, name: str, indent: str) -> None:
        array = as_array(self.exported.constants[name])
        type = type_text(self.exported.types[name])
        note = self.notes.get(self.exported.hints.get(name, ""))
        text = f"{print_dense(array)} : {type}"
        self._line(indent, f"{self.names[name]} = onnx.Constant {text}", note.location if note else "")

    def _operation(self, node: NodeProto, indent: str) -> None:
        inputs, outputs = self.padded_inputs(node), self.padded_outputs(node)
        note = next((self.notes[hint] for hint in self._hints(outputs) if hint in self.notes), None)
        named = next(name for name in outputs if name) if any(outputs) else ""
        base = self.names[named].partition("#")[0] if named else ""
        count = f":{len(outputs)}" if len(outputs) > 1 else ""
        head = f"{base}{count} = " if base else ""
        head += f'"onnx.{_dialect_name(node)}"({", ".join(map(self._shown, inputs))})'
        properties = self._properties(node)
        if properties:
            head += f" <{_dictionary(properties).strip()}>"
        graphs = list(_graphs(node))
        if graphs:
            head = self._regions(head, graphs, indent)
        texts = ({"onnx_node_name": string_text(node.name)} if node.name else {}) | (note.texts if note else {})
        types = f"({', '.join(type_text(self.type(name)) for name in inputs)})"
        results = types_text([self.type(name) for name in outputs])
        self._line(indent, f"{head}{_dictionary(texts)} : {types} -> {results}", note.location if note else "")

    def _hints(self, outputs: Sequence[str]) -> Iterator[str]:
        return (self.exported.hints.get(name, "") for name in outputs if name)

    def _regions(self, head: str, graphs: Sequence[GraphProto], indent: str) -> str:
        """Print the regions of an operation; returns what the rest of its last line follows."""
        self.lines.append(f"{indent}{head} ({{")
        for k, graph in enumerate(graphs):
            if k:
                self.lines.append(f"{indent}}}, {{")
            if graph.input:
                arguments = (f"{self.names[info.name]}: {type_text(self.type(info.name))}" for info in graph.input)
                self.lines.append(f"{indent}^bb0({', '.join(arguments)}):")
            self._block(graph, indent + "  ", "onnx.Yield", [info.name for info in graph.output])
        return "})"

    # ---- attributes, operands and results --------------------------------------------------------------------

    def padded_inputs(self, node: NodeProto) -> list[str]:
        """The operands: onnx-mlir gives every optional one."""
        schema = self._schema(node)
        return _padded(list(node.input), schema.inputs)

    def padded_outputs(self, node: NodeProto) -> list[str]:
        """The results; blank where nobody reads what is optional."""
        if _dialect_name(node) in OWN_NAMES:
            return list(node.output)
        parameters = self._schema(node).outputs
        names = _padded(list(node.output), parameters)
        if len(names) != len(parameters) or not any(name in self.read for name in names):
            return names
        optional = (parameter.option == _OPTIONAL for parameter in parameters)
        return ["" if skip and name not in self.read else name for name, skip in zip(names, optional, strict=True)]

    def _schema(self, node: NodeProto) -> OpSchema:
        return _schema(node.op_type, node.domain, self.exported.opset if not node.domain else 1 << 20)

    def _properties(self, node: NodeProto) -> dict[str, str]:
        schema = self._schema(node)
        declared = {a.name: a for a in node.attribute}
        texts: dict[str, str] = {}
        for name, attribute in sorted(schema.attributes.items()):
            value: AttributeProto = declared.get(name) or attribute.default_value
            if value.type not in (_KINDS.UNDEFINED, _KINDS.GRAPH):
                texts[name] = _attribute_text(node.op_type, value)
        if _dialect_name(node) == "BatchNormalizationInferenceMode":
            texts.pop("training_mode", None)
        return texts


def _padded(names: list[str], parameters: Sequence[Any]) -> list[str]:
    """Blanks for parameters that are not given; an op that takes any number of them gets none."""
    if not parameters or parameters[-1].option == _VARIADIC:
        return names
    return names + [""] * (len(parameters) - len(names))


@functools.cache
def _schema(op_type: str, domain: str, version: int) -> OpSchema:
    return onnx.defs.get_schema(op_type, version, domain)


def _graphs(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs of a node in the order of its regions."""
    graphs = {a.name: a.g for a in node.attribute if a.type == _KINDS.GRAPH}
    yield from (graphs[name] for name in ("then_branch", "else_branch", "body") if name in graphs)


def _read_names(graph: GraphProto) -> set[str]:
    """The names that anything in a graph reads."""
    read = {info.name for info in graph.output}.union(*(node.input for node in graph.node))
    return read.union(*(_read_names(inner) for node in graph.node for inner in _graphs(node)))


def _needs_none(graph: GraphProto, printer: FunctionPrinter) -> bool:
    """Whether any operand in a graph is left out."""
    for node in graph.node:
        if "" in printer.padded_inputs(node) or any(_needs_none(inner, printer) for inner in _graphs(node)):
            return True
    return False


def _dialect_name(node: NodeProto) -> str:
    """onnx-mlir's name of an op."""
    own = _ONE_OUTPUT.get(node.op_type)
    training = any(a.name == "training_mode" and a.i for a in node.attribute)
    return own if own and len(node.output) == 1 and not training else node.op_type


def _attribute_text(op_type: str, attribute: AttributeProto) -> str:
    match attribute.type:
        case _KINDS.INT if op_type == "Cast" and attribute.name == "to":
            return element_text(FROM_ONNX[attribute.i])
        case _KINDS.INT:
            return f"{attribute.i} : si64"
        case _KINDS.FLOAT:
            return _float(attribute.f)
        case _KINDS.STRING:
            return _string(attribute.s)
        case _KINDS.INTS:
            return f"[{', '.join(map(str, attribute.ints))}]"
        case _KINDS.FLOATS:
            return f"[{', '.join(map(_float, attribute.floats))}]"
        case _KINDS.STRINGS:
            return f"[{', '.join(map(_string, attribute.strings))}]"
        case _KINDS.TENSOR:
            array = array_of(attribute.t, attribute.name)
            return f"{print_dense(array)} : {_array_type(array)}"
        case _KINDS.TYPE_PROTO:
            return type_text(type_from(attribute.tp, attribute.name))
        case _:
            pass
    raise TypeError(f"attribute {attribute.name!r} has no text")


def _array_type(array: np.ndarray) -> str:
    return f"tensor<{''.join(f'{dim}x' for dim in array.shape)}{element_text(array.dtype)}>"


def _float(value: float) -> str:
    return f"{float_text(value, FLOAT32)} : f32"


def _string(data: bytes) -> str:
    return string_text(data.decode("utf-8", "surrogateescape"))


def _dictionary(texts: Mapping[str, str]) -> str:
    """` {a = 1, flag}`; nothing where there is nothing to say."""
    if not texts:
        return ""
    shown = (f"{_key(name)} = {text}" if text else _key(name) for name, text in sorted(texts.items()))
    return f" {{{', '.join(shown)}}}"


def _key(name: str) -> str:
    bare = name.replace(".", "").replace("$", "").replace("_", "")
    return name if bare.isalnum() and bare.isascii() and not name[0].isdigit() else string_text(name)


def _symbol(name: str) -> str:
    return _key(name)


def print_module(lines: Sequence[str], program: Program, locations: Locations) -> str:
    """Functions inside a module, with what the text said of it."""
    attributes = f" attributes{_dictionary(program.texts)}" if program.texts else ""
    entries = [f'  "onnx.EntryPoint"() {{func = @{_symbol(name)}}} : () -> ()' for name in program.entries]
    closing = f"}}{locations.suffix('')}"
    return "\n".join([f"module{attributes} {{", *lines, *entries, closing, *locations.lines(), ""])


def print_declaration(function: Function, indent: str) -> str:
    """A function without a body."""
    arguments = ", ".join(type_text(type) for type in function.arguments)
    arrow = f" -> {types_text(function.results)}" if function.results else ""
    return f"{indent}func.func private @{_symbol(function.name)}({arguments}){arrow}"


def _bracketed(results: Sequence[str], signature: Signature) -> str:
    return results[0] if len(results) == 1 and not signature.result_texts[0] else f"({', '.join(results)})"
