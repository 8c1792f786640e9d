"""Variables: what ReadValue reads and Assign writes."""

import numpy as np
import pytest
from formats.openvino.ir_text import constant, graph, layer, loop, net, parameter, result

import whorl
from whorl.errors import LoadError
from whorl.formats.openvino.reading.context import ReadContext
from whorl.formats.openvino.reading.variables import flag_name, nested_variables, variable_names, variables_of
from whorl.formats.openvino.weights.read import Weights
from whorl.formats.openvino.xml.read import read_xml
from whorl.ir.graph import Region
from whorl.ir.types import TensorType

WEIGHTS = np.array([10, 20], np.float32).tobytes() + np.int64(3).tobytes() + b"\x01"
PAIR, THREE, TRUE = constant(20, 0, 8), constant(21, 8, 8, "", "i64"), constant(22, 16, 1, "", "boolean")


def read(inputs: int = 0, shape: str = "2", id: int = 1, variable: str = "v") -> str:
    data = {"variable_id": variable, "variable_type": "f32", "variable_shape": shape}
    return layer(id, "ReadValue", inputs, version="opset6", **data)


def assign(id: int = 3, variable: str = "v") -> str:
    return layer(id, "Assign", 1, version="opset6", variable_id=variable)


def body_with_state(first: str, *constants: str) -> bytes:
    """Three iterations, each of which adds x to the state and collects it."""
    maps = (
        '<input external_port_id="2" internal_layer_id="0"/>'
        '<output external_port_id="3" internal_layer_id="4"/>'
        '<output external_port_id="-1" internal_layer_id="5" purpose="execution_condition"/>'
    )
    inside = [parameter(0), *constants, TRUE, read(bool(first)), layer(2, "Add", 2), assign(), result(4), result(5)]
    body = graph(inside, f"{first} 1:{int(bool(first))}-2:0 0:0-2:1 2:2-3:0 2:2-4:0 22:0-5:0")
    layers = [parameter(0, name="x"), THREE, TRUE, loop(1, maps, "", body, 3).replace("loop1", "y"), result(2)]
    return net(layers, "21:0-1:0 22:0-1:1 0:0-1:2 1:3-2:0")


@pytest.mark.parametrize(
    ("layers", "wires", "message"),
    [
        (
            [parameter(0), read(), assign(3), assign(4), result(5)],
            "0:0-3:0 0:0-4:0 1:0-5:0",
            "Assign 'assign4' (line 7): OV601: writes the variable 'v', as Assign 'assign3' does",
        ),
        ([parameter(0), assign(3)], "0:0-3:0", "Assign 'assign3' (line 5): OV602: no ReadValue reads the variable 'v'"),
        (
            [parameter(0, element_type="i64"), read(), assign(3), result(4)],
            "0:0-3:0 1:0-4:0",
            "OV606: the variable 'v' is float32[2], and int64[2] is assigned to it",
        ),
        (
            [parameter(0, element_type="i64"), read(1), assign(3), result(4)],
            "0:0-1:0 1:1-3:0 1:1-4:0",
            "OV606: the variable 'v' is float32[2], its initial value int64[2]",
        ),
        (
            [layer(1, "ReadValue", outputs=("dynamic",), version="opset3", variable_id="v"), result(2)],
            "1:0-2:0",
            "OV606: says no type for its variable",
        ),
        ([layer(1, "ReadValue", version="opset3"), result(2)], "1:0-2:0", "OV501: lacks the attribute 'variable_id'"),
        (
            [read(), read(1, id=5, variable="w"), result(4)],
            "1:0-5:0 5:1-4:0",
            "OV604: the initial value of the variable 'w' depends on other variables",
        ),
    ],
)
def test_variables_that_make_no_sense_are_refused(layers, wires, message):
    with pytest.raises(LoadError) as error:
        whorl.load(net(layers, wires))
    assert message in str(error.value)


def test_variable_in_two_nets_is_refused():
    data = body_with_state("").replace(b"<edges>", b"<edges>", 1)
    outer = read(id=30).encode()
    at = data.rindex(b"</layers>")
    with pytest.raises(LoadError, match="OV605: the variable 'v' is used in several nets"):
        whorl.load(data[:at] + outer + data[at:], weights=WEIGHTS)


def test_state_that_nothing_writes_is_noted():
    module = whorl.load(net([read(), result(2)], "1:0-2:0"))
    assert "OV603: no Assign writes the variable 'v'" in str(module.metadata["openvino"]["warnings"][0])
    assert whorl.run(module, {})["readvalue1"].tolist() == [0, 0]


def test_flag_of_a_variable_follows_it_where_the_context_has_one() -> None:
    data = net([read(), assign(), read(id=5, variable="w"), result(4)], "1:0-3:0 5:0-4:0")
    document = read_xml(data, 64)
    context = ReadContext(Weights(b""))
    assert variable_names(context, document) == ["v", "w"]
    context.variables[flag_name("v")] = Region().add_argument("f", TensorType(np.dtype(np.bool_), ()))
    assert variable_names(context, document) == ["v", "v.is_set", "w"]


def test_variable_has_its_type_and_the_layers_that_use_it() -> None:
    data = net([read(shape="?,2"), assign(), result(4)], "1:0-3:0 1:0-4:0")
    (variable,) = variables_of(read_xml(data, 64), ReadContext(Weights(b"")))
    assert (variable.id, str(variable.type), variable.flag) == ("v", "float32[?, 2]", "")
    assert variable.write is not None
    assert (variable.read.id, variable.write.id) == (1, 3)


@pytest.mark.parametrize(("first", "flag"), [("20:0-1:0", ""), ("0:0-1:0", "v.is_set")])
def test_first_value_that_only_a_body_has_needs_a_flag(first: str, flag: str) -> None:
    document = read_xml(body_with_state(first, PAIR), 64)
    variables = nested_variables(document, ReadContext(Weights(WEIGHTS)))
    assert [each.id for each in variables] == (["v", flag] if flag else ["v"])
    assert [each.is_flag for each in variables] == ([False, True] if flag else [False])
    assert variables[0].regions == ("body of Loop 'y'",)
