"""Graph programs become launches: polls, LLVM IR, machine code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from whorl.codegen.array_address import ARRAYS_FUNCTION, address_offset
from whorl.codegen.arrays import add_arrays_entry
from whorl.codegen.callers import context_source
from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.nest_functions import name_of
from whorl.codegen.target import MachineCode
from whorl.debug import debug
from whorl.ir.native.expressions import Apply, Const
from whorl.kernel.canonical import Nest
from whorl.kernel.outline import has_functions, spreads_of
from whorl.kernel.polls import insert_polls, least_seconds
from whorl.kernel.program import Statement, While
from whorl.kernel.walk import blocks
from whorl.llvm.module import Source
from whorl.lowering.deferred import origin_of
from whorl.lowering.expressions import TooLong
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.spreading import spread_graph
from whorl.lowering.work import skeleton
from whorl.runtime.compiled.launch import Launch, Loss

WEIGHT_OF_FUNCTIONS = 15
"""Statements that take as long, where nothing is optimised, as one that computes functions such as exp."""


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
    beside = [context_source()] if asks or program.calls or program.growing else []
    code = MachineCode(module, FUNCTION if offset is None else ARRAYS_FUNCTION, quickly, beside)
    origins = tuple(map(origin_of, graph.constants))
    losses = tuple(_losses(program.body, module.nests, code.quick)) if code.quick else ()
    return Launch(replace(graph, constants=graph.arrays), code, offset is not None, asks, seconds, losses, origins)


def _losses(
    block: Iterable[Statement], nests: Mapping[int, Nest], quick: Mapping[int, Source], times: int = 1
) -> Iterator[Loss]:
    """What is not optimised: the number of an object, how often a run comes there, and what it does."""
    for statement in block:
        nest = nests.get(id(statement))
        if nest is not None:
            number = next((n for n, source in quick.items() if f"{name_of(nest)}(" in source.text), None)
            if number is not None:
                yield number, times, skeleton([statement], _weight)
            continue
        match statement:
            case While(condition=Apply(args=(_, Const(value=count))), of_blocks=True):
                inner = times * int(count)
            case _:
                inner = times
        for part in blocks(statement):
            yield from _losses(part, nests, quick, inner)


def _weight(statement: Statement) -> int:
    return WEIGHT_OF_FUNCTIONS if has_functions(statement) else 1
