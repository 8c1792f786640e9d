"""The function of a library that runs its program: checks, scratch memory, the block of cells, outputs that grew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.codegen.emit import FIRST_FAILURE, FUNCTION
from whorl.codegen.library import BAD_ARGUMENT, LARGE, NO_MEMORY, Library, Port
from whorl.lowering.arena import ALIGNMENT
from whorl.lowering.graphs import GraphProgram
from whorl.lowering.places import lengths_of


def run_function(library: Library, depth: int, export: str) -> str:
    """`int NAME_run(inputs, outputs, lengths, workspace, iterations)`: checks, memory, the cells, the program."""
    graph, size = library.graph, library.workspace_bytes
    cells, growing = _Cells(), graph.program.growing
    scratch, where = cells.fill(library, depth)
    given = cells.checks((("%inputs", library.inputs), ("%outputs", library.outputs)), len(graph.names))
    take, give = _workspace(size)
    declared = [
        *(["declare noalias ptr @malloc(i64)"] if size else []),
        *(["declare ptr @realloc(ptr, i64)"] if growing else []),
        *(["declare void @free(ptr)"] if size or growing else []),
    ]
    return "\n".join(
        (
            f"define {export}i32 @{library.name}_run(ptr noundef %inputs, ptr noundef %outputs, "
            "ptr noundef %lengths, ptr noundef %workspace, ptr noundef %iterations) nounwind {",
            "entry:",
            f"  %cells = alloca [{cells.count} x i64], align 16",
            *given,
            "bad:",
            f"  ret i32 {BAD_ARGUMENT}",
            *take,
            *cells.lines,
            f"  %status = call i64 @{FUNCTION}(ptr %cells)",
            *(_handed_out(graph, scratch) if graph.grown else ()),
            *(_given_back(graph, scratch) if growing else ()),
            *give,
            *_report(where, depth),
            "  %result = trunc i64 %status to i32",
            "  ret i32 %result",
            "}",
            *declared,
        )
    )


def _handed_out(graph: GraphProgram, scratch: int) -> list[str]:
    """Instructions that give the memory of outputs that have grown to the caller, with their lengths, after success."""
    lines = [
        "  %is_done = icmp eq i64 %status, 0",
        "  br i1 %is_done, label %hand_out, label %handed_out",
        "hand_out:",
    ]
    for number, grown in graph.grown.items():
        array = f"%array{number}"
        lines += [
            f"  {array}.at = getelementptr ptr, ptr %outputs, i64 {number}",
            f"  {array} = load ptr, ptr {array}.at",
            f"  {array}.cell = getelementptr i64, ptr %cells, i64 {scratch + grown.scratch}",
            f"  {array}.data = load ptr, ptr {array}.cell",
            f"  store ptr {array}.data, ptr {array}",
            f"  store ptr null, ptr {array}.cell",
        ]
        for axis, length in enumerate(lengths_of(graph.outputs[number])):
            value, place = str(length), f"{array}.length{axis}"
            if axis in grown.lengths:
                value = f"{place}.value"
                lines.append(f"  {place}.cell = getelementptr i64, ptr %cells, i64 {grown.lengths[axis]}")
                lines.append(f"  {value} = load i64, ptr {place}.cell")
            lines.append(f"  {place} = getelementptr i64, ptr {array}, i64 {axis + 1}")
            lines.append(f"  store i64 {value}, ptr {place}")
    return [*lines, "  br label %handed_out", "handed_out:"]


def _given_back(graph: GraphProgram, scratch: int) -> list[str]:
    """Instructions that free memory that has grown and is no output."""
    lines = []
    for number, buffer in enumerate(graph.program.scratch):
        if buffer.grows:
            lines.append(f"  %grown{number}.cell = getelementptr i64, ptr %cells, i64 {scratch + number}")
            lines.append(f"  %grown{number} = load ptr, ptr %grown{number}.cell")
            lines.append(f"  call void @free(ptr %grown{number})")
    return lines


class _Cells:
    """The instructions that fill the block of cells."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def fill(self, library: Library, depth: int) -> tuple[int, int]:
        """Write all cells; returns the numbers of the first for scratch memory and of the first for iterations."""
        graph, size = library.graph, library.workspace_bytes
        for number in range(len(graph.names)):
            self.number(f"%given_length{number}")
        self.zero(len(graph.program.scalars) - len(graph.names))
        for number in graph.inputs:
            self.address(self.loaded("%inputs", number))
        for number, array in enumerate(graph.constants):
            self.address(_constant_place(number, array))
        for number in range(len(graph.outputs)):
            if number not in graph.grown:
                self.address(self.loaded("%outputs", number))
        scratch = self.count
        for buffer, offset in zip(graph.program.scratch, graph.arena.offsets, strict=True):
            self.address(self.place("%scratch", offset) if size and not buffer.grows else "null")
        self.zero(1)
        self.address("@realloc" if graph.program.growing else "null")
        self.zero(len(graph.program.growing))
        where = self.count
        self.zero(depth)
        return scratch, where

    def _next(self) -> str:
        name = f"%cell{self.count}"
        self.lines.append(f"  {name} = getelementptr i64, ptr %cells, i64 {self.count}")
        self.count += 1
        return name

    def zero(self, count: int) -> None:
        for _ in range(count):
            self.lines.append(f"  store i64 0, ptr {self._next()}")

    def address(self, pointer: str) -> None:
        self.lines.append(f"  store ptr {pointer}, ptr {self._next()}")

    def number(self, value: str) -> None:
        self.lines.append(f"  store i64 {value}, ptr {self._next()}")

    def loaded(self, table: str, number: int) -> str:
        name = f"{table}.{number}"
        self.lines.append(f"  {name}.at = getelementptr ptr, ptr {table}, i64 {number}")
        self.lines.append(f"  {name} = load ptr, ptr {name}.at")
        return name

    def place(self, base: str, offset: int) -> str:
        name = f"{base}.{offset}.{self.count}"
        self.lines.append(f"  {name} = getelementptr i8, ptr {base}, i64 {offset}")
        return name

    def checks(self, tables: Sequence[tuple[str, Sequence[Port]]], lengths: int) -> list[str]:
        """Branches to `bad` where an array of pointers, or one of its pointers, is null, or a length is negative."""
        pointers: list[tuple[str, int | None]] = [(table, None) for table, ports in tables if ports]
        pointers += [("%lengths", None)] if lengths else []
        pointers += [
            (table, k)
            for table, ports in tables
            for k, port in enumerate(ports)
            if port.bytes > 0 or (port.is_open and table == "%outputs")
        ]
        lines = []
        for number, (table, k) in enumerate(pointers):
            pointer = table
            if k is not None:
                pointer = f"%given{number}"
                lines.append(f"  {pointer}.at = getelementptr ptr, ptr {table}, i64 {k}")
                lines.append(f"  {pointer} = load ptr, ptr {pointer}.at")
            lines += _unless(f"icmp eq ptr {pointer}, null", f"null{number}")
        for number in range(lengths):
            length = f"%given_length{number}"
            lines.append(f"  {length}.at = getelementptr i64, ptr %lengths, i64 {number}")
            lines.append(f"  {length} = load i64, ptr {length}.at")
            lines += _unless(f"icmp slt i64 {length}, 0", f"negative{number}")
        return [*lines, "  br label %start"]


