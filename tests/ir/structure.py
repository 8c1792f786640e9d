"""Everything a module says as plain data that compares: NaN equals NaN, 0 is not -0, 1 is not True."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from whorl.ir.constants import Constant
from whorl.ir.dims import Unknown
from whorl.ir.dtypes import name_of
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.types import AnyShape


def structure(module: Module) -> Any:
    """The whole module; metadata that says nothing is left out."""
    message = {key: value for key, value in module.metadata.items() if value}
    outputs = [(name, plain(module.declared.get(name))) for name in module.output_names]
    return region_structure(module.main), outputs, plain(module.defaults), plain(message)


def region_structure(region: Region) -> Any:
    numbers = {value: index for index, value in enumerate(region.arguments)}
    nodes = []
    for node in region.nodes:
        inputs = [None if value is None else numbers[value] for value in node.inputs]
        numbers |= {value: len(numbers) + index for index, value in enumerate(node.outputs)}
        nodes.append((plain(node.op), node.name, inputs, made(node.outputs), list(map(region_structure, node.regions))))
    return region.name, made(region.arguments), nodes, [numbers[value] for value in region.results]


def made(values: list[Value]) -> Any:
    return [(value.name, plain(value.type), known(value)) for value in values]


def known(value: Value) -> Any:
    """What inference knows of the elements; a Constant says that itself, and complex numbers are not written."""
    if value.known is None or (isinstance(value.owner, Node) and isinstance(value.owner.op, Constant)):
        return None
    return None if any(isinstance(element, complex) for element in value.known.flat) else plain(value.known)


def plain(value: Any) -> Any:
    match value:
        case np.ndarray():
            return "array", name_of(value.dtype), value.shape, [plain(item) for item in value.astype(object).flat]
        case np.dtype():
            return "dtype", name_of(value)
        case np.generic():
            return plain(value.item())
        case float():
            return "float", "nan" if np.isnan(value) else value.hex()
        case complex():
            return "complex", plain(value.real), plain(value.imag)
        case tuple() | list():
            return tuple(map(plain, value))
        case dict():
            return tuple((key, plain(item)) for key, item in value.items())
        case AnyShape() | Unknown():
            return repr(value)
    if hasattr(value, "numpy"):
        return plain(value.numpy())
    if isinstance(value, Struct):
        return type(value).__name__, tuple((name, plain(item)) for name, item in asdict(value).items())
    return type(value).__name__, value
