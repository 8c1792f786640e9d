"""Loop and TensorIterator: what their attributes mean, and what is refused, with the whole message."""

import numpy as np
import pytest
from formats.openvino.control_text import (
    BODY,
    FINAL,
    GOES_ON,
    PART,
    PARTS,
    STATE,
    TRUE,
    WEIGHTS,
    H,
    X,
    looped,
    refusal,
    run,
    warnings,
)
from formats.openvino.ir_text import constant, layer, parameter, result

from whorl.errors import RunError
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.ir.graph import walk
from whorl.ops.control.flow import Loop
from whorl.runtime.session import Session


@pytest.mark.parametrize("dtype", ["i32", "i64", "u8", "i8"])
@pytest.mark.parametrize("shape", ["", "1"])
def test_trip_count_of_any_integer_type_and_either_rank(dtype, shape):
    kind = {"i32": np.int32, "i64": np.int64, "u8": np.uint8, "i8": np.int8}[dtype]
    final, parts = run(looped(trip=(shape, dtype)), n=np.full([1] * len(shape), 2, kind), go=True)
    np.testing.assert_array_equal(final, np.tile(X[:2].sum(axis=0), (2, 1)))
    np.testing.assert_array_equal(parts, X[:2])


@pytest.mark.parametrize("trip", [-1, -7, np.iinfo(np.int64).min])
def test_negative_trip_count_is_no_bound(trip):
    with pytest.raises(RunError, match="iteration 4 takes a slice of scanned input 0, which has 4"):
        run(looped(), n=np.int64(trip), go=True)


def test_negative_constant_trip_count_leaves_no_trip_count():
    minus = np.array([-1], np.int64).tobytes()
    xml = looped().replace(parameter(0, "", "i64", name="n").encode(), constant(0, len(WEIGHTS), 8, "", "i64").encode())
    module = load_ir(xml, IrOptions(), WEIGHTS + minus)
    (node,) = (node for node in walk(module.main) if isinstance(node.op, Loop))
    assert node.inputs[0] is None


def test_trip_count_has_64_bits_but_in_the_plugin():
    beyond = np.int64((1 << 32) + 2)
    with pytest.raises(RunError, match="iteration 4 takes a slice"):
        run(looped(), n=beyond, go=True)
    final, _ = run(looped(), "openvino-cpu", n=beyond, go=True)
    np.testing.assert_array_equal(final, np.tile(X[:2].sum(axis=0), (2, 1)))


def test_constant_trip_count_has_64_bits_in_the_plugin_too():
    beyond = WEIGHTS + np.array([(1 << 32) + 2], np.int64).tobytes()
    xml = looped().replace(parameter(0, "", "i64", name="n").encode(), constant(0, len(WEIGHTS), 8, "", "i64").encode())
    session = Session(load_ir(xml, IrOptions("openvino-cpu"), beyond), backend="interpreter")
    with pytest.raises(RunError, match="iteration 4 takes a slice of scanned input 0, which has 4"):
        session.execute(None, {"go": np.array(True), "h": H, "x": X})


def test_false_condition_gives_the_initial_value():
    final, parts = run(looped(), n=np.int64(3), go=False, h=H + 5)
    np.testing.assert_array_equal(final, H + 5)
    assert parts.shape == (0, 3)


ITERATION = {"external_port_id": -1, "internal_layer_id": 0, "purpose": "current_iteration"}
NUMBER = {"inputs": (ITERATION, PART), "back": (), "shapes": ("1,3", "?,3")}
"""A loop whose Parameter 0 takes the iteration number."""


def counted(dtype, shape):
    """The body adds its iteration number to the part; the sums are concatenated."""
    convert = layer(6, "Convert", 1, destination_type="f32")
    layers = [parameter(0, shape, dtype), parameter(1, "1,3"), convert, layer(2, "Add", 2), result(4), TRUE, result(5)]
    return layers, "0:0-6:0 6:1-2:0 1:0-2:1 2:2-4:0 20:0-5:0"


