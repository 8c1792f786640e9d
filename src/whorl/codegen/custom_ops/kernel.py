"""The kernel of a custom op: its inputs read and checked, and the program chosen that takes their lengths."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.codegen.custom_ops.program import TYPES
from whorl.codegen.custom_ops.registration import READ_INPUT, READ_TYPES, leave_on_status
from whorl.codegen.custom_ops.statuses import Statuses, printable
from whorl.codegen.library.lengths import LengthsOfRun, are_too_large, fits
from whorl.codegen.library.ports import OPEN, Library, Port
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Index, Value


def define_kernel(module: Module, programs: Sequence[Library], title: str) -> str:
    """`OrtStatus *compute(api, context)`; the kernel of an op is onnxruntime's table of functions, nothing else.

    The first of the programs runs, which are of one region, that takes the lengths; the last takes all. `title` names
    the op in messages. Returns the function's name.
    """
    f = Function(module, f"@{programs[0].name}_compute", "ptr", {"api": "ptr", "context": "ptr"})
    kernel = _Kernel(f, programs[0], title)
    inputs = kernel.read_inputs()
    for program in programs[:-1]:
        with f.leave_when(kernel.is_suited(program)):
            kernel.execute(program, inputs)
    kernel.execute(programs[-1], inputs)
    return f.name


class _Kernel:
    """A kernel being written."""

    def __init__(self, f: Function, library: Library, title: str) -> None:
        self.f, self.library = f, library
        self.statuses = Statuses(f, f["api"], title)
        self.lengths: dict[str, tuple[Index, str]] = {}
        """Lengths that have names, each with the input that it was read from."""

    def read_inputs(self) -> Value:
        """The addresses of inputs, as an array."""
        f, library = self.f, self.library
        inputs = f.slot(f"[{len(library.inputs) + 1} x ptr]")
        for number, port in enumerate(library.inputs):
            self._read_input(number, port, f.offset(inputs, "ptr", number))
        return inputs

    def is_suited(self, program: Library) -> Value:
        """Whether a program is made for the lengths: those that it takes for numbers are these, and the rest fits."""
        f = self.f
        lengths = LengthsOfRun(f, {name: length for name, (length, _) in self.lengths.items()})
        result = f.slot("i1", f.number(0, "i1"))
        with f.when(are_too_large(lengths, program.graph) ^ True):
            suits = fits(lengths, program.graph)
            for name, number in self._numbers(program).items():
                suits = suits & self.lengths[name][0].equals(number)
            f.store(suits, result)
        return f.load("i1", result)

    def _numbers(self, program: Library) -> dict[str, int]:
        """Lengths that have names in the first program and are numbers in this one."""
        pairs = zip(self.library.inputs, program.inputs, strict=True)
        return {
            name: length
            for first, port in pairs
            for name, length in zip(first.dims, port.shape, strict=False)
            if name and length != OPEN
        }

    def execute(self, program: Library, inputs: Value) -> None:
        """Return what a program gives for the inputs."""
        f, name = self.f, f"@{program.name}_execute"
        lengths = f.slot(f"[{len(program.graph.names) + 1} x i64]")
        for number, length in enumerate(program.graph.names):
            f.store(self.lengths[length][0], f.offset(lengths, "i64", number))
        if name not in f.module:
            f.module.declare(name, "ptr", TYPES)
        f.give(f.call(name, "ptr", f["api"], f["context"], inputs, lengths))

    def _read_input(self, number: int, port: Port, cell: Value) -> None:
        f, rank = self.f, len(port.shape)
        read = f.module.declare(READ_INPUT, "ptr", READ_TYPES)
        dims, real_rank = f.slot(f"[{rank + 1} x i64]"), f.slot("i64", f.index(0))
        position = f.index(number)
        status = f.call(read, "ptr", f["api"], f["context"], position, f.index(rank), dims, cell, real_rank)
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
