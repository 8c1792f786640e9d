"""Branches of a body that are both computed, and those that are not."""

import pytest
from passes.programs import read

from whorl.passes.context import Context
from whorl.passes.vectorize.branches import open_branches, selection_of

BODY = """main(%c: bool[n], %d: bool[], %x: float32[2], %k: int64[]) {{
  %r: float32[2] = Loop(_, _, %x, %c, %d, %k) {{carried = 1, scanned = (Scanned(),)}}
  body(%i: int64[], %g: bool[], %s: float32[2], %a: bool[], %b: bool[], %m: int64[]) {{
    %one: bool[] = Constant() {{value = bool[] <True>}}
    %t: float32[2] = If({condition}, %s, %m)
    then(%u: float32[2], %w: int64[]) {{
      %v: float32[2] = {then}
      return %v
    }}
    else(%u: float32[2], %w: int64[]) {{
      return %u
    }}
    return %g, %t
  }}
  return r = %r
}}"""


def opened(condition, then):
    """The kinds of the nodes of the body, and what its update selects."""
    module = read(BODY.format(condition=condition, then=then))
    (loop,) = (node for node in module.nodes() if node.op.name == "Loop")
    body = loop.regions[0]
    open_branches(body, Context(module).inference, body.arguments[4:])
    return [node.op.name for node in body.nodes if node.op.name != "Constant"], selection_of(body.results[1])


def test_branches_become_nodes_of_the_body_and_a_selection():
    kinds, (condition, _, other) = opened("%a", "Neg(%u)")
    assert (kinds, condition.name, other.name) == (["Neg", "Where"], "a", "s")


def test_values_of_other_types_are_selected_by_an_if_that_computes_nothing():
    kinds, (_, then, other) = opened("%a", "Concat(%u, %u) {axis = 0}")
    assert (kinds, then.name, other.name) == (["Concat", "If"], "v", "s")


@pytest.mark.parametrize(
    ("condition", "then"),
    [("%a", "Gather(%u, %w)"), ("%one", "Neg(%u)"), ("%b", "Neg(%u)")],
    ids=["fails", "fixed", "captured"],
)
def test_branches_that_may_fail_or_that_all_iterations_take_are_left(condition, then):
    kinds, selection = opened(condition, then)
    assert kinds == ["If"] and selection is None
