"""Nets as modules: order, names, types, what is refused and what is noted."""

import numpy as np
import pytest
from formats.openvino.ir_text import (
    ADD,
    COUNTING_WEIGHTS,
    constant,
    counting,
    graph,
    layer,
    loop,
    net,
    parameter,
    result,
)

import whorl
from whorl.errors import LoadError, RunError, SaveError
from whorl.ir.types import UNRANKED, TensorType
from whorl.ir.verify import verify
from whorl.ops.core.opaque import OpaqueLayer

X = np.array([1, -2], np.float32)


def refused(data: bytes, weights: bytes = b"") -> str:
    with pytest.raises(LoadError) as error:
        whorl.load(data, weights=weights)
    return str(error.value)


def warnings(data: bytes, weights: bytes = b"") -> list[str]:
    return [str(each) for each in whorl.load(data, weights=weights).metadata["openvino"]["warnings"]]


def relu(**data: object) -> bytes:
    return net(
        [parameter(0, name="x"), layer(1, "ReLU", 1, ("FP32",), "opset1", "", "", **data), result(2)], "0:0-1:0 1:1-2:0"
    )


def test_layers_may_stand_in_any_order():
    data = net(
        [result(3), layer(2, "Subtract", 2), parameter(1, name="y"), parameter(0, name="x")], "1:0-2:0 0:0-2:1 2:2-3:0"
    )
    module = whorl.load(data)
    verify(module)
    assert [value.name for value in module.main.arguments] == ["y", "x"]
    assert whorl.run(module, {"x": X, "y": X + 1})["subtract2"].tolist() == [1, 1]


def test_only_what_results_need_is_read():
    unused = [layer(5, "Nothing", 1), layer(6, "Add", 2)]
    module = whorl.load(net([parameter(0), layer(1, "ReLU", 1), result(2), *unused], "0:0-1:0 1:1-2:0 5:1-6:0 6:2-6:1"))
    assert [node.op.name for node in module.main.nodes] == ["Relu"]
    assert "OV206" not in str(module.metadata)


def test_constants_that_say_an_axis_leave_no_node():
    layers = [parameter(0, "2,3"), constant(1, 0, 8, "", "i64"), layer(2, "Split", 2, ("FP32", "FP32"), num_splits=2)]
    module = whorl.load(net([*layers, result(3)], "0:0-2:0 1:0-2:1 2:2-3:0"), weights=bytes(8))
    assert [node.op.name for node in module.main.nodes] == ["Split"]


def test_inputs_that_nothing_reads_stay_inputs():
    module = whorl.load(net([parameter(0, name="x"), parameter(1, name="y"), result(2)], "1:0-2:0"))
    assert [value.name for value in module.main.arguments] == ["x", "y"]


def test_types_of_layers_compare_without_case():
    data = ADD.replace(b'"Add"', b'"aDD"').replace(b'"Parameter"', b'"parameter"').replace(b'"Result"', b'"RESULT"')
    assert whorl.run(whorl.load(data), {"x": X, "y": X})["add2"].tolist() == [2, -4]


def test_long_chain_of_layers_is_read():
    count = 5_000
    layers = [parameter(0), *(layer(k, "ReLU", 1) for k in range(1, count)), result(count)]
    wires = "0:0-1:0 " + " ".join(f"{k}:1-{k + 1}:0" for k in range(1, count))
    assert len(whorl.load(net(layers[::-1], wires)).main.nodes) == count - 1


def test_outputs_are_called_by_names_of_the_result_then_of_the_tensor_then_of_the_layer():
    data = net(
        [
            parameter(0, name="x"),
            layer(1, "ReLU", 1, ("FP32:tensor,other",)),
            layer(2, "ReLU", 1, name="layer"),
            layer(3, "Result", 1, (), name="r").replace("<layer ", '<layer output_names="own,more" '),
            result(4),
            result(5),
            result(6),
        ],
        "0:0-1:0 0:0-2:0 1:1-3:0 1:1-4:0 2:1-5:0 2:1-6:0",
    )
    module = whorl.load(data)
    assert module.output_names == ["own", "tensor", "layer", "layer.1"]
    assert module.metadata["openvino"]["outputs"]["own"] == {"names": ("own", "more"), "layer": "r"}


