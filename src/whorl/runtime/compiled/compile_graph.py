"""Graph programs become launches: polls, LLVM IR, machine code."""

from __future__ import annotations

from msgspec.structs import replace

from whorl.codegen.array_address import ARRAYS_FUNCTION, address_offset
from whorl.codegen.arrays import add_arrays_entry
from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.target import MachineCode
from whorl.debug import debug
from whorl.kernel.outline import spreads_of
from whorl.kernel.polls import insert_polls, least_seconds
from whorl.lowering.deferred import origin_of
from whorl.lowering.expressions import TooLong
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.spreading import spread_graph
from whorl.runtime.compiled.launch import Launch


def compile_graph(graph: GraphProgram, most_statements: int | None = None, quickly: bool = False) -> Launch:
    """The launch of a program; `quickly`: it may be optimised later, once a shape comes again.

    Raises TooLong where LLVM would have to optimise more outermost statements.
    """
    program = graph.program
    seconds = least_seconds(program)
    graph = spread_graph(graph)
    asks = insert_polls(program) or bool(spreads_of(program.body))
    module = emit(program)
    if most_statements is not None and module.optimised > most_statements:
        raise TooLong(module.optimised)
    offset = None if debug().changes_runs else address_offset()
    if offset is not None:
        first = len(program.scalars)
        first_out = first + len(graph.inputs) + len(graph.constants)
        filled = [*range(first, first + len(graph.inputs)), *range(first_out, first + len(program.buffers))]
        add_arrays_entry(module, filled, offset)
    code = MachineCode(module, FUNCTION if offset is None else ARRAYS_FUNCTION, quickly)
    origins = tuple(map(origin_of, graph.constants))
    return Launch(replace(graph, constants=graph.arrays), code, offset is not None, asks, seconds, origins)
