"""Models for onnxruntime whose loops and branches are custom ops, compiled into a library beside the model."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from whorl.api.ahead import library_of
from whorl.api.models import load_module
from whorl.api.preparing import prepare
from whorl.codegen.custom_ops.interface import DOMAIN, DOMAIN_VERSION
from whorl.codegen.custom_ops.operator import operator_modules
from whorl.codegen.custom_ops.registration import registration_module
from whorl.codegen.library.lengths import has_conditions
from whorl.codegen.library.linker import link, linker
from whorl.codegen.library.ports import Library
from whorl.codegen.library.text import fill_constants
from whorl.codegen.target import Target, host, is_available, linkable_code
from whorl.errors import CompileError, LoadError, UnsupportedError
from whorl.formats.onnx.beside import bring_files
from whorl.formats.onnx.cutting import (
    Cut,
    constant_tensors,
    count_readers,
    cut_control,
    model_of_nodes,
    node_of,
    replace_nodes,
    value_types,
)
from whorl.formats.onnx.files import read_proto
from whorl.formats.onnx.gathering import gather_neighbours
from whorl.formats.onnx.protos import ModelProto, NodeProto
from whorl.formats.options import LoadOptions
from whorl.formats.sources import File
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import BY_NAME, name_of
from whorl.ir.graph import Module, Node, Value
from whorl.ir.suggestions import choose
from whorl.ir.types import AnyShape, TensorType, Type

_SMALL = 1 << 10
"""Bytes up to which a constant that others read, too, is copied into the library."""
_PASSED = frozenset(
    BY_NAME[name]
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16"),
        *("float32", "float64", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"),
    )
)
"""Element types that onnxruntime has as they are in programs, one byte or more an element."""
_LIGHT_FAMILIES = frozenset(("elementwise", "movement", "reduce", "sequence"))
"""Packages of ops that compute little for an element."""
_MOST_BROADCASTS = 4
"""Lengths for which there is a program that takes them for 1."""
_AS_IN_ONNXRUNTIME = LoadOptions(condition_when_omitted="honour")
_SUFFIXES = {"darwin": ".dylib", "win32": ".dll"}


Weights = Literal["library", "model"]


class EmbeddedRegion(Struct, frozen=True):
    """A loop or branch of a model: the op that stands for it, or the reason why it is as it was."""

    title: str
    op_type: str = ""
    reason: str = ""
    nodes: int = 0
    """Nodes of the model that are in the op."""


class Embedded(Struct, frozen=True):
    """What `embed` wrote: the model, the library beside it (empty where no region is in one), and all regions."""

    model: str
    library: str
    regions: Sequence[EmbeddedRegion]


def embed(
    model: File,
    output: str | os.PathLike[str],
    *,
    only: Collection[str] = (),
    keep: Collection[str] = (),
    weights: Weights = "library",
) -> Embedded:
    """Write an ONNX model for onnxruntime in which loops and branches are custom ops, and the library that has them.

    Each outermost Loop, Scan and If of tensors that has a native form becomes a node of the domain ai.whorl. The
    library lies beside the model, with the ending .whorl.so (.dylib, .dll); `register_custom_ops_library` of
    onnxruntime's session options takes it, from version 1.17 on. `only` and `keep` name nodes that alone go, or stay.
    `weights`: where constants over a kilobyte lie that one region alone reads. Errors: LoadError, CompileError.
    """
    path = Path(output)
    if path.suffix != ".onnx":
        raise CompileError(f"{path.name!r} is no name of an ONNX model", fix="end it in .onnx")
    if not is_available():
        raise CompileError("llvmlite is not installed", fix="pip install llvmlite")
    if weights not in get_args(Weights):
        raise CompileError(f"weights is {weights!r}", fix="use 'library' or 'model'")
    linker()
    path.parent.mkdir(parents=True, exist_ok=True)
    proto = ModelProto()
    proto.CopyFrom(read_proto(model))
    cuts = cut_control(proto)
    _require_names(cuts, {*only, *keep})
    folder = Path(model).parent if isinstance(model, str | os.PathLike) else None
    embedding = _Embedding(proto, _Values.of(model, proto, folder), host(), weights)
    chosen = [cut for cut in cuts if cut.node.name not in keep and (not only or cut.node.name in only)]
    wider = dict(zip(map(id, chosen), embedding.with_neighbours(chosen), strict=True))
    regions = [
        embedding.add(cut, wider[id(cut)]) if id(cut) in wider else EmbeddedRegion(cut.title, reason="was to stay")
        for cut in cuts
    ]
    library = path.with_suffix(f".whorl{_SUFFIXES.get(sys.platform, '.so')}")
    if embedding.objects:
        embedding.write_library(library)
    replace_nodes(proto, embedding.nodes, DOMAIN, DOMAIN_VERSION)
    bring_files(proto, folder, path.parent)
    path.write_bytes(proto.SerializeToString())
    return Embedded(str(path), str(library) if embedding.objects else "", regions)


def _require_names(cuts: Sequence[Cut], names: Collection[str]) -> None:
    known = [cut.node.name for cut in cuts if cut.node.name]
    for name in sorted(set(names) - set(known)):
        raise CompileError(f"no outermost loop or branch is named {name!r}", fix=choose(name, known))


class _Values(Struct, frozen=True):
    """What is known of the values of a model's main graph: types, constants, and how many nodes read each."""

    types: Mapping[str, Type]
    constants: Mapping[str, Callable[[], np.ndarray]]
    readers: Mapping[str, int]
    light: Collection[str] = ()
    """Values of nodes that go along with a loop which they lead to or follow from."""

    @classmethod
    def of(cls, model: File, proto: ModelProto, folder: Path | None) -> _Values:
        constants = constant_tensors(proto, folder)
        try:
            module = load_module(model, _AS_IN_ONNXRUNTIME)
        except (LoadError, UnsupportedError):
            return cls(value_types(proto), constants, count_readers(proto.graph))
        types = {value.name: value.type for value in module.main.arguments}
        folded: dict[str, Callable[[], np.ndarray]] = {}
        light: set[str] = set()
        for node in module.main.nodes:
            types |= {value.name: value.type for value in node.outputs}
            if isinstance(node.op, Constant):
                folded[node.outputs[0].name] = _reader(node.op)
            folded |= {v.name: partial(_known_elements, v) for v in node.outputs if _has_numbers(v)}
            if _is_light(node):
                light |= {value.name for value in node.outputs}
        return cls(types, folded | constants, count_readers(proto.graph), light)


