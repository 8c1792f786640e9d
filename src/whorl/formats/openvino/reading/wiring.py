"""Which port feeds which input, and in which order layers are read; nets that make no sense are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.document import Edge, Layer, Net, Port
from whorl.formats.openvino.reading.context import ReadContext

Origin = tuple[int, int]
"""An output: the id of its layer and its position among the outputs."""
SINKS = ("result", "assign")


class Wiring:
    """The layers of a net by id, and where each input comes from. Errors: LoadError OV2xx."""

    def __init__(self, net: Net, context: ReadContext) -> None:
        self.context = context
        self.layers: dict[int, Layer] = {}
        for layer in net.layers:
            other = self.layers.setdefault(layer.id, layer)
            if other is not layer:
                message = f"has the id {layer.id} of {other.title} in line {other.line}"
                raise problem("OV201", message, context.location(layer), "give each layer an id of its own")
        self._inputs = {layer.id: _positions(layer, layer.inputs, context) for layer in net.layers}
        self._outputs = {layer.id: _positions(layer, layer.outputs, context) for layer in net.layers}
        self._origins: dict[tuple[int, int], Origin] = {}
        for edge in net.edges:
            self._connect(edge)

    def sinks(self) -> list[Layer]:
        """The layers for the sake of which a net is computed: Result and Assign, in the file's order."""
        return [layer for layer in self.layers.values() if layer.type.lower() in SINKS]

    def inputs_of(self, layer: Layer) -> list[Origin]:
        """Where the inputs of a layer come from, in order. Errors: LoadError OV205."""
        for position, port in enumerate(layer.inputs):
            if (layer.id, position) not in self._origins:
                message = f"nothing is connected to its input {position} (port {port.id})"
                raise problem("OV205", message, self.context.location(layer), "add an edge that leads there")
        return [self._origins[layer.id, position] for position in range(len(layer.inputs))]

    def order(self, roots: Iterable[Layer], is_ready: Callable[[Layer], bool]) -> list[Layer]:
        """The layers that roots depend on, each after what it needs. What layers that are ready need is left out.

        Errors: LoadError OV206 names the layers of a cycle.
        """
        order: list[Layer] = []
        state: dict[int, bool] = {}
        for root in roots:
            stack = [(root, self._needed(root, is_ready))] if root.id not in state else []
            state.setdefault(root.id, False)
            while stack:
                layer, needed = stack[-1]
                other = next(needed, None)
                if other is None:
                    stack.pop()
                    state[layer.id] = True
                    order.append(layer)
                elif other.id not in state:
                    state[other.id] = False
                    stack.append((other, self._needed(other, is_ready)))
                elif not state[other.id]:
                    raise self._cycle([entry[0] for entry in stack], other)
        return order

    def _needed(self, layer: Layer, is_ready: Callable[[Layer], bool]) -> Iterator[Layer]:
        if is_ready(layer):
            return iter(())
        return iter([self.layers[origin[0]] for origin in self.inputs_of(layer)])

    def _cycle(self, path: list[Layer], start: Layer) -> Exception:
        cycle = [*path[path.index(start) :], start]
        shown = [layer.title for layer in cycle]
        if len(shown) > 6:
            shown[3:-2] = ["..."]
        return problem("OV206", f"needs itself: {' <- '.join(shown)}", self.context.location(start), "use a Loop")

    def _connect(self, edge: Edge) -> None:
        text = (
            f"the edge from layer {edge.from_layer} port {edge.from_port} to layer {edge.to_layer} port {edge.to_port}"
        )
        for id in (edge.from_layer, edge.to_layer):
            if id not in self.layers:
                raise problem("OV202", f"{text} names layer {id}, which does not exist", self.context.location())
        source = self._outputs[edge.from_layer].get(edge.from_port)
        target = self._inputs[edge.to_layer].get(edge.to_port)
        for position, id, kind in ((source, edge.from_layer, "output"), (target, edge.to_layer, "input")):
            if position is None:
                message = f"{text} names an {kind} port that {self.layers[id].title} does not have"
                raise problem("OV203", message, self.context.location())
        assert source is not None and target is not None
        if (edge.to_layer, target) in self._origins:
            message = f"{text} is a second one to the same port of {self.layers[edge.to_layer].title}"
            raise problem("OV204", message, self.context.location())
        self._origins[edge.to_layer, target] = edge.from_layer, source


def _positions(layer: Layer, ports: list[Port], context: ReadContext) -> dict[int, int]:
    """The position of each port by its id."""
    positions: dict[int, int] = {}
    for position, port in enumerate(ports):
        if positions.setdefault(port.id, position) != position:
            raise problem("OV210", f"has two ports with the id {port.id}", context.location(layer))
    return positions
