"""The fuzzer's programs as ONNX models."""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper

from fuzz.programs import Apply, Block, IfStatement, LoopStatement, ScanStatement, Var

OPSET = 21


def model(block: Block) -> ModelProto:
    return helper.make_model(graph(block, "main"), opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def info(var: Var):
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(var.type.dtype))
    return helper.make_tensor_value_info(var.name, kind, list(var.type.shape))


def graph(block: Block, name: str) -> GraphProto:
    """A graph with an Identity behind every result, so that results may be anything, also the same thing twice."""
    nodes = [node for statement in block.statements for node in nodes_of(statement)]
    outputs = []
    for k, var in enumerate(block.results):
        out = Var(f"{name}_{id(block)}_{k}", var.type)
        nodes.append(helper.make_node("Identity", [var.name], [out.name]))
        outputs.append(info(out))
    return helper.make_graph(nodes, name, [info(v) for v in block.arguments], outputs)


def nodes_of(statement) -> list[NodeProto]:
    match statement:
        case Apply():
            return [apply_node(statement)]
        case LoopStatement():
            inputs = [v.name if v is not None else "" for v in (statement.trip, statement.condition)]
            inputs += [v.name for v in statement.carried]
            body = graph(statement.body, "body")
            return [helper.make_node("Loop", inputs, [v.name for v in statement.targets], body=body)]
        case ScanStatement():
            return [scan_node(statement)]
        case IfStatement():
            then, other = (graph(b, name) for b, name in zip(statement.branches, ("then", "other"), strict=True))
            names = [v.name for v in statement.targets]
            return [helper.make_node("If", [statement.condition.name], names, then_branch=then, else_branch=other)]
    raise AssertionError(statement)


def apply_node(statement: Apply) -> NodeProto:
    inputs, outputs = [v.name for v in statement.inputs], [statement.target.name]
    match statement.op:
        case "Constant":
            return helper.make_node("Constant", [], outputs, value=numpy_helper.from_array(statement.constant))
        case "Concat":
            return helper.make_node("Concat", inputs, outputs, axis=0)
        case "ReduceSum":
            return helper.make_node("ReduceSum", inputs, outputs, keepdims=0)
        case "Cast":
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(statement.target.type.dtype))
            return helper.make_node("Cast", inputs, outputs, to=kind)
    return helper.make_node(statement.op, inputs, outputs)


def scan_node(scan: ScanStatement) -> NodeProto:
    attributes = {
        "scan_input_axes": scan.axes,
        "scan_input_directions": [int(r) for r in scan.reverse],
        "scan_output_axes": scan.output_axes,
        "scan_output_directions": [int(r) for r in scan.output_reverse],
    }
    return helper.make_node(
        "Scan",
        [v.name for v in (*scan.states, *scan.scanned)],
        [v.name for v in scan.targets],
        body=graph(scan.body, "body"),
        num_scan_inputs=len(scan.scanned),
        **{key: value for key, value in attributes.items() if value},
    )