def _is_light(node: Node) -> bool:
    """Whether a node is no product, convolution or the like, which onnxruntime computes as well, on all cores."""
    follows_shapes = all(value is not None and value.known is not None for value in node.inputs)
    family = type(node.op).__module__.removeprefix("whorl.ops.").partition(".")[0]
    return node.op.pure and not node.regions and (follows_shapes or family in _LIGHT_FAMILIES)


def _has_numbers(value: Value) -> bool:
    """Whether the elements of a tensor follow from shapes that are numbers."""
    return value.known is not None and all(isinstance(n, int | np.integer) for n in value.known.flat)


def _known_elements(value: Value) -> np.ndarray:
    assert isinstance(value.type, TensorType)
    return np.asarray(value.known, value.type.dtype)


def _reader(op: Constant) -> Callable[[], np.ndarray]:
    return lambda: as_array(op.value)


class _Embedding:
    """Regions compiled so far, and the nodes that stand for them by position."""

    def __init__(self, proto: ModelProto, values: _Values, machine: Target, weights: Weights) -> None:
        self.proto, self.values, self.machine, self.weights = proto, values, machine, weights
        self.nodes: list[tuple[Sequence[int], NodeProto]] = []
        self.objects: dict[str, list[bytes | bytearray]] = {}

    def with_neighbours(self, cuts: Sequence[Cut]) -> list[Cut]:
        """The cuts with light nodes around them; constants go by themselves."""
        light, nodes = self.values.light, self.proto.graph.node
        positions = [
            n
            for n, node in enumerate(nodes)
            if node.op_type != "Constant" and all(y in light for y in node.output if y)
        ]
        return gather_neighbours(self.proto, cuts, positions)

    def add(self, alone: Cut, cut: Cut) -> EmbeddedRegion:
        """Compile a region with its neighbours, or alone where that does not work, unless it has no native form."""
        region = self._add(cut)
        return self._add(alone) if region.reason and cut != alone else region

    def _add(self, cut: Cut) -> EmbeddedRegion:
        reason = self._reason_to_stay(cut)
        if reason:
            return EmbeddedRegion(cut.title, reason=reason)
        constants = {name: array for name in cut.inputs if (array := self._constant(name)) is not None}
        alone = model_of_nodes(self.proto, cut, self.values.types, constants)
        try:
            name = _op_type(cut, alone)
            programs = _programs(prepare(load_module(alone, _AS_IN_ONNXRUNTIME)), name)
        except (CompileError, UnsupportedError, LoadError) as error:
            return EmbeddedRegion(cut.title, reason=error.message)
        if name not in self.objects:
            self.objects[name] = self._compile(programs, cut.title)
        inputs = [port.name for port in programs[0].inputs]
        self.nodes.append((cut.positions, node_of(cut, name, DOMAIN, inputs)))
        return EmbeddedRegion(cut.title, name, nodes=len(cut.positions))

    def _reason_to_stay(self, cut: Cut) -> str:
        types = self.values.types
        if not cut.outputs:
            return "gives nothing"
        for name in (*cut.inputs, *cut.outputs):
            type = types.get(name)
            if type is None:
                return f"the type of {name!r} is not known"
            if not isinstance(type, TensorType):
                return f"{name!r} is {type}, and only tensors pass through a custom op"
            if type.dtype not in _PASSED:
                return f"{name!r} has elements of type {name_of(type.dtype)}, which custom ops do not take"
            if name in cut.inputs and isinstance(type.shape, AnyShape):
                return f"the rank of {name!r} is not known"
        return ""

    def _constant(self, name: str) -> np.ndarray | None:
        """The contents of a value that are the library's."""
        if name not in self.values.constants:
            return None
        array = self.values.constants[name]()
        is_own = self.weights == "library" and self.values.readers.get(name, 0) < 2
        return array if is_own or array.nbytes <= _SMALL else None

    def _compile(self, programs: Sequence[Library], title: str) -> list[bytes | bytearray]:
        modules = operator_modules(programs, title, self.machine)
        return [
            fill_constants(linkable_code(str(module), self.machine)[0], program)
            for module, program in zip(modules, programs, strict=True)
        ]

    def write_library(self, path: Path) -> None:
        """Link the ops and their registration beside the target and move it there, as whole files."""
        registration, _ = linkable_code(str(registration_module(list(self.objects), self.machine)), self.machine)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            files: list[Path] = []
            for number, code in enumerate([registration, *(code for each in self.objects.values() for code in each)]):
                files.append(Path(folder) / f"{number}.o")
                files[-1].write_bytes(code)
            link(files, made := Path(folder) / path.name)
            os.replace(made, path)


def _programs(module: Module, name: str) -> list[Library]:
    """A program that knows lengths before it runs; where it is not made for all of them, others that are.

    Where lengths must be the same, one of them may be 1 and broadcast: that is another program. The last finds all
    lengths out while it runs.
    """
    first = library_of(module, name, {}, {}, takes_lengths=True)
    if not has_conditions(first.graph):
        return [first]
    others: list[Library] = []
    names = {str(dim): None for pair in first.graph.agreeing for dim in pair if str(dim) in first.graph.names}
    for single in list(names)[:_MOST_BROADCASTS]:
        with suppress(CompileError):
            others.append(library_of(module, f"{name}_{len(others)}", {single: 1}, {}, takes_lengths=True))
    return [first, *others, library_of(module, f"{name}_any", {}, {})]


def _op_type(cut: Cut, alone: ModelProto) -> str:
    """A name by what the region is, so that equal ones share an op and libraries of other models have other names."""
    digest = hashlib.sha256(alone.SerializeToString(deterministic=True)).hexdigest()[:12]
    stem = re.sub(r"\W", "_", cut.node.name or cut.node.op_type, flags=re.ASCII)
    return f"{'' if stem[0].isalpha() else '_'}{stem}_{digest}"