def _unless(condition: str, name: str) -> list[str]:
    """Instructions that go to `bad` where a condition holds."""
    return [f"  %{name} = {condition}", f"  br i1 %{name}, label %bad, label %{name}.not", f"{name}.not:"]


def _workspace(size: int) -> tuple[list[str], list[str]]:
    """Instructions that take scratch memory, the caller's or our own, and that give our own back."""
    if not size:
        return ["start:"], []
    take = [
        "start:",
        "  %own = icmp eq ptr %workspace, null",
        "  br i1 %own, label %allocate, label %filled",
        "allocate:",
        f"  %block = call ptr @malloc(i64 {size})",
        "  %refused = icmp eq ptr %block, null",
        "  br i1 %refused, label %none, label %filled",
        "none:",
        f"  ret i32 {NO_MEMORY}",
        "filled:",
        "  %memory = phi ptr [ %workspace, %start ], [ %block, %allocate ]",
        "  %first = ptrtoint ptr %memory to i64",
        f"  %beyond = add i64 %first, {ALIGNMENT - 1}",
        f"  %aligned = and i64 %beyond, {-ALIGNMENT}",
        "  %skipped = sub i64 %aligned, %first",
        "  %scratch = getelementptr i8, ptr %memory, i64 %skipped",
    ]
    give = [
        "  br i1 %own, label %release, label %over",
        "release:",
        "  call void @free(ptr %memory)",
        "  br label %over",
        "over:",
    ]
    return take, give


def _report(where: int, depth: int) -> list[str]:
    """Instructions that tell the caller who asks the iterations that a failure left in the cells."""
    if not depth:
        return []
    lines = [
        f"  %failed = icmp sge i64 %status, {FIRST_FAILURE}",
        "  %asked = icmp ne ptr %iterations, null",
        "  %told = and i1 %failed, %asked",
        "  br i1 %told, label %report, label %end",
        "report:",
    ]
    for number in range(depth):
        lines += [
            f"  %from{number} = getelementptr i64, ptr %cells, i64 {where + number}",
            f"  %iteration{number} = load i64, ptr %from{number}",
            f"  %to{number} = getelementptr i64, ptr %iterations, i64 {number}",
            f"  store i64 %iteration{number}, ptr %to{number}",
        ]
    return [*lines, "  br label %end", "end:"]


def _constant_place(number: int, array: np.ndarray) -> str:
    """The address of a constant, as an operand."""
    name = f"@whorl_constant{number}"
    return name if array.nbytes <= LARGE else f"getelementptr (i8, ptr {name}, i64 {ALIGNMENT})"
