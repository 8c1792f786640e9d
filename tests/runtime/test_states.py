"""States of a session: a module whose inputs and outputs are connected from run to run."""

import numpy as np
import pytest

from whorl.errors import MemoryLimitError, RunError, VerifyError
from whorl.ir.graph import Module, State
from whorl.ir.parse import parse_module
from whorl.ir.verify import verify
from whorl.runtime.session import Session

SUM = """sums(%x: float32[1], %total: float32[{shape}]) {{
  %after: float32[{shape}] = Add (%x, %total)
  return after = %after
}}
"""
X = np.array([3], np.float32)


def summing(shape: str = "2") -> Module:
    module = parse_module(SUM.format(shape=shape))
    module.states = [State("total", "total", "after")]
    return module


def f(length: int, computation: str) -> str:
    return f"f(%x: float32[1]) {{\n  %y: float32[{length}] = {computation}\n  return y = %y\n}}\n"


def first_value(text: str) -> Module:
    module = summing()
    module.states = [State("total", "total", "after", parse_module(text).main)]
    return module


def test_only_what_is_no_state_is_passed_out():
    module = summing()
    verify(module)
    assert module.visible_outputs == [] and Session(module).execute(None, {"x": X}) == []


def test_state_may_be_requested_for_by_its_output():
    session = Session(summing(), backend="interpreter")
    assert [session.execute(["after"], {"x": X})[0].tolist() for _ in range(2)] == [[3, 3], [6, 6]]


def test_first_value_is_computed_from_inputs_by_name():
    session = Session(first_value(f(2, "Concat (%x, %x) {axis = 0}")), backend="interpreter")
    assert [session.execute(["after"], {"x": X})[0].tolist() for _ in range(2)] == [[6, 6], [9, 9]]


def test_first_value_of_a_wrong_shape_is_refused():
    module = first_value(f(1, "Neg (%x)"))
    with pytest.raises(RunError, match=r"the first value of state 'total' has shape \[1\], expected float32\[2\]"):
        Session(module).execute(None, {"x": X})


def test_state_of_unknown_rank_without_a_first_value_must_be_set():
    with pytest.raises(RunError, match=r"state 'total' is .* and has no first value\n  fix: set it with set_state"):
        Session(summing("*")).execute(None, {"x": X})


def test_state_larger_than_memory_is_refused():
    with pytest.raises(MemoryLimitError, match="no memory for state 'total'"):
        Session(summing(str(1 << 62))).execute(None, {"x": X})


def test_state_without_its_input_or_output_breaks_the_rules():
    module = summing()
    module.states = [State("total", "total", "later")]
    with pytest.raises(VerifyError, match="state 'total' lacks its input 'total' or its output 'later'"):
        verify(module)
