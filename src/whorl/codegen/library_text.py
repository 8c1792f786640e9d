"""A library as LLVM IR: constants, tables of inputs and outputs, and the functions that tell of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from whorl.codegen.emit import FIRST_FAILURE, emit_numbered
from whorl.codegen.library import COMMON_MESSAGES, ELEMENT_TYPES, LARGE, MARK, Library, Port
from whorl.codegen.library_run import run_function
from whorl.errors import format_location
from whorl.kernel.program import Fail
from whorl.lowering.arena import ALIGNMENT


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
        run_function(library, depth, export),
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
    return f"{format_location(failure.node, *reversed(regions))}: {failure.reason}"


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
