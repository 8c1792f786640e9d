"""What rows compute that would not run it alone, and choices between values of one shape."""

import pytest
from passes.programs import read

from whorl.ir.build import Builder
from whorl.ir.graph import Region
from whorl.passes.context import Context
from whorl.passes.vectorize.batched import Batched, CannotVectorize
from whorl.passes.vectorize.speculation import choose, harmless

BODY = """main(%x: float32[3], %k: int64[], %yes: bool[]) {{
  {node}
  return y = %y
}}"""
FOREVER = """%y: float32[3] = Loop "l" ({trip}, %yes, %x) {{carried = 1}}
  body(%i: int64[], %g: bool[], %s: float32[3]) {{
    %t: float32[3] = Neg(%s)
    return %g, %t
  }}"""


def harmless_copy(node: str) -> Region:
    module = read(BODY.format(node=node))
    return harmless(module.main, "it", Context(module).inference)


@pytest.mark.parametrize(
    ("node", "why"),
    [
        ("%y: int64[] = Pow(%k, %k)", "Pow 'y' may fail on values that it does not see now"),
        ("%y: float32[3] = RandomNormalLike(%x)", "RandomNormalLike 'y' is random, and would draw where it did not"),
        (FOREVER.format(trip="_"), "Loop 'l' may not end on values that it does not see now"),
    ],
)
def test_what_may_harm_is_the_reason(node, why):
    with pytest.raises(CannotVectorize) as caught:
        harmless_copy(node)
    assert str(caught.value) == f"it: {why}"


def test_sums_and_loops_that_end_are_harmless():
    copy = harmless_copy("%y: float32[3] = Add(%x, %x)")
    assert [node.op.name for node in copy.nodes] == ["Add"]


def chosen(a: str, b: str, is_mapped: bool = True) -> Batched:
    module = read(f"main(%c: bool[n], %a: {a}, %b: {b}) {{\n return r = %a\n}}")
    condition, *pair = module.main.arguments
    build = Builder(Region(), Context(module).inference)
    return choose(Batched(condition), *(Batched(x, is_mapped) for x in pair), "it", build)


def test_rows_of_one_shape_are_chosen_each_for_itself():
    assert str(chosen("float32[n, 2, m]", "float32[n, 2, m]").value.type) == "float32[n, 2, m]"
    assert str(chosen("float32[2]", "float32[2]", is_mapped=False).value.type) == "float32[n, 2]"


@pytest.mark.parametrize(("b", "shape"), [("float32[n, 1]", "[1]"), ("float32[n, m]", "[m]"), ("float32[n]", "[]")])
def test_rows_of_shapes_that_may_differ_are_the_reason(b, shape):
    with pytest.raises(CannotVectorize) as caught:
        chosen("float32[n, 4]", b)
    assert str(caught.value) == f"it has the shape [4] or {shape}"