def test_inputs_are_called_by_tensor_names():
    data = net([layer(0, "Parameter", outputs=("FP32:a,b",), shape="2", element_type="f32"), result(1)], "0:0-1:0")
    assert [value.name for value in whorl.load(data).main.arguments] == ["a"]


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "wires", "message"),
    [
        (
            [parameter(0), parameter(0), result(1)],
            "0:0-1:0",
            "Parameter 'parameter0' (line 5): OV201: has the id 0 of Parameter 'parameter0' in line 4",
        ),
        ([parameter(0), result(1)], "0:0-1:0 7:0-1:0", "OV202: the edge from layer 7 port 0 to layer 1 port 0 names"),
        ([parameter(0), result(1)], "0:4-1:0", "OV203: the edge from layer 0 port 4 to layer 1 port 0 names an output"),
        ([parameter(0), result(1)], "0:0-1:9", "OV203"),
        ([parameter(0), parameter(1), result(2)], "0:0-2:0 1:0-2:0", "OV204"),
        ([parameter(0), result(2)], "0:0-2:0 0:0-2:0", "OV204"),
        (
            [parameter(0), layer(1, "Add", 2), result(2)],
            "0:0-1:0 1:2-2:0",
            "OV205: nothing is connected to its input 1",
        ),
        (
            [parameter(0), layer(1, "Add", 2), layer(2, "ReLU", 1), result(3)],
            "0:0-1:0 2:1-1:1 1:2-2:0 2:1-3:0",
            "OV206: needs itself: ReLU 'relu2' <- Add 'add1' <- ReLU 'relu2'",
        ),
        ([parameter(0)], "", "the net: OV207: the net has no Result and no Assign"),
        ([parameter(0), layer(1, "Add", 2).replace('id="1"/>', 'id="0"/>'), result(2)], "0:0-1:0 1:2-2:0", "OV210"),
        ([parameter(0), layer(1, "ReLU", 1, ("FP32", "FP32")), result(2)], "0:0-1:0 1:1-2:0", "OV506: has 2 outputs"),
        ([parameter(0), layer(1, "Result", 2, ())], "0:0-1:0 0:0-1:1", "OV211: has 2 inputs, its type takes 1"),
        ([layer(0, "Parameter", element_type="f32"), result(1)], "0:0-1:0", "OV501: lacks the attribute 'shape'"),
        ([parameter(0, element_type="float"), result(1)], "0:0-1:0", "OV404"),
        ([parameter(0, element_type="dynamic"), result(1)], "0:0-1:0", "OV404"),
        (
            [layer(0, "Const", shape="2", element_type="f32"), result(1)],
            "0:0-1:0",
            "OV501: lacks the attribute 'offset'",
        ),
        (
            [parameter(0), layer(1, "ReLU", 1, version=""), result(2)],
            "0:0-1:0 1:1-2:0",
            "OV503: does not say its opset",
        ),
        ([parameter(0), result(1).replace("opset1", "mine")], "0:0-1:0", "OV503: is of 'mine', which does not have it"),
        ([parameter(0), layer(1, "ReLU", 1, version="opset99"), result(2)], "0:0-1:0 1:1-2:0", "OV503: is of opset99"),
        (
            [parameter(0, "2"), parameter(1, "3"), layer(2, "Add", 2), result(3)],
            "0:0-2:0 1:0-2:1 2:2-3:0",
            "Add 'add2' (line 6): OV506",
        ),
        ([parameter(0), layer(1, "Concat", 1, axis="one"), result(2)], "0:0-1:0 1:1-2:0", "OV501: axis is 'one'"),
        ([parameter(0), layer(1, "Concat", 1), result(2)], "0:0-1:0 1:1-2:0", "OV501: lacks the attribute 'axis'"),
        (
            [parameter(0), layer(1, "Nothing", 1, ("dynamic",)), result(2)],
            "0:0-1:0 1:1-2:0",
            "OV404: its type is not known",
        ),
        (
            [parameter(0), layer(1, "Nothing", 1, inside="<body><layers/></body>"), result(2)],
            "0:0-1:0 1:1-2:0",
            "OV505: has bodies, and its type is not known",
        ),
    ],
)
def test_net_that_makes_no_sense_is_refused(layers, wires, message):
    assert message in refused(net(layers, wires))


def test_problem_in_a_body_names_the_bodies_around_it():
    text = counting(2).decode().replace('type="Add"', 'type="Nothing"').encode()
    assert "Nothing 'add1'" in warnings(text, COUNTING_WEIGHTS)[0]
    assert "in body of Loop 'loop1' in body of Loop 'loop1'" in warnings(text, COUNTING_WEIGHTS)[0]


def test_bodies_as_deep_as_allowed_run():
    module = whorl.load(counting(6), weights=COUNTING_WEIGHTS)
    assert whorl.run(module, {"parameter0": X})["loop1"].tolist() == [65, 62]
    whorl.load(counting(64), weights=COUNTING_WEIGHTS)


@pytest.mark.parametrize(("depth", "max_depth"), [(65, 64), (3, 2), (250, 100_000), (400, 100_000)])
def test_bodies_deeper_than_allowed_are_refused(depth, max_depth):
    with pytest.raises(LoadError, match="OV104"):
        whorl.load(counting(depth), weights=COUNTING_WEIGHTS, max_depth=max_depth)


