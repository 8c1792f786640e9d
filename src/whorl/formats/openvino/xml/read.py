"""From the elements of an `.xml` to a net: layers, ports, edges, bodies; errors name the line."""

from __future__ import annotations

import re
from typing import BinaryIO

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.document import Body, Edge, Layer, Net, Port, PortMap
from whorl.formats.openvino.element_types import port_type
from whorl.formats.openvino.xml.tree import Element, read_tree
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.types import UNRANKED, TensorType

VERSIONS = (10, 11)
_WHOLE = re.compile(r"\s*[+-]?\d{1,19}\s*")
_NAMES = re.compile(r"(?:[^,\\]|\\.)+")
_OPEN = ("unspecified", "undefined", "dynamic")
_ENTRY = ("external_port_id", "internal_layer_id", "axis", "start", "end", "stride", "part_size", "purpose")
_BODIES = {"body": ("port_map", "back_edges"), "then_body": ("then_port_map", ""), "else_body": ("else_port_map", "")}


def read_xml(source: BinaryIO | bytes, max_depth: int) -> Net:
    """The net that a file describes. Errors: LoadError with a code."""
    root = read_tree(source)
    if root.tag != "net":
        raise problem("OV105", f"the outermost element is <{root.tag[:40]}>, expected <net>", f"line {root.line}")
    version = root.attributes.get("version", "")
    if version.strip() not in map(str, VERSIONS):
        raise problem(
            "OV105",
            f"the net has version {version[:40]!r}; versions 10 and 11 are known",
            f"line {root.line}",
            "convert the model with a current OpenVINO",
        )
    return _net(root, int(version), max_depth)


def _net(element: Element, version: int, depth: int) -> Net:
    if depth < 0:
        raise problem(
            "OV104", "bodies are nested too deep", f"line {element.line}", "raise max_depth if the file is trusted"
        )
    layers = element.find("layers")
    if layers is None:
        raise problem("OV106", f"<{element.tag}> has no <layers>", f"line {element.line}")
    net = Net(element.attributes.get("name", ""), version)
    net.layers = [_layer(each, version, depth) for each in layers.all("layer")]
    edges = element.find("edges")
    net.edges = [_edge(each) for each in edges.all("edge")] if edges is not None else []
    info = element.find("rt_info")
    if info is not None:
        net.rt_info = _net_info(info)
    return net


def _layer(element: Element, version: int, depth: int) -> Layer:
    layer = Layer(
        _whole(element, "id"),
        element.attributes.get("name", ""),
        _text(element, "type"),
        element.attributes.get("version", ""),
        line=element.line,
    )
    layer.output_names = _tensor_names(element.attributes.get("output_names", ""))
    for child in element.children:
        match child.tag:
            case "data":
                layer.data |= child.attributes
            case "input":
                layer.inputs += [_port(port, version) for port in child.all("port")]
            case "output":
                layer.outputs += [_output_port(port, version) for port in child.all("port")]
            case "rt_info" if version > 10:
                layer.rt_info |= _layer_info(child)
            case tag if tag in _BODIES:
                if tag in layer.bodies:
                    raise problem("OV301", f"the layer has two <{tag}>", f"line {child.line}")
                layer.bodies[tag] = _body(element, child, version, depth - 1)
            case _:
                pass
    return layer


def _body(layer: Element, element: Element, version: int, depth: int) -> Body:
    map_tag, edges_tag = _BODIES[element.tag]
    body = Body(_net(element, version, depth))
    for ports in layer.all(map_tag):
        body.ports += [_port_map(each) for each in ports.children if each.tag in ("input", "output")]
    for edges in layer.all(edges_tag):
        body.back_edges += [(_whole(each, "from-layer"), _whole(each, "to-layer")) for each in edges.all("edge")]
    return body


def _port_map(element: Element) -> PortMap:
    axis = _whole(element, "axis") if "axis" in element.attributes else None
    return PortMap(
        element.tag == "input",
        _whole(element, "external_port_id"),
        _whole(element, "internal_layer_id"),
        axis,
        _whole(element, "start", 0),
        _whole(element, "end", -1),
        _whole(element, "stride", 1),
        _whole(element, "part_size", 1),
        element.attributes.get("purpose", ""),
        tuple(name for name in element.attributes if name not in _ENTRY),
    )


def _edge(element: Element) -> Edge:
    return Edge(
        _whole(element, "from-layer"),
        _whole(element, "from-port", 0),
        _whole(element, "to-layer"),
        _whole(element, "to-port", 0),
    )


def _port(element: Element, version: int) -> Port:
    """A port; without dims it is a scalar or of unknown rank, IR writes both alike."""
    names = _tensor_names(element.attributes.get("names", ""))
    dtype = port_type(element.attributes.get("precision", ""))
    shape = tuple(_dim(child) for child in element.all("dim")) or UNRANKED
    info = element.find("rt_info") if version > 10 else None
    type = None if dtype is None else TensorType(dtype, shape)
    return Port(_whole(element, "id"), type, names, _layer_info(info) if info is not None else {})


def _output_port(element: Element, version: int) -> Port:
    """A port with its element type, or an open one. Errors: LoadError OV404."""
    port, precision = _port(element, version), element.attributes.get("precision", "")
    if port.type is None and precision.lower() not in _OPEN:
        raise problem(
            "OV404", f"the precision of an output is {precision[:40]!r}", f"line {element.line}", "write FP32"
        )
    return port


def _dim(element: Element) -> Dim:
    text = element.text.strip()
    if not _WHOLE.fullmatch(text) or int(text) < -1 or int(text) >= 1 << 63:
        raise problem("OV405", f"<dim> is {text[:40]!r}, expected a number, or -1", f"line {element.line}")
    return UNKNOWN if int(text) == -1 else int(text)


# ---- attributes --------------------------------------------------------------------------------------------------


def _text(element: Element, name: str) -> str:
    try:
        return element.attributes[name]
    except KeyError:
        raise problem("OV106", f"<{element.tag}> has no attribute {name!r}", f"line {element.line}") from None


def _whole(element: Element, name: str, default: int | None = None) -> int:
    if default is not None and name not in element.attributes:
        return default
    text = _text(element, name)
    if not _WHOLE.fullmatch(text):
        raise problem(
            "OV106", f"{name} of <{element.tag}> is {text[:40]!r}, expected a whole number", f"line {element.line}"
        )
    return int(text)


def _tensor_names(text: str) -> tuple[str, ...]:
    """The names in a list that commas part; a backslash takes the meaning from the next character."""
    if not text:
        return ()
    return tuple(re.sub(r"\\(.)", r"\1", name) if "\\" in name else name for name in _NAMES.findall(text))


def _layer_info(element: Element) -> dict[str, str]:
    """What `<attribute name="decompression" version="0"/>` says: {"decompression.version": "0"}."""
    info = {}
    for child in element.all("attribute"):
        name = child.attributes.get("name", "")
        info |= {f"{name}.{key}": value for key, value in child.attributes.items() if key != "name"}
    return info


def _net_info(element: Element) -> dict[str, str]:
    """The values in nested elements, by their names with slashes between; `<info name="a">` is called `a`."""
    info: dict[str, str] = {}
    stack = [(child, "") for child in reversed(element.children)]
    while stack:
        child, prefix = stack.pop()
        name = prefix + (child.attributes.get("name", "") if child.tag == "info" else child.tag)
        if "value" in child.attributes:
            info[name] = child.attributes["value"]
        stack += [(inner, f"{name}/") for inner in reversed(child.children)]
    return info
