"""A net as XML text: what is written is read back."""

import numpy as np
import pytest

from whorl.errors import SaveError
from whorl.formats.openvino.document import Body, Edge, Layer, Net, Port, PortMap
from whorl.formats.openvino.xml.read import read_xml
from whorl.formats.openvino.xml.write import xml_of
from whorl.ir.dims import UNKNOWN, name
from whorl.ir.types import TensorType

F32 = np.dtype(np.float32)


def again(net: Net) -> Net:
    """The net through text; the lines of layers are those of the text."""
    result = read_xml("".join(xml_of(net)).encode(), 64)
    for layer in result.layers:
        layer.line = 0
    return result


def test_net_is_written_as_lines_of_tabs() -> None:
    port = Port(1, TensorType(F32, (2, UNKNOWN)), ("y",))
    layer = Layer(3, "a", "ReLU", "opset1", {"k": "1"}, [Port(0)], [port])
    assert "".join(xml_of(Net("n", 11, [layer], [Edge(1, 2, 3, 0)]))) == (
        '<?xml version="1.0"?>\n<net name="n" version="11">\n\t<layers>\n'
        '\t\t<layer id="3" name="a" type="ReLU" version="opset1">\n\t\t\t<data k="1" />\n'
        '\t\t\t<input>\n\t\t\t\t<port id="0" />\n\t\t\t</input>\n'
        '\t\t\t<output>\n\t\t\t\t<port id="1" precision="FP32" names="y">\n'
        "\t\t\t\t\t<dim>2</dim>\n\t\t\t\t\t<dim>-1</dim>\n\t\t\t\t</port>\n\t\t\t</output>\n\t\t</layer>\n\t</layers>\n"
        '\t<edges>\n\t\t<edge from-layer="1" from-port="2" to-layer="3" to-port="0" />\n\t</edges>\n'
        "\t<rt_info>\n\t</rt_info>\n</net>\n"
    )


@pytest.mark.parametrize("text", ["a b", "é", '<&">', "x\ny\tz\r", "'", "\\", "😀"])
def test_odd_names_are_read_back(text: str) -> None:
    net = Net(text, 11, [Layer(0, text, text, text, {"value": text})])
    assert again(net) == net


@pytest.mark.parametrize("names", [("a,b", "c\\", "\\,"), ("a", "b")])
def test_names_of_tensors_may_hold_commas(names: tuple[str, ...]) -> None:
    layer = Layer(0, "x", "Parameter", "opset1", {}, [], [Port(0, TensorType(F32, (1,)), names)])
    assert again(Net("n", 11, [layer])).layers[0].outputs[0].names == names
    layer = Layer(0, "r", "Result", "opset1", output_names=names)
    assert again(Net("n", 11, [layer])).layers[0].output_names == names


def test_body_with_its_ports_and_back_edges_is_read_back() -> None:
    ports = [
        PortMap(True, 2, 0, 1, -1, 0, -1, 3),
        PortMap(True, 0, 1),
        PortMap(False, -1, 3, purpose="execution_condition"),
    ]
    bodies = {
        key: Body(Net(layers=[Layer(0, "x", "Parameter", "opset1")]), ports) for key in ("then_body", "else_body")
    }
    branch = Layer(1, "i", "If", "opset8", bodies=bodies)
    loop = Layer(2, "l", "Loop", "opset5", bodies={"body": Body(Net(), ports, [(3, 0)])})
    result = again(Net("n", 11, [branch, loop]))
    assert [body.ports for body in result.layers[0].bodies.values()] == [ports, ports]
    assert result.layers[1].bodies["body"].back_edges == [(3, 0)]


def test_notes_of_nets_layers_and_ports_are_read_back() -> None:
    port = Port(0, TensorType(F32, (2,)), rt_info={"layout.layout": "[N]", "layout.version": "0"})
    layer = Layer(0, "x", "Parameter", "opset1", {}, [], [port], rt_info={"fused_names.value": "a"})
    net = Net("n", 11, [layer], rt_info={"made by": "me", "options/shape": "[1]", "options/k": "2", "options": "x"})
    result = again(net)
    assert result.rt_info == net.rt_info
    assert result.layers[0].rt_info == layer.rt_info
    assert result.layers[0].outputs[0].rt_info == port.rt_info


def test_names_of_dims_and_ranks_that_are_not_known_are_left_out() -> None:
    types = [TensorType(F32, (name("N"), 0)), TensorType(F32), TensorType(F32, ())]
    layer = Layer(0, "x", "X", "opset1", {}, [], [Port(k, type) for k, type in enumerate(types)])
    shapes = [port.type.shape for port in again(Net("n", 11, [layer])).layers[0].outputs if port.type is not None]
    assert str(shapes[0]) == str((UNKNOWN, 0))
    assert str(shapes[1]) == str(shapes[2]) == "*"


@pytest.mark.parametrize("text", ["\x00", "a\x0bb", "\udcff", "\uffff"])
def test_character_that_xml_lacks_is_refused(text: str) -> None:
    with pytest.raises(SaveError) as caught:
        list(xml_of(Net(text)))
    assert str(caught.value) == f"{text!r} holds a character that XML cannot say\n  fix: rename it"