def test_unmapped_parameter_is_refused():
    maps = (
        '<output external_port_id="3" internal_layer_id="1"/>'
        '<output external_port_id="-1" internal_layer_id="3" purpose="execution_condition"/>'
    )
    body = graph([parameter(0), result(1), constant(2, 8, 1, "", "boolean"), result(3)], "0:0-1:0 2:0-3:0")
    outer = [constant(10, 0, 8, "", "i64"), constant(11, 8, 1, "", "boolean"), loop(1, maps, "", body, 2), result(2)]
    assert "OV303" in refused(net(outer, "10:0-1:0 11:0-1:1 1:2-2:0"), COUNTING_WEIGHTS)


# ---- what is noted -------------------------------------------------------------------------------------------------


def test_declared_shape_that_contradicts_is_noted():
    data = net([parameter(0), layer(1, "ReLU", 1, ("FP32::3",)), result(2)], "0:0-1:0 1:1-2:0")
    assert warnings(data) == ["ReLU 'relu1' (line 5): OV208: output 0 is declared float32[3], computed float32[2]"]


def test_declared_element_type_that_contradicts_is_noted():
    data = net([parameter(0), layer(1, "ReLU", 1, ("I64::2",)), result(2)], "0:0-1:0 1:1-2:0")
    assert warnings(data) == ["ReLU 'relu1' (line 5): OV209: output 0 is declared int64[2], computed float32[2]"]


def test_unknown_attribute_is_noted():
    assert warnings(relu(negative_slope="0.1")) == [
        "ReLU 'relu1' (line 5): OV502: the attribute 'negative_slope' is not known, and not used"
    ]


def test_layer_of_an_opset_without_it_is_noted():
    data = relu().replace(b"ReLU", b"SoftSign")
    assert "OV503: is of opset1, which does not have it; read as of opset9" in warnings(data)[0]


def test_parameter_of_a_body_that_declares_another_element_type_is_noted():
    data = counting(1)
    at = data.rindex(b'element_type="f32"', 0, data.rindex(b"Parameter") + 99)
    settings = warnings(data[:at] + data[at:].replace(b"f32", b"f16", 1), COUNTING_WEIGHTS)
    assert len(settings) == 1 and "OV209" in settings[0]


def test_parameter_of_a_body_must_say_its_shape():
    data = counting(1)
    inner = data.index(b"<body>")
    assert "OV501: lacks the attribute 'shape'" in refused(
        data[:inner] + data[inner:].replace(b'<data shape="2"', b"<data", 1), COUNTING_WEIGHTS
    )


def test_warnings_are_problems_of_check():
    (problem,) = whorl.check(whorl.load(relu(extra="1")))
    assert (problem.code, problem.severity, problem.where) == ("OV502", "warning", "ReLU 'relu1' (line 5)")


# ---- layers of unknown types ---------------------------------------------------------------------------------------


def strange() -> bytes:
    inside = '<rt_info><attribute name="origin" version="0" value="here"/></rt_info>'
    odd = layer(1, "Strange", 1, ("I64:s,t:2,-1", "FP16"), "somebodys", inside, mode="odd", level="3")
    return net([parameter(0, name="x"), odd, result(2), layer(3, "ReLU", 1, name="y"), result(4)],
               "0:0-1:0 1:1-2:0 0:0-3:0 3:1-4:0")  # fmt: skip


def test_unknown_layer_is_retained_as_it_is():
    module = whorl.load(strange())
    op = next(node.op for node in module.main.nodes if isinstance(node.op, OpaqueLayer))
    assert (op.type, op.version) == ("Strange", "somebodys")
    assert op.attributes == (("mode", "odd"), ("level", "3"))
    assert op.rt_info == (("origin.version", "0"), ("origin.value", "here"))
    assert op.names == (("s", "t"), ()) and [type.shape for type in op.types[1:]] == [UNRANKED]
    assert isinstance(module.main.results[0].type, TensorType) and str(module.main.results[0].type).startswith(
        "int64[2"
    )


def test_unknown_layer_fails_when_it_must_run():
    with pytest.raises(RunError, match="Strange of somebodys, which is kept for writing but cannot run"):
        whorl.run(strange(), {"x": X})


def test_unknown_layer_is_written_as_it_was(tmp_path):
    whorl.save(strange(), tmp_path / "again.xml")
    written, read = (
        [node for node in module.nodes() if isinstance(node.op, OpaqueLayer)]
        for module in (whorl.load(tmp_path / "again.xml"), whorl.load(strange()))
    )
    assert [(node.op, node.name) for node in written] == [(node.op, node.name) for node in read]


def test_unknown_layer_has_no_onnx_form(tmp_path):
    with pytest.raises(SaveError, match="OpaqueLayer 'strange1': is an operation that ONNX does not have"):
        whorl.save(strange(), tmp_path / "m.onnx")


def test_unknown_layer_that_optimizing_removes_does_no_harm():
    module = whorl.load(strange())
    module.main.results, module.output_names = module.main.results[1:], module.output_names[1:]
    assert whorl.run(whorl.optimize(module), {"x": X})["y"].tolist() == [1, 0]
