"""One execution of a compiled loop: slices, state, and where it stands after a failure."""

from __future__ import annotations

import numpy as np
from onnx_text import model

import whorl
from whorl.ops.control.flow import Loop
from whorl.ops.control.iteration import Iteration
from whorl.runtime.compiled.loop import CompiledLoop, LoopRun

SUMS = model("""main (int64 n, float x, float[12] table) => (float y, float[k] sums) {
    y, sums = Loop (n, "", x) <body = b (int64 i, bool go, float s) => (bool on, float next, float out) {
        on = Identity(go)
        row = Gather(table, i)
        next = Add(s, row)
        out = Identity(next)
    }>
}""")


def compiled(trips: int) -> tuple[LoopRun, Iteration]:
    (node,) = whorl.load(SUMS).main.nodes
    assert isinstance(node.op, Loop)
    inputs = [np.int64(trips), None, np.array(1, "f"), np.arange(12, dtype="f")]
    iteration = Iteration(node.op, inputs, (0, 0))
    return LoopRun(CompiledLoop(node, iteration), iteration), iteration


def test_slices_stop_where_they_must_and_go_on_from_there() -> None:
    run, iteration = compiled(6)
    assert run.advance(2)
    assert (iteration.index, [rows.tolist() for rows in run.collected()]) == (2, [[1, 2]])
    assert run.advance(None)
    assert iteration.is_over
    run.finish()
    assert iteration.state == [16]
    assert run.collected()[0].tolist() == [1, 2, 4, 7, 11, 16]


def test_failed_slice_leaves_the_state_before_it() -> None:
    run, iteration = compiled(20)
    assert run.advance(4)
    assert not run.advance(None)
    assert (iteration.index, iteration.state) == (4, [7])
