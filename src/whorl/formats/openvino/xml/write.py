"""A net as XML text, as OpenVINO 2023 and later write IR version 11."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.sax.saxutils import quoteattr

from whorl.errors import SaveError
from whorl.formats.openvino.document import Body, Layer, Net, Port, PortMap
from whorl.formats.openvino.element_types import port_name
from whorl.ir.types import AnyShape

_TAG = re.compile("[A-Za-z_][A-Za-z0-9_.-]*")
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_of(net: Net) -> Iterator[str]:
    """The lines of the file."""
    yield '<?xml version="1.0"?>\n'
    yield f"<net name={_quoted(net.name)} version={_quoted(net.version)}>\n"
    yield from _contents(net, 1)
    yield _line(1, "<rt_info>")
    yield from _information(net.rt_info, 2)
    yield _line(1, "</rt_info>")
    yield "</net>\n"


def _contents(net: Net, depth: int) -> Iterator[str]:
    yield _line(depth, "<layers>")
    for layer in net.layers:
        yield from _layer(layer, depth + 1)
    yield _line(depth, "</layers>")
    yield _line(depth, "<edges>")
    for edge in net.edges:
        ends = {
            "from-layer": edge.from_layer,
            "from-port": edge.from_port,
            "to-layer": edge.to_layer,
            "to-port": edge.to_port,
        }
        yield _line(depth + 1, _element("edge", ends))
    yield _line(depth, "</edges>")


def _layer(layer: Layer, depth: int) -> Iterator[str]:
    named = {"id": layer.id, "name": layer.name, "type": layer.type, "version": layer.version}
    if layer.output_names:
        named["output_names"] = _name_list(layer.output_names)
    yield _line(depth, _element("layer", named, end=">"))
    if layer.data:
        yield _line(depth + 1, _element("data", layer.data))
    yield from _attributes(layer.rt_info, depth + 1)
    yield from _ports("input", layer.inputs, depth + 1)
    yield from _ports("output", layer.outputs, depth + 1)
    for key, body in layer.bodies.items():
        yield from _body(key, body, depth + 1)
    yield _line(depth, "</layer>")


def _attributes(entries: Mapping[str, str], depth: int) -> Iterator[str]:
    """Notes at a layer or port: {"decompression.version": "0"} as `<attribute name="decompression" version="0"/>`."""
    if not entries:
        return
    attributes: dict[str, dict[str, object]] = {}
    for key, value in entries.items():
        name, _, part = key.rpartition(".")
        attributes.setdefault(name, {"name": name})[part] = value
    yield _line(depth, "<rt_info>")
    for each in attributes.values():
        yield _line(depth + 1, _element("attribute", each))
    yield _line(depth, "</rt_info>")


def _information(entries: Mapping[str, str], depth: int) -> Iterator[str]:
    """Metadata of a net: {"framework/name": "onnx"} as nested elements."""
    inner: dict[str, dict[str, str]] = {}
    for path, value in entries.items():
        name, _, rest = path.partition("/")
        inner.setdefault(name, {})[rest] = value
    for name, parts in inner.items():
        tag, attributes = (name, {}) if _TAG.fullmatch(name) else ("info", {"name": name})
        if "" in parts:
            attributes["value"] = parts.pop("")
        if not parts:
            yield _line(depth, _element(tag, attributes))
            continue
        yield _line(depth, _element(tag, attributes, end=">"))
        yield from _information(parts, depth + 1)
        yield _line(depth, f"</{tag}>")


def _ports(tag: str, ports: Sequence[Port], depth: int) -> Iterator[str]:
    if not ports:
        return
    yield _line(depth, f"<{tag}>")
    for port in ports:
        attributes: dict[str, object] = {"id": port.id}
        if port.type is not None:
            attributes["precision"] = port_name(port.type.dtype)
        if port.names:
            attributes["names"] = _name_list(port.names)
        shape = () if port.type is None or isinstance(port.type.shape, AnyShape) else port.type.shape
        if not shape and not port.rt_info:
            yield _line(depth + 1, _element("port", attributes))
            continue
        yield _line(depth + 1, _element("port", attributes, end=">"))
        yield from _attributes(port.rt_info, depth + 2)
        for dim in shape:
            yield _line(depth + 2, f"<dim>{dim if isinstance(dim, int) else -1}</dim>")
        yield _line(depth + 1, "</port>")
    yield _line(depth, f"</{tag}>")


def _body(key: str, body: Body, depth: int) -> Iterator[str]:
    prefix = key.removesuffix("body")
    yield _line(depth, f"<{prefix}port_map>")
    for entry in body.ports:
        yield _line(depth + 1, _element("input" if entry.is_input else "output", _port_map(entry)))
    yield _line(depth, f"</{prefix}port_map>")
    if body.back_edges:
        yield _line(depth, "<back_edges>")
        for start, end in body.back_edges:
            yield _line(depth + 1, _element("edge", {"from-layer": start, "to-layer": end}))
        yield _line(depth, "</back_edges>")
    yield _line(depth, f"<{key}>")
    yield from _contents(body.net, depth + 1)
    yield _line(depth, f"</{key}>")


def _port_map(entry: PortMap) -> dict[str, object]:
    attributes: dict[str, object] = {} if entry.axis is None else {"axis": entry.axis}
    attributes |= {"external_port_id": entry.external, "internal_layer_id": entry.internal}
    if entry.axis is not None:
        attributes |= {"start": entry.start, "end": entry.end, "stride": entry.stride, "part_size": entry.part_size}
    if entry.purpose:
        attributes["purpose"] = entry.purpose
    return attributes


def _element(tag: str, attributes: Mapping[str, object], end: str = " />") -> str:
    return f"<{tag}{''.join(f' {name}={_quoted(value)}' for name, value in attributes.items())}{end}"


def _name_list(names: Iterable[str]) -> str:
    return ",".join(name.replace("\\", "\\\\").replace(",", "\\,") for name in names)


def _quoted(value: object) -> str:
    text = str(value)
    if _ILLEGAL.search(text):
        raise SaveError(f"{text!r} holds a character that XML cannot say", fix="rename it")
    return quoteattr(text, {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def _line(depth: int, text: str) -> str:
    return "\t" * depth + text + "\n"