@pytest.mark.parametrize("dtype", ["i32", "i64", "u16", "dynamic"])
@pytest.mark.parametrize("shape", ["", "1", "?"])
def test_iteration_number_has_the_type_that_the_body_declares(dtype, shape):
    xml = looped(
        **NUMBER | {"inputs": (ITERATION, PART, {"external_port_id": 2, "internal_layer_id": 7})},
        outputs=(PARTS, GOES_ON),
        body=([*counted(dtype, shape)[0], parameter(7, "1,3")], counted(dtype, shape)[1]),
        ports=("FP32",),
    )
    (parts,) = run(xml, n=np.int64(3), go=True, h=H[:1])
    np.testing.assert_array_equal(parts, X[:3] + np.arange(3)[:, None])


def test_iteration_number_with_an_input_counts_all_the_same():
    xml = looped(
        inputs=(ITERATION | {"external_port_id": 2}, PART),
        outputs=(PARTS, GOES_ON),
        back=((4, 0),),
        body=counted("i64", "1"),
        shapes=("1", "?,3"),
        ports=("FP32",),
    )
    assert [code for code, _ in warnings(xml)] == ["OV314", "OV314"]
    (parts,) = run(xml, n=np.int64(2), go=True, h=H[0, :1])
    np.testing.assert_array_equal(parts, X[:2] + np.arange(2)[:, None])


SLICED = {"start": -1, "end": 0, "stride": -2, "part_size": 2}


def test_parts_in_reverse_and_combined_in_reverse():
    parts = PART | SLICED
    body = ([parameter(0, "2,3"), parameter(1, "2,3"), *BODY[0][2:]], BODY[1])
    forward = PARTS | {"stride": 2, "part_size": 2}
    final, combined = run(
        looped(inputs=(STATE, parts), outputs=(FINAL, forward, GOES_ON), body=body), n=np.int64(2), go=True
    )
    np.testing.assert_array_equal(final, X[:2] + X[2:])
    np.testing.assert_array_equal(combined, X[[2, 3, 0, 1]])
    final, combined = run(
        looped(inputs=(STATE, parts), outputs=(FINAL, PARTS | SLICED, GOES_ON), body=body), n=np.int64(2), go=True
    )
    np.testing.assert_array_equal(combined, X)


def test_iterator_counts_by_its_slices():
    maps = {"inputs": (STATE | {"external_port_id": 0}, PART | {"external_port_id": 1}), "outputs": (FINAL, PARTS)}
    final, combined = run(looped(kind="TensorIterator", **maps))
    np.testing.assert_array_equal(final, np.tile(X.sum(axis=0), (2, 1)))
    np.testing.assert_array_equal(combined, X)


@pytest.mark.parametrize(("ends", "count"), [((0, -1, 1), 1), ((0, 3, 1), 3), ((4, 0, -2), 2), ((0, 6, 2), 3)])
def test_iterator_without_slices_counts_by_what_it_joins(ends, count):
    start, end, stride = ends
    how = {"start": start, "end": end, "stride": stride, "part_size": abs(stride)}
    maps = {
        "inputs": (STATE | {"external_port_id": 0}, {"external_port_id": 1, "internal_layer_id": 1}),
        "outputs": (FINAL, PARTS | how | {"internal_layer_id": 3}),
    }
    body = ([parameter(0, f"{abs(stride)},3"), parameter(1, "1,3"), *BODY[0][2:]], BODY[1])
    h = np.zeros((abs(stride), 3), np.float32)
    final, combined = run(looped(kind="TensorIterator", body=body, shapes=("?,3", "?,3"), **maps), h=h, x=X[1:2])
    np.testing.assert_array_equal(final, h + count * X[1:2])
    rows = np.repeat(np.arange(1, count + 1), abs(stride))[:, None] * X[1:2]
    np.testing.assert_array_equal(combined, rows[::-1] if stride < 0 else rows)


def test_last_value_without_iterations_is_empty_in_the_plugin_alone():
    last = {"external_port_id": 5, "internal_layer_id": 4}
    xml = looped(outputs=(FINAL, last, GOES_ON))
    np.testing.assert_array_equal(run(xml, n=np.int64(3), go=True)[1], X[2:3])
    with pytest.raises(RunError, match="no iteration ran, so there is no last value"):
        run(xml, n=np.int64(0), go=True)
    np.testing.assert_array_equal(run(xml, "openvino-cpu", n=np.int64(0), go=True)[1], np.zeros((1, 3)))


