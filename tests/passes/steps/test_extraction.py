"""Loops as steps: which inputs and outputs they have, and which loops have none."""

import numpy as np
import pytest
from passes.bits import interpreted
from passes.programs import read

from whorl.errors import StepError
from whorl.ir.verify import verify
from whorl.passes.steps.extraction import extract_step

LOOP = """main(%x: float32[n, 2], %w: float32[2], %h: float32[2]) {
  %t: float32[2], %rows: float32[n, 2] = Loop(TRIP, _, %h, %x, %w)
      {carried = 1, scanned = (Scanned(),), collected = (Collected(),)}
  body(%i: int64[], %go: bool[], %s: float32[2], %r: float32[2], %v: float32[2]) {
    %p: float32[2] = Mul(%r, %v)
    %q: float32[2] = Add(%s, %p)
    return %go, %q, %p
  }
  return t = %t, rows = %rows
}"""
CONSTANT = '%n: int64[] = Constant "n" () {value = int64[] <3>}\n  %t'


def test_step_has_a_slice_an_element_and_states():
    loop = read(LOOP.replace("TRIP", "_"))
    step = extract_step(loop)
    verify(step)
    verify(loop)
    assert [str(value.type) for value in step.main.arguments] == ["float32[2]"] * 3
    assert [(state.name, state.input, state.output) for state in step.states] == [("h", "h", "t")]
    x, w, h = np.array([1, 2], np.float32), np.array([3, 4], np.float32), np.array([5, 6], np.float32)
    t, rows = interpreted(step, {"x": x, "w": w, "h": h}) or ()
    np.testing.assert_array_equal(t, h + x * w)
    np.testing.assert_array_equal(rows, x * w)


def test_output_that_the_model_lacks_is_added_for_a_state():
    step = extract_step(read(LOOP.replace("TRIP", "_").replace("return t = %t, rows", "return rows")))
    assert step.output_names == ["rows", "h.next"]
    assert step.visible_outputs == ["rows"]


def test_value_that_is_also_captured_is_an_input_of_its_own():
    step = extract_step(read(LOOP.replace("TRIP", "_").replace("%x, %w)", "%x, %h)")))
    verify(step)
    assert [value.name for value in step.main.arguments] == ["x", "w", "h", "s"]
    assert step.states[0].initial is not None


def test_trip_count_that_may_end_before_the_slices_is_refused():
    text = LOOP.replace("%t: float32[2], %rows: float32[n, 2]", "%t: float32[2], %rows: float32[m, 2]")
    with pytest.raises(StepError) as caught:
        extract_step(read(text.replace("TRIP", "%n").replace("%t: ", f"{CONSTANT}: ", 1)))
    assert str(caught.value) == (
        "Loop 't' may end before its slices do, by the trip count 'n'\n"
        "  fix: cut the scanned inputs outside, and leave out the trip count"
    )


def test_captured_first_value_is_refused_where_it_is_scanned():
    with pytest.raises(StepError, match="scans input 'x', of which Loop 't' reads more than a slice"):
        extract_step(read(LOOP.replace("TRIP", "_").replace("%h, %x, %w)", "%h, %x, %x)")))
