"""The onnx package's operator schemas: the types that a version allows, and its function body.

The package is loaded when one is asked for: models whose operators have classes of their own are read without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whorl.errors import SaveError
from whorl.formats.onnx.protos import FunctionProto, NodeProto
from whorl.formats.onnx.signatures import NEWEST, signature_of
from whorl.formats.onnx.tensors import type_to
from whorl.ir.graph import Value
from whorl.ir.types import Type, type_string

OpSchema = Any
"""A schema of the package, whose stub lacks half of it."""


def schema_for(op_type: str, domain: str, version: int) -> OpSchema:
    """The schema of an op at an opset version; UnsupportedError where there is none."""
    since = signature_of(op_type, domain, version).since_version
    from onnx import defs

    return defs.get_schema(op_type, since, domain)


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
