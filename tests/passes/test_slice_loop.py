"""Slices of a loop as loops: run one after the other, they give what the loop gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whorl.errors import TypeRuleError
from whorl.ir.graph import Node
from whorl.ir.parse import parse_module
from whorl.ir.types import SequenceType
from whorl.passes.slice_loop import COUNTED, slice_of
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run
from whorl.runtime.limits import UNLIMITED

COUNTING = """main(%n: int64[], %x: float32[2]) {
  %y: float32[2], %seen: float32[*] = Loop(%n, _, %x) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %go: bool[], %s: float32[2]) {
    %f: float32[] = Cast(%i) {to = float32}
    %t: float32[2] = Add(%s, %f)
    return %go, %t, %t
  }
  return y = %y, seen = %seen
}"""
STOPPING = """main(%go: bool[], %x: int64[], %rows: int64[N]) {
  %y: int64[], %last: int64[] = Loop(_, %go, %x, %rows) {carried = 1, scanned = (Scanned(reverse = True),), last = 1}
  body(%i: int64[], %on: bool[], %s: int64[], %row: int64[]) {
    %t: int64[] = Add(%s, %row)
    %more: bool[] = Less(%t, %row)
    return %more, %t, %i
  }
  return y = %y, last = %last
}"""


def loop(text: str) -> Node:
    return next(node for node in parse_module(text).main.nodes if node.regions)


def run(text: str, *inputs: np.ndarray) -> list[Any]:
    """What the slice of the text's loop gives for the arguments of its region."""
    sliced = slice_of(loop(text))
    region = sliced.region
    region.nodes, region.results = [*sliced.constants, sliced.node], [*sliced.node.outputs]
    return Plan(region)(Run(UNLIMITED), *inputs)


def test_slice_counts_from_its_first_iteration() -> None:
    y, seen = run(COUNTING, np.ones(2, "f"), np.empty(3, COUNTED), np.array(5))
    assert y.tolist() == [1 + 5 + 6 + 7] * 2
    assert seen.tolist() == [[6, 6], [12, 12], [19, 19]]


def test_slice_says_where_its_loop_stopped() -> None:
    y, last, number, condition = run(STOPPING, np.array(True), np.array(0), np.array([9, 5, 4, 3]), np.array(100))
    assert (y.item(), last.item(), number.item(), condition.item()) == (9, 100, 0, False)


def test_constants_are_captured_still() -> None:
    constant = "%w: float32[2] = Constant() {value = float32[2] <1 2>}"
    text = COUNTING.replace("%y: float32[2], %seen", f"{constant}\n  %y: float32[2], %seen")
    text = text.replace("_, %x)", "_, %x, %w)").replace("%s: float32[2])", "%s: float32[2], %c: float32[2])")
    sliced = slice_of(loop(text))
    assert [node.op.name for node in sliced.constants] == ["Constant"]
    assert (sliced.captured, len(sliced.region.arguments)) == ((), 3)


def test_loop_that_scans_what_is_no_tensor_is_refused() -> None:
    node = loop(COUNTING)
    node.regions[0].results[-1].type = SequenceType(node.regions[0].results[-1].type)
    with pytest.raises(TypeRuleError, match="what a loop scans or collects is"):
        slice_of(node)