def test_condition_that_the_body_gives_is_an_output_too():
    xml = looped(outputs=(FINAL, GOES_ON | {"external_port_id": 5}), ports=("FP32", "BOOL"))
    assert run(xml, n=np.int64(2), go=True)[1].item() is True


def test_one_result_feeds_several_parameters():
    both = (STATE, {"external_port_id": 3, "internal_layer_id": 1})
    xml = looped(
        inputs=both,
        back=((3, 0), (3, 1)),
        shapes=("2,3", "2,3"),
        outputs=(FINAL, FINAL | {"external_port_id": 5}, GOES_ON),
    )
    final, again = run(xml, n=np.int64(3), go=True, h=H + 1, x=H + 2)
    np.testing.assert_array_equal(final, H + 12)
    np.testing.assert_array_equal(again, final)


def test_condition_that_is_always_false_is_noted():
    false = looped().replace(
        parameter(1, "", "boolean", name="go").encode(), constant(1, 17, 1, "", "boolean").encode()
    )
    assert warnings(false) == [("OV315", "the condition is always false: no iteration runs")]


def test_first_back_edge_counts_and_slices_take_none():
    assert warnings(looped(back=((3, 0), (4, 0), (4, 1)))) == [
        ("OV306", "two back edges lead to Parameter 0; the first one counts"),
        ("OV307", "a back edge leads to Parameter 1, which takes slices; it is ignored"),
    ]


