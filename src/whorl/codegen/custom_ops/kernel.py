"""The kernel of a custom op: inputs checked, the program run, outputs in memory of onnxruntime's, failures told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from whorl.codegen.custom_ops.interface import Code, Slot, call
from whorl.codegen.custom_ops.registration import ALLOCATE, ALLOCATE_TYPES, READ_INPUT, READ_TYPES, leave_on_status
from whorl.codegen.library.ports import COMMON_MESSAGES, MOST_AXES, OPEN, Library, Port
from whorl.codegen.library.text import failure_text
from whorl.codegen.statuses import FIRST_FAILURE
from whorl.kernel.program import Fail
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.text import add_string
from whorl.llvm.value import Index, Value

LONGEST_MESSAGE = 4096
"""Bytes of an error's text, the zero at its end too."""

_ITERATION = re.compile(r"\(iteration \{(\d+)\}\)")


def define_kernel(module: Module, library: Library, title: str, failures: Sequence[Fail]) -> str:
    """`OrtStatus *compute(api, context)`; the kernel of an op is onnxruntime's table of functions, nothing else.

    `title` names the op in messages. Returns the function's name.
    """
    f = Function(module, f"@{library.name}_compute", "ptr", {"api": "ptr", "context": "ptr"})
    _Kernel(f, library, title, failures).write()
    return f.name


