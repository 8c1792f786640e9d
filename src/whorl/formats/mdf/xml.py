"""XML, as modelspec writes a model, to the plain data that JSON would hold."""

from __future__ import annotations

import ast
from xml.etree.ElementTree import Element, ParseError

import defusedxml
from defusedxml.ElementTree import fromstring

from whorl.errors import LoadError

LISTS = {
    "graph": "graphs",
    "node": "nodes",
    "edge": "edges",
    "inputport": "input_ports",
    "outputport": "output_ports",
    "function": "functions",
    "parameter": "parameters",
    "parametercondition": "conditions",
}
"""Elements that stand for entries of a collection, by their name without case and underscores."""
TEXTS = {"id", "sender", "receiver", "sender_port", "receiver_port", "type", "function", "time_derivative", "reduce"}
"""Attributes that are texts, also where they look like numbers."""


OBJECTS = {"args", "conditions", "kwargs", "metadata", "node_specific", "parameters", "termination"}
"""Fields that are objects, also where the element is empty: modelspec leaves out what is in them."""


def data_of_xml(content: bytes) -> object:
    """The data of an XML file: attributes are fields, elements are entries or nested fields. Errors: LoadError."""
    try:
        root = fromstring(content)
    except ParseError as error:
        raise LoadError(f"it is not XML: {error}") from None
    except defusedxml.DefusedXmlException as error:
        raise LoadError(f"it has entities, which are not read: {type(error).__name__}") from None
    if _name(root).lower() != "model":
        raise LoadError(f"its root is {_name(root)!r}, expected Model")
    data = _fields(root)
    return {data.pop("id", ""): data}


def _name(element: Element) -> str:
    return element.tag.rsplit("}", 1)[-1]


def _fields(element: Element) -> dict[str, object]:
    data: dict[str, object] = {_plain(name): _value(name, text) for name, text in element.attrib.items()}
    lists: dict[str, dict[str, object]] = {}
    for child in element:
        name = _name(child)
        list_name = LISTS.get(name.lower().replace("_", ""))
        if list_name is None:
            data[name] = _nested(child)
            continue
        fields = _fields(child)
        id = fields.pop("id", None)
        data[list_name] = entries = lists.setdefault(list_name, {})
        if not isinstance(id, str):
            raise LoadError(f"an element {name} has no id", fix="give each element an attribute id")
        if id in entries:
            raise LoadError(f"{list_name} has the id {id!r} twice", fix="give each its own id")
        entries[id] = fields
    return data


def _plain(name: str) -> str:
    return name.rsplit("}", 1)[-1]


def _nested(element: Element) -> object:
    """A field that is no collection: an object, a list of `item`s, or the text as a value."""
    if len(element) and all(_name(child) in ("item", "li") for child in element):
        return [_nested(child) for child in element]
    if len(element) or element.attrib:
        return _fields(element)
    text = (element.text or "").strip()
    return _value(_name(element), text) if text or _name(element) not in OBJECTS else {}


def _value(name: str, text: str) -> object:
    """A number, a truth value, nothing, or a list, where the text is one."""
    if name in TEXTS:
        return text
    lowered = text.strip().lower()
    if lowered in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[lowered]
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    if text[:1] == "[" or (text[:1] in ("(", "{") and name not in ("value", "test")):
        try:
            data = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError):
            return text
        return list(data) if isinstance(data, tuple) else data
    return text
