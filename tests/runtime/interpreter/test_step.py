"""Steps: errors have a location, results that do not fit are refused before they are made."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.errors import MemoryLimitError, RunError
from whorl.ir.graph import Module
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Frame, Run, infer_results
from whorl.runtime.limits import Budget, Limits
from whorl.runtime.trace import Trace

X = np.arange(4, dtype=np.float32)


def module(graph: str) -> Module:
    return whorl.load(model(graph))


def run_of(limits: Limits | None = None, trace: Trace | None = None) -> Run:
    return Run(Budget(limits or Limits(), lambda: False, trace))


def test_location_has_the_iteration_of_every_loop_around_it() -> None:
    run = run_of()
    run.frames += [Frame("body of Loop 'a'", 3), Frame("then_branch of If 'b'")]
    assert run.location("Neg 'n'") == "Neg 'n' in then_branch of If 'b' in body of Loop 'a' (iteration 3)"
    assert run.location("Neg 'n'", 1) == "Neg 'n' in body of Loop 'a' (iteration 3)"
    assert run.is_in_loop


def test_failed_node_names_its_inputs_and_types() -> None:
    plan = Plan(module("main (float[n] x, float[m] y) => (float[k] z) { [sum] z = Add(x, y) }").main)
    with pytest.raises(RunError) as caught:
        plan(run_of(), X, X[:3])
    assert "Add 'sum'" in str(caught.value)
    assert "x: float32[4], y: float32[3]" in str(caught.value)


def test_result_beyond_the_memory_limit_is_refused() -> None:
    plan = Plan(module("main (float[n] x, int64[k] shape) => (y) { y = Expand(x, shape) }").main)
    with pytest.raises(MemoryLimitError):
        plan(run_of(Limits(max_memory=1000)), X, np.array([1000, 4]))


def test_traced_run_has_a_span_for_each_node() -> None:
    trace = Trace()
    Plan(module("main (float[n] x) => (float[n] y) { [first] a = Neg(x) [second] y = Abs(a) }").main)(
        run_of(trace=trace), X
    )
    assert [span.name for span in trace.spans] == ["Neg 'first'", "Abs 'second'"]


def test_types_of_results_follow_from_the_values_of_inputs() -> None:
    (node,) = module("main (float[n] x, int64[k] shape) => (y) { y = Reshape(x, shape) }").main.nodes
    assert [str(type) for type in infer_results(node, [X, np.array([2, 2])])] == ["float32[2, 2]"]
