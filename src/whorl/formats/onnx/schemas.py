"""The onnx package's operator schemas: which version applies, what it allows, and its function body."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import onnx
from onnx import AttributeProto, FunctionProto, NodeProto

from whorl.errors import LoadError, SaveError, UnsupportedError
from whorl.formats.onnx.tensors import type_to
from whorl.ir.graph import Value
from whorl.ir.types import Type, type_string

if TYPE_CHECKING:
    OpSchema = Any  # the stub of onnx lacks half of it
else:
    OpSchema = onnx.defs.OpSchema


def _newest() -> dict[str, int]:
    newest: dict[str, int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        newest[schema.domain] = max(newest.get(schema.domain, 1), schema.since_version)
    newest[""] = max(newest[""], onnx.defs.onnx_opset_version())
    return newest


NEWEST: dict[str, int] = _newest()
"""The newest known version of each domain."""


@functools.cache
def schema_for(op_type: str, domain: str, version: int) -> OpSchema:
    """The schema of an op at an opset version; UnsupportedError where there is none."""
    try:
        return onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        pass
    shown = f"{domain or 'ai.onnx'} {version}"
    history = (s for s in onnx.defs.get_all_schemas_with_history() if s.name == op_type and s.domain == domain)
    first = min((schema.since_version for schema in history), default=None)
    if first is None:
        raise UnsupportedError(f"{op_type} is not an operator of {shown}")
    raise UnsupportedError(f"{op_type} came with version {first}; the model imports {shown}")


def check_node(proto: NodeProto, attributes: Sequence[AttributeProto], schema: OpSchema) -> None:
    """Refuse wrong numbers of inputs or outputs, and attributes that are missing, unknown or of the wrong kind."""
    for what, count, low, high in (
        ("inputs", len(proto.input), schema.min_input, schema.max_input),
        ("outputs", len(proto.output), schema.min_output, schema.max_output),
    ):
        if not low <= count <= high:
            raise LoadError(f"has {count} {what}, version {schema.since_version} takes {_span(low, high)}")
    for index, name in enumerate(proto.input):
        parameter = schema.inputs[min(index, len(schema.inputs) - 1)]
        if not name and parameter.option == onnx.defs.OpSchema.FormalParameterOption.Single:
            raise LoadError(f"input {index} ({parameter.name}) is missing", fix="give the input a name")
    known = schema.attributes
    for attribute in attributes:
        if attribute.name not in known:
            raise LoadError(f"has the attribute {attribute.name!r}, which version {schema.since_version} does not know")
        kind = known[attribute.name].type
        if int(kind.value) != attribute.type:
            actual = AttributeProto.AttributeType.Name(attribute.type)
            raise LoadError(f"attribute {attribute.name!r} is {actual}, expected {kind.name}")
    present = {a.name for a in attributes}
    for name, attribute in known.items():
        if attribute.required and name not in present:
            raise LoadError(f"lacks the attribute {name!r}")


def _span(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"at least {low}" if high >= 1 << 30 else f"{low} to {high}"


def require_type(type: Type, schema: OpSchema, index: int = 0, result: bool = False) -> None:
    """Refuse, when writing, a type that an operator's version does not take as an input, or give as a result.

    The error names the first version that does.
    """
    text = type_string(type)
    if text in _allowed(schema, index, result):
        return
    later = (
        schema_for(schema.name, schema.domain, v) for v in range(schema.since_version + 1, NEWEST[schema.domain] + 1)
    )
    first = next((s.since_version for s in later if text in _allowed(s, index, result)), None)
    what = f"gives {text}" if result else f"input {index} is {text}"
    verb = "give" if result else "take"
    raise SaveError(
        f"{what}, which version {schema.since_version} of {schema.name} does not {verb}",
        fix=f"opset {first} or later can say it" if first else f"no version {verb}s it; insert a Cast",
    )


def _allowed(schema: OpSchema, index: int, result: bool) -> set[str]:
    parameters = schema.outputs if result else schema.inputs
    return set(parameters[min(index, len(parameters) - 1)].types) if parameters else set()


def has_function(schema: OpSchema) -> bool:
    """Whether onnx defines the op by a function."""
    return schema.has_function or schema.has_context_dependent_function


def schema_function(proto: NodeProto, schema: OpSchema, inputs: Sequence[Value | None]) -> FunctionProto | None:
    """The function body that the schema gives an op, with defaults of the attributes filled in."""
    node = NodeProto()
    node.CopyFrom(proto)
    present = {a.name for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in present and attribute.default_value.name:
            node.attribute.append(attribute.default_value)
    version = schema.since_version
    if schema.has_function:
        versions = [v for v in schema.function_opset_versions if v >= version] or schema.function_opset_versions
        data = schema.get_function_with_opset_version(versions[0])
    elif schema.has_context_dependent_function:
        versions = schema.context_dependent_function_opset_versions
        types = [b"" if x is None else type_to(x.type).SerializeToString() for x in inputs]
        data = schema.get_context_dependent_function_with_opset_version(versions[0], node.SerializeToString(), types)
    else:
        return None
    function = FunctionProto()
    function.ParseFromString(data)
    return function
