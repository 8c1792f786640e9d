"""Which sequences become tables: all of a family that holds tensors of different shapes, if only known ops touch it."""

from __future__ import annotations

import pytest
from onnx_text import model

import whorl
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.types import SequenceType
from whorl.ir.walk import clone_region
from whorl.lowering.tables import open_ragged

LONGER = """(int64 n, float[a, 3] x, int64 p) => (OUT y) {
    e = SequenceEmpty ()
    v = Loop (n, "", e) <body = b (int64 i, bool go, seq(float[]) t) => (bool on, seq(float[]) u) {
        on = Identity(go) one = Constant <value = int64[1] {1}> () z = Constant <value = int64[1] {0}> ()
        m = Add(i, one) r = Slice(x, z, m) u = SequenceInsert(t, r)
    }>
    LAST
}"""
OPENED = {
    "joined": ("float[b, 3]", "y = ConcatFromSequence <axis = 0> (v)"),
    "counted": ("int64", "y = SequenceLength(v)"),
    "read": ("float[b, 3]", "y = SequenceAt(v, p)"),
    "result": ("seq(float[])", "y = Identity(v)"),
    "erased": ("seq(float[])", "y = SequenceErase(v, p)"),
    "inserted before others": ("seq(float[])", "y = SequenceInsert(v, x, p)"),
}
REMAINING = {
    "optional": ("optional(seq(float[]))", "y = Optional(v)"),
}


def sequences(region: Region) -> int:
    """The sequences that nodes of a region, and of those inside, give, but for results put together at the end."""
    nodes = [node for node in region.nodes if node.op.name != "RaggedResult"]
    inside = sum(sequences(inner) for node in nodes for inner in node.regions)
    return inside + sum(isinstance(value.type, SequenceType) for node in nodes for value in node.outputs)


def opened(type: str, last: str) -> tuple[bool, Region]:
    region = clone_region(whorl.load(model("main " + LONGER.replace("OUT", type).replace("LAST", last))).main)
    changed = open_ragged(region)
    Inference().region(region)
    return changed, region


@pytest.mark.parametrize("name", OPENED)
def test_sequence_becomes_a_table(name: str) -> None:
    changed, region = opened(*OPENED[name])
    assert changed
    assert sequences(region) == 0


PARTS = """(float[n, 3] x, int64[k] sizes) => (seq(float[m, 3]) y) {
    v = Neg(x)
    y = SplitToSequence <axis = AXIS> (v, sizes)
}"""


@pytest.mark.parametrize(("axis", "changes"), [(0, True), (1, False)])
def test_parts_that_are_a_result_become_a_table_where_they_follow_each_other(axis: int, changes: bool) -> None:
    region = clone_region(whorl.load(model("main " + PARTS.replace("AXIS", str(axis)))).main)
    assert open_ragged(region) == changes
    Inference().region(region)
    assert sequences(region) == (not changes)


@pytest.mark.parametrize("name", REMAINING)
def test_sequence_remains(name: str) -> None:
    changed, region = opened(*REMAINING[name])
    assert not changed
    assert sequences(region)
