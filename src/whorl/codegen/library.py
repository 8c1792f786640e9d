"""A program as a library of C functions: LLVM IR that embeds its constants and describes its inputs and outputs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whorl.codegen.emit import FIRST_FAILURE, FUNCTION, emit_numbered
from whorl.errors import place
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import TensorType
from whorl.kernel.program import Fail
from whorl.lowering.arena import ALIGNMENT
from whorl.lowering.graphs import GraphProgram
from whorl.lowering.places import lengths_of

ELEMENT_TYPES = {
    BY_NAME[name]: number
    for name, number in (
        *(("float32", 1), ("uint8", 2), ("int8", 3), ("uint16", 4), ("int16", 5), ("int32", 6), ("int64", 7)),
        *(("bool", 9), ("float16", 10), ("float64", 11), ("uint32", 12), ("uint64", 13), ("complex64", 14)),
        *(("complex128", 15), ("bfloat16", 16), ("float8e4m3fn", 17), ("float8e4m3fnuz", 18), ("float8e5m2", 19)),
        *(("float8e5m2fnuz", 20), ("uint4", 21), ("int4", 22), ("float4e2m1", 23), ("float8e8m0", 24)),
        *(("uint2", 25), ("int2", 26), ("float6e2m3", 27), ("float6e3m2", 28)),
    )
}
"""The numbers of element types in the C interface: those of ONNX."""
BAD_ARGUMENT, NO_MEMORY = -1, 1
COMMON_MESSAGES = {
    0: "done",
    NO_MEMORY: "memory was refused",
    BAD_ARGUMENT: "an argument is a null pointer or a negative length",
}
MARK = "whorl_library_1"
"""The function that marks a library of this version of the interface, and says what its functions begin with."""


LARGE = 1 << 12
"""Bytes up to which LLVM sees the contents of a constant."""
OPEN = -1
"""In a shape, a length that only the run knows."""
MOST_AXES = 8
"""Axes of an output that the library gives memory to."""


@dataclass(frozen=True)
class Port:
    """An input or output of a library. Where lengths are `OPEN`, `dims` has the names, empty texts among them."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    dims: tuple[str, ...] = ()

    @property
    def type(self) -> TensorType:
        named = (dims.name(name) if name else UNKNOWN for name in self.dims or [""] * len(self.shape))
        return TensorType(self.dtype, tuple(d if n == OPEN else n for n, d in zip(self.shape, named, strict=True)))

    @property
    def is_open(self) -> bool:
        return OPEN in self.shape

    @property
    def bytes(self) -> int:
        return OPEN if self.is_open else math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class Library:
    """What becomes one library: a program, and what its functions say of it."""

    name: str
    inputs: Sequence[Port]
    outputs: Sequence[Port]
    graph: GraphProgram

    @property
    def workspace_bytes(self) -> int:
        """Scratch memory, with room to align it."""
        return self.graph.arena.size + ALIGNMENT if self.graph.arena.size else 0


def library_text(library: Library, is_dll: bool = False) -> tuple[str, int]:
    """The LLVM IR of a library, and the most loops around a failure; `is_dll` marks functions for export by Windows."""
    export = "dllexport " if is_dll else ""
    body, failures = emit_numbered(library.graph.program)
    texts = dict(COMMON_MESSAGES) | {n: failure_text(f) for n, f in enumerate(failures, FIRST_FAILURE)}
    depth = max((len(f.iterations) for f in failures), default=0)
    parts = [
        body,
        *_constants(library.graph.constants),
        "%whorl_tensor = type { ptr, ptr, ptr, i64, i32, i32 }",
        *(line for kind, ports in _kinds(library) for line in _ports(kind, ports)),
        _run(library, depth, export),
        *(_described(library, kind, ports, export) for kind, ports in _kinds(library)),
        _number(library, "workspace_size", library.workspace_bytes, export),
        _length_function(library, export),
        _message_function(library, texts, export),
        _string("@whorl_name", library.name),
        f"define weak {export}ptr @{MARK}() nounwind {{\n  ret ptr @whorl_name\n}}",
    ]
    return "\n".join(parts) + "\n", depth


