"""Programs that become the same machine code: equal but for the names of their variables, buffers and nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from whorl.ir.dtypes import name_of
from whorl.ir.native.expressions import Buffer
from whorl.kernel.canonical import Description, Nest
from whorl.kernel.program import Program, RunOp, Spread, Statement, Take


def key_of(program: Program, nests: Mapping[int, Nest]) -> str:
    """A name that programs share where they are equal; `nests` are statements that are functions of their own."""
    return hashlib.sha256(_ProgramDescription(program, nests).text().encode()).hexdigest()


class _ProgramDescription(Description):
    """A program: its cells in their order, then its statements."""

    def __init__(self, program: Program, nests: Mapping[int, Nest]) -> None:
        super().__init__()
        self.calls, self.nests = program.calls, nests
        cells = [self.expr(var) for var in program.scalars]
        cells += [self.declare(buffer) for buffer in program.buffers]
        cells += ["scratch", *(self.declare(buffer) for buffer in program.scratch)]
        self.lines.append(" ".join(cells))
        self.block(program.body)

    def declare(self, buffer: Buffer) -> str:
        self.buffers[buffer] = f"b{len(self.buffers)}"
        return f"{name_of(buffer.dtype)}{' grows' if buffer.grows else ''}"

    def block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            nest = self.nests.get(id(statement))
            if nest is None:
                super().block([statement])
            else:
                self.lines.append(self.call(nest))

    def call(self, nest: Nest) -> str:
        scalars = [self.expr(e) for e in (*nest.values, *nest.results, *nest.lengths)]
        if isinstance(nest.statement, Spread):
            scalars += [self.expr(e) for e in (nest.statement.extent, nest.statement.work)]
        works = [str(poll.work) for poll in nest.polls]
        return " ".join((nest.key, *(self.buffer(b) for b in nest.buffers), *scalars, *works))

    def line(self, statement: Statement) -> str:
        match statement:
            case RunOp():
                inputs = ["none" if b is None else self.buffer(b) for b in statement.inputs]
                outputs = [self.buffer(b) for b in statement.outputs]
                lengths = [[self.expr(n) for n in axes] for axes in statement.input_lengths]
                registers = [[self.assign(var) for var in axes] for axes in statement.output_lengths]
                return f"run {self.calls.index(statement)} {inputs} {lengths} {outputs} {registers}"
            case Take():
                raise TypeError("a Take is merged into its uses before code is written")
            case _:
                return super().line(statement)
