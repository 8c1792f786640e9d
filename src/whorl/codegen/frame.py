"""The variables of a program while it runs: stack slots, filled from the block of cells and written back to it.

The block has 64-bit cells: scalars, then addresses of buffers, of scratch, of the context of calls to the runtime
(`codegen/callers.py`) and, in a library, of the function that gives memory, then the bytes of each buffer that grows.
"""

from __future__ import annotations

from whorl.codegen.scalars import register_type
from whorl.ir.dtypes import BOOL
from whorl.ir.native.expressions import Buffer, Var
from whorl.kernel.program import Program
from whorl.llvm.function import Function
from whorl.llvm.value import Value


class Frame:
    """Slots of scalars, of the addresses of buffers, and of the capacities of those that grow."""

    def __init__(self, f: Function, program: Program) -> None:
        self.f = f
        self.cells = [*program.scalars, *program.buffers, *program.scratch]
        self.caller_owned = program.buffers
        self.context_cell = len(self.cells)
        self.memory_cell = self.context_cell + 1
        first_capacity = self.memory_cell + 1
        self.capacity_cells = dict(zip(program.growing, range(first_capacity, 1 << 62), strict=False))
        self.report_cell = first_capacity + len(program.growing)
        self.slots: dict[str, Value] = {}
        self.pointers: dict[Buffer, Value] = {}
        self.capacities: dict[Buffer, Value] = {}

    def cell(self, position: int) -> Value:
        """The address of a cell."""
        return self.f.value("ptr", f"getelementptr inbounds i64, {self.f['cells']}, i64 {position}")

    # ---- from cells and back ---------------------------------------------------------------------------------

    def open(self) -> None:
        """Read all cells."""
        f = self.f
        for position, cell in enumerate(self.cells):
            address = self.cell(position)
            if isinstance(cell, Buffer):
                slot = self.pointers[cell] = f.slot("ptr")
                f.store(f.load("ptr", address), slot)
            elif cell.dtype == BOOL:
                self.write(cell, f.convert("trunc", f.load("i64", address), "i1"))
            else:
                self.write(cell, f.load(register_type(cell.dtype), address))
        for buffer, position in self.capacity_cells.items():
            slot = self.capacities[buffer] = f.slot("i64")
            f.store(f.load("i64", self.cell(position)), slot)

    def close(self) -> None:
        """Write back what the program may have changed; addresses of scratch that stays where it is do not change."""
        for position, cell in enumerate(self.cells):
            if not isinstance(cell, Buffer) or cell.grows or cell in self.caller_owned:
                self._close(cell, self.cell(position))
        for buffer, position in self.capacity_cells.items():
            capacity = self.f.load("i64", self.capacities[buffer])
            self.f.store(capacity, self.cell(position))

    def close_growing(self) -> None:
        """Write back where memory that has grown lies now."""
        for position, cell in enumerate(self.cells):
            if isinstance(cell, Buffer) and cell.grows:
                self._close(cell, self.cell(position))

    def _close(self, cell: Var | Buffer, address: Value) -> None:
        f = self.f
        if isinstance(cell, Buffer):
            f.store(f.load("ptr", self.pointers[cell]), address)
        elif cell.dtype == BOOL:
            f.store(f.convert("zext", self.read(cell), "i64"), address)
        else:
            f.store(self.read(cell), address)

    # ---- variables -------------------------------------------------------------------------------------------

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