REFUSED = {
    "two inputs of one number": (
        {"inputs": (STATE, PART | {"external_port_id": 2})},
        "OV302: an external port id is duplicated: input 2 feeds two Parameters\n"
        "  fix: give each Parameter an input of the layer, connected to the same value",
    ),
    "the trip count twice": (
        {"inputs": (STATE | {"external_port_id": 0}, PART | {"external_port_id": 0})},
        "OV302: External port id 0 or 1 is duplicated.: input 0 feeds two Parameters\n"
        "  fix: give each Parameter an input of the layer, connected to the same value",
    ),
    "a Parameter without an input": (
        {"inputs": (STATE,)},
        "OV303: nothing feeds Parameter 'parameter1' of the body\n  fix: map an input of the layer to the Parameter",
    ),
    "a state without an initial value": (
        {"inputs": (PART,)},
        "OV309: nothing feeds Parameter 'parameter0' of the body\n  fix: map an input of the layer to the Parameter",
    ),
    "two outputs of one number": (
        {"outputs": (FINAL, PARTS | {"external_port_id": 4}, GOES_ON)},
        "OV304: output 4 is mapped twice\n  fix: give each output a number of its own",
    ),
    "an input into no Parameter": (
        {"inputs": (STATE, PART | {"internal_layer_id": 2})},
        "OV305: input 3 goes to layer 2, which is no Parameter"
        "\n  fix: name the id of a Parameter for an input, of a Result for an output",
    ),
    "an output of no Result": (
        {"outputs": (FINAL, PARTS | {"internal_layer_id": 2}, GOES_ON)},
        "OV305: output 5 comes from layer 2, which is no Result"
        "\n  fix: name the id of a Parameter for an input, of a Result for an output",
    ),
    "a back edge from no Result": (
        {"back": ((2, 0),)},
        "OV308: a back edge leads from layer 2 to layer 0\n  fix: lead it from a Result to a Parameter",
    ),
    "an input that goes nowhere": (
        {"more": (parameter(6),)},
        "OV310: Number of inputs must be the same as number of input descriptions: input 4 is not mapped into the body"
        "\n  fix: map it to a Parameter, or disconnect it",
    ),
    "an input too many": (
        {"inputs": (STATE, PART, PART | {"external_port_id": 7, "internal_layer_id": 0})},
        "OV323: Parameter 0 is fed twice\n  fix: map one input to it",
    ),
    "an input that the layer lacks": (
        {"inputs": (STATE, PART | {"external_port_id": 7})},
        "OV328: maps input 7, the layer has 4\n  fix: connect an input for each entry, or remove the entry",
    ),
    "parts that overlap": (
        {"inputs": (STATE, PART | {"part_size": 2})},
        'OV311: "start" = 0, "stride" = 1, "end" = -1, "part_size" = 2 of input 3 takes parts that overlap or leave '
        "gaps\n"
        "  fix: let part_size be the absolute value of stride",
    ),
    "an axis too large": (
        {"inputs": (STATE, PART | {"axis": 2})},
        'OV312: Invalid "axis" value in an iteration component: 2, dimensions number = 2 (out of range)'
        "\n  fix: choose one of its axes",
    ),
    "no execution condition": (
        {"outputs": (FINAL, PARTS)},
        "OV316: no output of the body has the purpose execution_condition\n  fix: map a Result with it",
    ),
    "an output that the layer lacks": (
        {"ports": ("FP32",)},
        "OV317: Number of outputs must be the same as number of output descriptions: "
        "the layer has 1 outputs, its port map 2\n  fix: map a Result to each output of the layer",
    ),
    "a trip count of floats": (
        {"trip": ("", "f32")},
        "OV318: Unsupported element type for trip_count input. Expected int32 or int64. It is float32[]\n"
        "  fix: insert a Convert",
    ),
    "a trip count of rank 2": (
        {"trip": ("1,1", "i64")},
        "OV318: Rank of TripCount input must be equal to 0 or 1, it is 2\n  fix: Reshape it",
    ),
    "two trip counts": (
        {"trip": ("2", "i64")},
        "OV318: The number of values in the TripCount is not 1: it is int64[2]\n  fix: give one element",
    ),
    "a condition of integers": (
        {"condition": ("", "i32")},
        "OV319: the ExecutionCondition is int32[], expected boolean\n  fix: insert a Convert or a comparison",
    ),
    "a condition of rank 2": (
        {"condition": ("1,1", "boolean")},
        "OV319: Rank of ExecutionCondition input must be equal to 0 or 1, it is 2\n  fix: Reshape it",
    ),
    "two conditions": (
        {"condition": ("2", "boolean")},
        "OV319: The number of values in the ExecutionCondition is not 1, it is 2\n  fix: give one element",
    ),
    "a body condition of floats": (
        {"outputs": (FINAL, PARTS | {"internal_layer_id": 5}, GOES_ON | {"internal_layer_id": 4})},
        "OV319: the BodyExecutionCondition is float32[1, 3], expected boolean\n  fix: insert a Convert or a comparison",
    ),
    "an unknown purpose": (
        {"inputs": (STATE | {"purpose": "counter"}, PART)},
        "OV324: an input has the purpose 'counter'\n"
        "  fix: write 'current_iteration' at an input, 'execution_condition' at an output, or nothing",
    ),
    "a state of another element type": (
        {"back": ((5, 0),)},
        "OV326: 'parameter0' is float32, the back edge to it brings bool\n  fix: insert a Convert before its Result",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_port_map_is_refused(what):
    change, message = REFUSED[what]
    assert refusal(looped(**change)) == f"Loop 'l' (line): {message}"


def test_iteration_number_of_floats_is_refused():
    xml = looped(
        **NUMBER | {"inputs": (ITERATION | {"external_port_id": 2}, PART)}, outputs=(PARTS, GOES_ON), ports=("FP32",)
    )
    xml = xml.replace(b'shape="2,3"', b'shape="1"')
    assert refusal(xml) == (
        "Loop 'l' (line): OV318: Unsupported element type for current iteration input. Expected int32 or int64. "
        "Parameter 'parameter0' is float32\n  fix: convert it in the body"
    )


def test_iterator_over_inputs_of_different_lengths_is_refused():
    slices = (
        {"external_port_id": 0, "internal_layer_id": 0, "axis": 0},
        {"external_port_id": 1, "internal_layer_id": 1, "axis": 0},
    )
    xml = looped(kind="TensorIterator", inputs=slices, outputs=(FINAL, PARTS), back=(), shapes=("2,3", "4,3"))
    assert refusal(xml) == (
        "TensorIterator 'l' (line): OV313: There are at least two different iterations numbers: 2 and 4\n"
        "  fix: slice inputs of one length"
    )
