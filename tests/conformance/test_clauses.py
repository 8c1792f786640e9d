"""The sentences that decide cases: each stands in the specification, and every case that is not open has one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from whorl.conformance import load_cases
from whorl.conformance.case import nodes_of
from whorl.conformance.clauses import CLAUSES, IR

DECIDED = {case.name: case for case in load_cases() if not case.ambiguous}
IR_TEXT = " ".join(Path(__file__).with_name("onnx_ir.md").read_text(encoding="utf-8").split())


def schema_text(op: str, opset: int) -> str:
    """All that onnx says of an op in a version, with one blank for each run of them."""
    schema = onnx.defs.get_schema(op, max_inclusive_version=opset)
    parts = [schema.doc, *(value.description for value in (*schema.inputs, *schema.outputs))]
    parts += [attribute.description for attribute in schema.attributes.values()]
    parts += [constraint.description for constraint in schema.type_constraints]
    return " ".join(" ".join(parts).split())


@pytest.mark.parametrize("name", DECIDED)
def test_case_is_open_or_decided_by_sentences_of_its_ops(name):
    """Each sentence stands word for word in the text of an op of the model, in the version that the model uses."""
    case = DECIDED[name]
    assert case.clauses
    (opset,) = (entry.version for entry in case.proto.opset_import if not entry.domain)
    ops = {node.op_type for node in nodes_of(case.proto)}
    for clause in case.clauses.values():
        if clause.source != IR:
            assert clause.source in ops
            assert clause.text in schema_text(clause.source, opset)


@pytest.mark.parametrize("name", [name for name, clause in CLAUSES.items() if clause.source == IR])
def test_sentence_of_ir_md_is_quoted_word_for_word(name):
    assert CLAUSES[name].text in IR_TEXT


def test_every_sentence_decides_a_case():
    assert {clause for case in DECIDED.values() for clause in case.clauses} == set(CLAUSES)


def outer_names(graph: onnx.GraphProto) -> set[str]:
    """The names that a body or branch, with what it holds, reads from around it."""
    own = {value.name for value in (*graph.input, *graph.initializer)}
    own |= {name for node in graph.node for name in node.output}
    read = {name for node in graph.node for name in node.input if name} | {value.name for value in graph.output}
    inner = [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]
    return read.union(*map(outer_names, inner)) - own


@pytest.mark.parametrize("name", DECIDED)
def test_scan_body_that_reads_outer_values_is_open(name):
    """IR.md lets every nested graph read them; the text of Scan says that they need to be passed in as states."""
    for node in nodes_of(DECIDED[name].proto):
        if node.op_type == "Scan":
            assert not [body for body in node.attribute if body.HasField("g") and outer_names(body.g)]


@pytest.mark.parametrize("name", [name for name, case in DECIDED.items() if case.expected is not None])
def test_dim_has_one_length_in_a_case_that_is_not_open(name):
    """IR.md: "N" is the same value across the entire graph, and what is declared is what comes."""
    case = DECIDED[name]
    graph, lengths = case.proto.graph, {}
    pairs = [(value, case.inputs.get(value.name)) for value in graph.input]
    for value, array in [*pairs, *zip(graph.output, case.expected or (), strict=True)]:
        if isinstance(array, np.ndarray) and value.type.HasField("tensor_type"):
            for dim, length in zip(value.type.tensor_type.shape.dim, array.shape, strict=True):
                if dim.HasField("dim_param"):
                    assert lengths.setdefault(dim.dim_param, length) == length
                elif dim.HasField("dim_value"):
                    assert dim.dim_value == length
