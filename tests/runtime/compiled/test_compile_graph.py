"""Graph programs become launches: with one entry or the other, stopped where they are too long for LLVM."""

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.debug import Debug
from whorl.ir.types import Known
from whorl.lowering.expressions import TooLong
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.graphs import lower_graph
from whorl.runtime.compiled import compile_graph as compiling
from whorl.runtime.compiled.compile_graph import compile_graph

X = np.array([1, -2, 3], np.float32)


def sums() -> GraphProgram:
    """`y = cumsum(x)` and `z = cumsum(y)`: two nests that cannot be one."""
    region = whorl.load(
        model("""main (float[3] x) => (float[3] y, float[3] z) {
            axis = Constant <value = int64 {0}> ()
            y = CumSum (x, axis)
            z = CumSum (y, axis)
        }""")
    ).main
    return lower_graph(region, [Known(v.type) for v in region.arguments])


def test_launch_computes_what_the_program_says() -> None:
    results = compile_graph(sums()).bind({}).run([X])
    assert results is not None
    assert [y.tolist() for y in results] == [[1, -1, 2], [1, 0, 2]]


def test_launch_without_the_entry_for_arrays_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "debug", lambda: Debug(guarded=True))
    launch = compile_graph(sums())
    assert not launch.takes_arrays
    results = launch.bind({}).run([X])
    assert results is not None
    assert results[0].tolist() == [1, -1, 2]


def test_program_that_llvm_would_take_long_for_is_refused_before_it_does() -> None:
    with pytest.raises(TooLong) as refused:
        compile_graph(sums(), most_statements=0)
    assert refused.value.statements > 0
