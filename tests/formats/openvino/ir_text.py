"""Small IR files as text: layers and edges written shortly, for tests of the reader."""

from __future__ import annotations

HEAD = '<?xml version="1.0"?>\n'


def layer(
    id: int,
    type: str,
    inputs: int = 0,
    outputs: tuple[str, ...] = ("FP32",),
    version: str = "opset1",
    inside: str = "",
    name: str = "",
    **data: object,
) -> str:
    """A layer with ports 0, 1, ...; an output is `precision` or `precision:names`, with `:dims` behind if wanted."""
    attributes = "".join(f' {key.replace("_dash_", "-")}="{value}"' for key, value in data.items())
    lines = [f'<layer id="{id}" name="{name or f"{type.lower()}{id}"}" type="{type}" version="{version}">', inside]
    if data:
        lines.append(f"<data{attributes}/>")
    if inputs:
        lines.append("<input>" + "".join(f'<port id="{k}"/>' for k in range(inputs)) + "</input>")
    if outputs:
        lines.append("<output>" + "".join(map(_port, range(inputs, inputs + len(outputs)), outputs)) + "</output>")
    return "".join([*lines, "</layer>"])


def _port(id: int, text: str) -> str:
    precision, names, dims, *_ = [*text.split(":"), "", ""]
    named = f' names="{names}"' if names else ""
    inside = "".join(f"<dim>{dim}</dim>" for dim in dims.split(",") if dim)
    return f'<port id="{id}" precision="{precision}"{named}>{inside}</port>'


def parameter(id: int, shape: str = "2", element_type: str = "f32", name: str = "") -> str:
    return layer(id, "Parameter", name=name, shape=shape, element_type=element_type)


def constant(id: int, offset: int, size: int, shape: str = "2", element_type: str = "f32") -> str:
    precision = {"f32": "FP32", "i64": "I64", "boolean": "BOOL"}.get(element_type, "UNSPECIFIED")
    return layer(id, "Const", 0, (precision,), offset=offset, size=size, shape=shape, element_type=element_type)


def result(id: int) -> str:
    return layer(id, "Result", 1, ())


def edges(text: str) -> str:
    """`0:0-2:0 1:0-2:1`: from layer and port to layer and port."""
    actual = []
    for entry in text.split():
        source, target = (end.split(":") for end in entry.split("-"))
        actual.append(
            f'<edge from-layer="{source[0]}" from-port="{source[1]}" to-layer="{target[0]}" to-port="{target[1]}"/>'
        )
    return "<edges>" + "\n".join(actual) + "</edges>"


def graph(layers: list[str], connections: str) -> str:
    """What is inside a net or a body."""
    return "<layers>\n" + "\n".join(layers) + "\n</layers>\n" + edges(connections)


def net(layers: list[str], connections: str, version: object = 11, extra: str = "") -> bytes:
    return f'{HEAD}<net name="n" version="{version}">\n{graph(layers, connections)}\n{extra}</net>'.encode()


ADD = net([parameter(0, name="x"), parameter(1, name="y"), layer(2, "Add", 2), result(3)], "0:0-2:0 1:0-2:1 2:2-3:0")
"""x + y."""


def loop(id: int, port_map: str, back_edges: str, body: str, inputs: int, outputs: tuple[str, ...] = ("FP32",)) -> str:
    """A Loop layer; `body` is what `graph` gives."""
    inside = f"<port_map>{port_map}</port_map><back_edges>{back_edges}</back_edges>"
    return layer(id, "Loop", inputs, outputs, "opset5", f"{inside}<body>{body}</body>")


def counting(depth: int) -> bytes:
    """x + 1, `2**depth` times: loops of two iterations inside each other. Weights: `COUNTING_WEIGHTS`."""
    constants = [constant(10, 0, 8, "", "i64"), constant(11, 8, 1, "", "boolean"), constant(12, 12, 4, "")]
    text = graph(
        [parameter(0), constants[2], layer(1, "Add", 2), result(2), constants[1], result(3)],
        "0:0-1:0 12:0-1:1 1:2-2:0 11:0-3:0",
    )
    maps = (
        '<input external_port_id="2" internal_layer_id="0"/>'
        '<output external_port_id="3" internal_layer_id="2"/>'
        '<output external_port_id="-1" internal_layer_id="3" purpose="execution_condition"/>'
    )
    for _ in range(depth):
        inner = loop(1, maps, '<edge from-layer="2" to-layer="0"/>', text, 3)
        layers = [parameter(0), *constants, inner, result(2), result(3)]
        text = graph(layers, "10:0-1:0 11:0-1:1 0:0-1:2 1:3-2:0 11:0-3:0")
    return f'{HEAD}<net name="n" version="11">{text}</net>'.encode()


COUNTING_WEIGHTS = bytes([2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 128, 63])
