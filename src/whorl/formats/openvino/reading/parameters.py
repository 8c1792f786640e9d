"""The declared types of Parameters."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.document import Layer
from whorl.formats.openvino.element_types import element_type
from whorl.formats.openvino.reading.context import ReadContext
from whorl.formats.openvino.shapes import shape_of
from whorl.ir.graph import Value
from whorl.ir.types import TensorType

OPEN = ("dynamic", "undefined")
"""Element types that accept any value."""


def parameter_type(layer: Layer, context: ReadContext) -> TensorType:
    """The type that a Parameter states. Errors: LoadError OV404, OV405, OV501."""
    try:
        return _declared_type(layer)
    except LoadError as error:
        raise error.at(context.location(layer)) from None


def _declared_type(layer: Layer) -> TensorType:
    for name in ("element_type", "shape"):
        if name not in layer.data:
            raise problem("OV501", f"lacks the attribute {name!r}")
    if len(layer.outputs) != 1:
        raise problem("OV211", f"has {len(layer.outputs)} outputs, expected one")
    shape = shape_of(layer.data["shape"], "")
    return TensorType(element_type(layer.data["element_type"], f"element_type of {layer.title}"), shape)


def compare_parameter(layer: Layer, value: Value, context: ReadContext) -> None:
    """Note where a Parameter of a body declares another element type than its value has; the value's type counts."""
    if layer.data.get("element_type", "").strip().lower() in OPEN:
        return
    declared = parameter_type(layer, context)
    actual = value.type.dtype if isinstance(value.type, TensorType) else np.dtype(object)
    if declared.dtype != actual:
        context.warn("OV209", f"is declared {declared}, and given {value.type}", layer)
