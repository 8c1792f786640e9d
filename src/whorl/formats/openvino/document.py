"""An IR file as data: layers, ports, edges, and the maps of layers with bodies."""

from __future__ import annotations

from msgspec import Struct, field

from whorl.errors import format_title
from whorl.ir.types import TensorType


class Port(Struct):
    """A port of a layer: its id in the file, the declared type (None for an input without one), tensor names."""

    id: int
    type: TensorType | None = None
    names: tuple[str, ...] = ()
    rt_info: dict[str, str] = field(default_factory=dict)


class PortMap(Struct):
    """An entry of a port_map: `is_input`, the outer index (-1: none) and the Parameter or Result inside.

    `axis` is None for a value that goes in or out whole. `unknown` are attributes that mean nothing.
    """

    is_input: bool
    external: int
    internal: int
    axis: int | None = None
    start: int = 0
    end: int = -1
    stride: int = 1
    part_size: int = 1
    purpose: str = ""
    unknown: tuple[str, ...] = ()


class Body(Struct):
    """A net inside a layer, with how it is connected. `back_edges`: (Result id, Parameter id)."""

    net: Net
    ports: list[PortMap] = field(default_factory=list)
    back_edges: list[tuple[int, int]] = field(default_factory=list)


class Layer(Struct):
    """A layer. `data` holds its attributes as the file writes them, `bodies` "body", or "then_body" and "else_body".

    `line` is where it stands in the file.
    """

    id: int
    name: str
    type: str
    version: str
    data: dict[str, str] = field(default_factory=dict)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    bodies: dict[str, Body] = field(default_factory=dict)
    rt_info: dict[str, str] = field(default_factory=dict)
    output_names: tuple[str, ...] = ()
    line: int = 0

    @property
    def title(self) -> str:
        """`Gather 'read_row'`."""
        return format_title(self.type, self.name)


class Edge(Struct):
    """A connection: (layer id, port id) to (layer id, port id)."""

    from_layer: int
    from_port: int
    to_layer: int
    to_port: int


class Net(Struct):
    """A net: the file's own, or the body of a layer. Layers and edges keep their order."""

    name: str = ""
    version: int = 11
    layers: list[Layer] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    rt_info: dict[str, str] = field(default_factory=dict)
