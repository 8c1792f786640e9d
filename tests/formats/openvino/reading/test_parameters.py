"""The declared types of Parameters."""

import pytest
from formats.openvino.control_text import BODY, looped, warnings
from formats.openvino.ir_text import parameter

from whorl.errors import LoadError
from whorl.formats.openvino.document import Layer, Port
from whorl.formats.openvino.reading.context import ReadContext
from whorl.formats.openvino.reading.parameters import parameter_type
from whorl.formats.openvino.weights.read import Weights

CONTEXT = ReadContext(Weights(b""))


def declared(outputs: int = 1, **data: str) -> str:
    layer = Layer(0, "x", "Parameter", "opset1", data, outputs=[Port(k) for k in range(outputs)], line=3)
    return str(parameter_type(layer, CONTEXT))


def test_type_is_that_of_both_attributes() -> None:
    assert declared(element_type="F16", shape="2,?") == "float16[2, ?]"
    assert declared(element_type="string", shape="...") == "string[*]"


@pytest.mark.parametrize(
    ("data", "outputs", "message"),
    [
        ({"shape": "2"}, 1, "OV501: lacks the attribute 'element_type'"),
        ({"element_type": "f32"}, 1, "OV501: lacks the attribute 'shape'"),
        ({"element_type": "f32", "shape": "2"}, 2, "OV211: has 2 outputs, expected one"),
        ({"element_type": "f32", "shape": "x"}, 1, "OV405: the shape is 'x', where 'x' is no dim"),
        ({"element_type": "f12", "shape": "2"}, 1, "OV404: element_type of Parameter 'x' is 'f12'"),
    ],
)
def test_parameter_that_makes_no_sense_is_refused_with_its_line(data: dict, outputs: int, message: str) -> None:
    with pytest.raises(LoadError) as caught:
        declared(outputs, **data)
    assert str(caught.value).startswith(f"Parameter 'x' (line 3): {message}")


@pytest.mark.parametrize(
    ("type", "notes"),
    [
        ("f32", []),
        ("f16", ["is declared float16[1, 3], and given float32[1, 3]"]),
        ("dynamic", []),
        ("undefined", []),
    ],
)
def test_body_that_declares_another_type_is_noted(type: str, notes: list[str]) -> None:
    layers, wires = BODY
    body = ([layers[0], parameter(1, "1,3", type), *layers[2:]], wires)
    assert [message for code, message in warnings(looped(body=body)) if code == "OV209"] == notes
