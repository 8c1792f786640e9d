"""Closed forms whose bits depend on order, on NaN and on equal elements."""

import numpy as np
import pytest
from passes.vectorize.programs import check, kinds, vectorized

BEST = """main(%x: {dtype}[n], %h: {dtype}[]) {{
  %m: int64[] = Constant() {{value = int64[] <-1>}}
  %p: {dtype}[], %r: int64[] = Loop(_, _, %h, %m, %x) {{carried = 2, scanned = (Scanned(),)}}
  body(%i: int64[], %g: bool[], %b: {dtype}[], %k: int64[], %v: {dtype}[]) {{
    %c: bool[] = {comparison}
    %b2: {dtype}[] = Where(%c, {keys})
    %k2: int64[] = Where(%c, {numbers})
    return %g, %b2, %k2
  }}
  return p = %p, r = %r
}}"""
COMPARISONS = ["Greater(%v, %b)", "Less(%b, %v)", "Less(%v, %b)", "GreaterOrEqual(%v, %b)", "GreaterOrEqual(%b, %v)"]


def best(dtype, comparison, wins):
    keys, numbers = ("%v, %b", "%i, %k") if wins else ("%b, %v", "%k, %i")
    return BEST.format(dtype=dtype, comparison=comparison, keys=keys, numbers=numbers)


def columns(dtype):
    draw = np.random.default_rng(1)
    for n in (0, 1, 5, 40):
        for first in (-9, 0, 9):
            yield {"x": draw.integers(-4, 4, n).astype(dtype), "h": np.array(first, dtype)}
        if np.dtype(dtype).kind == "f":
            x = np.where(np.arange(n) % 3 == 1, np.nan, draw.integers(-4, 4, n)).astype(dtype)
            yield {"x": x, "h": np.array(-9, dtype)}
            yield {"x": x, "h": np.array(np.nan, dtype)}
            yield {"x": np.full(n, np.nan, dtype), "h": np.array(-np.inf, dtype)}
            yield {"x": np.full(n, -np.inf, dtype), "h": np.array(-np.inf, dtype)}


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("wins", [True, False])
def test_best_integer_and_its_number_are_as_in_the_loop(comparison, wins):
    check(best("int64", comparison, wins), *columns("int64"))


def test_number_of_the_best_takes_no_row_of_numbers():
    ops = list(kinds(check(best("int64", COMPARISONS[0], True))))
    assert ops.count("Gather") == 1


@pytest.mark.parametrize("comparison", COMPARISONS[:3])
def test_nan_beats_no_float_and_is_beaten_by_none(comparison):
    check(best("float32", comparison, True), *columns("float32"))


@pytest.mark.parametrize(("comparison", "wins"), [(COMPARISONS[3], True), (COMPARISONS[0], False)])
def test_comparisons_by_which_nan_would_win_keep_the_loop(comparison, wins):
    assert vectorized(best("float32", comparison, wins))[1]


COLLAPSE = """main(%x: int64[n]) {
  %m: int64[] = Constant() {value = int64[] <-1>}
  %e: int64[0] = Constant() {value = int64[0] <>}
  %p: int64[], %r: int64[k] = Loop(_, _, %m, %e, %x) {carried = 2, scanned = (Scanned(),)}
  body(%i: int64[], %g: bool[], %last: int64[], %all: int64[q], %v: int64[]) {
    %same: bool[] = Equal(%v, %last)
    %more: int64[l] = If(%same, %all, %v)
    then(%a: int64[q], %b: int64[]) {
      return %a
    }
    else(%a: int64[q], %b: int64[]) {
      %axis: int64[1] = Constant() {value = int64[1] <0>}
      %w: int64[1] = Unsqueeze(%b, %axis)
      %t: int64[j] = Concat(%a, %w) {axis = 0}
      return %t
    }
    return %g, %v, %more
  }
  return p = %p, r = %r
}"""


def test_tensor_that_grows_in_some_iterations_is_compressed():
    module = check(COLLAPSE, *({"x": np.random.default_rng(n).integers(0, 3, n)} for n in (0, 1, 2, 30)))
    assert "Compress" in [node.op.name for node in module.nodes()]


APPENDED = """main(%x: float32[n, 3]) {{
  %e: seq(float32[*]) = SequenceEmpty()
  %c: seq(float32[{element}]) = SplitToSequence(%x) {{keepdims = {keepdims}}}
  %k: int64[] = SequenceLength(%c)
  %r: seq(float32[{element}]) = Loop(%k, _, %e, %c) {{carried = 1}}
  body(%i: int64[], %g: bool[], %s: seq(float32[{element}]), %q: seq(float32[{element}])) {{
    %v: float32[{element}] = SequenceAt(%q, %i)
    %w: float32[{element}] = Exp(%v)
    %t: seq(float32[{element}]) = SequenceInsert(%s, %w)
    return %g, %t
  }}
  %y: float32[m, 3] = ConcatFromSequence(%r) {{axis = 0, new_axis = {new_axis}}}
  return y = %y
}}"""


@pytest.mark.parametrize(("element", "keepdims", "new_axis"), [("3", 0, 1), ("1, 3", 1, 0)])
def test_sequence_of_rows_that_grows_is_one_tensor(element, keepdims, new_axis):
    text = APPENDED.format(element=element, keepdims=keepdims, new_axis=new_axis)
    check(text, *({"x": np.arange(3 * n, dtype=np.float32).reshape(n, 3)} for n in (1, 2, 5)))


def test_sequence_whose_tensors_may_differ_keeps_the_loop():
    text = APPENDED.format(element="m, 3", keepdims=1, new_axis=0).replace(
        "SplitToSequence(%x)", "SplitToSequence(%x, %p)"
    )
    text = text.replace("main(%x: float32[n, 3])", "main(%x: float32[n, 3], %p: int64[l])")
    (why,) = vectorized(text)[1].values()
    assert why == "SequenceAt 'v': the tensors of the sequence may differ in shape"
