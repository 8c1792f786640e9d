"""Branches that are known before a run, put in the place of their Ifs."""

from __future__ import annotations

import numpy as np
import pytest

from lowering.graphs import lowered
from whorl.ir.dims import call, name
from whorl.ir.graph import Region, walk
from whorl.ir.infer import Inference
from whorl.ir.parse import parse_module
from whorl.ir.types import Known, TensorType
from whorl.lowering.branches import known_answers, take_branches
from whorl.lowering.expressions import Unsupported
from whorl.lowering.graphs import lower_graph
from whorl.ops.control.flow import If
from whorl.passes.dce import remove_unused_nodes

F32 = np.dtype(np.float32)
N = name("N")
BY_LENGTH = """main(%x: float32[N, 2]) {
  %one: int64[] {1} = Constant() {value = int64[] <1>}
  %axes: int64[1] {0} = Constant() {value = int64[1] <0>}
  %shape: int64[1] {N} = Shape(%x) {end = 1}
  %is_one: bool[1] {equal(N, 1)} = Equal(%shape, %one)
  %y: float32[*] = If "c" (%is_one, %x, %axes)
  then_branch(%x: float32[N, 2], %axes: int64[1] {0}) {
    %z: float32[*] = Squeeze "drop" (%x, %axes)
    return %z
  }
  else_branch(%x: float32[N, 2], %axes: int64[1] {0}) {
    %z: float32[N, 2] = Neg "negate" (%x)
    return %z
  }
  %w: float32[*] = Exp(%y)
  return w = %w
}
"""
NESTED = """main(%x: float32[N], %c: bool[], %d: bool[]) {
  %y: float32[*] = If "outer" (%c, %x, %d)
  then_branch(%x: float32[N], %d: bool[]) {
    %z: float32[N] = If "inner" (%d, %x)
    then_branch(%x: float32[N]) {
      %e: float32[N] = Exp(%x)
      return %e
    }
    else_branch(%x: float32[N]) {
      return %x
    }
    %n: float32[N] = Neg(%z)
    return %n
  }
  else_branch(%x: float32[N], %d: bool[]) {
    return %x
  }
  return y = %y
}
"""


def ops(region: Region) -> list[str]:
    return [node.op.name for node in walk(region)]


def typed(text: str, **known: bool) -> Region:
    region = parse_module(text, check=False).main
    for value in region.arguments:
        if value.name in known:
            value.known = np.array(known[value.name], object)
    Inference().region(region)
    return region


@pytest.mark.parametrize(("outer", "inner", "expected"), [(1, 1, ["Exp", "Neg"]), (1, 0, ["Neg"]), (0, 1, [])])
def test_taken_branches_stand_for_ifs_inside_of_one_another(outer: bool, inner: bool, expected: list[str]) -> None:
    region = typed(NESTED, c=bool(outer), d=bool(inner))
    take_branches(region, known_answers(region), {})
    assert ops(region) == expected
    verify_region(region)


def test_if_inside_of_one_that_is_open_is_taken_there() -> None:
    region = typed(NESTED, d=True)
    assert [node.name for node in known_answers(region)] == ["inner"]
    take_branches(region, known_answers(region), {})
    assert ops(region) == ["If", "Exp", "Neg"]
    verify_region(region)


def test_nodes_of_a_branch_have_the_origin_of_the_if() -> None:
    region = typed(NESTED, c=True, d=False)
    (outer,) = region.nodes
    origins = dict.fromkeys(outer.outputs, outer)
    take_branches(region, known_answers(region), origins)
    assert origins[region.nodes[0].outputs[0]] is outer


def test_program_has_the_branch_that_the_lengths_of_the_run_decide() -> None:
    main = parse_module(BY_LENGTH).main
    facts = [Known(TensorType(F32, (N, 2)))]
    for length, shape in ((1, (2,)), (5, (N, 2))):
        graph = lower_graph(main, facts, takes_lengths=True, lengths={"N": length})
        assert graph.outputs[0].shape == shape
        assert graph.decisions == ((call("equal", N, 1), length == 1),)
        assert [graph.decides_alike({"N": n}) for n in (1, 2, 5)] == [length == 1, length != 1, length != 1]


def test_without_lengths_two_ranks_are_refused() -> None:
    with pytest.raises(Unsupported, match=r"is float32\[\*\]"):
        lower_graph(parse_module(BY_LENGTH).main, [Known(TensorType(F32, (N, 2)))], takes_lengths=True)


def test_branches_of_one_type_are_decided_as_the_program_runs() -> None:
    text = BY_LENGTH.replace("Squeeze", "Neg").replace("%x, %axes)\n    return", "%x)\n    return")
    main = parse_module(text, check=False).main
    graph = lower_graph(main, [Known(TensorType(F32, (N, 2)))], takes_lengths=True, lengths={"N": 3})
    assert graph.decisions == ()


def test_numbers_decide_without_lengths() -> None:
    graph = lowered(BY_LENGTH, {"x": np.ones((1, 2), F32)})
    assert graph.outputs[0].shape == (2,) and graph.decisions == ()


def test_refusal_inside_a_branch_is_that_of_the_if() -> None:
    text = BY_LENGTH.replace('Neg "negate" (%x)', 'Bernoulli "negate" (%x)')
    main = parse_module(text).main
    with pytest.raises(Unsupported) as refused:
        lower_graph(main, [Known(TensorType(F32, (N, 2)))], takes_lengths=True, lengths={"N": 3})
    assert isinstance(refused.value.node.op, If)


def verify_region(region: Region) -> None:
    for each in (region, *(inner for node in walk(region) for inner in node.regions)):
        made = set(each.arguments)
        for node in each.nodes:
            assert all(value is None or value in made for value in node.inputs)
            made.update(node.outputs)
        assert made.issuperset(each.results)


CAPTURED = """main(%x: int64[N], %c: bool[] {True}) {
  %a: int64[N] = Abs(%x)
  %m: int64[N] = Mod(%a, %x)
  %t: int64[N] = Neg(%m)
  %y: int64[N] = If "c" (%c, %x, %t, %a)
  then_branch(%x: int64[N], %t: int64[N], %a: int64[N]) {
    return %x
  }
  else_branch(%x: int64[N], %t: int64[N], %a: int64[N]) {
    %s: int64[N] = Sub(%t, %a)
    return %s
  }
  return y = %y
}
"""


def test_node_that_may_fail_runs_though_only_the_branch_that_is_not_taken_reads_it() -> None:
    region = typed(CAPTURED, c=True)
    take_branches(region, known_answers(region), {})
    remove_unused_nodes(region)
    assert ops(region) == ["Abs", "Mod", "After"]
    after = region.nodes[-1]
    assert [value.name for value in after.inputs if value is not None] == ["x", "m"]
    verify_region(region)
    Inference().region(region)
    assert str(region.results[0].type) == "int64[N]"


def test_node_that_cannot_fail_leaves_with_the_branch() -> None:
    region = typed(CAPTURED.replace("Mod(%a, %x)", "Min(%a, %x)"), c=True)
    take_branches(region, known_answers(region), {})
    remove_unused_nodes(region)
    assert ops(region) == []
