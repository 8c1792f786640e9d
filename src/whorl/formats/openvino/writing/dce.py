"""Dead code elimination of layers."""

from __future__ import annotations

from whorl.formats.openvino.document import Layer, Net

_LIVE = ("Parameter", "Result", "Assign")


def remove_unused_layers(net: Net) -> list[Layer]:
    """Remove the layers that lead to no Result, no Assign and no layer with bodies, and return them."""
    origins: dict[int, list[int]] = {}
    for edge in net.edges:
        origins.setdefault(edge.to_layer, []).append(edge.from_layer)
    todo = [layer.id for layer in net.layers if layer.type in _LIVE or layer.bodies]
    needed = set(todo)
    while todo:
        new = [origin for origin in origins.get(todo.pop(), ()) if origin not in needed]
        needed.update(new)
        todo += new
    dropped = [layer for layer in net.layers if layer.id not in needed]
    if dropped:
        net.layers = [layer for layer in net.layers if layer.id in needed]
        net.edges = [edge for edge in net.edges if edge.to_layer in needed]
    return dropped
