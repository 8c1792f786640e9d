"""A program as a kernel runs it: outputs allocated by onnxruntime, failures as statuses with their texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from whorl.codegen.custom_ops.interface import Code
from whorl.codegen.custom_ops.registration import ALLOCATE, ALLOCATE_TYPES, leave_on_status
from whorl.codegen.custom_ops.sharing import add_context
from whorl.codegen.custom_ops.statuses import Statuses, printable
from whorl.codegen.library.lengths import LengthsOfRun, are_too_large
from whorl.codegen.library.ports import COMMON_MESSAGES, MOST_AXES, Library
from whorl.codegen.library.text import failure_text
from whorl.codegen.statuses import FIRST_FAILURE
from whorl.ir.types import lengths_of
from whorl.kernel.outline import spreads_of
from whorl.kernel.program import Fail
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Value

TYPES = ("ptr", "ptr", "ptr", "ptr")
"""Of the parameters: the kernel, the context, the addresses of inputs, the lengths that have names."""
_ITERATION = re.compile(r"\(iteration \{(\d+)\}\)")


def define_program(module: Module, library: Library, title: str, failures: Sequence[Fail], linkage: str) -> str:
    """`OrtStatus *execute(kernel, context, inputs, lengths)` for a library whose run is in the module; its name."""
    names = ("kernel", "context", "inputs", "lengths")
    f = Function(module, f"@{library.name}_execute", "ptr", dict(zip(names, TYPES, strict=True)), linkage)
    _Program(f, library, title, failures).write()
    return f.name


class _Program:
    """The function being written."""

    def __init__(self, f: Function, library: Library, title: str, failures: Sequence[Fail]) -> None:
        self.f, self.library, self.failures = f, library, failures
        self.api, self.context = f.load("ptr", f["kernel"]), f["context"]
        self.statuses = Statuses(f, self.api, title)
        self.depth = max((len(failure.iterations) for failure in failures), default=0)

    def write(self) -> None:
        f, library, grown = self.f, self.library, self.library.graph.grown
        outputs = f.slot(f"[{len(library.outputs) + 1} x ptr]")
        iterations = f.slot(f"[{self.depth + 1} x i64]")
        arrays = {n: f.slot(f"[{MOST_AXES + 1} x i64]") for n in grown}
        for n, array in arrays.items():
            f.store(array, f.offset(outputs, "ptr", n))
        self._allocate_outputs(outputs)
        is_shared = bool(spreads_of(library.graph.program.body))
        context = add_context(f, f["kernel"], self.context) if is_shared else f.null()
        status = f.call(
            f"@{library.name}_run", "i32", f["inputs"], outputs, f["lengths"], f.null(), iterations, context
        )
        with f.when(status.equals(0) ^ True):
            self._fail(status, iterations)
        f.give(self._hand_over(arrays))

    # ---- outputs ---------------------------------------------------------------------------------------------

    def _allocate_outputs(self, outputs: Value) -> None:
        """Memory for outputs whose lengths are known before the run."""
        f, graph = self.f, self.library.graph
        names = {name: f.load_index(f.offset(f["lengths"], "i64", n)) for n, name in enumerate(graph.names)}
        lengths = LengthsOfRun(f, names)
        if graph.forms or graph.arena.slots:
            with f.leave_when(are_too_large(lengths, graph)):
                self.statuses.refuse("memory was refused", code=Code.FAIL)
        for number, type in enumerate(graph.outputs):
            if number in graph.grown:
                continue
            shape = lengths_of(type)
            dims = f.slot(f"[{len(shape) + 1} x i64]")
            for axis, length in enumerate(shape):
                f.store(lengths.number(length), f.offset(dims, "i64", axis))
            leave_on_status(f, self._allocate(number, dims, len(shape), f.offset(outputs, "ptr", number)))

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
            self.statuses.refuse(printable(text), code=Code.FAIL)
        for number, failure in enumerate(self.failures, FIRST_FAILURE):
            f.start(f"fail{number & 0xFFFF}")
            text = printable(failure_text(failure))
            order = [int(n) for n in _ITERATION.findall(text)]
            loads = [f.load_index(f.offset(iterations, "i64", n)) for n in order]
            self.statuses.refuse(_ITERATION.sub("(iteration %lld)", text), *loads, code=Code.RUNTIME_EXCEPTION)
        f.start("fail.other")
        self.statuses.refuse("failed", code=Code.FAIL)
        f.start(f.fresh("unreachable"))
