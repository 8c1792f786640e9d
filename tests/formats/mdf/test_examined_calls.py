"""Forms in which bodies, their states and what they read from around them may be given."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper

import whorl
import whorl.formats.mdf.functions as onnx_ops
from whorl.errors import RunError, WhorlError
from whorl.formats.mdf.files import read_mdf

FLOAT, INT32, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL


def scalar(name, type):
    return helper.make_tensor_value_info(name, type, [])


def page_body(type=FLOAT, number=INT64, extra=()):
    """The body of the example on the page of Loop."""
    return helper.make_graph(
        [
            helper.make_node("Add", ["a", "b_in"], ["my_local"]),
            helper.make_node("Sub", ["a", "b_in"], ["b_out"]),
            helper.make_node("Greater", ["my_local", "b_out"], ["keepgoing_out"]),
            helper.make_node("Add", ["b_in", "b_in"], ["user_defined_val"]),
        ],
        "body-net",
        [scalar("i", number), scalar("keepgoing_in", BOOL), scalar("b_in", type), *extra],
        [scalar("keepgoing_out", BOOL), scalar("b_out", type), scalar("user_defined_val", type)],
    )


def check(actual, dtype=np.float32):
    last, all = actual
    assert last.dtype == all.dtype == dtype
    assert last == 6 and all.tolist() == [12, -6]


@pytest.fixture(params=["graph", "bytes of a graph", "path of a graph", "model with the capture as an input"])
def body(request, tmp_path):
    match request.param:
        case "graph":
            return page_body()
        case "bytes of a graph":
            return page_body().SerializeToString()
        case "path of a graph":
            (tmp_path / "body.pb").write_bytes(page_body().SerializeToString())
            return tmp_path / "body.pb"
    return helper.make_model(page_body(extra=[scalar("a", FLOAT)]), opset_imports=[helper.make_opsetid("", 15)])


@pytest.mark.parametrize("captured", [3, 3.0, np.array(3, np.float32)])
@pytest.mark.parametrize("trip_count", [10, [10], np.array([10], np.int32)])
def test_captured_number_has_the_element_type_of_the_body(body, captured, trip_count):
    check(onnx_ops.loop(trip_count, True, 6.0, body=body, a=captured))
    check(whorl.loop(trip_count, True, 6.0, body=body, captured={"a": captured}))


@pytest.mark.parametrize("condition", [1, [True], [1], np.array([1])])
def test_condition_may_be_a_number(body, condition):
    check(onnx_ops.loop(10, condition, 6.0, body=body, a=3.0))
    check(whorl.loop(10, condition, 6.0, body=body, captured={"a": 3.0}))


def test_states_may_be_named(body):
    check(onnx_ops.loop(M=10, cond=True, v_initial=6.0, body=body, a=3.0))
    check(whorl.loop(M=10, cond=True, v_initial=[6.0], body=body, captured={"a": 3.0}))
    check(whorl.loop(cond=True, v_initial=np.float32(6), body=body, captured={"a": 3.0}))


def test_number_of_the_iteration_may_be_declared_as_int32():
    body = page_body(INT32, INT32)
    check(onnx_ops.loop(np.array([10]), np.array([1]), 6, body=body, a=3), np.int32)
    check(whorl.loop(10, 1, np.array(6, np.int32), body=body, captured={"a": 3}), np.int32)


def test_module_and_region_take_captured_values():
    model = helper.make_model(page_body(extra=[scalar("a", FLOAT)]), opset_imports=[helper.make_opsetid("", 15)])
    module = whorl.load(model)
    check(onnx_ops.loop(10, True, 6.0, body=module, a=3.0))
    check(whorl.loop(10, True, 6.0, body=module.main, captured={"a": 3.0}))
    assert not module.defaults


@pytest.mark.parametrize("trip_count", ["abc", 2.5, float("nan"), [1, 2]])
def test_trip_count_that_is_none_is_refused(body, trip_count):
    with pytest.raises(RunError, match="the trip count"):
        onnx_ops.loop(trip_count, True, 6.0, body=body, a=3.0)


@pytest.mark.parametrize("body", [None, 5, [1], b"junk", "/no/such.onnx", {}, {"nodes": 5}])
def test_what_is_no_body_is_refused(body):
    for loop in (onnx_ops.loop, whorl.loop):
        with pytest.raises(WhorlError):
            loop(10, True, 6.0, body=body)


GRAPH = {
    "nodes": {
        "n": {
            "input_ports": {"b_in": {}, "a": {}},
            "parameters": {
                "b_out": {"value": "a - b_in"},
                "go": {"value": "a + b_in > a - b_in"},
                "twice": {"value": "b_in + b_in"},
            },
            "output_ports": {"o1": {"value": "b_out"}, "o2": {"value": "go"}, "o3": {"value": "twice"}},
        }
    },
    "metadata": {"onnx_inputs": ["i", "c", "b_in"], "onnx_outputs": ["o2", "o1", "o3"]},
}


def test_model_of_whorl_and_of_modeci_mdf_are_bodies(tmp_path):
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"m": {"format": "ModECI MDF v0.4", "graphs": {"body": GRAPH}}}))
    bodies = [whorl.load(path), read_mdf(path), path, GRAPH]
    try:
        from modeci_mdf.utils import load_mdf
    except ImportError:
        pass
    else:
        model = load_mdf(str(path))
        bodies += [model, model.graphs[0]]
    for body in bodies:
        check(onnx_ops.loop(10, True, 6.0, body=body, a=3.0), np.float64)
        check(whorl.loop(10, True, 6.0, body=body, captured={"a": 3.0}), np.float64)


def test_attributes_by_position_come_in_alphabetical_order():
    a, b = np.array([1.0, 2.0]), np.array([3.0])
    assert onnx_ops.concatfromsequence([a, b], 0).tolist() == [1, 2, 3]


def test_branch_of_bytes_reads_numbers_around_it():
    def branch(op):
        return helper.make_graph([helper.make_node(op, ["x"], ["y"])], op, [], [scalar("y", FLOAT)]).SerializeToString()

    for flag, expected in ((True, 4.0), ([0], -4.0)):
        passed = {"then_branch": branch("Abs"), "else_branch": branch("Neg")}
        assert onnx_ops.if_(flag, **passed, x=4) == np.float32(expected)
        assert whorl.if_(flag, **passed, captured={"x": 4}) == [np.float32(expected)]
