"""Graph programs become launches: polls, LLVM IR, machine code."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from msgspec.structs import replace

from whorl.codegen.array_address import ARRAYS_FUNCTION, address_offset
from whorl.codegen.arrays import add_arrays_entry
from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.nest_functions import name_of
from whorl.codegen.target import MachineCode
from whorl.debug import debug
from whorl.ir.native.expressions import Apply, Const
from whorl.kernel.canonical import Nest
from whorl.kernel.outline import has_functions, spreads_of
from whorl.kernel.polls import insert_polls, least_seconds
from whorl.kernel.program import Statement, While
from whorl.kernel.walk import all_statements, blocks, written
from whorl.llvm.module import Source
from whorl.lowering.deferred import origin_of
from whorl.lowering.expressions import TooLong
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.spreading import spread_graph
from whorl.runtime.compiled.launch import Launch, Loss

LOSS, LOSS_OF_FUNCTIONS = 4, 60
"""Nanoseconds that an element takes longer in a nest that is not optimised, and in one that computes functions such as
exp."""


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
    losses = tuple(_losses(graph, module.nests, code.quick))
    return Launch(replace(graph, constants=graph.arrays), code, offset is not None, asks, seconds, losses, origins)


def _losses(graph: GraphProgram, nests: Mapping[int, Nest], quick: Mapping[int, Source]) -> Iterator[Loss]:
    """What a run loses by the nests that are not optimised: time for each element that they write."""
    known: dict[Nest, tuple[int, int]] = {}
    for nest in set(nests.values()) if quick else ():
        number = next((n for n, source in quick.items() if f"{name_of(nest)}(" in source.text), None)
        if number is not None:
            known[nest] = number, LOSS_OF_FUNCTIONS if has_functions(nest.statement) else LOSS
    for statement, times in _with_times(graph.program.body, nests) if known else ():
        nest = nests.get(id(statement))
        if nest is None or nest not in known:
            continue
        number, loss = known[nest]
        for buffer in {b for s in all_statements([statement]) for b in written(s)}:
            shape = graph.shapes.get(buffer) or tuple([n for n in buffer.shape if isinstance(n, int)])
            if len(shape) == len(buffer.shape):
                yield number, times * loss, shape


def _with_times(block: Iterable[Statement], nests: Container[int], times: int = 1) -> Iterator[tuple[Statement, int]]:
    """The statements down to nests, and how often blocks that are alike run them."""
    for statement in block:
        yield statement, times
        match statement:
            case While(condition=Apply(args=(_, Const(value=count))), of_blocks=True):
                inner = times * int(count)
            case _:
                inner = times
        for part in () if id(statement) in nests else blocks(statement):
            yield from _with_times(part, nests, inner)
