"""Element types of names in a graph, as far as its declarations and the operators' schemas tell them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from onnx import defs

from whorl.formats.onnx.context import domain_of
from whorl.formats.onnx.dtypes import from_onnx
from whorl.formats.onnx.protos import GraphProto, NodeProto


def element_types(graph: GraphProto) -> dict[str, np.dtype]:
    """What is declared, and what must be equal to it since an operator wants equal types. Errors: LoadError."""
    codes = {info.name: info.type.tensor_type.elem_type for info in (*graph.input, *graph.output, *graph.value_info)}
    codes |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    codes = {name: code for name, code in codes.items() if code}
    groups = [group for node in graph.node for group in _equal_names(node)]
    count = -1
    while count != len(codes):
        count = len(codes)
        for group in groups:
            known = [codes[name] for name in group if name in codes]
            codes |= {name: known[0] for name in group if known and name not in codes}
    return {name: from_onnx(code, repr(name)) for name, code in codes.items()}


def _equal_names(node: NodeProto) -> list[list[str]]:
    """The inputs and outputs of a node in groups of one element type each."""
    domain = domain_of(node.domain)
    if not defs.has(node.op_type, domain):
        return []
    schema, groups = defs.get_schema(node.op_type, domain), defaultdict(list)
    for names, formal in ((node.input, schema.inputs), (node.output, schema.outputs)):
        for name, parameter in zip(names, formal, strict=False):
            if (
                name
                and parameter.option != defs.OpSchema.FormalParameterOption.Variadic
                and "(" not in parameter.type_str
            ):
                groups[parameter.type_str].append(name)
    return list(groups.values())
