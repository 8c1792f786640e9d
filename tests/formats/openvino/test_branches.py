"""If: what its branches take and give, and what is refused, with the whole message."""

import numpy as np
import pytest
from formats.openvino.control_text import port_map, refusal, run
from formats.openvino.ir_text import constant, graph, layer, net, parameter, result


def chosen(then, other, condition=("", "boolean"), outputs=1, shape="2"):
    """An If on an input, with x for both branches: each a body and its maps."""
    inside = "".join(
        f"<{key}_port_map>{port_map('input', *inputs)}{port_map('output', *results)}</{key}_port_map>"
        for key, (_, inputs, results) in (("then", then), ("else", other))
    )
    bodies = "".join(
        f"<{key}_body>{graph(*body)}</{key}_body>" for key, (body, *_) in (("then", then), ("else", other))
    )
    layers = [
        parameter(0, *condition, name="c"),
        parameter(1, shape, name="x"),
        layer(2, "If", 2, ("FP32",) * outputs, "opset8", inside + bodies, name="i"),
        *(result(3 + k) for k in range(outputs)),
    ]
    return net(layers, "0:0-2:0 1:0-2:1 " + " ".join(f"2:{2 + k}-{3 + k}:0" for k in range(outputs)))


X_IN = ({"external_port_id": 1, "internal_layer_id": 0},)
OUT = ({"external_port_id": 0, "internal_layer_id": 2},)
DOUBLE = ([parameter(0), layer(1, "Add", 2), result(2)], "0:0-1:0 0:0-1:1 1:2-2:0")
ABSOLUTE = ([parameter(0), layer(1, "Abs", 1), result(2)], "0:0-1:0 1:1-2:0")
CONSTANT = ([constant(0, 0, 8), result(2)], "0:0-2:0")


@pytest.mark.parametrize("shape", ["", "1"])
def test_branches_take_what_they_need(shape):
    xml = chosen((DOUBLE, X_IN, OUT), (CONSTANT, (), OUT), (shape, "boolean"))
    x = np.array([-3, 4], np.float32)
    for go, expected in ((True, x + x), (False, [1, 2])):
        (actual,) = run(xml, c=np.full([1] * len(shape), go), x=x)
        np.testing.assert_array_equal(actual, expected)


def test_outputs_of_branches_go_by_their_numbers():
    both = ([parameter(0), layer(1, "Abs", 1), result(2), result(3)], "0:0-1:0 1:1-2:0 0:0-3:0")
    first = ({"external_port_id": 2, "internal_layer_id": 2}, {"external_port_id": 3, "internal_layer_id": 3})
    second = ({"external_port_id": 9, "internal_layer_id": 2}, {"external_port_id": 4, "internal_layer_id": 3})
    xml = chosen((both, X_IN, first), (both, X_IN, second), outputs=2)
    x = np.array([-3, 4], np.float32)
    assert [list(y) for y in run(xml, c=True, x=x)] == [[3, 4], [-3, 4]]
    assert [list(y) for y in run(xml, c=False, x=x)] == [[-3, 4], [3, 4]]


def test_scalar_and_one_element_agree_on_one_axis():
    scalar = (
        [parameter(0, "1"), constant(1, 0, 4, ""), layer(3, "Identity", 1, version="opset16"), result(2)],
        "1:0-3:0 3:1-2:0",
    )
    xml = chosen((ABSOLUTE, X_IN, OUT), (scalar, X_IN, OUT), shape="1")
    assert [run(xml, c=go, x=np.array([-3], np.float32))[0].tolist() for go in (True, False)] == [[3], [1]]


BRANCHES = {
    "a condition of floats": (
        {"condition": ("", "f32")},
        "OV319: the If condition is float32[], expected boolean\n  fix: insert a Convert or a comparison",
    ),
    "a condition of rank 2": (
        {"condition": ("1,1", "boolean")},
        "OV319: Rank of If condition input must be equal to 0 or 1, it is 2\n  fix: Reshape it",
    ),
    "an output that one branch lacks": (
        {"other": (DOUBLE, X_IN, ())},
        "OV321: Incorrect associating in else_body! It maps 0 outputs, the layer has 1\n"
        "  fix: map a Result of each branch to each output",
    ),
    "one input for two Parameters": (
        {"then": (([parameter(5), *DOUBLE[0]], DOUBLE[1]), (*X_IN, X_IN[0] | {"internal_layer_id": 5}), OUT)},
        "OV302: External port id 0 or 1 is duplicated.: input 1 feeds two Parameters\n"
        "  fix: give each Parameter an input of the layer, connected to the same value",
    ),
    "slices": (
        {"then": (DOUBLE, (X_IN[0] | {"axis": 0},), OUT)},
        "OV324: then_body of an If has no iterations\n"
        "  fix: map inputs and outputs whole, without purpose and back edges",
    ),
    "other element types": (
        {"other": (([constant(0, 8, 8, "1", "i64"), result(2)], "0:0-2:0"), (), OUT)},
        "OV322: type of then_body output is not equal type of else_body output: float32 and int64 of output 0\n"
        "  fix: insert a Convert in a branch",
    ),
}


@pytest.mark.parametrize("what", BRANCHES)
def test_branches_are_refused(what):
    change, message = BRANCHES[what]
    passed = {"then": (DOUBLE, X_IN, OUT), "other": (ABSOLUTE, X_IN, OUT)} | change
    assert refusal(chosen(**passed)) == f"If 'i' (line): {message}"
