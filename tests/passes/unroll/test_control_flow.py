"""A whole module: what is unrolled first, what remains, and what it costs."""

import pytest
from passes.programs import read
from passes.unroll.programs import check_results, unrolled

from whorl.ir.text import print_module
from whorl.ops.control.flow import If, Loop
from whorl.passes.context import Context, PassOptions
from whorl.passes.unroll.control_flow import unroll_control_flow

NEST = """main(%x: float32[], %c: bool[]) {
  %two: int64[] = Constant() {value = int64[] <2>}
  %r: float32[] = Loop "outer" (%two, _, %x, %c, %two) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[], %d: bool[], %n: int64[]) {
    %t: float32[] = Loop "inner" (%n, _, %s, %d) {carried = 1}
    body(%j: int64[], %h: bool[], %u: float32[], %e: bool[]) {
      %v: float32[] = If "choice" (%e, %u)
      then_branch(%a: float32[]) {
        %p: float32[] = Neg(%a)
        return %p
      }
      else_branch(%a: float32[]) {
        %p: float32[] = OP(%a)
        return %p
      }
      return %h, %v
    }
    return %g, %t
  }
  return r = %r
}"""


def test_nest_of_loops_and_branches_becomes_one_chain():
    module, remaining = unrolled(NEST.replace("OP", "Abs"))
    assert not remaining and not any(node.regions for node in module.nodes())
    assert [node.op.name for node in module.main.nodes].count("Where") == 4
    check_results(NEST.replace("OP", "Abs"), *({"x": x, "c": c} for x in (2.0, -0.0) for c in (True, False)))


def test_what_is_around_a_branch_that_remains_does_too():
    _, remaining = unrolled(NEST.replace("OP", "RandomNormalLike"))
    assert remaining == {
        "If 'choice' in body of Loop 'inner' in body of Loop 'outer'": (
            "RandomNormalLike 'p' is random, and would draw where it did not"
        ),
        "Loop 'inner' in body of Loop 'outer'": "what is inside remains",
        "Loop 'outer'": "what is inside remains",
    }


def test_loop_that_cannot_be_unrolled_leaves_the_module_as_it_was():
    text = NEST.replace("OP", "Abs").replace("<2>", "<5>")
    module, _ = unrolled(text, most=1)
    (outer,) = (node for node in module.main.nodes if isinstance(node.op, Loop))
    assert [node.op.name for node in outer.regions[0].nodes] == ["Loop"]


@pytest.mark.parametrize(("limit", "left"), [(0, [If, Loop, Loop]), (1, [Loop, Loop]), (2, [Loop]), (3, [])])
def test_each_one_is_an_edit_that_a_limit_counts(limit, left):
    module = read(NEST.replace("OP", "Abs"))
    context = Context(module, PassOptions(limit=limit))
    unroll_control_flow(module, context, 16)
    assert sorted(type(node.op).__name__ for node in module.nodes() if node.regions) == [op.__name__ for op in left]
    assert context.edits == min(limit, 3) and ("Where" in {node.op.name for node in module.nodes()}) is (limit > 0)


def test_refused_attempts_leave_no_node_behind():
    text = """main(%x: float32[], %c: bool[]) {
  %r: float32[] = If(%c, %x)
  then_branch(%a: float32[]) {
    %p: float32[] = Neg(%a)
    return %p
  }
  else_branch(%a: float32[]) {
    %q: float32[] = RandomNormalLike(%a)
    return %q
  }
  return r = %r
}"""
    module, remaining = unrolled(text)
    assert list(remaining) == ["If 'r'"] and print_module(module).strip() == text
