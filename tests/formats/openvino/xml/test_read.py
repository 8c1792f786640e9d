"""The XML of IR as a document: what is read, and what is refused with a code and a line."""

import pytest
from formats.openvino.ir_text import ADD, layer, net, parameter, result

from whorl.errors import LoadError
from whorl.formats.openvino.document import PortMap
from whorl.formats.openvino.xml.read import read_xml
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import UNRANKED, TensorType


def refused(data: bytes, max_depth: int = 64) -> str:
    with pytest.raises(LoadError) as error:
        read_xml(data, max_depth)
    return str(error.value)


def test_layers_ports_and_edges_are_read_in_order():
    settings = read_xml(ADD, 64)
    assert [layer.type for layer in settings.layers] == ["Parameter", "Parameter", "Add", "Result"]
    assert [port.id for port in settings.layers[2].inputs + settings.layers[2].outputs] == [0, 1, 2]
    assert [(edge.from_layer, edge.to_port) for edge in settings.edges] == [(0, 0), (1, 1), (2, 0)]
    assert settings.layers[2].line == 6


def test_port_says_its_type_and_names():
    text = net([layer(0, "Parameter", outputs=("FP32:a,b\\,c:2,-1",), shape="2,?", element_type="f32"), result(1)], "")
    port = read_xml(text, 64).layers[0].outputs[0]
    assert port.names == ("a", "b,c")
    assert port.type is not None and str(port.type) == "float32[2, ?]" and port.type.shape[1] is UNKNOWN


def test_port_without_dims_is_of_unknown_rank_and_without_precision_of_unknown_type():
    text = net([layer(0, "Strange", outputs=("I64", "UNSPECIFIED", "f16"))], "")
    types = [port.type for port in read_xml(text, 64).layers[0].outputs]
    assert types[0] is not None and types[0].shape is UNRANKED and types[1] is None and isinstance(types[2], TensorType)


def test_port_map_has_the_defaults_of_the_format():
    maps = (
        '<port_map><input external_port_id="2" internal_layer_id="0" axis="1"/>'
        '<output external_port_id="-1" internal_layer_id="3" purpose="execution_condition"/></port_map>'
        '<back_edges><edge from-layer="3" to-layer="0"/></back_edges><body><layers/></body>'
    )
    body = read_xml(net([layer(1, "Loop", inside=maps)], ""), 64).layers[0].bodies["body"]
    assert body.ports == [
        PortMap(True, 2, 0, 1, 0, -1, 1, 1, ""),
        PortMap(False, -1, 3, None, 0, -1, 1, 1, "execution_condition"),
    ]
    assert body.back_edges == [(3, 0)]


def test_rt_info_is_retained_by_name():
    inside = '<rt_info><attribute name="fused_names_0" version="0" value="a,b"/></rt_info>'
    extra = '<rt_info><info name="made by" value="me"/><options><input_shape value="[1]"/></options></rt_info>'
    settings = read_xml(net([layer(0, "Parameter", inside=inside)], "", extra=extra), 64)
    assert settings.layers[0].rt_info == {"fused_names_0.version": "0", "fused_names_0.value": "a,b"}
    assert settings.rt_info == {"made by": "me", "options/input_shape": "[1]"}


def test_version_10_has_no_rt_info_of_layers():
    inside = '<rt_info><attribute name="fused_names_0" version="0" value="a"/></rt_info>'
    assert read_xml(net([layer(0, "Parameter", inside=inside)], "", version=10), 64).layers[0].rt_info == {}


@pytest.mark.parametrize("version", ["", "5", "7", "9", "12", "11.0", "x"])
def test_other_versions_are_refused(version):
    assert refused(net([parameter(0)], "", version=version)).startswith(
        f"line 2: OV105: the net has version {version!r}"
    )


def test_another_document_is_refused():
    assert refused(b"<html/>") == (
        "line 1: OV105: the outermost element is <html>, expected <net>\n  fix: give the .xml of an OpenVINO model"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'id="2" ', b"", "line 6: OV106: <layer> has no attribute 'id'"),
        (b'id="2" ', b'id="two" ', "line 6: OV106: id of <layer> is 'two', expected a whole number"),
        (b'type="Add"', b"", "line 6: OV106: <layer> has no attribute 'type'"),
        (b'from-layer="0" ', b"", "line 9: OV106: <edge> has no attribute 'from-layer'"),
        (b"<layers>", b"<other>", "OV102"),
        (b'precision="FP32"', b'precision="fp32"', "line 4: OV404: the precision of an output is 'fp32'"),
        (b'precision="FP32"', b"", "line 4: OV404: the precision of an output is ''"),
        (b"</port>", b"<dim>-2</dim></port>", "line 4: OV405: <dim> is '-2', expected a number, or -1"),
        (b"</port>", b"<dim>9999999999999999999</dim></port>", "OV405"),
    ],
)
def test_damaged_element_is_refused_with_its_line(old, new, message):
    assert refused(ADD.replace(old, new, 1)).startswith(message) or message in refused(ADD.replace(old, new, 1))


def test_net_without_layers_is_refused():
    assert refused(b'<net version="11"/>') == (
        "line 1: OV106: <net> has no <layers>\n  fix: convert the model again; OpenVINO writes it"
    )
