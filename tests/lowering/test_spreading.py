"""Graph programs that several cores share have memory for each of them."""

import pytest
from onnx_text import model

from whorl.api.models import load_module
from whorl.ir.dims import evaluate
from whorl.ir.native.expressions import Buffer
from whorl.ir.types import Known
from whorl.kernel.outline import spreads_of
from whorl.kernel.program import Call, For, Program
from whorl.kernel.spread import RANGES
from whorl.kernel.walk import all_statements
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


@pytest.mark.parametrize(
    "text",
    [
        "main (float[1, 64, 112, 112] x) => (y) { y = MaxPool <kernel_shape = [3, 3], strides = [3, 3]> (x) }",
        "main (float[1, 64, 112, 112] x) => (y) { y = AveragePool <kernel_shape = [10, 10]> (x) }",
        "main (float[1, 64, 99, 99] x, float[64, 1, 3, 3] w) => (y) { y = Conv <group = 64, strides = [3, 3]> (x, w) }",
    ],
    ids=["maxima", "means", "a filter for each channel"],
)
def test_planes_that_are_copied_one_after_the_other_are_shared(text: str) -> None:
    shared = spread_graph(graph_of(text))
    statements = [s for nest in spreads_of(shared.program.body) for s in all_statements(nest.body)]
    kernels = {statement.kernel for statement in statements if isinstance(statement, Call)}
    assert "split_phases" in kernels and len(kernels) > 1


def test_few_images_are_shared_by_the_parts_of_their_kernels() -> None:
    """Of three images, one core would compute two."""
    text = "main (float[3, 24, 40, 40] x, float[24, 24, 5, 5] w) => (y) { y = Conv <strides = [2, 2]> (x, w) }"
    shared = spread_graph(graph_of(text))
    with_kernels = [
        nest
        for nest in spreads_of(shared.program.body)
        if any(isinstance(statement, Call) for statement in all_statements(nest.body))
    ]
    assert all(len(nest.body) == 1 and not isinstance(nest.body[0], For) for nest in with_kernels)
    assert len(with_kernels) > 1
