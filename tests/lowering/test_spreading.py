"""Graph programs that several cores share have memory for each of them."""

import pytest
from onnx_text import model

from whorl.api.models import load_module
from whorl.ir.dims import evaluate
from whorl.ir.native.expressions import Buffer
from whorl.ir.types import Known
from whorl.kernel.outline import spreads_of
from whorl.kernel.program import Program
from whorl.kernel.spread import RANGES
from whorl.lowering import spreading
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.graphs import lower_graph
from whorl.lowering.spreading import spread_graph


def graph_of(text: str) -> GraphProgram:
    main = load_module(model(text)).main
    return lower_graph(main, [Known(value.type) for value in main.arguments], takes_lengths=True)


def test_memory_that_iterations_write_first_is_there_for_each_range(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of("main (float[n, 100] x) => (float[n, 100] y) { y = Softmax<axis=0>(x) }")
    (row,) = (buffer for buffer in graph.program.scratch if buffer.shape[0] != 1)

    def widen(program: Program) -> dict[Buffer, Buffer]:
        wide = Buffer(row.name, row.dtype, (RANGES, *row.shape))
        program.scratch = [wide if buffer is row else buffer for buffer in program.scratch]
        return {row: wide}

    monkeypatch.setattr(spreading, "spread", widen)
    shared = spread_graph(graph)
    (wide,) = (buffer for buffer in shared.program.scratch if len(buffer.shape) == 3)
    assert shared.shapes[wide] == (RANGES, *graph.shapes[row])
    sizes = [sum(evaluate(n, {"n": 10}) for slot in g.arena.slots for n in slot) for g in (graph, shared)]
    assert sizes[1] - sizes[0] == (RANGES - 1) * 10 * 100 * 4


def test_nests_of_many_rows_are_shared() -> None:
    shared = spread_graph(graph_of("main (float[n, 100] x) => (float[n, 100] y) { y = LogSoftmax(x) }"))
    assert len(spreads_of(shared.program.body)) > 1


def test_program_of_little_work_is_as_it_was() -> None:
    graph = graph_of("main (float[4] x) => (float[4] y) { y = Exp(x) }")
    assert spread_graph(graph) is graph and not spreads_of(graph.program.body)
