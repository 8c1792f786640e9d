"""How the closed form of a carried value is found: by the way from the value to its update."""

import pytest
from passes.programs import read

from whorl.ir.build import Builder
from whorl.ir.graph import Region
from whorl.passes.context import Context
from whorl.passes.vectorize.batched import Batched
from whorl.passes.vectorize.forms import Recurrence
from whorl.passes.vectorize.recurrences import Chain, recurrence_of

BODY = """main(%x: float32[n, 3], %h: float32[3], %c: bool[]) {{
  %r: float32[3] = Loop(_, _, %h, %x, %c) {{carried = 1, scanned = (Scanned(),)}}
  body(%i: int64[], %g: bool[], %s: float32[3], %v: float32[3], %m: bool[]) {{
    {update}
    return %g, %t
  }}
  return r = %r
}}"""


def form_of(update: str, regroups: bool = False) -> Recurrence | None:
    """The closed form of what the one loop carries, where the slices and captures of its body are known."""
    module = read(BODY.format(update=update.replace("$", "float32[3]")))
    (loop,) = (node for node in module.nodes() if node.op.name == "Loop")
    body = loop.regions[0]
    known = {value: Batched(value) for value in body.arguments[3:]}
    build = Builder(Region(), Context(module).inference)
    return recurrence_of(Chain(body.arguments[2], known, build, regroups, {}), body.results[1], loop.inputs[2])


@pytest.mark.parametrize(
    ("update", "form", "nodes"),
    [
        ("%t: $ = Add(%s, %v)", "Sum", 1),
        ("%t: $ = Add(%v, %s)", "Sum", 1),
        ("%a: $ = Add(%s, %v)\n %t: $ = Where(%m, %s, %a)", "Sum", 2),
        ("%t: $ = Max(%s, %v)", "Reduced", 1),
        ("%t: $ = Where(%m, %v, %s)", "OverwrittenWhere", 1),
        ("%t: $ = Exp(%v)", None, 0),
        ("%t: $ = Sub(%v, %s)", None, 0),
        ("%t: $ = Add(%s, %s)", None, 0),
        ("%t: $ = Mul(%s, %v)", None, 0),
        ("%a: $ = Max(%s, %v)\n %t: $ = Min(%a, %v)", None, 0),
    ],
)
def test_way_from_the_value_to_its_update_says_the_form(update, form, nodes):
    actual = form_of(update)
    assert (type(actual).__name__ if actual else None) == form
    assert len(actual.nodes if actual else ()) == nodes


def test_sums_of_two_terms_and_products_of_floats_are_regrouped_where_that_is_allowed():
    twice = "%a: $ = Add(%s, %v)\n %t: $ = Add(%a, %v)"
    assert form_of(twice) is None and type(form_of(twice, regroups=True)).__name__ == "Sum"
    assert type(form_of("%t: $ = Mul(%s, %v)", regroups=True)).__name__ == "Reduced"


def test_search_that_fails_leaves_no_nodes():
    module = read(BODY.format(update="%t: float32[3] = Sub(%v, %s)"))
    (loop,) = (node for node in module.nodes() if node.op.name == "Loop")
    body, build = loop.regions[0], Builder(Region(), Context(module).inference)
    chain = Chain(body.arguments[2], {v: Batched(v) for v in body.arguments[3:]}, build, False, {})
    assert recurrence_of(chain, body.results[1], loop.inputs[2]) is None and not build.region.nodes
