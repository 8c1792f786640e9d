"""What a session shows of a module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.graph import Module, Value
from whorl.ir.infer import names_in_type
from whorl.ir.types import AnyShape, OptionalType, SequenceType, TensorType, Type, type_string
from whorl.runtime.interface import Interface, ModelMetadata, NodeArg


def interface_of(module: Module) -> Interface:
    """What a session on a module shows; states, which a session feeds itself, are not among it."""
    ours, hidden = {state.input for state in module.states}, {state.output for state in module.states}
    inputs = {name: value for name, value in input_args(module).items() if name not in ours}
    return Interface(
        tuple(value for name, value in inputs.items() if name not in module.defaults),
        tuple(value for name, value in inputs.items() if name in module.defaults),
        tuple(value for value in output_args(module) if value.name not in hidden),
        _metadata(module.metadata),
    )


def _metadata(metadata: Mapping[str, Any]) -> ModelMetadata:
    return ModelMetadata(
        producer_name=metadata.get("producer_name", ""),
        graph_name=metadata.get("graph_name", ""),
        domain=metadata.get("domain", ""),
        description=metadata.get("description", ""),
        graph_description=metadata.get("graph_description", ""),
        version=metadata.get("model_version", 0),
        custom_metadata_map=dict(metadata.get("properties", {})),
    )


def input_args(module: Module) -> dict[str, NodeArg]:
    """The inputs by name, those with a default among them."""
    names = _declared_names(module)
    return {v.name: NodeArg(v.name, _shape(v.type, v.type, names), type_string(v.type)) for v in module.main.arguments}


def output_args(module: Module) -> list[NodeArg]:
    """The outputs, with the dims that inference proved, and those that the file declares where it proved none."""
    names = _declared_names(module)
    return [
        NodeArg(name, _shape(type, module.declared.get(name, type), names), type_string(type))
        for name, type in module.output_types().items()
    ]


def _declared_names(module: Module) -> set[str]:
    """The names that the file gives to dims of inputs and outputs; inference makes up others."""
    declared = {name for type in module.declared.values() for name in names_in_type(type)}
    return declared.union(*(_input_names(value) for value in module.main.arguments))


def _input_names(value: Value) -> set[str]:
    """The names in an input's type, without those that inference derives from the input's own name."""
    return {name for name in names_in_type(value.type) if name.partition("'")[0].rpartition(".")[0] != value.name}


def _shape(type: Type, declared: Type, names: set[str]) -> list[int | str | None]:
    proved, written = _dims(type), _dims(declared)
    if len(written) != len(proved):
        written = (UNKNOWN,) * len(proved)
    shown = [(_shown(a, names), _shown(b, names)) for a, b in zip(proved, written, strict=True)]
    return [b if a is None else a for a, b in shown]


def _dims(type: Type) -> tuple[Dim, ...]:
    while isinstance(type, SequenceType | OptionalType):
        type = type.element
    return () if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape) else type.shape


def _shown(dim: Dim, names: set[str]) -> int | str | None:
    if isinstance(dim, int):
        return dim
    return str(dim) if dim is not UNKNOWN and dims.names_in(dim) <= names else None
