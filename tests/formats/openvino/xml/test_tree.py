"""XML as a tree; what attacks parsers, and what is too large or too deep, is refused."""

import io

import pytest
from formats.openvino.ir_text import ADD

from whorl.errors import LoadError
from whorl.formats.openvino.xml import tree as xml_tree
from whorl.formats.openvino.xml.read import read_xml
from whorl.formats.openvino.xml.tree import read_tree

BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE net [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<net name="&c;" version="11"><layers/></net>"""
OUTSIDE = b"""<?xml version="1.0"?>
<!DOCTYPE net SYSTEM "file:///etc/passwd">
<net name="n" version="11"><layers/></net>"""


def refused(data: bytes, max_depth: int = 64) -> str:
    with pytest.raises(LoadError) as error:
        read_xml(data, max_depth)
    return str(error.value)


def test_document_types_and_entities_are_refused():
    assert refused(BOMB).startswith("OV103: the .xml has something that IR never has: DTD")
    assert refused(OUTSIDE).startswith("OV103")


@pytest.mark.parametrize("end", [0, 1, 30, 200, len(ADD) - 1])
def test_truncated_file_is_refused_with_its_line(end):
    assert "OV102" in refused(ADD[:end])


def test_data_behind_the_end_is_refused():
    assert refused(ADD + b"<net/>").startswith("line 12: OV102: the .xml is not well-formed")


def test_nesting_is_bounded():
    deep = b'<net version="11">' + b"<a>" * 2000
    assert "OV104: the .xml has more than 1024 nested elements" in refused(deep)


def test_elements_are_bounded(monkeypatch):
    monkeypatch.setattr(xml_tree, "MAX_ELEMENTS", 10)
    assert "OV104: the .xml has more than 10 elements" in refused(ADD)


def test_bytes_are_bounded(monkeypatch):
    monkeypatch.setattr(xml_tree, "MAX_BYTES", 100)
    assert "OV104: the .xml has more than 100 bytes" in refused(ADD)


def test_elements_have_their_lines_children_and_the_text_of_dims() -> None:
    root = read_tree(b"<net>\n<port id='1'>\n<dim> 2 </dim><dim>3</dim>\n</port>text\n<port/></net>")
    assert (root.tag, root.line, root.text) == ("net", 1, "")
    port = root.find("port")
    assert port is not None
    assert (dict(port.attributes), port.line) == ({"id": "1"}, 2)
    assert [dim.text for dim in port.all("dim")] == [" 2 ", "3"]
    assert [each.line for each in root.all("port")] == [2, 5]
    assert root.find("edge") is None
    assert root.children[1].children == ()


def test_stream_is_read_as_bytes_are() -> None:
    assert read_tree(io.BytesIO(ADD)) == read_tree(ADD)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<a><b></a>", "line 1: OV102: the .xml is not well-formed: mismatched tag"),
        (b"<a>\n<b x='1' x='2'/></a>", "line 2: OV102: the .xml is not well-formed: duplicate attribute"),
        (b"<a>\xff</a>", "line 1: OV102: the .xml is not well-formed: not well-formed (invalid token)"),
        (
            b'<?xml version="1.0" encoding="nonsense"?><a/>',
            "OV102: the .xml cannot be parsed: unknown encoding",
        ),
        (b"\x00", "line 1: OV102: "),
    ],
)
def test_text_that_is_no_xml_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(LoadError) as caught:
        read_tree(data)
    assert str(caught.value).startswith(message)
