"""A library as LLVM IR: constants, tables of inputs and outputs, and the functions that describe them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from whorl.codegen.emit import emit_numbered
from whorl.codegen.library.ports import COMMON_MESSAGES, ELEMENT_TYPES, LARGE, MARK, Library, Port
from whorl.codegen.library.run import define_run
from whorl.codegen.statuses import FIRST_FAILURE
from whorl.errors import format_location
from whorl.kernel.program import Fail
from whorl.llvm.function import Function
from whorl.llvm.module import Machine, Module
from whorl.llvm.text import add_string, bytes_text
from whorl.llvm.value import Value
from whorl.lowering.arena import ALIGNMENT

_TENSOR = "%whorl_tensor"


def library_module(library: Library, machine: Machine, is_dll: bool = False) -> tuple[Module, int]:
    """The LLVM IR of a library, and the most loops around a failure; `is_dll` marks functions for export by Windows."""
    linkage = "dllexport" if is_dll else ""
    module, failures = emit_numbered(library.graph.program, machine)
    texts = dict(COMMON_MESSAGES) | {n: failure_text(f) for n, f in enumerate(failures, FIRST_FAILURE)}
    depth = max((len(f.iterations) for f in failures), default=0)
    add_constants(module, library.graph.arrays)
    module.add_text(_TENSOR, f"{_TENSOR} = type {{ ptr, ptr, ptr, i64, i32, i32 }}")
    define_run(module, library, depth, linkage)
    for kind, ports in (("input", library.inputs), ("output", library.outputs)):
        _add_ports(module, kind, ports)
        _define_port(module, library, kind, len(ports), linkage)
    f = Function(module, f"@{library.name}_workspace_size", "i64", {}, linkage)
    f.give(f.index(library.workspace_bytes))
    _define_length(module, library, linkage)
    _define_message(module, library, texts, linkage)
    add_string(module, "@whorl_name", library.name)
    f = Function(module, f"@{MARK}", "ptr", {}, f"weak {linkage}".rstrip())
    f.give(_global(f, "@whorl_name"))
    return module, depth


def failure_text(failure: Fail) -> str:
    """What failed and where; `{0}` stands for the iteration of the outermost loop, `{1}` for that of the next."""
    numbers = iter(range(len(failure.iterations)))
    regions = [
        title if number is None else f"{title} (iteration {{{next(numbers)}}})" for title, number in failure.around
    ]
    return f"{format_location(failure.node, *reversed(regions))}: {failure.reason}"


def _global(f: Function, name: str) -> Value:
    """The address of a constant."""
    return Value(f, "ptr", f.refer(name))


# ---- data ----------------------------------------------------------------------------------------------------


def add_constants(module: Module, arrays: Sequence[np.ndarray]) -> None:
    """Constants as data; instead of a large one, a mark and as many zeros, of which LLVM assumes nothing."""
    for number, array in enumerate(arrays):
        if array.nbytes <= LARGE:
            data = np.ascontiguousarray(array).tobytes() or b"\0"
            kind, value = f"private unnamed_addr constant [{len(data)} x i8]", bytes_text(data)
        else:
            types = f"<{{ [{ALIGNMENT} x i8], [{array.nbytes} x i8] }}>"
            kind = f"internal externally_initialized constant {types}"
            value = f"<{{ [{ALIGNMENT} x i8] {bytes_text(_mark(number))}, [{array.nbytes} x i8] zeroinitializer }}>"
        name = f"@whorl_constant{number}"
        module.add_text(name, f"{name} = {kind} {value}, align {ALIGNMENT}")


def _mark(number: int) -> bytes:
    """What lies before a large constant in an object file."""
    return hashlib.sha512(f"whorl constant {number}".encode()).digest()[:ALIGNMENT]


def fill_constants(code: bytes, library: Library) -> bytearray:
    """An object file with the large constants after their marks: as text they would take LLVM long."""
    filled = bytearray(code)
    for number, array in enumerate(library.graph.arrays):
        if array.nbytes > LARGE:
            start = filled.index(_mark(number)) + ALIGNMENT
            filled[start : start + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return filled


def _add_ports(module: Module, kind: str, ports: Sequence[Port]) -> None:
    """The table that describes inputs or outputs, with the texts and shapes it points to."""
    entries: list[str] = []
    for number, port in enumerate(ports):
        start = f"@whorl_{kind}{number}"
        name = add_string(module, f"{start}_name", port.name)
        shape = _add_table(module, f"{start}_shape", "i64", [f"i64 {n}" for n in port.shape or (0,)])
        texts = [
            f"ptr {add_string(module, f'{start}_dim{axis}', dim)}" if dim else "ptr null"
            for axis, dim in enumerate(port.dims)
        ]
        dims = _add_table(module, f"{start}_dims", "ptr", texts or ["ptr null"] * max(1, len(port.shape)))
        numbers = f"i64 {port.bytes}, i32 {ELEMENT_TYPES[port.dtype]}, i32 {len(port.shape)}"
        entries.append(f"{_TENSOR} {{ ptr {name}, ptr {shape}, ptr {dims}, {numbers} }}")
    _add_table(module, f"@whorl_{kind}s", _TENSOR, entries)


def _add_table(module: Module, name: str, type: str, entries: Sequence[str]) -> str:
    """A constant array; entries have their type."""
    content = f"[{len(entries)} x {type}] [{', '.join(entries)}]"
    return module.add_text(name, f"{name} = private unnamed_addr constant {content}")


# ---- functions -----------------------------------------------------------------------------------------------


def _define_port(module: Module, library: Library, kind: str, count: int, linkage: str) -> None:
    """`const whorl_tensor *NAME_input(int n)`: a row of the table, or NULL."""
    f = Function(module, f"@{library.name}_{kind}", "ptr", {"n": "i32"}, linkage)
    exists = f["n"] < count
    row = f.offset_outside(_global(f, f"@whorl_{kind}s"), _TENSOR, f.index(f.convert("zext", f["n"], "i64")))
    f.give(f.select(exists, row, f.null()))


def _define_length(module: Module, library: Library, linkage: str) -> None:
    """`const char *NAME_length(int n)`: what length `n` is called, or NULL."""
    texts = library.graph.names
    names = [add_string(module, f"@whorl_length{number}", text) for number, text in enumerate(texts)]
    _add_table(module, "@whorl_lengths", "ptr", [f"ptr {name}" for name in names])
    f = Function(module, f"@{library.name}_length", "ptr", {"n": "i32"}, linkage)
    with f.leave_when(f.compare("uge", f["n"], f.number(len(names), "i32"))):
        f.give(f.null())
    row = f.index(f.convert("zext", f["n"], "i64"))
    f.give(f.load("ptr", f.offset_outside(_global(f, "@whorl_lengths"), "ptr", row)))


def _define_message(module: Module, library: Library, texts: dict[int, str], linkage: str) -> None:
    """`const char *NAME_message(int status)`."""
    f = Function(module, f"@{library.name}_message", "ptr", {"status": "i32"}, linkage)
    names = [add_string(module, f"@whorl_message{number}", text) for number, text in enumerate(texts.values())]
    cases = " ".join(f"i32 {status}, label %at{number}" for number, status in enumerate(texts))
    f.line(f"switch {f['status']}, label %other [ {cases} ]")
    for number, name in enumerate(names):
        f.start(f"at{number}")
        f.give(_global(f, name))
    f.start("other")
    f.give(_global(f, add_string(module, "@whorl_no_message", "no such status")))
