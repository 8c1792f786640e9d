"""Loops that keep slice axes, concatenate or give last values, optimized: the same results, and errors stay errors."""

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ir.graph import Module, walk
from whorl.ir.parse import parse_module
from whorl.ir.verify import verify
from whorl.ops.control.flow import Loop
from whorl.passes.context import PassOptions
from whorl.passes.pipeline import optimize
from whorl.runtime.session import Session

FORM = """
main(%x: float32[{rows}, 2], %h: float32[2, 2]) {{
  %n: int64[] = Constant() {{value = int64[] <{trips}>}}
  %y: float32[2, 2], %last: float32[2, 2], %all: float32[N, 2] = Loop(%n, _, %h, %x)
  {{carried = 1, last = 1, scanned = (Scanned(keep_axis = True, part = 2, reverse = True),),
  collected = (Collected(stack = False, part = {part}, reverse = True),), slices_suffice = {suffice}}}
  body(%i: int64[], %go: bool[], %s: float32[2, 2], %p: float32[2, 2]) {{
    %a: float32[2, 2] = Add(%s, %p)
    %b: float32[2, 2] = Mul(%p, %p)
    return %go, %a, %b, %a
  }}
  return y = %y, last = %last, all = %all
}}
"""
CONSTANT = """
main(%k: float32[2, 2]) {{
  %x: float32[4, 2] = Constant() {{value = float32[4, 2] <1 2 3 4 5 6 7 8>}}
  %h: float32[2, 2] = Constant() {{value = float32[2, 2] <0 0 0 0>}}
  %n: int64[] = Constant() {{value = int64[] <{trips}>}}
  %y: float32[2, 2], %last: float32[2, 2], %all: float32[N, 2] = Loop(%n, _, %h, %x)
  {{carried = 1, last = 1, scanned = (Scanned(keep_axis = True, part = 2),),
  collected = (Collected(stack = False, part = 2),), slices_suffice = True}}
  body(%i: int64[], %go: bool[], %s: float32[2, 2], %p: float32[2, 2]) {{
    %a: float32[2, 2] = Add(%s, %p)
    %b: float32[2, 2] = Mul(%p, %p)
    return %go, %a, %b, %a
  }}
  return y = %y, last = %last, all = %all, k = %k
}}
"""
COUNTED = """
main(%x: float32[3, 2]) {
  %c: bool[] = Constant() {value = bool[] <True>}
  %zero: int64[] = Constant() {value = int64[] <0>}
  %y: int64[], %all: float32[N, 2] = Loop(_, %c, %zero, %x)
  {carried = 1, scanned = (Scanned(keep_axis = True),), collected = (Collected(stack = False, part = 1),),
  slices_suffice = True}
  body(%i: int64[], %go: bool[], %s: int64[], %p: float32[1, 2]) {
    %one: int64[] = Constant() {value = int64[] <1>}
    %five: int64[] = Constant() {value = int64[] <5>}
    %t: int64[] = Add(%s, %one)
    %on: bool[] = Less(%t, %five)
    return %on, %t, %p
  }
  return y = %y, all = %all
}
"""


def optimized(text: str) -> tuple[Module, bool]:
    """The module after all passes, and whether a loop is left in it."""
    module = parse_module(text)
    verify(module)
    optimize(module, PassOptions())
    verify(module)
    return module, any(isinstance(node.op, Loop) for node in walk(module.main))


def execute(module: Module, **feeds: np.ndarray) -> list[np.ndarray]:
    return Session(module, backend="interpreter").execute(None, feeds)


def form(rows: int, trips: int, suffice: bool = False, part: int = 2) -> str:
    return FORM.format(rows=rows, trips=trips, suffice=suffice, part=part)


def feeds(rows: int) -> dict[str, np.ndarray]:
    return {"x": np.arange(2 * rows, dtype=np.float32).reshape(rows, 2), "h": np.ones((2, 2), np.float32)}


@pytest.mark.parametrize(("rows", "trips", "suffice"), [(2, 3, False), (4, 1, False), (6, 1, True), (5, 1, True)])
def test_single_iteration_is_the_body(rows, trips, suffice):
    text = form(rows, trips, suffice)
    module, has_loop = optimized(text)
    assert not has_loop
    for f, e in zip(execute(module, **feeds(rows)), execute(parse_module(text), **feeds(rows)), strict=True):
        np.testing.assert_array_equal(f, e)


@pytest.mark.parametrize(
    ("text", "rows", "message"),
    [
        (form(3, 1), 3, "is not divisible by step"),
        (form(2, 1, part=1), 2, "1 is expected, but actual: 2"),
        (form(2, 2, True), 2, "iteration 1 takes a slice of scanned input 0, which has 1"),
        (form(4, 0), 4, "no iteration ran"),
    ],
    ids=["rest", "rows of an element", "slices run out", "no last value"],
)
def test_loop_that_fails_remains(text, rows, message):
    module, has_loop = optimized(text)
    assert has_loop
    with pytest.raises(RunError, match=message):
        execute(module, **feeds(rows))


def test_loop_of_constants_is_constant():
    text = CONSTANT.format(trips=2)
    module, has_loop = optimized(text)
    assert not has_loop
    k = np.zeros((2, 2), np.float32)
    for f, e in zip(execute(module, k=k), execute(parse_module(text), k=k), strict=True):
        np.testing.assert_array_equal(f, e)


@pytest.mark.parametrize("trips", [0, 3])
def test_loop_of_constants_that_fails_remains(trips):
    module, has_loop = optimized(CONSTANT.format(trips=trips))
    assert has_loop
    with pytest.raises(RunError, match=r"no iteration ran|iteration 2 takes a slice"):
        execute(module, k=np.zeros((2, 2), np.float32))


def test_condition_that_outlasts_the_slices_still_fails():
    module, _ = optimized(COUNTED)
    with pytest.raises(RunError, match="iteration 3 takes a slice"):
        execute(module, x=np.ones((3, 2), np.float32))


def test_last_value_that_no_one_reads_goes():
    text = form(4, 2).replace(", last = %last", "")
    module, has_loop = optimized(text)
    (loop,) = (node for node in walk(module.main) if isinstance(node.op, Loop))
    assert has_loop
    assert isinstance(loop.op, Loop)
    assert loop.op.last == 0
    for f, e in zip(execute(module, **feeds(4)), execute(parse_module(text), **feeds(4)), strict=True):
        np.testing.assert_array_equal(f, e)
