"""The layouts that a model may have: along its own axis for rows where it has one, mapped by `vmap`, or row by row."""

from __future__ import annotations

from typing import Any

from whorl.api.options import SessionOptions
from whorl.api.session import InferenceSession
from whorl.api.vmapping import vmap
from whorl.errors import VmapError
from whorl.ir.graph import Module
from whorl.ir.types import MapType, SequenceType, TensorType, Type
from whorl.scoring.layouts import Layout
from whorl.scoring.mapping import Feeding


def candidates(module: Module, feeding: Feeding, outputs: tuple[str, ...], options: SessionOptions) -> list[Layout]:
    """The layouts that a model may have for these inputs, the fastest first."""
    layouts = []
    has_all = list(outputs) == list(module.visible_outputs)
    length = _common_length(module, feeding, outputs)
    if length is not None:
        fixed = length if isinstance(length, int) else None
        session = InferenceSession(module, options)
        layouts.append(Layout("axis", session, feeding, outputs, length=fixed, has_all=has_all))
    if isinstance(length, int):
        return layouts
    squeezed = _squeezed(module, feeding, outputs)
    mapped = _vmap(module, feeding)
    if mapped is not None:
        layouts.append(Layout("vmap", InferenceSession(mapped, options), feeding, outputs, squeezed, has_all=has_all))
    return [*layouts, Layout("rows", InferenceSession(module, options), feeding, outputs, squeezed, has_all=has_all)]


def _squeezed(module: Module, feeding: Feeding, outputs: tuple[str, ...]) -> frozenset[str]:
    """The outputs whose first axis is the one for rows that an input has."""
    lengths = [_first(each.type) for each in feeding.bound if each.has_axis]
    types = module.output_types()
    return frozenset(name for name in outputs if lengths and _first(types[name]) in (1, "", *lengths))


def _common_length(module: Module, feeding: Feeding, outputs: tuple[str, ...]) -> Any:
    """The length of the axis that all inputs and outputs have for rows, a number or a named dim; None without one."""
    lengths = [_first(each.type) if each.has_axis else None for each in feeding.bound]
    length, types = lengths[0], module.output_types()
    if length is None or length == 1 or any(other is None or other != length for other in lengths):
        return None
    firsts = [_first(types[name]) for name in outputs]
    if any(first is None for first in firsts):
        return None
    is_fixed = isinstance(length, int)
    return length if all(first == length or not (is_fixed or isinstance(first, int)) for first in firsts) else None


def _first(type: Type) -> Any:
    """The first length of a tensor; a list of maps has one that is not known."""
    match type:
        case TensorType(shape=(length, *_)):
            return length
        case SequenceType(element=MapType()):
            return ""
        case _:
            return None


def _vmap(module: Module, feeding: Feeding) -> Module | None:
    axes: dict[str, int | None] = {each.name: 0 for each in feeding.bound}
    if any(not isinstance(type, TensorType) for type in module.output_types().values()):
        return None
    try:
        return vmap(module, axes, name="rows of the table")
    except VmapError:
        return None