def failure_text(failure: Fail) -> str:
    """What failed and where; `{0}` stands for the iteration of the outermost loop, `{1}` for that of the next."""
    numbers = iter(range(len(failure.iterations)))
    regions = [
        title if number is None else f"{title} (iteration {{{next(numbers)}}})" for title, number in failure.around
    ]
    return f"{place(failure.node, *reversed(regions))}: {failure.reason}"


def _kinds(library: Library) -> tuple[tuple[str, Sequence[Port]], ...]:
    return ("input", library.inputs), ("output", library.outputs)


# ---- data ----------------------------------------------------------------------------------------------------

_HEX = np.array([list(f"\\{byte:02X}".encode()) for byte in range(256)], np.uint8)


def _bytes(data: bytes) -> str:
    """Bytes as a string of LLVM's."""
    return f'c"{_HEX[np.frombuffer(data, np.uint8)].tobytes().decode()}"'


def _string(name: str, text: str) -> str:
    data = text.encode() + b"\0"
    return f"{name} = private unnamed_addr constant [{len(data)} x i8] {_bytes(data)}"


def _constants(arrays: Sequence[np.ndarray]) -> list[str]:
    """Constants as data; in the place of a large one, a mark and as many zeros, of which LLVM assumes nothing."""
    lines = []
    for number, array in enumerate(arrays):
        if array.nbytes <= LARGE:
            data = np.ascontiguousarray(array).tobytes() or b"\0"
            kind, value = f"private unnamed_addr constant [{len(data)} x i8]", _bytes(data)
        else:
            types = f"<{{ [{ALIGNMENT} x i8], [{array.nbytes} x i8] }}>"
            kind = f"internal externally_initialized constant {types}"
            value = f"<{{ [{ALIGNMENT} x i8] {_bytes(_mark(number))}, [{array.nbytes} x i8] zeroinitializer }}>"
        lines.append(f"@whorl_constant{number} = {kind} {value}, align {ALIGNMENT}")
    return lines


def _constant_place(number: int, array: np.ndarray) -> str:
    """The address of a constant, as an operand."""
    name = f"@whorl_constant{number}"
    return name if array.nbytes <= LARGE else f"getelementptr (i8, ptr {name}, i64 {ALIGNMENT})"


def _mark(number: int) -> bytes:
    """What lies before a large constant in an object file."""
    return hashlib.sha512(f"whorl constant {number}".encode()).digest()[:ALIGNMENT]


