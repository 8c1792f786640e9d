"""Functions of loop nests: their parameters, their variables, and how a program calls them.

Parameters are the addresses of buffers, the scalars that a nest reads, the sizes of memory that grows, variables that
it changes, lengths, and the work of its polls; then, where it asks the runtime for something, the context and the
variable of the work that is left. It returns 0, or the status with which the program ends.

Where several cores may run it, these lie in a block of cells, so that functions of all nests are called alike: with the
block, the range to compute, and the context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.codegen.callers import FORK
from whorl.codegen.frame import Variables
from whorl.codegen.scalars import register_type
from whorl.ir.native.expressions import Buffer, Const
from whorl.kernel.canonical import Nest
from whorl.kernel.program import Poll, Spread
from whorl.llvm.fuel import FUEL
from whorl.llvm.function import Function
from whorl.llvm.module import Module
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
    return types | ({"context": "ptr noundef", "fuel": "ptr noundef"} if nest.asks and not nest.is_spread else {})


RANGE = {"arguments": "ptr noundef", "first": "i64", "count": "i64", "context": "ptr noundef"}
"""The parameters of a function that several cores may run, whose own ones are in cells."""


def open_function(module: Module, nest: Nest, linkage: str = "") -> tuple[Function, dict[str, Value]]:
    """The function of a nest, and the values of its parameters."""
    own = parameters_of(nest)
    f = Function(module, name_of(nest), "i64", RANGE if nest.is_spread else own, linkage)
    if not nest.is_spread:
        return f, {name: f[name] for name in own}
    cells = {name: f.offset(f["arguments"], "i64", n) for n, name in enumerate(own)}
    values = {name: f.load(type.split()[0], cells[name]) for name, type in own.items()}
    return f, values | {name: f[name] for name in RANGE}


def call_nest(frame: Variables, nest: Nest) -> Value:
    """Call the function of a nest; its status."""
    arguments = arguments_of(frame, nest)
    if nest.asks:
        arguments += [frame.context(), frame.fuel()]
    return frame.f.call(name_of(nest), "i64", *arguments)


def call_spread(frame: Variables, nest: Nest, extent: Index, work: Index) -> Value:
    """Call the function of a nest for all of its steps, here or, where that is worth it, on several cores."""
    f, context = frame.f, frame.context()
    cells = store_arguments(f, arguments_of(frame, nest))
    fork = f.load("ptr", f.offset(context, "ptr", FORK))
    return f.call_pointer(fork, "i64", context, Value(f, "ptr", f.refer(name_of(nest))), cells, extent, work)


def arguments_of(frame: Variables, nest: Nest) -> list[Value]:
    """What the function of a nest is called with, but for the context and the work that is left."""
    arguments = [frame.pointers[b] if b in nest.moved else frame.start_of(b) for b in nest.buffers]
    arguments += [frame.read(var) for var in nest.values]
    arguments += [frame.capacities[buffer] for buffer in nest.grown]
    arguments += [frame.slot(var) for var in nest.results]
    arguments += [frame.number(length) for length in nest.lengths]
    arguments += [frame.work(poll) for poll in nest.polls]
    return arguments


def store_arguments(f: Function, arguments: Sequence[Value]) -> Value:
    """A block of cells with the arguments."""
    block = f.slot(f"[{max(1, len(arguments))} x i64]", align=16)
    for n, argument in enumerate(arguments):
        f.store(argument, f.offset(block, "i64", n))
    return block


class NestFrame(Variables):
    """The variables of a nest: its parameters. Those that it changes are read at its start and written at its end."""

    def __init__(self, f: Function, nest: Nest, parameters: Mapping[str, Value]) -> None:
        super().__init__(f)
        self.nest, self.parameters = nest, parameters
        self.starts: dict[Buffer, Value] = {b: parameters[f"b{n}"] for n, b in enumerate(nest.buffers)}
        self.numbers: dict[Const, Value] = {length: parameters[f"n{n}"] for n, length in enumerate(nest.lengths)}
        self.works: dict[int, Index] = {id(poll): f.index(parameters[f"w{n}"]) for n, poll in enumerate(nest.polls)}
        for buffer in nest.moved:
            self.pointers[buffer] = f.variable(f.load("ptr", self.starts[buffer]))
        for n, buffer in enumerate(nest.grown):
            self.capacities[buffer] = f.variable(f.load("i64", parameters[f"c{n}"]))
        if nest.asks:
            self.left = f.variable(f.index(FUEL) if nest.is_spread else f.load("i64", f["fuel"]))
        for n, var in enumerate(nest.values):
            self.write(var, parameters[f"v{n}"])
        for n, var in enumerate(nest.results):
            self.write(var, f.load(register_type(var.dtype), parameters[f"r{n}"]))
        if isinstance(nest.statement, Spread):
            self.write(nest.statement.first, f["first"])
            self.write(nest.statement.count, f["count"])

    def close(self) -> None:
        """Write back what has changed."""
        f = self.f
        for buffer in self.nest.moved:
            f.store(f.load("ptr", self.pointers[buffer]), self.starts[buffer])
        for n, buffer in enumerate(self.nest.grown):
            f.store(f.load("i64", self.capacities[buffer]), self.parameters[f"c{n}"])
        for n, var in enumerate(self.nest.results):
            f.store(self.read(var), self.parameters[f"r{n}"])
        if self.nest.asks and not self.nest.is_spread:
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
