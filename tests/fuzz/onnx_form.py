"""The fuzzer's programs as ONNX models."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, helper, numpy_helper

from fuzz.syntax import AnyType, Apply, Block, IfStatement, LoopStatement, Opt, ScanStatement, Seq, Type, Var

OPSET = 21


def model(block: Block) -> ModelProto:
    return helper.make_model(graph(block, "main"), opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def kind_of(dtype: str) -> int:
    return TensorProto.STRING if dtype == "str" else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def type_proto(type: AnyType) -> TypeProto:
    match type:
        case Type():
            return helper.make_tensor_type_proto(kind_of(type.dtype), type.shape)
        case Seq():
            return helper.make_sequence_type_proto(helper.make_tensor_type_proto(kind_of(type.dtype), None))
        case Opt():
            return helper.make_optional_type_proto(type_proto(type.of))


def info(var: Var):
    return helper.make_value_info(var.name, type_proto(var.type))


def graph(block: Block, name: str) -> GraphProto:
    """A graph; unless the block is direct, with an Identity behind every result, so that each has a name of its own."""
    nodes = [node for statement in block.statements for node in nodes_of(statement)]
    outputs = []
    for k, var in enumerate(block.results):
        out = var if block.is_direct else Var(f"{name}_{id(block)}_{k}", var.type)
        if out is not var:
            nodes.append(helper.make_node("Identity", [var.name], [out.name]))
        outputs.append(info(out))
    return helper.make_graph(nodes, name, [info(v) for v in block.arguments], outputs)


def nodes_of(statement) -> list[NodeProto]:
    names = ["" if v is None else v.name for v in statement.targets]
    match statement:
        case Apply():
            return apply_nodes(statement, [v.name for v in statement.inputs], names)
        case LoopStatement():
            inputs = [v.name if v is not None else "" for v in (statement.trip, statement.condition)]
            inputs += [v.name for v in statement.carried]
            return [helper.make_node("Loop", inputs, names, body=graph(statement.body, "body"))]
        case ScanStatement():
            return [scan_node(statement, names)]
        case IfStatement():
            then, other = (graph(b, name) for b, name in zip(statement.branches, ("then", "other"), strict=True))
            return [helper.make_node("If", [statement.condition.name], names, then_branch=then, else_branch=other)]
    raise AssertionError(statement)


def apply_nodes(statement: Apply, inputs: list[str], outputs: list[str]) -> list[NodeProto]:
    """The node of an operation, with constants for what ONNX wants as inputs in front of it."""
    op, message = statement.op, statement.attributes
    nodes: list[NodeProto] = []

    def passed(value: Any) -> str:
        name = f"{outputs[0]}_given{len(nodes)}_{id(statement)}"
        tensor = numpy_helper.from_array(np.array(value, np.int64))
        nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    attributes: dict[str, Any] = {}
    match op:
        case "Constant":
            attributes["value"] = numpy_helper.from_array(message["value"])
        case "Concat" | "Gather" | "ConcatFromSequence":
            attributes["axis"] = 0
        case "SplitToSequence":
            inputs = [*inputs, passed(message["size"])]
        case "ReduceSum":
            attributes["keepdims"] = 0
        case "Reshape":
            attributes["allowzero"] = 1
        case "Cast":
            attributes["to"] = kind_of(statement.target.type.dtype)
        case "SequenceEmpty":
            attributes["dtype"] = kind_of(statement.target.type.dtype)
        case "EmptyOptional":
            op, attributes["type"] = "Optional", type_proto(statement.target.type.of)
        case "SequenceInsertAt":
            op = "SequenceInsert"
        case "Unsqueeze":
            inputs = [*inputs, passed([message["axis"]])]
        case "Slice":
            part = message["part"]
            inputs = [*inputs, passed([part.start]), passed([part.stop]), passed([0]), passed([part.step])]
        case "SliceTo":
            op, end = "Slice", f"{outputs[0]}_end_{id(statement)}"
            nodes.append(helper.make_node("Reshape", [inputs[1], passed([-1])], [end]))
            inputs = [inputs[0], passed([0]), end, passed([0])]
    return [*nodes, helper.make_node(op, inputs, outputs, **attributes)]


def scan_node(scan: ScanStatement, names: list[str]) -> NodeProto:
    attributes = {
        "scan_input_axes": scan.axes,
        "scan_input_directions": [int(r) for r in scan.reverse],
        "scan_output_axes": scan.output_axes,
        "scan_output_directions": [int(r) for r in scan.output_reverse],
    }
    return helper.make_node(
        "Scan",
        [v.name for v in (*scan.states, *scan.scanned)],
        names,
        body=graph(scan.body, "body"),
        num_scan_inputs=len(scan.scanned),
        **{key: value for key, value in attributes.items() if value},
    )
