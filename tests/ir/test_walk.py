"""Copies of regions and nodes: equal to the original, and with nothing of it that can change."""

from __future__ import annotations

import numpy as np
import pytest
from ir.programs import PROGRAMS
from ir.structure import region_structure

import whorl.ops
from whorl.ir.graph import Region, Value, walk
from whorl.ir.parse import parse_module
from whorl.ir.types import TensorType
from whorl.ir.walk import clone_node, clone_region

assert whorl.ops


def values_of(region: Region) -> set[Value]:
    actual = set(region.arguments)
    for node in region.nodes:
        actual = actual.union(node.outputs, *map(values_of, node.regions))
    return actual


@pytest.mark.parametrize("name", PROGRAMS)
def test_clone_says_the_same_with_values_of_its_own(name: str) -> None:
    region = parse_module(PROGRAMS[name], check=False).main
    copy = clone_region(region)
    assert region_structure(copy) == region_structure(region)
    assert values_of(copy).isdisjoint(values_of(region))
    assert not {id(node) for node in walk(copy)} & {id(node) for node in walk(region)}
    assert all(a.op is b.op for a, b in zip(walk(copy), walk(region), strict=True))


def test_change_of_a_clone_leaves_the_original() -> None:
    region = parse_module(PROGRAMS["nested"]).main
    before = region_structure(region)
    copy = clone_region(region)
    for node in walk(copy):
        node.name = "changed"
        for value in node.outputs:
            value.type, value.name = TensorType(np.dtype(np.int8)), "changed"
    inner = next(node for node in walk(copy) if node.regions).regions[0]
    inner.nodes.clear()
    inner.results.clear()
    inner.add_argument("more", TensorType(np.dtype(np.int8)))
    assert region_structure(region) == before


def test_owner_and_location_of_cloned_values_are_their_own() -> None:
    copy = clone_region(parse_module(PROGRAMS["loop"]).main)
    for index, argument in enumerate(copy.arguments):
        assert argument.owner is copy and argument.index == index
    for node in walk(copy):
        for index, value in enumerate(node.outputs):
            assert value.owner is node and value.index == index


def test_cloned_node_reads_what_the_table_says_and_adds_its_outputs() -> None:
    region = parse_module("main(%x: float32[], %y: float32[]) { %z: float32[] = Clip(%x, _, %y) return z = %z }").main
    x, y = region.arguments
    (node,) = region.nodes
    table = {x: y, y: x}
    copy = clone_node(node, table)
    assert copy.inputs == [y, None, x]
    assert table[node.outputs[0]] is copy.outputs[0]
    assert copy.outputs[0].owner is copy


def test_walk_gives_each_node_before_what_is_inside_it() -> None:
    names = [node.outputs[0].name for node in walk(parse_module(PROGRAMS["nested"]).main)]
    assert names == ["s", "b", "d", "a"]


def test_walk_gives_nodes_after_a_loop_last() -> None:
    text = """main(%n: int64[]) {
  %a: int64[] = Neg(%n)
  %b: int64[] = If(%c, %a)
  then_branch(%a: int64[]) { %d: int64[] = Neg(%a) return %d }
  else_branch(%a: int64[]) { %e: int64[] = Abs(%a) return %e }
  %f: int64[] = Abs(%b)
  return f = %f
}""".replace("main(%n: int64[])", "main(%n: int64[], %c: bool[])")
    assert [node.outputs[0].name for node in walk(parse_module(text).main)] == ["a", "b", "d", "e", "f"]
