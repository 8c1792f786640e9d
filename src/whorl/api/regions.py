"""The loops and branches of an ONNX model as models of their own, and why some of them cannot be."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from whorl.api.models import load_module
from whorl.errors import CompileError, LoadError, UnsupportedError
from whorl.formats.onnx.cutting import Cut, constant_tensors, count_readers, cut_control, model_of_nodes, value_types
from whorl.formats.onnx.files import read_proto, require_graph
from whorl.formats.onnx.gathering import gather_neighbours
from whorl.formats.onnx.protos import ModelProto
from whorl.formats.options import LoadOptions
from whorl.formats.registry import ONNX, format_of
from whorl.formats.sources import File
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import BY_NAME, name_of
from whorl.ir.graph import Node, Value
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
AS_IN_ONNXRUNTIME = LoadOptions(condition_when_omitted="honour")
Weights = Literal["library", "model"]


class Regions:
    """The outermost loops and branches of a model, which is a copy that may be changed."""

    def __init__(self, model: File, weights: Weights = "library") -> None:
        if weights not in get_args(Weights):
            raise CompileError(f"weights is {weights!r}", fix="use 'library' or 'model'")
        if (format := format_of(model)) is not ONNX:
            raise LoadError(f"the model is {format.name}, not ONNX", fix="whorl convert MODEL model.onnx")
        self.proto = ModelProto()
        self.proto.CopyFrom(read_proto(model))
        require_graph(self.proto)
        self.folder = Path(model).parent if isinstance(model, str | os.PathLike) else None
        self.cuts = cut_control(self.proto)
        self.weights = weights
        self.values = _Values.of(model, self.proto, self.folder)

    def choose(self, only: Collection[str], keep: Collection[str]) -> list[Cut]:
        """The cuts of nodes of these names alone, or of all but those to keep. Errors: CompileError."""
        _require_names(self.cuts, {*only, *keep})
        return [cut for cut in self.cuts if cut.node.name not in keep and (not only or cut.node.name in only)]

    def with_neighbours(self, cuts: Sequence[Cut]) -> list[Cut]:
        """The cuts with light nodes around them; constants go by themselves."""
        light, nodes = self.values.light, self.proto.graph.node
        positions = [
            n
            for n, node in enumerate(nodes)
            if node.op_type != "Constant" and all(y in light for y in node.output if y)
        ]
        return gather_neighbours(self.proto, cuts, positions)

    def reason_to_stay(self, cut: Cut) -> str:
        """Why a region can be in no library by what it reads and gives; empty where nothing speaks against it."""
        types = self.values.types
        if not cut.outputs:
            return "gives nothing"
        for name in (*cut.inputs, *cut.outputs):
            type = types.get(name)
            if type is None:
                return f"the type of {name!r} is not known"
            if not isinstance(type, TensorType):
                return f"{name!r} is {type}, and libraries take only tensors"
            if type.dtype not in _PASSED:
                return f"{name!r} has elements of type {name_of(type.dtype)}, which libraries do not take"
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

    def model_of(self, cut: Cut) -> ModelProto:
        """The region as a model, with constants that are its own."""
        constants = {name: array for name in cut.inputs if (array := self._constant(name)) is not None}
        return model_of_nodes(self.proto, cut, self.values.types, constants)


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
        """By whorl's inference where it reads the whole model, else by onnx's."""
        constants = constant_tensors(proto, folder)
        try:
            module = load_module(model, AS_IN_ONNXRUNTIME)
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
