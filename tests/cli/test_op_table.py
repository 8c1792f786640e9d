"""Ops before and after, as lines and as a document."""

from __future__ import annotations

from onnx_text import model

import whorl
from whorl.cli.op_table import count_ops, op_document, op_lines

BEFORE, AFTER = {"Loop": 1, "Add": 5, "Identity": 2}, {"Add": 1, "CumSum": 1, "Identity": 2}


def test_table_has_the_ops_that_changed_the_most_first() -> None:
    assert op_lines(BEFORE, AFTER) == [
        "  op      before   after",
        "  Add          5       1",
        "  CumSum       0       1",
        "  Loop         1       0",
    ]
    assert op_lines(BEFORE, BEFORE) == []


def test_document_has_all_ops() -> None:
    assert op_document(BEFORE, AFTER) == {
        "Add": {"before": 5, "after": 1},
        "CumSum": {"before": 0, "after": 1},
        "Identity": {"before": 2, "after": 2},
        "Loop": {"before": 1, "after": 0},
    }


def test_nodes_of_bodies_count_and_constants_do_not() -> None:
    source = model("""main (int64 n, float x) => (float y) {
        y = Loop (n, , x) <body = a (int64 i, bool k, float s) => (bool h, float t) {
            h = Identity(k)
            two = Constant<value = float {2}> ()
            t = Mul(s, two)
        }>
    }""")
    assert count_ops(whorl.load(source)) == {"Loop": 1, "Identity": 1, "Mul": 1}
