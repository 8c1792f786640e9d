"""Nodes that their types refuse: an error where they are reached, nothing where they are not."""

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ir.parse import parse_module
from whorl.lowering.ill_typed import IllTyped, set_aside
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