def with_constants(code: bytes, library: Library) -> bytearray:
    """An object file with the large constants in their places: as text they would take LLVM long."""
    filled = bytearray(code)
    for number, array in enumerate(library.graph.constants):
        if array.nbytes > LARGE:
            start = filled.index(_mark(number)) + ALIGNMENT
            filled[start : start + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return filled


def _ports(kind: str, ports: Sequence[Port]) -> list[str]:
    """The table that describes inputs or outputs, with the texts and shapes it points to."""
    lines, entries = [], []
    for number, port in enumerate(ports):
        name, shape = f"@whorl_{kind}{number}_name", f"@whorl_{kind}{number}_shape"
        lengths = ", ".join(f"i64 {n}" for n in port.shape or (0,))
        lines.append(_string(name, port.name))
        lines.append(f"{shape} = private unnamed_addr constant [{max(1, len(port.shape))} x i64] [{lengths}]")
        numbers = f"i64 {port.bytes}, i32 {ELEMENT_TYPES[port.dtype]}, i32 {len(port.shape)}"
        names = [f"@whorl_{kind}{number}_dim{axis}" if name else "null" for axis, name in enumerate(port.dims)]
        lines += [_string(text, name) for text, name in zip(names, port.dims, strict=True) if name]
        texts = ", ".join(f"ptr {text}" for text in names or ["null"] * max(1, len(port.shape)))
        places = f"@whorl_{kind}{number}_dims"
        lines.append(f"{places} = private unnamed_addr constant [{texts.count('ptr')} x ptr] [{texts}]")
        entries.append(f"%whorl_tensor {{ ptr {name}, ptr {shape}, ptr {places}, {numbers} }}")
    table = f"[{len(entries)} x %whorl_tensor] [{', '.join(entries)}]"
    return [*lines, f"@whorl_{kind}s = private unnamed_addr constant {table}"]


# ---- functions -----------------------------------------------------------------------------------------------


def _described(library: Library, kind: str, ports: Sequence[Port], export: str) -> str:
    """`const whorl_tensor *NAME_input(int n)`: a row of the table, or NULL."""
    table = f"[{len(ports)} x %whorl_tensor]"
    return f"""define {export}ptr @{library.name}_{kind}(i32 %n) nounwind {{
  %exists = icmp ult i32 %n, {len(ports)}
  %row = zext i32 %n to i64
  %found = getelementptr {table}, ptr @whorl_{kind}s, i64 0, i64 %row
  %result = select i1 %exists, ptr %found, ptr null
  ret ptr %result
}}"""


def _number(library: Library, what: str, value: int, export: str) -> str:
    return f"define {export}i64 @{library.name}_{what}() nounwind {{\n  ret i64 {value}\n}}"


def _length_function(library: Library, export: str) -> str:
    """`const char *NAME_length(int n)`: what length `n` is called, or NULL."""
    names = [f"@whorl_length{number}" for number in range(len(library.graph.names))]
    table = f"[{len(names)} x ptr] [{', '.join(f'ptr {name}' for name in names)}]"
    return "\n".join(
        (
            *(_string(name, text) for name, text in zip(names, library.graph.names, strict=True)),
            f"@whorl_lengths = private unnamed_addr constant {table}",
            f"define {export}ptr @{library.name}_length(i32 %n) nounwind {{",
            f"  %exists = icmp ult i32 %n, {len(names)}",
            "  br i1 %exists, label %known, label %unknown",
            "known:",
            "  %row = zext i32 %n to i64",
            "  %place = getelementptr ptr, ptr @whorl_lengths, i64 %row",
            "  %name = load ptr, ptr %place",
            "  ret ptr %name",
            "unknown:\n  ret ptr null\n}",
        )
    )


def _message_function(library: Library, texts: dict[int, str], export: str) -> str:
    """`const char *NAME_message(int status)`."""
    names = [f"@whorl_message{number}" for number in range(len(texts))]
    cases = " ".join(f"i32 {status}, label %at{number}" for number, status in enumerate(texts))
    return "\n".join(
        (
            *(_string(name, text) for name, text in zip(names, texts.values(), strict=True)),
            _string("@whorl_no_message", "no such status"),
            f"define {export}ptr @{library.name}_message(i32 %status) nounwind {{",
            f"  switch i32 %status, label %other [ {cases} ]",
            *(f"at{number}:\n  ret ptr {name}" for number, name in enumerate(names)),
            "other:\n  ret ptr @whorl_no_message\n}",
        )
    )


def _run(library: Library, depth: int, export: str) -> str:
    """`int NAME_run(inputs, outputs, lengths, workspace, iterations)`: checks, memory, the cells, the program."""
    graph, size = library.graph, library.workspace_bytes
    cells, growing = _Cells(), graph.program.growing
    for number in range(len(graph.names)):
        cells.number(f"%given_length{number}")
    cells.zero(len(graph.program.scalars) - len(graph.names))
    for number in graph.inputs:
        cells.address(cells.loaded("%inputs", number))
    for number, array in enumerate(graph.constants):
        cells.address(_constant_place(number, array))
    for number in range(len(graph.outputs)):
        if number not in graph.grown:
            cells.address(cells.loaded("%outputs", number))
    scratch = cells.count
    for buffer, offset in zip(graph.program.scratch, graph.arena.offsets, strict=True):
        cells.address(cells.place("%scratch", offset) if size and not buffer.grows else "null")
    cells.zero(1)
    cells.address("@realloc" if growing else "null")
    cells.zero(len(growing))
    where = cells.count
    cells.zero(depth)
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
        pointers += [(table, k) for table, ports in tables for k, port in enumerate(ports) if port.bytes > 0]
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
