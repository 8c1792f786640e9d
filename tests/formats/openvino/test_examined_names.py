"""Inputs, outputs and layers of one name, and what a refusal tells to do."""

import numpy as np
import onnxruntime
import pytest
from formats.openvino.ir_text import layer, net, parameter, result

import whorl
from whorl.errors import LoadError
from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions

X = np.array([-1, 2], np.float32)


def module_of(xml):
    return load_ir(xml, IrOptions(), b"")


def doubled(outer, inner):
    """abs(x + x) and x + x, of layers with such names."""
    layers = [parameter(0, name=outer), layer(1, "Add", 2, name=inner), layer(2, "Abs", 1, name=inner)]
    return net([*layers, result(3), result(4)], "0:0-1:0 0:0-1:1 1:2-2:0 2:1-3:0 1:2-4:0")


@pytest.mark.parametrize(
    ("outer", "inner", "inputs", "outputs"),
    [
        ("same", "same", ["same"], ["same.1", "same.2"]),
        ("x", "same", ["x"], ["same", "same.1"]),
        ("x", "x.1", ["x"], ["x.1", "x.1.1"]),
    ],
)
def test_outputs_have_names_of_their_own(outer, inner, inputs, outputs, tmp_path):
    module = module_of(doubled(outer, inner))
    assert [value.name for value in module.main.arguments] == inputs
    assert module.output_names == outputs
    whorl.save(module, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    actual = session.run(outputs, {inputs[0]: X})
    assert [x.tolist() for x in actual] == [[2, 4], [-2, 4]]


def test_input_that_is_an_output_keeps_its_name(tmp_path):
    module = module_of(net([parameter(0, name="x"), result(1), result(2)], "0:0-1:0 0:0-2:0"))
    assert module.output_names == ["x", "x.1"]
    whorl.save(module, tmp_path / "m.onnx")
    actual = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(["x", "x.1"], {"x": X})
    assert [x.tolist() for x in actual] == [X.tolist(), X.tolist()]


def test_inputs_without_names_are_called_value():
    layers = [layer(k, "Parameter", name=" ", shape="2", element_type="f32") for k in (0, 1)]
    xml = net([*layers, layer(2, "Add", 2), result(3)], "0:0-2:0 1:0-2:1 2:2-3:0").replace(b'name=" "', b'name=""')
    assert [value.name for value in module_of(xml).main.arguments] == ["value", "value.1"]


def test_advice_of_a_code_is_passed_where_there_is_no_other():
    assert problem("OV324", "an output has the purpose 'go'").fix == (
        "write 'current_iteration' at an input, 'execution_condition' at an output, or nothing"
    )
    assert problem("OV324", "an output has the purpose 'go'", "", "leave it out").fix == "leave it out"


def test_type_rule_of_an_op_comes_with_advice():
    xml = net([parameter(0), parameter(1), layer(2, "Concat", 2, axis=5), result(3)], "0:0-2:0 1:0-2:1 2:2-3:0")
    with pytest.raises(LoadError) as caught:
        module_of(xml)
    assert caught.value.message == "OV506: axis 5 is outside [-1, 1) of a tensor of rank 1"
    assert caught.value.fix == "convert or reshape the inputs, or mend the attributes"
