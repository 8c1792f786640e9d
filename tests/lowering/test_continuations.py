"""What follows an If of two ranks, moved into its branches."""

from __future__ import annotations

import numpy as np
import pytest

from lowering.graphs import check
from lowering.test_branches import ops, verify_region
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.parse import parse_module
from whorl.lowering import continuations
from whorl.lowering.continuations import Continuations

F32 = np.dtype(np.float32)
TWO_RANKS = """main(%c: bool[], %x: float32[2, 3], %w: float32[3]) {
  %axes: int64[1] {0} = Constant() {value = int64[1] <0>}
  %y: float32[*] = If "c" (%c, %x, %axes)
  then_branch(%x: float32[2, 3], %axes: int64[1] {0}) {
    %n: float32[2, 3] = Neg(%x)
    return %n
  }
  else_branch(%x: float32[2, 3], %axes: int64[1] {0}) {
    %u: float32[1, 2, 3] = Unsqueeze(%x, %axes)
    return %u
  }
  %e: float32[3] = Exp(%w)
  %p: float32[*] = Mul(%y, %e)
  %s: float32[] = ReduceSum(%p) {keepdims = 0}
  return s = %s, e = %e
}
"""
IN_A_ROW = """main(%c: bool[], %d: bool[], %x: float32[2, 3]) {
  %axes: int64[1] {0} = Constant() {value = int64[1] <0>}
  %y: float32[*] = If "c" (%c, %x, %axes)
  then_branch(%x: float32[2, 3], %axes: int64[1] {0}) {
    return %x
  }
  else_branch(%x: float32[2, 3], %axes: int64[1] {0}) {
    %u: float32[1, 2, 3] = Unsqueeze(%x, %axes)
    return %u
  }
  %z: float32[*] = If "d" (%d, %y, %axes)
  then_branch(%y: float32[*], %axes: int64[1] {0}) {
    return %y
  }
  else_branch(%y: float32[*], %axes: int64[1] {0}) {
    %u: float32[*] = Unsqueeze(%y, %axes)
    return %u
  }
  %t: float32[*] = Tanh(%z)
  %s: float32[] = ReduceSum(%t) {keepdims = 0}
  return s = %s
}
"""
INSIDE = """main(%c: bool[], %d: bool[], %x: float32[2, 3]) {
  %axes: int64[1] {0} = Constant() {value = int64[1] <0>}
  %y: float32[*] = If "c" (%c, %d, %x, %axes)
  then_branch(%d: bool[], %x: float32[2, 3], %axes: int64[1] {0}) {
    %z: float32[*] = If "d" (%d, %x, %axes)
    then_branch(%x: float32[2, 3], %axes: int64[1] {0}) {
      return %x
    }
    else_branch(%x: float32[2, 3], %axes: int64[1] {0}) {
      %u: float32[1, 2, 3] = Unsqueeze(%x, %axes)
      return %u
    }
    return %z
  }
  else_branch(%d: bool[], %x: float32[2, 3], %axes: int64[1] {0}) {
    return %x
  }
  %s: float32[] = ReduceSum(%y) {keepdims = 0}
  return s = %s
}
"""


def moved(text: str) -> Region:
    region = parse_module(text).main
    assert Continuations({}).move(region)
    verify_region(region)
    Inference().region(region)
    return region


def test_nodes_that_depend_on_the_if_are_in_both_branches_and_others_before_it() -> None:
    region = moved(TWO_RANKS)
    assert [node.op.name for node in region.nodes] == ["Constant", "Exp", "If"]
    then, other = region.nodes[-1].regions
    assert (ops(then), ops(other)) == (["Neg", "Mul", "ReduceSum"], ["Unsqueeze", "Mul", "ReduceSum"])
    assert [str(value.type) for value in region.nodes[-1].outputs] == ["float32[]"]


@pytest.mark.parametrize("text", [TWO_RANKS, IN_A_ROW, INSIDE], ids=["one", "in a row", "inside"])
@pytest.mark.parametrize("c", [False, True])
@pytest.mark.parametrize("d", [False, True])
def test_each_way_gives_what_the_interpreter_gives(text: str, c: bool, d: bool) -> None:
    feeds = {"c": np.array(c), "d": np.array(d), "x": np.linspace(-1, 1, 6, dtype=F32).reshape(2, 3)}
    if text == TWO_RANKS:
        del feeds["d"]
        feeds["w"] = np.array([0, 1, -1], F32)
    check(text, feeds)


def test_each_if_of_two_ranks_behind_another_is_moved_as_well() -> None:
    region = parse_module(IN_A_ROW).main
    mover = Continuations({})
    while mover.move(region):
        Inference().region(region)
    assert ops(region).count("Tanh") == 4
    verify_region(region)


def test_result_of_two_ranks_leaves_nodes_where_they_are() -> None:
    region = parse_module(TWO_RANKS.replace("e = %e", "e = %e, y = %y")).main
    assert not Continuations({}).move(region)


def test_origin_of_what_the_if_gives_is_the_if() -> None:
    region = parse_module(TWO_RANKS).main
    origins = {value: node for node in region.nodes for value in node.outputs}
    branch = origins[next(v for v in origins if v.name == "y")]
    Continuations(origins).move(region)
    assert origins[region.results[0]] is branch


def test_copies_end_where_there_is_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuations, "MOST_COPIED", 1)
    region = parse_module(TWO_RANKS).main
    assert not Continuations({}).move(region)
    assert [node.op.name for node in region.nodes] == ["Constant", "If", "Exp", "Mul", "ReduceSum"]
