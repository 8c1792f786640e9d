"""The variables of a program while it runs: stack slots, filled from the block of cells and written back to it.

The block has 64-bit cells: scalars, then addresses of buffers, of scratch, of the context of calls to the runtime
(`codegen/callers.py`) and, in a library, of the function that gives memory, then the bytes of each buffer that grows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from whorl.codegen.scalars import literal, register_type
from whorl.codegen.statuses import FIRST_FAILURE
from whorl.ir.dtypes import BOOL
from whorl.ir.native.expressions import Buffer, Const, Var
from whorl.kernel.program import Fail, Poll, Program, Reserve, RunOp, Swap, Take
from whorl.kernel.walk import all_statements
from whorl.llvm.fuel import FUEL
from whorl.llvm.function import Function
from whorl.llvm.value import Index, Value


class Variables(ABC):
    """Slots of scalars, of the addresses of buffers, and of the capacities of those that grow."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.slots: dict[str, Value] = {}
        self.pointers: dict[Buffer, Value] = {}
        self.capacities: dict[Buffer, Value] = {}

    def slot(self, var: Var) -> Value:
        if var.name not in self.slots:
            self.slots[var.name] = self.f.slot(register_type(var.dtype))
        return self.slots[var.name]

    def read(self, var: Var) -> Value:
        return self.f.load(register_type(var.dtype), self.slot(var))

    def write(self, var: Var, value: Value) -> None:
        self.f.store(value, self.slot(var))

    def start_of(self, buffer: Buffer) -> Value:
        """The address of a buffer's first element."""
        return self.f.load("ptr", self.pointers[buffer])

    def number(self, constant: Const) -> Value:
        """A constant."""
        return literal(self.f, constant)

    def work(self, poll: Poll) -> Index:
        """What a poll counts."""
        return self.f.index(min(poll.work, FUEL))

    @abstractmethod
    def context(self) -> Value:
        """The context of calls to the runtime."""

    @abstractmethod
    def fuel(self) -> Value:
        """The variable of the work that is left until the program asks whether to go on."""


class Frame(Variables):
    """The variables of a whole program.

    Addresses that do not change are registers, or are read from their cells wherever they are used: `in_cells`, for
    code that is not optimised.
    """

    def __init__(self, f: Function, program: Program, in_cells: bool = False) -> None:
        super().__init__(f)
        self.in_cells, self.moving = in_cells, _moving(program)
        self.cells = [*program.scalars, *program.buffers, *program.scratch]
        self.caller_owned = program.buffers
        self.context_cell = len(self.cells)
        self.memory_cell = self.context_cell + 1
        self.positions = {cell: position for position, cell in enumerate(self.cells)}
        first_capacity = self.memory_cell + 1
        self.capacity_cells = dict(zip(program.growing, range(first_capacity, 1 << 62), strict=False))
        self.report_cell = first_capacity + len(program.growing)
        self.fuel_slot: Value | None = None

    def cell(self, position: int) -> Value:
        """The address of a cell."""
        return self.f.value("ptr", f"getelementptr inbounds i64, {self.f['cells']}, i64 {position}")

    def context(self) -> Value:
        return self.f.load("ptr", self.cell(self.context_cell))

    def fuel(self) -> Value:
        if self.fuel_slot is None:
            self.fuel_slot = self.f.slot("i64", self.f.index(FUEL))
        return self.fuel_slot

    def start_of(self, buffer: Buffer) -> Value:
        if buffer in self.pointers:
            return super().start_of(buffer)
        return self.f.load("ptr", self.cell(self.positions[buffer]))

    # ---- from cells and back ---------------------------------------------------------------------------------

    def open(self) -> None:
        """Read all cells."""
        f = self.f
        for position, cell in enumerate(self.cells):
            if not isinstance(cell, Buffer):
                self._open(cell, self.cell(position))
            elif cell in self.moving or not self.in_cells:
                slot = self.pointers[cell] = f.slot("ptr")
                f.store(f.load("ptr", self.cell(position)), slot)
        for buffer, position in self.capacity_cells.items():
            slot = self.capacities[buffer] = f.slot("i64")
            f.store(f.load("i64", self.cell(position)), slot)

    def _open(self, var: Var, address: Value) -> None:
        if var.dtype == BOOL:
            self.write(var, self.f.convert("trunc", self.f.load("i64", address), "i1"))
        else:
            self.write(var, self.f.load(register_type(var.dtype), address))

    def close(self) -> None:
        """Write back what the program may have changed; for the next run, scratch stays where it is unless it grows."""
        for position, cell in enumerate(self.cells):
            is_own = isinstance(cell, Buffer) and not cell.grows and cell not in self.caller_owned
            if not is_own and (cell in self.moving or not isinstance(cell, Buffer)):
                self._close(cell, self.cell(position))
        for buffer, position in self.capacity_cells.items():
            capacity = self.f.load("i64", self.capacities[buffer])
            self.f.store(capacity, self.cell(position))

    def close_growing(self) -> None:
        """Write back where memory that has grown lies now."""
        for position, cell in enumerate(self.cells):
            if isinstance(cell, Buffer) and cell.grows and cell in self.moving:
                self._close(cell, self.cell(position))

    def _close(self, cell: Var | Buffer, address: Value) -> None:
        f = self.f
        if isinstance(cell, Buffer):
            f.store(f.load("ptr", self.pointers[cell]), address)
        elif cell.dtype == BOOL:
            f.store(f.convert("zext", self.read(cell), "i64"), address)
        else:
            f.store(self.read(cell), address)


def _moving(program: Program) -> set[Buffer]:
    """The buffers whose addresses change while a program runs."""
    result: set[Buffer] = set()
    for statement in all_statements(program.body):
        match statement:
            case Swap(a, b) | Take(a, b):
                result |= {a, b}
            case Reserve(buffer):
                result.add(buffer)
            case RunOp(outputs=outputs, output_lengths=lengths) if lengths:
                result.update(outputs)
            case _:
                pass
    return result


class Failures(ABC):
    """What fails has a number of its own.

    Who runs a program of a library asks what failed, and where.
    """

    def __init__(self, frame: Variables, fails: list[Fail]) -> None:
        self.frame, self.f, self.fails = frame, frame.f, fails

    @abstractmethod
    def add(self, fail: Fail) -> int:
        """The status of a failure, whose iteration numbers are reported."""

    @abstractmethod
    def end(self) -> None:
        """Before a function returns early."""

    @abstractmethod
    def memory_function(self) -> Value:
        """The function that gives more memory."""


class ProgramFailures(Failures):
    """Failures with numbers of their own, in the program of a library, whose iteration numbers are written to cells.

    The caller frees what has grown, so it learns where that lies now; it also gives the memory.
    """

    def __init__(self, frame: Frame, fails: list[Fail]) -> None:
        super().__init__(frame, fails)
        self.program = frame

    def add(self, fail: Fail) -> int:
        self.fails.append(fail)
        for position, var in enumerate(fail.iterations, self.program.report_cell):
            value = self.frame.read(var)
            self.f.store(value, self.program.cell(position))
        return FIRST_FAILURE + len(self.fails) - 1

    def end(self) -> None:
        self.program.close_growing()

    def memory_function(self) -> Value:
        return self.f.load("ptr", self.program.cell(self.program.memory_cell))
