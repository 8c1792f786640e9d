"""The function of a library that runs its program: checks, scratch memory, the block of cells, outputs that grew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.codegen.emit import FUNCTION
from whorl.codegen.library.lengths import LengthsOfRun, are_too_large, lay_out
from whorl.codegen.library.ports import BAD_ARGUMENT, LARGE, Library
from whorl.codegen.ranges import ITERATIONS
from whorl.codegen.statuses import FIRST_FAILURE, NO_MEMORY
from whorl.ir.types import lengths_of
from whorl.kernel.outline import spreads_of
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Index, Value
from whorl.lowering.arena import ALIGNMENT
from whorl.lowering.graph_program import GraphProgram


def define_run(module: Module, library: Library, depth: int, linkage: str, has_context: bool = False) -> None:
    """`int NAME_run(inputs, outputs, lengths, workspace, iterations)`: checks, memory, the cells, the program.

    `has_context`: a context for what threads share (`codegen.ranges`), or null, is the last parameter.
    """
    tables = ("inputs", "outputs", "lengths", "workspace", "iterations", *(["context"] if has_context else []))
    f = Function(module, f"@{library.name}_run", "i32", dict.fromkeys(tables, "ptr noundef"), linkage)
    names = _check_arguments(f, library)
    graph = library.graph
    lengths = LengthsOfRun(f, dict(zip(graph.names, names, strict=True)))
    if graph.forms or graph.arena.slots:
        with f.leave_when(are_too_large(lengths, graph)):
            f.give(f.number(NO_MEMORY, "i32"))
    size, offsets = lay_out(lengths, graph.arena)
    memory = _take_workspace(f, size + ALIGNMENT) if graph.arena.size or graph.arena.slots else None
    cells = _Cells(f, library, depth)
    cells.fill([*names, *map(lengths.number, graph.forms)], memory, offsets)
    if spreads_of(graph.program.body):
        f.store(cells.at(cells.first_iteration), f.offset(f["context"], "ptr", ITERATIONS))
    status = f.index(f.call(f"@{FUNCTION}", "i64", cells.block))
    if library.graph.grown:
        with f.when(status.equals(0)):
            _give_outputs(f, library.graph, cells)
    for number, buffer in enumerate(library.graph.program.scratch):
        if buffer.grows:
            _free(f, f.load("ptr", cells.at(cells.first_scratch + number)))
    if memory is not None:
        with f.when(_is_null(f, f["workspace"])):
            _free(f, memory)
    if depth:
        with f.when((status >= FIRST_FAILURE) & (_is_null(f, f["iterations"]) ^ True)):
            for number in range(depth):
                iteration = f.load("i64", cells.at(cells.first_iteration + number))
                f.store(iteration, f.offset_outside(f["iterations"], "i64", number))
    f.give(f.convert("trunc", status, "i32"))
    f.start("bad")
    f.give(f.number(BAD_ARGUMENT, "i32"))


def _is_null(f: Function, pointer: Value) -> Value:
    return f.compare("eq", pointer, f.null())


def _free(f: Function, pointer: Value) -> None:
    f.run(f.module.declare("@free", "void", ["ptr"]), pointer)


def _load_entry(f: Function, table: str, number: int) -> Value:
    """An entry of an array of pointers."""
    return f.load("ptr", f.offset_outside(f[table], "ptr", number))


def _check_arguments(f: Function, library: Library) -> list[Index]:
    """Go to `bad` where an array of pointers, or one of its pointers, is null, or a length is negative; the lengths."""

    def refuse(condition: Value) -> None:
        go_on = f.fresh("fine")
        f.branch(condition, "bad", go_on)
        f.start(go_on)

    tables, names = (("inputs", library.inputs), ("outputs", library.outputs)), library.graph.names
    for table in (*(table for table, ports in tables if ports), *(["lengths"] if names else [])):
        refuse(_is_null(f, f[table]))
    for table, ports in tables:
        for number, port in enumerate(ports):
            if port.bytes > 0 or (table == "outputs" and number in library.graph.grown):
                refuse(_is_null(f, _load_entry(f, table, number)))
    lengths: list[Index] = []
    for number in range(len(names)):
        lengths.append(f.load_index(f.offset_outside(f["lengths"], "i64", number)))
        refuse(lengths[-1] < 0)
    return lengths


def _take_workspace(f: Function, size: Index) -> Value:
    """Scratch memory, the caller's or our own."""
    slot = f.variable(f["workspace"])
    with f.when(_is_null(f, f["workspace"])):
        block = f.call(f.module.declare("@malloc", "noalias ptr", ["i64"]), "ptr", size)
        with f.leave_when(_is_null(f, block)):
            f.give(f.number(NO_MEMORY, "i32"))
        f.store(block, slot)
    return f.load("ptr", slot)


