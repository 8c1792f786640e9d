"""Per-graph state of the reader: operator versions, functions, options, and the location for messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from whorl.errors import LoadError, UnsupportedError, format_location, format_title
from whorl.formats.onnx.importing import VERSIONS, OnnxNode
from whorl.formats.onnx.protos import AttributeProto, FunctionProto, NodeProto, OperatorSetIdProto
from whorl.formats.onnx.scope import Scope
from whorl.formats.onnx.signatures import NEWEST
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Op, Value
from whorl.ir.types import Type

FunctionKey = tuple[str, str, str]
"""The domain, name and overload of a function."""


class ConstantFolder(Protocol):
    """Computes nodes of constants while they are read: `folding.Folding`, which depends on this module."""

    fresh: list[str]
    last: dict[tuple[int, str], int]

    def note(self, name: str, value: Value, scope: Scope) -> bool: ...

    def fold(self, proto: NodeProto, scope: Scope, context: ReadContext) -> bool: ...

    def forget(self, nodes: Sequence[NodeProto], position: int, scope: Scope) -> None: ...


class ReadContext(Struct):
    """State that the nodes of one graph share. A graph inside gets a copy with its own `regions`, its location and
    depth; a function call one with the versions of the callee, and the attributes of the caller in `bound`.

    `node_cache`, `contradictions` and `folding` are those of the whole model, so copies share them.
    """

    opsets: dict[str, int]
    functions: dict[FunctionKey, FunctionProto]
    options: LoadOptions
    folder: Path | None = None
    bound: dict[str, AttributeProto] = field(default_factory=dict)
    regions: tuple[str, ...] = ()
    calls: tuple[FunctionKey, ...] = ()
    declared: Mapping[str, Type] = field(default_factory=dict)
    folding: ConstantFolder | None = None
    node_cache: dict[Any, Op | None] = field(default_factory=dict)
    contradictions: list[tuple[str, str]] = field(default_factory=list)

    def inside(self, region: str) -> ReadContext:
        """The context of a graph nested in this one. Errors: LoadError past the depth."""
        require_depth(self.regions, self.options)
        return replace(self, regions=(region, *self.regions))

    def called(self, function: FunctionProto, bound: dict[str, AttributeProto]) -> ReadContext:
        """The context of a function's body, with the attributes of a call."""
        opsets = function_opsets(function, self.opsets)
        regions = (f"function {function.name!r}", *self.regions)
        calls = (*self.calls, function_key(function))
        return replace(self, opsets=opsets, bound=bound, regions=regions, calls=calls)

    @property
    def location(self) -> str:
        """The graph that is read, for messages."""
        return format_location(*(self.regions or ("the graph",)))


GraphReader = Callable[[OnnxNode, NodeProto, Scope, ReadContext], list[Value]]
GRAPH_READERS: dict[tuple[str, str], GraphReader] = {}
"""The readers of ops with graphs by domain and name: If, Loop, Scan, SequenceMap, and searches for sequences."""


def find_graph_reader(domain: str, op_type: str) -> GraphReader | None:
    """The reader of an op with graphs; None for all other ops."""
    if domain:
        VERSIONS.load(op_type)
    return GRAPH_READERS.get((domain, op_type))


def require_depth(regions: tuple[str, ...], options: LoadOptions) -> None:
    """Refuse one more graph inside these."""
    if len(regions) >= options.max_depth:
        raise LoadError(
            f"graphs are nested deeper than {options.max_depth}", fix="raise max_depth if the file is trusted"
        )


def node_title(node: NodeProto) -> str:
    return format_title(node.op_type, node.name or next((name for name in node.output if name), ""))


def domain_of(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def opset_versions(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    """Domain -> version; a file without any import means version 1 of the main domain."""
    opsets: dict[str, int] = {}
    for entry in imports:
        domain, version = domain_of(entry.domain), entry.version
        newest = NEWEST.get(domain)
        if newest is not None and not 1 <= version <= newest:
            raise UnsupportedError(
                f"the model uses version {version} of domain {domain or 'ai.onnx'!r}; versions 1 to {newest} are known",
                fix="convert the model with onnx.version_converter",
            )
        opsets[domain] = version
    return opsets or {"": 1}


def function_opsets(function: FunctionProto, outer: dict[str, int]) -> dict[str, int]:
    """The versions of a function's body: its own imports, the model's for domains it does not import."""
    try:
        return outer | (opset_versions(function.opset_import) if function.opset_import else {})
    except UnsupportedError as error:
        raise error.at(f"function {function.name!r}") from None


def functions_by_key(functions: Iterable[FunctionProto]) -> dict[FunctionKey, FunctionProto]:
    """The functions of a model, each of which is defined once."""
    by_key: dict[FunctionKey, FunctionProto] = {}
    for function in functions:
        if by_key.setdefault(function_key(function), function) is not function:
            raise LoadError(f"function {function.name!r} is defined twice", fix="rename one, or give it an overload")
    return by_key


def function_key(function: FunctionProto) -> FunctionKey:
    return domain_of(function.domain), function.name, function.overload
