"""The names of one ONNX graph while it becomes MDF: their ids, what is constant, and what is known of their types."""

from __future__ import annotations

import contextlib
import keyword
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np
import onnx
from msgspec import Struct
from msgspec.structs import replace
from onnx import GraphProto, ModelProto, TypeProto

from whorl.formats.onnx.dtypes import FROM_ONNX
from whorl.mdf.model import Graph

Fixed = np.ndarray | str | tuple[str, ...]
"""A constant: an array, or texts."""
_LARGE = 1024
"""The elements from which a constant tells nothing about shapes."""


def make_id(name: str) -> str:
    """A name of ONNX as Python can read it; modeci_mdf keeps ids with `onnx_` for functions."""
    plain = re.sub("onnx_+", "onnx", re.sub(r"\W", "_", name, flags=re.ASCII)) or "value"
    if plain[0].isdigit() or keyword.iskeyword(plain) or plain in ("math", "numpy", "np"):
        plain = f"_{plain}"
    return plain


class Ids:
    """Ids are unique in the whole model, so that a body may name what is around it."""

    def __init__(self, used: Collection[str]) -> None:
        self.used = set(used)

    def new(self, name: str) -> str:
        plain = unique = make_id(name)
        number = 2
        while unique in self.used:
            unique, number = f"{plain}_{number}", number + 1
        self.used.add(unique)
        return unique


class Scope(Struct, frozen=True):
    """Names of one graph and of those around it. `body` makes a graph of a nested one."""

    ids_of: Ids
    folder: Path | None
    ids: Mapping[str, str]
    constants: Mapping[str, Fixed]
    types: Mapping[str, TypeProto]
    body: Callable[[GraphProto], Graph]

    def with_constants(self, values: Mapping[str, Fixed]) -> Scope:
        ids = {name: id for name, id in self.ids.items() if name not in values}
        return replace(self, ids=ids, constants={**self.constants, **values})

    def lengths(self, name: str) -> list[int | None] | None:
        """The lengths of a tensor's axes as far as they are known; None where their number is not."""
        if name in self.constants:
            return list(np.shape(self.constants[name]))
        type = self.types.get(name)
        if type is None or not type.tensor_type.HasField("shape"):
            return None
        return [dim.dim_value if dim.HasField("dim_value") else None for dim in type.tensor_type.shape.dim]

    def dtype(self, name: str) -> np.dtype | None:
        if name in self.constants:
            return np.asarray(self.constants[name]).dtype
        type = self.types.get(name)
        return None if type is None else FROM_ONNX.get(type.tensor_type.elem_type)


def infer_types(model: ModelProto) -> dict[str, TypeProto]:
    """The types of the main graph's names, as onnx infers them; large constants stay out of it."""
    light, graph = ModelProto(), model.graph
    light.ir_version = model.ir_version
    light.opset_import.extend(model.opset_import)
    light.functions.extend(model.functions)
    for part in ("node", "input", "output", "value_info"):
        getattr(light.graph, part).extend(getattr(graph, part))
    declared = {info.name for info in graph.input}
    for tensor in graph.initializer:
        size = int(np.prod(tensor.dims, dtype=float))
        if size < _LARGE and tensor.data_location != onnx.TensorProto.EXTERNAL:
            light.graph.initializer.append(tensor)
        elif tensor.name not in declared:
            light.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    with contextlib.suppress(onnx.shape_inference.InferenceError):
        light = onnx.shape_inference.infer_shapes(light)
    infos = (*light.graph.value_info, *light.graph.output, *light.graph.input)
    return {info.name: info.type for info in infos}