def _align(f: Function, memory: Value) -> Value:
    """The first address of memory that scratch buffers may start at."""
    first = f.convert("ptrtoint", memory, "i64")
    aligned = (first + (ALIGNMENT - 1)) & -ALIGNMENT
    return f.offset_outside(memory, "i8", aligned - first)


class _Cells:
    """The block of cells: lengths and other scalars, inputs, constants, outputs, scratch, functions, capacities.

    The iterations that a failure reports follow them.
    """

    def __init__(self, f: Function, library: Library, depth: int) -> None:
        self.f, self.library, self.graph, self.depth = f, library, library.graph, depth
        program = self.graph.program
        outputs = len(self.graph.outputs) - len(self.graph.grown)
        first_output = len(program.scalars) + len(self.graph.inputs) + len(self.graph.constants)
        self.first_scratch = first_output + outputs
        self.first_iteration = self.first_scratch + len(program.scratch) + 2 + len(program.growing)
        self.block = f.slot(f"[{self.first_iteration + depth} x i64]", align=16)

    def at(self, position: int) -> Value:
        """The address of a cell."""
        return self.f.offset_outside(self.block, "i64", position)

    def fill(self, lengths: Sequence[Index], memory: Value | None, offsets: Sequence[Index]) -> None:
        f, graph, program = self.f, self.graph, self.graph.program
        zero = f.index(0)
        values: list[Value] = [*lengths, *[zero] * (len(program.scalars) - len(lengths))]
        values += (_load_entry(f, "inputs", number) for number in graph.inputs)
        values += (_constant_address(f, number, array) for number, array in enumerate(graph.arrays))
        values += (_load_entry(f, "outputs", n) for n in range(len(graph.outputs)) if n not in graph.grown)
        scratch = None if memory is None else _align(f, memory)
        for buffer, offset in zip(program.scratch, offsets, strict=True):
            if scratch is None or buffer.grows:
                values.append(f.null())
            else:
                values.append(f.offset_outside(scratch, "i8", offset))
        values += [f["context"] if "context" in f.parameters else zero]
        values += [self._realloc() if program.growing else f.null()]
        values += [zero] * (len(program.growing) + self.depth)
        for position, value in enumerate(values):
            f.store(value, self.at(position))

    def _realloc(self) -> Value:
        name = self.f.module.declare("@realloc", "ptr", ["ptr", "i64"])
        return Value(self.f, "ptr", self.f.refer(name))


def _give_outputs(f: Function, graph: GraphProgram, cells: _Cells) -> None:
    """Give the memory of outputs that have grown to the caller, with their lengths."""
    for number, grown in graph.grown.items():
        array, cell = _load_entry(f, "outputs", number), cells.at(cells.first_scratch + grown.scratch)
        f.store(f.load("ptr", cell), array)
        f.store(f.null(), cell)
        for axis, length in enumerate(lengths_of(graph.outputs[number])):
            scalar = grown.lengths.get(axis)
            value = f.index(int(length)) if scalar is None else f.load("i64", cells.at(scalar))  # type: ignore[arg-type]
            f.store(value, f.offset_outside(array, "i64", axis + 1))


def _constant_address(f: Function, number: int, array: np.ndarray) -> Value:
    """Large constants lie after a mark."""
    name = f.refer(f"@whorl_constant{number}")
    return Value(f, "ptr", name if array.nbytes <= LARGE else f"getelementptr (i8, ptr {name}, i64 {ALIGNMENT})")
