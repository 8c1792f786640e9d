"""An IR file as data: how layers are called, and that they share nothing."""

import pytest

from whorl.formats.openvino.document import Body, Layer, Net


@pytest.mark.parametrize(
    ("name", "title"), [("read_row", "Gather 'read_row'"), ("", "Gather"), ("a'b", 'Gather "a\'b"')]
)
def test_layer_is_called_by_its_type_and_name(name: str, title: str) -> None:
    assert Layer(0, name, "Gather", "opset8").title == title


def test_layers_and_nets_have_lists_of_their_own() -> None:
    first, second = Layer(0, "a", "Abs", "opset1"), Layer(1, "b", "Abs", "opset1")
    first.data["k"] = "v"
    first.bodies["body"] = Body(Net(layers=[first]))
    assert (second.data, second.bodies, Net().layers) == ({}, {}, [])
