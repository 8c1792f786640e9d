"""The `onnx::*` functions: which there are, and which of a node's names are their inputs and attributes."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping

import numpy as np
import onnx
from msgspec import Struct, field

from whorl.errors import LoadError
from whorl.formats.onnx.schemas import OpSchema, schema_for
from whorl.formats.onnx.signatures import NEWEST
from whorl.mdf.model import Datum

OPSET = 15
"""The version of ai.onnx that MDF's functions have; what came later has its newest version."""
_KINDS = onnx.defs.OpSchema.AttrType
_VARIADIC = onnx.defs.OpSchema.FormalParameterOption.Variadic
_SINGLE = onnx.defs.OpSchema.FormalParameterOption.Single


_OTHER_VERSIONS = {
    **dict.fromkeys(("Optional", "OptionalHasElement", "OptionalGetElement", "Split"), NEWEST[""]),
    **dict.fromkeys(("Upsample", "Scatter"), 9),
}
"""Operators whose newest version takes all that the one of MDF takes, and those that ended before it."""


@functools.cache
def _names() -> dict[str, str]:
    """Operator names by themselves and in lower case."""
    names: dict[str, str] = {}
    for schema in onnx.defs.get_all_schemas():
        if schema.domain == "" and schema.name != "SequenceMap":
            names[schema.name] = names[schema.name.lower()] = schema.name
    for old in ("Upsample", "Scatter"):
        names[old] = names[old.lower()] = old
    return names


def operator_names() -> set[str]:
    """The names of all operators in lower case."""
    return {name.lower() for name in _names()}


@functools.cache
def find_schema(name: str) -> OpSchema | None:
    """The operator that `onnx::Add`, `onnx_ops.add(...)` or `Add` names; None where there is none."""
    bare = name.removeprefix("onnx::")
    if bare.startswith("onnx_ops."):
        bare = bare.removeprefix("onnx_ops.").split("(")[0]
    known = _names().get(bare)
    if known is None:
        return None
    version = _OTHER_VERSIONS.get(known, OPSET)
    return schema_for(known, "", version if onnx.defs.has(known, version, "") else NEWEST[""])


def _schema_of(schema: OpSchema, names: Mapping[str, Datum], args: Mapping[str, Datum]) -> OpSchema:
    """The newest version where names are given that only it knows."""
    if schema.deprecated or not onnx.defs.has(schema.name, NEWEST[""], ""):
        return schema
    newest = schema_for(schema.name, "", NEWEST[""])
    own = {*schema.attributes, *(parameter.name for parameter in schema.inputs)}
    later = {*newest.attributes, *(parameter.name for parameter in newest.inputs)}
    is_new = any(key in args for key in later - own) or any(key in names for key in newest.attributes.keys() - own)
    return newest if is_new and own <= later and not newest.deprecated else schema


def text_attributes(name: str) -> set[str]:
    """The attributes of an operator that are texts; none where there is no such operator."""
    schema = find_schema(name) if name.startswith(("onnx::", "onnx_ops.")) else None
    attributes = schema.attributes.items() if schema is not None else ()
    return {key for key, attribute in attributes if attribute.type == _KINDS.STRING}


def spread_arguments(name: str | None, args: Mapping[str, Datum]) -> Mapping[str, Datum]:
    """The arguments of a function, where one that lists parts of a variadic input is an argument for each of them.

    The list is one of JSON, or written out: `"[a, b]"`, or `"['a', 'b']"` as modeci_mdf writes the ids.
    """
    schema = find_schema(name) if name is not None and name.startswith(("onnx::", "onnx_ops.")) else None
    if schema is None or all(parameter.option != _VARIADIC for parameter in schema.inputs):
        return args
    single = {*schema.attributes, *(each.name for each in schema.inputs if each.option != _VARIADIC)}
    spread: dict[str, Datum] = {}
    for key, value in args.items():
        parts = None if key in single else _read_list(value)
        spread |= {key: value} if parts is None else {f"{key}[{at}]": part for at, part in enumerate(parts)}
    return spread


