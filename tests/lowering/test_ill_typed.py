"""Nodes that their types refuse: an error where they are reached, nothing where they are not."""

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ir.infer import Inference
from whorl.ir.parse import parse_module
from whorl.lowering.ill_typed import IllTyped, cut_short, set_aside
from whorl.ops.control.flow import surely_fails
from whorl.ops.elementwise.arithmetic import Add
from whorl.runtime.session import Session

BRANCH = """main(%c: bool[], %x: float32[2], %y: float32[3]) {
  %r: float32[2] = If(%c, %x, %y)
  then_branch(%a: float32[2], %b: float32[3]) {
    %s: float32[2] = Add "impossible" (%a, %b)
    return %s
  }
  else_branch(%a: float32[2], %b: float32[3]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  return r = %r
}"""


def test_ill_typed_op_has_the_name_and_the_meaning_of_its_op():
    op = IllTyped(Add())
    assert op.name == "Add" and op.run(np.ones(2), np.ones(2)).tolist() == [2, 2]
    assert not op.never_fails and op.lower(None, None, ()) is None  # type: ignore[arg-type]


def test_nodes_are_set_aside_once_each():
    (node,) = parse_module("main(%x: float32[2]) {\n  %y: float32[2] = Add(%x, %x)\n  return y = %y\n}").main.nodes
    set_aside([node])
    assert node.op == IllTyped(Add()) and node.title == "Add 'y'"


@pytest.mark.parametrize("backend", ["interpreter", "native"])
def test_branch_with_an_impossible_node_runs_until_it_is_taken(backend):
    session = Session(parse_module(BRANCH), backend=backend)
    feeds = {"x": np.array([1, 2], np.float32), "y": np.zeros(3, np.float32)}
    for _ in range(2):
        (result,) = session.execute(None, {"c": np.array(False), **feeds})
        assert result.tolist() == [-1, -2]
        with pytest.raises(RunError) as caught:
            session.execute(None, {"c": np.array(True), **feeds})
        assert caught.value.where == "Add 'impossible' in then_branch of If"


OUTSIDE = """main(%c: bool[], %x: float32[2], %y: float32[3]) {
  %r: float32[*] = If(%c, %x, %y)
  then_branch(%a: float32[2], %b: float32[3]) {
    %s: float32[*] = Add "impossible" (%a, %b)
    %t: float32[*] = Exp(%s)
    return %t
  }
  else_branch(%a: float32[2], %b: float32[3]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  return r = %r
}"""
BOTH = """main(%c: bool[], %d: bool[], %x: float32[2], %y: float32[3]) {
  %r: float32[*] = If(%c, %d, %x, %y)
  then_branch(%d: bool[], %a: float32[2], %b: float32[3]) {
    %q: float32[*] = If(%d, %a, %b)
    then_branch(%a: float32[2], %b: float32[3]) {
      %s: float32[*] = Add "impossible" (%a, %b)
      return %s
    }
    else_branch(%a: float32[2], %b: float32[3]) {
      %s: float32[*] = Sub "as well" (%b, %a)
      return %s
    }
    return %q
  }
  else_branch(%d: bool[], %a: float32[2], %b: float32[3]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  return r = %r
}"""


@pytest.mark.parametrize("text", [OUTSIDE, BOTH], ids=["one", "both branches inside"])
def test_if_has_the_types_of_the_branch_that_may_end(text: str) -> None:
    region = parse_module(text).main
    inference = Inference()
    inference.region(region)
    assert cut_short(region, inference.ill_typed)
    (branch,) = region.nodes
    assert [len(inner.nodes) for inner in branch.regions] == [1, 1]
    assert surely_fails(branch.regions[0]) and not surely_fails(branch.regions[1])
    Inference().region(region)
    assert str(region.results[0].type) == "float32[2]"
    assert not cut_short(region, ())


def test_region_without_an_end_is_left_as_it_is() -> None:
    region = parse_module(OUTSIDE.replace("Neg(%a)", "Sub(%b, %a)").replace("%n: float32[2]", "%n: float32[*]")).main
    inference = Inference()
    inference.region(region)
    assert len(inference.ill_typed) == 2 and not cut_short(region, inference.ill_typed)