class _Kernel:
    """A kernel being written."""

    def __init__(self, f: Function, library: Library, title: str, failures: Sequence[Fail]) -> None:
        self.f, self.library, self.title, self.failures = f, library, title, failures
        self.api, self.context = f["api"], f["context"]
        self.texts = 0
        self.buffer = f.slot(f"[{LONGEST_MESSAGE} x i8]")
        self.depth = max((len(failure.iterations) for failure in failures), default=0)

    def write(self) -> None:
        f, library = self.f, self.library
        inputs = f.slot(f"[{len(library.inputs) + 1} x ptr]")
        outputs = f.slot(f"[{len(library.outputs) + 1} x ptr]")
        lengths = f.slot(f"[{len(library.graph.names) + 1} x i64]")
        iterations = f.slot(f"[{self.depth + 1} x i64]")
        owners: dict[str, tuple[Index, str]] = {}
        for number, port in enumerate(library.inputs):
            self._read_input(number, port, f.offset(inputs, "ptr", number), owners)
        for number, name in enumerate(library.graph.names):
            f.store(owners[name][0], f.offset(lengths, "i64", number))
        arrays = {n: f.slot(f"[{MOST_AXES + 1} x i64]") for n, port in enumerate(library.outputs) if port.is_open}
        for number, port in enumerate(library.outputs):
            cell = f.offset(outputs, "ptr", number)
            if number in arrays:
                f.store(arrays[number], cell)
            else:
                dims = f.slot(f"[{len(port.shape) + 1} x i64]")
                for axis, length in enumerate(port.shape):
                    f.store(f.index(length), f.offset(dims, "i64", axis))
                leave_on_status(f, self._allocate(number, dims, len(port.shape), cell))
        run = f"@{library.name}_run"
        status = f.call(run, "i32", inputs, outputs, lengths, f.null(), iterations)
        with f.when(status.equals(0) ^ True):
            self._fail(status, iterations)
        f.give(self._hand_over(arrays))

    # ---- inputs and outputs ----------------------------------------------------------------------------------

    def _read_input(self, number: int, port: Port, cell: Value, owners: dict[str, tuple[Index, str]]) -> None:
        f, rank = self.f, len(port.shape)
        read = f.module.declare(READ_INPUT, "ptr", READ_TYPES)
        dims, real_rank = f.slot(f"[{rank + 1} x i64]"), f.slot("i64", f.index(0))
        position = f.index(number)
        status = f.call(read, "ptr", self.api, self.context, position, f.index(rank), dims, cell, real_rank)
        leave_on_status(f, status)
        actual = f.load_index(real_rank)
        start = f"input {port.name!r} "
        with f.leave_when(actual.equals(rank) ^ True):
            self._refuse(f"{start}has %lld axes, not {rank}", actual)
        names = port.dims or [""] * rank
        for axis, (length, name) in enumerate(zip(port.shape, names, strict=True)):
            actual = f.load_index(f.offset(dims, "i64", axis))
            if length != OPEN:
                with f.leave_when(actual.equals(length) ^ True):
                    self._refuse(f"{start}has length %lld at axis {axis}, not {length}", actual)
            elif name in owners:
                known, owner = owners[name]
                with f.leave_when(actual.equals(known) ^ True):
                    text = f"length {_printable(repr(name))} is %lld in input {_printable(repr(owner))} and %lld in "
                    self._refuse(f"{text}{_printable(repr(port.name))} at axis {axis}", known, actual)
            elif name:
                owners[name] = actual, port.name

    def _allocate(self, number: int, dims: Value, rank: int, cell: Value) -> Value:
        f = self.f
        allocate = f.module.declare(ALLOCATE, "ptr", ALLOCATE_TYPES)
        return f.call(allocate, "ptr", self.api, self.context, f.index(number), dims, f.index(rank), cell)

    def _hand_over(self, arrays: Mapping[int, Value]) -> Value:
        """Copy outputs of which only the run knew the lengths, and free their memory; the first status of these."""
        f = self.f
        result = f.slot("ptr", f.null())
        for number, array in arrays.items():
            port, data, cell = self.library.outputs[number], f.load("ptr", array), f.slot("ptr", f.null())
            dims = f.offset(array, "i64", 1)
            with f.when(f.compare("eq", f.load("ptr", result), f.null())):
                f.store(self._allocate(number, dims, len(port.shape), cell), result)
            with f.when(f.compare("eq", f.load("ptr", result), f.null())):
                size = f.index(port.dtype.itemsize)
                for axis in range(len(port.shape)):
                    size = size * f.load_index(f.offset(dims, "i64", axis))
                f.module.declare("@llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
                with f.when(size.equals(0) ^ True):
                    f.run("@llvm.memcpy.p0.p0.i64", f.load("ptr", cell), data, size, f.number(0, "i1"))
            f.run(f.module.declare("@free", "void", ["ptr"]), data)
        return f.load("ptr", result)

    # ---- failures --------------------------------------------------------------------------------------------

    def _fail(self, status: Value, iterations: Value) -> None:
        """Return the status of onnxruntime's for one of the program's."""
        f = self.f
        common = {n: text for n, text in COMMON_MESSAGES.items() if n}
        cases = [*common, *range(FIRST_FAILURE, FIRST_FAILURE + len(self.failures))]
        f.line(f"switch {status}, label %fail.other [ {' '.join(f'i32 {n}, label %fail{n & 0xFFFF}' for n in cases)} ]")
        for number, text in common.items():
            f.start(f"fail{number & 0xFFFF}")
            self._refuse(_printable(text), code=Code.FAIL)
        for number, failure in enumerate(self.failures, FIRST_FAILURE):
            f.start(f"fail{number & 0xFFFF}")
            text = _printable(failure_text(failure))
            order = [int(n) for n in _ITERATION.findall(text)]
            loads = [f.load_index(f.offset(iterations, "i64", n)) for n in order]
            self._refuse(_ITERATION.sub("(iteration %lld)", text), *loads, code=Code.RUNTIME_EXCEPTION)
        f.start("fail.other")
        f.give(self._create_status(Code.FAIL, self._string(f"{self.title}: failed")))
        f.start(f.fresh("unreachable"))

    def _refuse(self, text: str, *numbers: Value, code: Code = Code.INVALID_ARGUMENT) -> None:
        """Return a status whose text is that of printf's for these numbers."""
        f = self.f
        text = f"{_printable(self.title)}: {text}"
        print_text = f.module.declare("@snprintf", "i32", ["ptr", "i64", "ptr", "..."])
        f.call(
            print_text, "i32 (ptr, i64, ptr, ...)", self.buffer, f.index(LONGEST_MESSAGE), self._string(text), *numbers
        )
        f.give(self._create_status(code, self.buffer))

    def _create_status(self, code: Code, text: Value) -> Value:
        return call(self.f, self.api, Slot.CREATE_STATUS, self.f.number(code, "i32"), text)

    def _string(self, text: str) -> Value:
        self.texts += 1
        name = add_string(self.f.module, f"@{self.library.name}_text{self.texts}", text)
        return Value(self.f, "ptr", self.f.refer(name))


def _printable(text: str) -> str:
    """A text as printf takes it."""
    return text.replace("%", "%%")
