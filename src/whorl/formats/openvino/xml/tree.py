"""XML as a tree of elements with their lines; what attacks parsers, and what is too large or too deep, is refused."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import BinaryIO
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser
from msgspec import Struct

from whorl.formats.openvino.codes import problem

MAX_ELEMENTS = 2_000_000
"""The elements that a file may have."""
MAX_NESTING = 1024
"""How deep elements may be nested."""
MAX_BYTES = 1 << 30
_CHUNK = 1 << 16
_EMPTY: Mapping[str, str] = MappingProxyType({})


class Element(Struct):
    """An element with its attributes, its children and the text before them."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    children: Sequence[Element] = ()
    text: str = ""

    def find(self, tag: str) -> Element | None:
        """The first child of a kind."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> list[Element]:
        """The children of a kind."""
        return [child for child in self.children if child.tag == tag]


class _TreeBuilder(ContentHandler):
    """Makes elements of what the parser meets; `_open` are those that have not ended."""

    def __init__(self, parser: DefusedExpatParser) -> None:
        super().__init__()
        self.root: Element | None = None
        self._parser, self._count = parser, 0
        self._open: list[Element] = []

    def begin(self, name: str, attrs: Mapping[str, str]) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS or len(self._open) >= MAX_NESTING:
            limit = f"{MAX_ELEMENTS} elements" if self._count > MAX_ELEMENTS else f"{MAX_NESTING} nested elements"
            raise problem("OV104", f"the .xml has more than {limit}", f"line {self._parser.getLineNumber()}")
        element = Element(name, attrs or _EMPTY, self._parser.getLineNumber() or 0)
        if not self._open:
            self.root = element
        elif isinstance(siblings := self._open[-1].children, list):
            siblings.append(element)
        else:
            self._open[-1].children = [element]
        self._open.append(element)

    def characters(self, content: str) -> None:
        if self._open and self._open[-1].tag == "dim":
            self._open[-1].text += content

    def end(self, name: str) -> None:
        self._open.pop()


def read_tree(source: BinaryIO | bytes) -> Element:
    """The root element. Errors: LoadError OV101 to OV104."""
    parser = DefusedExpatParser(forbid_dtd=True)
    builder = _TreeBuilder(parser)
    parser.setContentHandler(builder)
    # By way of SAX each dict of attributes, which is new already, would be wrapped and copied.
    parser.start_element, parser.end_element = builder.begin, builder.end
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    total = 0
    try:
        while chunk := stream.read(_CHUNK):
            total += len(chunk)
            if total > MAX_BYTES:
                raise problem("OV104", f"the .xml has more than {MAX_BYTES} bytes")
            parser.feed(chunk)
        parser.close()
    except DefusedXmlException as error:
        kind = type(error).__name__.removesuffix("Forbidden")
        raise problem(
            "OV103", f"the .xml has something that IR never has: {kind}", fix="do not trust this file"
        ) from None
    except SAXParseException as error:
        raise problem(
            "OV102", f"the .xml is not well-formed: {error.getMessage()}", f"line {error.getLineNumber()}"
        ) from None
    except (SAXException, ValueError, LookupError) as error:
        raise problem("OV102", f"the .xml cannot be parsed: {error}") from None
    if builder.root is None:
        raise problem("OV102", "the .xml is empty")
    return builder.root
