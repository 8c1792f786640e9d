"""Verdicts: how nodes ran, and why not natively."""

from __future__ import annotations

import numpy as np
from onnx_text import model
from runtime.native_sessions import DOUBLED, F32, SUM, session

MIXED = model("""main (int64[n] x) => (float[k, 2] y) {
    a = ReduceMax<keepdims = 0>(x)
    bands = Constant<value_int = 2> () rate = Constant<value_int = 16000> ()
    low = Constant<value_float = 0.0> () high = Constant<value_float = 8000.0> ()
    u = MelWeightMatrix(bands, a, rate, low, high)
    y = Abs(u)
}""")


def test_subgraph_that_has_not_run_is_not_reached() -> None:
    assert [verdict.how for verdict in session(SUM).explain()] == ["not reached"]


def test_node_without_a_native_form_has_its_reason() -> None:
    made = session(MIXED)
    made.run(None, {"x": np.arange(5000)})
    interpreted = [verdict for verdict in made.explain() if verdict.how == "interpreted"]
    assert [verdict.title for verdict in interpreted] == ["MelWeightMatrix 'u'"]
    assert interpreted[0].reason


def test_loop_that_ran_natively_counts_the_nodes_of_its_body() -> None:
    made = session(DOUBLED)
    made.run(None, {"n": np.array(50), "x": np.ones(3, F32)})
    assert [(verdict.how, verdict.nodes) for verdict in made.explain()] == [("native", 3)]


def test_interpreter_explains_without_a_compiler() -> None:
    made = session(MIXED, "interpreter")
    made.run(None, {"x": np.arange(3)})
    assert {verdict.how for verdict in made.explain()} == {"interpreted"}
