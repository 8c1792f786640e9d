"""Control flow cut out of ONNX models: what nodes read, models of nodes alone, other nodes in their position."""

import numpy as np
import onnx
from onnx_text import model

from whorl.formats.onnx.cutting import (
    constant_tensors,
    count_readers,
    cut_control,
    model_of_nodes,
    node_of,
    replace_nodes,
    value_types,
)
from whorl.formats.onnx.protos import NodeProto
from whorl.ir.dims import name
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import TensorType

NESTED = """
    main (float[n] x, int64 trips, bool b) => (float[n] y, float[n] z) {
        scale = Constant<value = float[1] {2}> ()
        [outer] y = Loop (trips, "", x) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] h_out) {
            on = Identity(go)
            h_out = If (b) <
                then_branch = yes () => (float[n] t) { t = Mul(h, scale) },
                else_branch = no () => (float[n] e) { e = Add(h, x) }>
        }>
        z = Neg(y)
    }"""


def test_node_reads_what_its_regions_read_from_outside():
    (cut,) = cut_control(model(NESTED))
    assert (cut.positions, cut.inputs, cut.outputs) == ((1,), ("trips", "x", "b", "scale"), ("y",))
    assert cut.title == "Loop 'outer'"


def test_readers_are_counted_in_regions_and_among_results():
    counts = count_readers(model(NESTED).graph)
    assert counts == {"trips": 1, "x": 1, "b": 1, "scale": 1, "y": 2, "z": 1}


def test_model_of_a_node_has_typed_inputs_and_constants():
    proto = model(NESTED)
    (cut,) = cut_control(proto)
    types = {**value_types(proto), "x": TensorType(BY_NAME["float32"], (name("n") + 1,))}
    constants = {"scale": constant_tensors(proto, None)["scale"]()}
    alone = model_of_nodes(proto, cut, types, constants)
    assert [value.name for value in alone.graph.input] == ["trips", "x", "b"]
    assert alone.graph.input[1].type.tensor_type.shape.dim[0].dim_param == "x.0"
    assert [tensor.name for tensor in alone.graph.initializer] == ["scale"]


def test_node_is_replaced_and_constants_of_it_alone_go():
    proto = model(NESTED)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(3, np.float32), "unused"))
    (cut,) = cut_control(proto)
    replace_nodes(proto, [((1,), node_of(cut, "op", "ai.whorl", ["trips", "x", "b"]))], "ai.whorl", 1)
    assert [node.op_type for node in proto.graph.node] == ["op", "Neg"]
    assert proto.graph.node[0] == NodeProto(
        op_type="op", domain="ai.whorl", name="outer", input=["trips", "x", "b"], output=["y"]
    )
    assert not proto.graph.initializer
    assert [(o.domain, o.version) for o in proto.opset_import if o.domain] == [("ai.whorl", 1)]


def test_types_are_what_onnx_infers():
    proto = model("main (float[n, 3] x) => (float[n, 3] y) { h = Neg(x) y = Neg(h) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(3, np.int64), "unused"))
    types = value_types(proto)
    assert {key: str(type) for key, type in types.items()} == {
        **dict.fromkeys("xhy", "float32[n, 3]"),
        "unused": "int64[3]",
    }


def test_what_a_caller_may_override_is_no_constant():
    proto = model("main (float[1] x, float[1] w) => (float[1] y) { y = Add(x, w) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(1, np.float32), "w"))
    assert constant_tensors(proto, None) == {}
