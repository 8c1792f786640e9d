"""What native code may run, by nodes and the types of their values."""

from __future__ import annotations

import pytest

from whorl.ir.graph import Node
from whorl.ir.parse import parse_module
from whorl.runtime.compiled.candidates import has_loop, has_native_form, is_native_candidate, trip_counts

LOOP = """main(%n: int64[], %k: int64[4], %x: float32[2]) {{
  %zero: int64[] = ReduceSum(%k) {{keepdims = False}}
  %m: int64[] = Add(%n, %zero)
  %y: float32[2], %rows: float32[*] = Loop({trip}, _, {scanned}) {{{op}}}
  body(%i: int64[], %go: bool[], %s: float32[2]{argument}) {{
    %t: float32[2] = {inside}(%s)
    return %go, %t, %t
  }}
  return y = %y
}}"""


def nodes(**parts: str) -> tuple[list[Node], list[str]]:
    """The nodes of a loop that collects rows, and which inputs tell how many."""
    fields = {"trip": "%n", "scanned": "%x", "op": "carried = 1, collected = (Collected(),)", "argument": ""}
    main = parse_module(LOOP.format(**{**fields, "inside": "Neg", **parts})).main
    return main.nodes, [main.arguments[n].name for n in trip_counts(main.nodes, main.arguments)]


@pytest.mark.parametrize(("trip", "counts"), [("%n", ["n"]), ("%m", ["n"]), ("%zero", [])])
def test_scalars_that_a_trip_count_follows_from_count_rows(trip: str, counts: list[str]) -> None:
    assert nodes(trip=trip)[1] == counts


def test_rows_of_a_loop_over_slices_are_counted_by_these() -> None:
    loop = {"scanned": "%x, %x", "op": "carried = 1, scanned = (Scanned(),), collected = (Collected(),)"}
    assert nodes(**loop, argument=", %e: float32[]")[1] == []


@pytest.mark.parametrize(("inside", "is_candidate"), [("Neg", True), ("RandomUniformLike", False)])
def test_loop_is_a_candidate_where_all_inside_is(inside: str, is_candidate: bool) -> None:
    *_, loop = nodes(inside=inside)[0]
    assert has_loop(loop)
    assert is_native_candidate(loop) == is_candidate
    assert has_native_form(loop.regions[0].nodes[0]) == is_candidate
