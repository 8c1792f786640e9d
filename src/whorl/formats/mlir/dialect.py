"""How the ops of the onnx dialect are named: versions at the end of names, ops that only onnx-mlir has, regions."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

import onnx
from msgspec import Struct, field
from onnx import AttributeProto

from whorl.errors import LoadError
from whorl.formats.mlir.own_ops import OWN_OPS
from whorl.formats.mlir.syntax import Operation
from whorl.formats.onnx.schemas import OpSchema
from whorl.formats.onnx.signatures import NEWEST

VERSION = "onnx-mlir.version"
"""The domain of functions that stand for ops of an older version."""
_VERSIONED = re.compile(r"([A-Z]\w*?)V(\d+)$")
OWN_NAMES = {"MaxPoolSingleOut": "MaxPool", "BatchNormalizationInferenceMode": "BatchNormalization"}
"""Names that onnx-mlir gives to ONNX ops with one output."""
_REGIONS = {
    "If": ("then_branch", "else_branch"),
    "Loop": ("body",),
    "Scan": ("body",),
    "SequenceMap": ("body",),
}


class OpForm(Struct, frozen=True):
    """What ONNX calls an operation: name, domain, version (None: the newest), kinds of attributes, regions.

    The domain `VERSION` is that of onnx-mlir's own ops.

    `consumed` are attributes that said which op it is.
    """

    name: str
    domain: str
    version: int | None
    kinds: dict[str, int] = field(default_factory=dict)
    regions: Sequence[str] = ()
    consumed: Sequence[str] = ()


def form_of(operation: Operation) -> OpForm:
    """The ONNX op that an operation is. Errors: LoadError."""
    dialect, _, name = operation.name.partition(".")
    if dialect != "onnx":
        raise LoadError(f"{operation.name} is no operation of the onnx dialect")
    if name == "Custom":
        return _custom(operation)
    if name in OWN_OPS:
        return OpForm(name, VERSION, None, OWN_OPS[name].kinds, (), ("target_layout", "index_map"))
    return _form(name)


@functools.cache
def _form(name: str) -> OpForm:
    versioned = _VERSIONED.fullmatch(name)
    bare = versioned[1] if versioned else name
    bare = OWN_NAMES.get(bare, bare)
    domain = _domains().get(bare)
    if domain is None:
        raise LoadError(f"onnx.{name} is no operator that is known", fix="write it with operators of ONNX")
    version = int(versioned[2]) if versioned else None
    schema = _schema(bare, domain, version or NEWEST[domain])
    if schema.deprecated and _existed_before(schema):
        version = schema.since_version - 1
        schema = _schema(bare, domain, version)
    kinds = {key: int(attribute.type.value) for key, attribute in schema.attributes.items()}
    return OpForm(bare, domain, version, kinds, _REGIONS.get(bare, ()))


def _existed_before(schema: OpSchema) -> bool:
    """Whether an op had a version before this one; GroupNormalization-18 was deprecated when it was new."""
    return onnx.defs.has(schema.name, schema.since_version - 1, schema.domain)


def _schema(name: str, domain: str, version: int) -> OpSchema:
    try:
        if version <= NEWEST[domain]:
            return onnx.defs.get_schema(name, version, domain)
    except onnx.defs.SchemaError:
        pass
    raise LoadError(f"{name} has no version {version}")


@functools.cache
def _domains() -> dict[str, str]:
    """The domain of every ONNX op by its name; the main one where several have it."""
    names: dict[str, str] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in NEWEST and (schema.domain == "" or schema.name not in names):
            names[schema.name] = schema.domain
    return names


def _custom(operation: Operation) -> OpForm:
    """`onnx.Custom`, which names its op and domain by attributes; other attributes keep the kinds they look like."""
    name, domain = operation.attributes.get("function_name"), operation.attributes.get("domain_name", "")
    if not isinstance(name, str):
        raise LoadError("onnx.Custom lacks the attribute 'function_name'")
    names = (
        "function_name",
        "domain_name",
        "output_element_type",
        "shape_infer_pattern",
        "inputs_for_infer",
        "has_side_effect",
    )
    kinds = {key: _kind(value) for key, value in operation.attributes.items() if key not in (*names, "onnx_node_name")}
    for key, kind in kinds.items():
        if kind == AttributeProto.UNDEFINED:
            raise LoadError(f"attribute {key!r} of onnx.Custom is no number, no text and no list of one of them")
    return OpForm(name, str(domain), None, kinds, (), names)


def _kind(value: Any) -> int:
    match value:
        case bool() | int():
            return AttributeProto.INT
        case float():
            return AttributeProto.FLOAT
        case str():
            return AttributeProto.STRING
        case tuple() if all(isinstance(item, int) for item in value):
            return AttributeProto.INTS
        case tuple() if value and all(isinstance(item, float) for item in value):
            return AttributeProto.FLOATS
        case tuple() if value and all(isinstance(item, str) for item in value):
            return AttributeProto.STRINGS
        case _:
            pass
    return AttributeProto.UNDEFINED
