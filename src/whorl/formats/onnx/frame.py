"""What holds while one graph is read: operator versions, functions, options, and the place for messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
from onnx import AttributeProto, FunctionProto, NodeProto

from whorl.errors import LoadError, UnsupportedError, format_location, format_title
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.schemas import NEWEST
from whorl.formats.onnx.scope import Scope
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Op, Value
from whorl.ir.types import Type

if TYPE_CHECKING:
    from whorl.formats.onnx.folding import Folding

FunctionKey = tuple[str, str, str]
"""The domain, name and overload of a function."""


@dataclass
class Frame:
    """What holds while one graph is read: versions, the attributes of the function call, the place, the depth."""

    opsets: dict[str, int]
    functions: dict[FunctionKey, FunctionProto]
    options: LoadOptions
    folder: Path | None = None
    bound: dict[str, AttributeProto] = field(default_factory=dict)
    regions: tuple[str, ...] = ()
    calls: tuple[FunctionKey, ...] = ()
    declared: Mapping[str, Type] = field(default_factory=dict)
    folding: Folding | None = None
    kinds: dict[Any, Op | None] = field(default_factory=dict)
    contradictions: list[tuple[str, str]] = field(default_factory=list)

    def inside(self, region: str) -> Frame:
        """The frame of a graph nested in this one."""
        require_depth(self.regions, self.options)
        return replace(self, regions=(region, *self.regions))

    def called(self, function: FunctionProto, bound: dict[str, AttributeProto]) -> Frame:
        """The frame of a function's body, where these attributes were given."""
        opsets = function_opsets(function, self.opsets)
        regions = (f"function {function.name!r}", *self.regions)
        calls = (*self.calls, function_key(function))
        return replace(self, opsets=opsets, bound=bound, regions=regions, calls=calls)

    @property
    def place(self) -> str:
        """The graph that is read, for messages."""
        return format_location(*(self.regions or ("the graph",)))


GraphReader = Callable[[OnnxNode, NodeProto, Scope, Frame], list[Value]]
GRAPH_READERS: dict[str, GraphReader] = {}
"""The readers of ops with graphs: If, Loop, Scan, SequenceMap; `formats.onnx.control` fills it."""


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


def opset_versions(imports: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
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
    """The versions that hold in a function's body: its own imports, the model's for domains it does not import."""
    try:
        return outer | (opset_versions(function.opset_import) if function.opset_import else {})
    except UnsupportedError as error:
        raise error.at(f"function {function.name!r}") from None


def functions_by_key(functions: Iterable[FunctionProto]) -> dict[FunctionKey, FunctionProto]:
    """The functions of a model, each of which is defined once."""
    found: dict[FunctionKey, FunctionProto] = {}
    for function in functions:
        if found.setdefault(function_key(function), function) is not function:
            raise LoadError(f"function {function.name!r} is defined twice", fix="rename one, or give it an overload")
    return found


def function_key(function: FunctionProto) -> FunctionKey:
    return domain_of(function.domain), function.name, function.overload