def _read_list(written: Datum) -> list[Datum] | None:
    """What stands in a list: texts are ids or expressions; None for what is no list of several inputs."""
    if isinstance(written, list):
        return written if written and all(isinstance(part, str) for part in written) else None
    if not isinstance(written, str) or not written.strip().startswith("["):
        return None
    try:
        tree = ast.parse(written.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(tree, ast.List):
        return None
    is_id = [isinstance(part, ast.Constant) and isinstance(part.value, str) for part in tree.elts]
    return [part.value if own else ast.unparse(part) for part, own in zip(tree.elts, is_id, strict=True)]  # pyright: ignore[reportAttributeAccessIssue]


def is_onnx(name: str) -> bool:
    """Whether a function of a file is an operator of ONNX."""
    return name.startswith(("onnx::", "onnx_ops.")) and find_schema(name) is not None


class Binding(Struct):
    """What an operator gets: inputs in its order (None where omitted), attributes by name.

    `captures`: what graphs among the attributes read of the names around them.
    """

    schema: OpSchema
    inputs: list[Datum]
    attributes: dict[str, Datum]
    captures: dict[str, Datum] = field(default_factory=dict)


def bind(schema: OpSchema, names: Mapping[str, Datum], args: Mapping[str, Datum]) -> Binding:
    """The inputs and attributes among the names of a node. `args` are the arguments as the file has them.

    Names that the operator knows count wherever the node has them; a variadic input takes all other arguments in order,
    each as often as it stands there, and `spread_arguments` has made one of each part of a list. Errors: LoadError.
    """
    schema = _schema_of(schema, names, args)
    attributes = {
        key: attribute_value(schema, key, names[key])
        for key in schema.attributes
        if key in names and not is_omitted(names[key])
    }
    rest = [key for key in args if key not in schema.attributes]
    inputs: list[Datum] = []
    for parameter in schema.inputs:
        if parameter.option == _VARIADIC:
            inputs += [names[key] for key in rest]
            rest = []
        elif parameter.name in names and not is_omitted(names[parameter.name]):
            inputs.append(names[parameter.name])
        else:
            inputs.append(None)
        rest = [key for key in rest if key != parameter.name]
    if rest:
        known = ", ".join([parameter.name for parameter in schema.inputs] + list(schema.attributes))
        raise LoadError(f"onnx::{schema.name} has no argument {rest[0]!r}", fix=f"its arguments are {known}")
    return Binding(schema, checked_inputs(schema, inputs), attributes)


def checked_inputs(schema: OpSchema, inputs: list[Datum]) -> list[Datum]:
    """Inputs without omitted ones at the end; LoadError where one is missing."""
    while inputs and inputs[-1] is None:
        inputs.pop()
    for index, parameter in enumerate(schema.inputs):
        missing = index >= len(inputs) or inputs[index] is None
        if missing and parameter.option == _SINGLE:
            raise LoadError(f"onnx::{schema.name} lacks its argument {parameter.name!r}")
    if len(inputs) < schema.min_input:
        raise LoadError(f"onnx::{schema.name} has {len(inputs)} inputs, it takes at least {schema.min_input}")
    return inputs


def is_omitted(value: Datum) -> bool:
    return value is None or (isinstance(value, str) and not value)


def attribute_value(schema: OpSchema, name: str, value: Datum) -> Datum:
    """A value of a file as the attribute takes it. Errors: LoadError."""
    kind = schema.attributes[name].type
    try:
        match kind:
            case _KINDS.INT:
                return int(np.asarray(value).reshape(()) if np.size(value) == 1 else value)
            case _KINDS.FLOAT:
                return float(np.asarray(value).reshape(()) if np.size(value) == 1 else value)
            case _KINDS.STRING:
                return str(value)
            case _KINDS.INTS:
                return tuple(int(entry) for entry in np.atleast_1d(value).tolist())
            case _KINDS.FLOATS:
                return tuple(float(entry) for entry in np.atleast_1d(value).tolist())
            case _KINDS.STRINGS:
                return tuple(str(entry) for entry in np.atleast_1d(value).tolist())
            case _KINDS.TENSOR:
                return _tensor(value)
            case _:
                pass
    except (TypeError, ValueError, OverflowError):
        shown = str(value)[:40]
        raise LoadError(f"onnx::{schema.name}: {name} is {shown}, expected {kind.name}") from None
    return value


def _tensor(value: Datum) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else np.asarray(value)
