"""The kernel of a custom op: its inputs read and checked, and the program chosen that takes their lengths."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.codegen.custom_ops.interface import Code
from whorl.codegen.custom_ops.program import TYPES
from whorl.codegen.custom_ops.registration import READ_INPUT, READ_TYPES, leave_on_status
from whorl.codegen.custom_ops.statuses import Statuses, printable
from whorl.codegen.library.lengths import LengthsOfRun, are_too_large, fits
from whorl.codegen.library.ports import OPEN, Library, Port
from whorl.ir import dims
from whorl.ir.types import lengths_of
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Index, Value
from whorl.lowering.graph_program import MOST_ELEMENTS

_LARGE = 1 << 30
"""Bytes from which on it is tried out whether there is memory."""


def define_kernel(module: Module, programs: Sequence[Library], title: str) -> str:
    """`OrtStatus *compute(kernel, context)`; a kernel begins with the address of onnxruntime's table of functions.

    The first of the programs runs, which are of one region, that takes the lengths; the last takes all. `title` names
    the op in messages. Returns the function's name.
    """
    f = Function(module, f"@{programs[0].name}_compute", "ptr", {"kernel": "ptr", "context": "ptr"})
    kernel = _Kernel(f, programs[0], title)
    inputs = kernel.read_inputs()
    kernel.refuse_large_counts()
    for program in programs[:-1]:
        with f.leave_when(kernel.is_suited(program)):
            kernel.execute(program, inputs)
    kernel.execute(programs[-1], inputs)
    return f.name


class _Kernel:
    """A kernel being written."""

    def __init__(self, f: Function, library: Library, title: str) -> None:
        self.f, self.library = f, library
        self.api = f.load("ptr", f["kernel"])
        self.statuses = Statuses(f, self.api, title)
        self.lengths: dict[str, tuple[Index, str]] = {}
        """Lengths that have names, each with the input that it was read from."""

    def read_inputs(self) -> Value:
        """The addresses of inputs, as an array."""
        f, library = self.f, self.library
        inputs = f.slot(f"[{len(library.inputs) + 1} x ptr]")
        for number, port in enumerate(library.inputs):
            self._read_input(number, port, f.offset(inputs, "ptr", number))
        return inputs

    def refuse_large_counts(self) -> None:
        """Refuse to collect more than there is memory for: the last program would not know before that was full."""
        f, graph = self.f, self.library.graph
        counts = {port.count for port in self.library.inputs if isinstance(port.count, str)}
        lengths = self._lengths_of_run()
        sizes = {form: 1 for slot in graph.arena.slots for form in slot}
        known = (type for n, type in enumerate(graph.outputs) if n not in graph.grown)
        sizes |= {dims.product(lengths_of(type)): type.dtype.itemsize for type in known}
        for form, itemsize in sizes.items():
            if not counts.isdisjoint(dims.names_in(form)):
                size = lengths.magnitude(form) * float(itemsize)
                with f.leave_when(size > float(MOST_ELEMENTS)):
                    self.statuses.refuse("memory was refused", code=Code.FAIL)
                with f.when(size > float(_LARGE)):
                    self._try_memory(f.convert("fptosi", size, "i64"))

    def _try_memory(self, size: Value) -> None:
        """Refuse where the machine has no memory of a size."""
        f = self.f
        memory = f.call(f.module.declare("@malloc", "noalias ptr", ["i64"]), "ptr", size)
        f.line(
            f"store volatile {memory}, {f.slot('ptr')}"
        )  # else LLVM takes it that there is memory, and leaves this out
        with f.leave_when(f.compare("eq", memory, f.null())):
            self.statuses.refuse("memory was refused", code=Code.FAIL)
        f.run(f.module.declare("@free", "void", ["ptr"]), memory)

    def _lengths_of_run(self) -> LengthsOfRun:
        return LengthsOfRun(self.f, {name: length for name, (length, _) in self.lengths.items()})

    def is_suited(self, program: Library) -> Value:
        """Whether a program is made for the lengths: those that it takes for numbers are these, and the rest fits."""
        f = self.f
        lengths = self._lengths_of_run()
        result = f.slot("i1", f.number(0, "i1"))
        with f.when(are_too_large(lengths, program.graph) ^ True):
            suits = fits(lengths, program.graph)
            for name, number in self._numbers(program).items():
                suits = suits & self.lengths[name][0].equals(number)
            for port in program.inputs:
                if isinstance(port.count, str) and port.count:  # what is divided by a name is not 0
                    suits = suits & (self.lengths[port.count][0] > 0)
            f.store(suits, result)
        return f.load("i1", result)

    def _numbers(self, program: Library) -> dict[str, int]:
        """Lengths that have names in the first program and are numbers in this one."""
        result: dict[str, int] = {}
        for first, port in zip(self.library.inputs, program.inputs, strict=True):
            pairs = [*zip(first.dims, port.shape, strict=False), (first.count, port.count)]
            result |= {str(name): n for name, n in pairs if name and isinstance(n, int) and n != OPEN}
        return result

    def execute(self, program: Library, inputs: Value) -> None:
        """Return what a program gives for the inputs."""
        f, name = self.f, f"@{program.name}_execute"
        lengths = f.slot(f"[{len(program.graph.names) + 1} x i64]")
        for number, length in enumerate(program.graph.names):
            f.store(self.lengths[length][0], f.offset(lengths, "i64", number))
        if name not in f.module:
            f.module.declare(name, "ptr", TYPES)
        f.give(f.call(name, "ptr", f["kernel"], f["context"], inputs, lengths))

    def _read_input(self, number: int, port: Port, cell: Value) -> None:
        f, rank = self.f, len(port.shape)
        read = f.module.declare(READ_INPUT, "ptr", READ_TYPES)
        dims, real_rank = f.slot(f"[{rank + 1} x i64]"), f.slot("i64", f.index(0))
        position = f.index(number)
        status = f.call(read, "ptr", self.api, f["context"], position, f.index(rank), dims, cell, real_rank)
        leave_on_status(f, status)
        actual = f.load_index(real_rank)
        start = f"input {port.name!r} "
        with f.leave_when(actual.equals(rank) ^ True):
            self.statuses.refuse(f"{start}has %lld axes, not {rank}", actual)
        names = port.dims or [""] * rank
        for axis, (length, name) in enumerate(zip(port.shape, names, strict=True)):
            actual = f.load_index(f.offset(dims, "i64", axis))
            if length != OPEN:
                with f.leave_when(actual.equals(length) ^ True):
                    self.statuses.refuse(f"{start}has length %lld at axis {axis}, not {length}", actual)
            elif name in self.lengths:
                known, owner = self.lengths[name]
                with f.leave_when(actual.equals(known) ^ True):
                    text = f"length {printable(repr(name))} is %lld in input {printable(repr(owner))} and %lld in "
                    self.statuses.refuse(f"{text}{printable(repr(port.name))} at axis {axis}", known, actual)
            elif name:
                self.lengths[name] = actual, port.name
        if isinstance(port.count, str) and port.count:
            value = f.load(f"i{8 * port.dtype.itemsize}", f.load("ptr", cell))
            wide = (
                value if value.type == "i64" else f.convert("sext" if port.dtype.kind == "i" else "zext", value, "i64")
            )
            self.lengths[port.count] = f.most(f.index(wide), 0), port.name
