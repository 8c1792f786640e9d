"""Functions of loop nests: their parameters, their variables, and how a program calls them.

Parameters are the addresses of buffers, the scalars that a nest reads, the sizes of memory that grows, variables that
it changes, lengths, and the work of its polls; then, where it asks the runtime for something, the context and the
variable of the work that is left. It returns 0, or the status with which the program ends.
"""

from __future__ import annotations

from whorl.codegen.frame import Variables
from whorl.codegen.scalars import register_type
from whorl.ir.native.expressions import Buffer, Const
from whorl.kernel.canonical import Nest
from whorl.kernel.program import Poll
from whorl.llvm.function import Function
from whorl.llvm.value import Index, Value


def name_of(nest: Nest) -> str:
    """The name of a nest's function: equal nests have equal names."""
    return f"@whorl.nest.{nest.key}"


def parameters_of(nest: Nest) -> dict[str, str]:
    """The types of the parameters, by name."""
    types = {f"b{n}": "ptr noundef" for n in range(len(nest.buffers))}
    types |= {f"v{n}": register_type(var.dtype) for n, var in enumerate(nest.values)}
    types |= {f"c{n}": "ptr noundef" for n in range(len(nest.grown))}
    types |= {f"r{n}": "ptr noundef" for n in range(len(nest.results))}
    types |= {f"n{n}": "i64" for n in range(len(nest.lengths))}
    types |= {f"w{n}": "i64" for n in range(len(nest.polls))}
    return types | ({"context": "ptr noundef", "fuel": "ptr noundef"} if nest.asks else {})


def call_nest(frame: Variables, nest: Nest) -> Value:
    """Call the function of a nest; its status."""
    f = frame.f
    arguments = [frame.pointers[b] if b in nest.moved else frame.start_of(b) for b in nest.buffers]
    arguments += [frame.read(var) for var in nest.values]
    arguments += [frame.capacities[buffer] for buffer in nest.grown]
    arguments += [frame.slot(var) for var in nest.results]
    arguments += [frame.number(length) for length in nest.lengths]
    arguments += [frame.work(poll) for poll in nest.polls]
    if nest.asks:
        arguments += [frame.context(), frame.fuel()]
    return f.call(name_of(nest), "i64", *arguments)


class NestFrame(Variables):
    """The variables of a nest: its parameters. Those that it changes are read at its start and written at its end."""

    def __init__(self, f: Function, nest: Nest) -> None:
        super().__init__(f)
        self.nest = nest
        self.starts: dict[Buffer, Value] = {b: f[f"b{n}"] for n, b in enumerate(nest.buffers)}
        self.numbers: dict[Const, Value] = {length: f[f"n{n}"] for n, length in enumerate(nest.lengths)}
        self.works: dict[int, Index] = {id(poll): f.argument(f"w{n}") for n, poll in enumerate(nest.polls)}
        for buffer in nest.moved:
            self.pointers[buffer] = f.variable(f.load("ptr", self.starts[buffer]))
        for n, buffer in enumerate(nest.grown):
            self.capacities[buffer] = f.variable(f.load("i64", f[f"c{n}"]))
        if nest.asks:
            self.left = f.variable(f.load("i64", f["fuel"]))
        for n, var in enumerate(nest.values):
            self.write(var, f[f"v{n}"])
        for n, var in enumerate(nest.results):
            self.write(var, f.load(register_type(var.dtype), f[f"r{n}"]))

    def close(self) -> None:
        """Write back what has changed."""
        f = self.f
        for buffer in self.nest.moved:
            f.store(f.load("ptr", self.pointers[buffer]), self.starts[buffer])
        for n, buffer in enumerate(self.nest.grown):
            f.store(f.load("i64", self.capacities[buffer]), f[f"c{n}"])
        for n, var in enumerate(self.nest.results):
            f.store(self.read(var), f[f"r{n}"])
        if self.nest.asks:
            f.store(f.load("i64", self.left), f["fuel"])

    def start_of(self, buffer: Buffer) -> Value:
        return super().start_of(buffer) if buffer in self.pointers else self.starts[buffer]

    def number(self, constant: Const) -> Value:
        return self.numbers.get(constant) or super().number(constant)

    def work(self, poll: Poll) -> Index:
        return self.works[id(poll)]

    def context(self) -> Value:
        return self.f["context"]

    def fuel(self) -> Value:
        return self.left
