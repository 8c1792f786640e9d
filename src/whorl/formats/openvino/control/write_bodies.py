"""Bodies of layers: their Results and ports, and what connects them."""

from __future__ import annotations

import numpy as np

from whorl.formats.openvino.document import Body, PortMap
from whorl.formats.openvino.writing.layers import reshape
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.dtypes import BOOL, is_float, is_integer
from whorl.ir.types import AnyShape, TensorType

_VIEWS = ("Reshape", "Squeeze", "Unsqueeze")


class BodyWriter:
    """A body that is written: its Results, and the ports that connect it."""

    def __init__(self, child: NetWriter, write: NetWriter, inputs: list[Source]) -> None:
        self.child, self.write, self.inputs = child, write, inputs
        self.ports: list[PortMap] = []
        self.back_edges: list[tuple[int, int]] = []
        self._used: set[Source] = set()

    def result(self, source: Source, name: str) -> int:
        """The id of a Result. OpenVINO's CPU plugin mixes up states whose Result lies where a Parameter or another
        Result does."""
        if any(layer.id == source.layer for layer in self.child.parameters) or source in self._used:
            (source,) = self.child.layer("Identity", 16, [source], [source.type], name)
        elif self._is_parameter(source.layer):
            source = self._copied(source, name)
        self._used.add(source)
        return self.child.result(source, name).id

    def _copied(self, source: Source, name: str) -> Source:
        """Elements in memory of their own, as products of one element each: an Identity of what only looks at a
        Parameter in another shape copies nothing."""
        shape, dtype = source.type.shape, source.type.dtype
        if isinstance(shape, AnyShape) or not (dtype == BOOL or is_float(dtype) or is_integer(dtype)):
            return self.child.layer("Identity", 16, [source], [source.type], name)[0]
        axis, wide = self.child.constant(np.zeros(1, np.int64), "axis"), source.type.with_shape((1, *shape))
        (whole,) = self.child.layer("Unsqueeze", 1, [source, axis], [wide])
        type = "ReduceLogicalOr" if dtype == BOOL else "ReduceProd"
        return self.child.layer(type, 1, [whole, axis], [source.type], name, keep_dims=False)[0]

    def _is_parameter(self, layer: int) -> bool:
        """Whether a layer is a Parameter, or one looked at in another shape."""
        views = {each.id: each for each in self.child.net.layers if each.type in _VIEWS}
        while layer in views:
            layer = next(edge.from_layer for edge in self.child.net.edges if edge.to_layer == layer)
        return any(each.id == layer for each in self.child.parameters)

    def add_input(self, source: Source, port: PortMap) -> None:
        """Connect an input of the layer to a Parameter."""
        port.external = len(self.inputs)
        self.inputs.append(source)
        self.ports.append(port)

    def finish(self) -> Body:
        """The body, with an input for every Parameter that was made for a captured value."""
        for layer, operand in self.child.entries:
            source = operand if isinstance(operand, Source) else self.write.source(operand)
            self.add_input(source, PortMap(True, -1, layer.id))
        return Body(self.child.finish(), self.ports, self.back_edges)


def either(count: Source, some: Source, none: Source, type: TensorType, write: NetWriter) -> Source:
    """One value where a count is above zero, another where it is zero."""
    zero = write.constant(np.array(0, np.int64), "zero")
    test = TensorType(BOOL, ())
    inputs = write.layer("Greater", 1, [count, zero], [test], auto_broadcast="numpy")
    layer = write.body_layer("If", 8)
    for key, source in (("then_body", some), ("else_body", none)):
        child = write.child(f"{key} of If", [], [])
        body = BodyWriter(child, write, inputs)
        parameter, inside = child.parameter(source.type, "value")
        body.add_input(source, PortMap(True, -1, parameter.id))
        body.ports.append(PortMap(False, 0, body.result(inside, "value")))
        layer.bodies[key] = body.finish()
    return write.finish_body_layer(layer, inputs, [type])[0]


def one_element(source: Source, write: NetWriter) -> Source:
    """A tensor of one element with at most one axis, as counts and conditions must be."""
    shape = source.type.shape
    if not isinstance(shape, AnyShape) and len(shape) < 2 and all(dim == 1 for dim in shape):
        return source
    return reshape(write, source, ())


def sliced_port(is_input: bool, layer: int, axis: int, part: int, reverse: bool) -> PortMap:
    """A port that takes a slice, or joins one, in the canonical form."""
    start, end, stride = (-1, 0, -part) if reverse else (0, -1, part)
    return PortMap(is_input, 0, layer, axis, start, end, stride, part)
