"""Statements of kernel programs as blocks of LLVM IR."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.codegen.callers import GROW, POLL
from whorl.codegen.callers import RUN as RUN_CELL
from whorl.codegen.expressions import Expressions
from whorl.codegen.frame import Frame
from whorl.codegen.statuses import FIRST_FAILURE, NO_MEMORY, STOPPED
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr
from whorl.kernel.program import (
    Assign,
    Call,
    Fail,
    For,
    Poll,
    Program,
    Reserve,
    RunOp,
    Statement,
    Store,
    Swap,
    Take,
    When,
    While,
)
from whorl.kernels.kernel import ANY
from whorl.kernels.table import KERNELS
from whorl.llvm.function import Function
from whorl.llvm.routine import FUEL, NO_POLLS, ask_to_go_on
from whorl.llvm.value import Value

INTERLEAVED = ((512, 4), (128, 2))
"""Iterations of a parallel loop from which so many vectors are computed side by side where it calls functions: each of
these is a long chain of operations that wait for each other."""
_LIKELY = '!{!"branch_weights", i32 2000, i32 1}'


class Statements:
    """Writes statements. With `failures`, each `Fail` has a status of its own and is appended there."""

    def __init__(self, frame: Frame, program: Program, failures: list[Fail] | None) -> None:
        self.frame, self.f = frame, frame.f
        self.expressions = Expressions(frame)
        self.calls, self.failures = program.calls, failures
        self.fuel: Value | None = None

    def write(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            match statement:
                case Assign(var, value):
                    self.frame.write(var, self.expressions.write(value))
                    if not var.once:
                        self.expressions.forget()
                case Store(buffer, index, value):
                    self.expressions.store(buffer, index, value)
                case For():
                    self._for(statement)
                case When():
                    self._when(statement)
                case While():
                    self._while(statement)
                case Swap(a, b):
                    self._swap(a, b)
                case Reserve(buffer, count):
                    self._reserve(buffer, count)
                case RunOp():
                    self._run_op(statement)
                case Call():
                    self._call(statement)
                case Poll(work):
                    self._poll(work)
                case Fail():
                    self._fail(statement)
                case Take():
                    raise TypeError("a Take is merged into its uses before code is written")

    # ---- control ---------------------------------------------------------------------------------------------

    def _for(self, loop: For) -> None:
        f = self.f
        body, after, done = f.fresh("for"), f.fresh("next"), f.fresh("done")
        extent = f.index(self.expressions.write(loop.extent))
        slot = self.frame.slot(loop.var)
        f.store(f.index(0), slot)
        f.branch(extent > 0, body, done)
        f.start(body)
        functions = self.expressions.scalars.functions
        if loop.parallel:
            self.expressions.groups.append(f.refer(f.module.add_metadata("distinct !{}")))
        self.write(loop.body)
        calls_functions = self.expressions.scalars.functions > functions
        metadata = self._end_parallel(loop, calls_functions) if loop.parallel else ""
        f.jump(after)
        f.start(after)
        step = f.index(f.binary("add nuw nsw", f.load_index(slot), f.index(1)))
        f.store(step, slot)
        f.branch(step < extent, body, done, metadata)
        f.start(done)

    def _end_parallel(self, loop: For, calls_functions: bool) -> str:
        """What the vectoriser may assume of a parallel loop, whose group of accesses ends here."""
        module = self.f.module
        group = self.expressions.groups.pop()
        facts = [module.add_metadata(f'!{{!"llvm.loop.parallel_accesses", {group}}}', group)]
        extent = _most_iterations(loop.extent) if calls_functions else 0
        count = next((count for least, count in INTERLEAVED if extent >= least), 0)
        if count:
            facts.append(module.add_metadata(f'!{{!"llvm.loop.interleave.count", i32 {count}}}'))
        loop_node = module.add_metadata(f"distinct !{{!self, {', '.join(facts)}}}", *facts)
        return f", !llvm.loop {self.f.refer(loop_node)}"

    def _when(self, when: When) -> None:
        f = self.f
        then, other, done = f.fresh("then"), f.fresh("else"), f.fresh("fi")
        f.branch(self.expressions.write(when.condition), then, other)
        for block, statements in ((then, when.then), (other, when.other)):
            f.start(block)
            self.write(statements)
            f.jump(done)
        f.start(done)

    def _while(self, loop: While) -> None:
        f = self.f
        head, body, done = f.fresh("head"), f.fresh("while"), f.fresh("end")
        f.jump(head)
        f.start(head)
        self.write(loop.head)
        f.branch(self.expressions.write(loop.condition), body, done)
        f.start(body)
        self.write(loop.body)
        f.jump(head)
        f.start(done)

    # ---- memory ----------------------------------------------------------------------------------------------

    def _swap(self, a: Buffer, b: Buffer) -> None:
        swap(self.f, "ptr", self.frame.pointers[a], self.frame.pointers[b])
        if a.grows:
            swap(self.f, "i64", self.frame.capacities[a], self.frame.capacities[b])
        self.expressions.forget()

    def _reserve(self, buffer: Buffer, count: Expr) -> None:
        """Ask the runtime for more memory, at least twice as much as there is; none ends the program."""
        f, slot = self.f, self.frame.capacities[buffer]
        needed = self.expressions.write(count) * buffer.dtype.itemsize
        capacity = f.load("i64", slot)
        grow, done = f.fresh("grow"), f.fresh("enough")
        f.branch(f.compare("ule", needed, capacity), done, grow, self._likely())
        f.start(grow)
        size = f.intrinsic("umax", needed, capacity << 1)
        old = self.frame.start_of(buffer)
        if self.failures is None:
            context, function = self._function_of_context(GROW)
            new = f.call_pointer(function, "ptr", context, old, size)
        else:
            function = f.load("ptr", self.frame.cell(self.frame.memory_cell))
            new = f.call_pointer(function, "ptr", old, size)
        with f.leave_when(f.compare("eq", new, f.null())):
            self._end(NO_MEMORY)
        f.store(new, self.frame.pointers[buffer])
        f.store(size, slot)
        f.jump(done)
        f.start(done)

    # ---- ends ------------------------------------------------------------------------------------------------

    def _fail(self, fail: Fail) -> None:
        status = fail.status
        if self.failures is not None:
            status = FIRST_FAILURE + len(self.failures)
            self.failures.append(fail)
            for position, var in enumerate(fail.iterations, self.frame.report_cell):
                value = self.frame.read(var)
                self.f.store(value, self.frame.cell(position))
        self._end(status)
        self.f.start(self.f.fresh("dead"))

    def _end(self, status: int) -> None:
        """Return early. With numbered failures, the caller frees what has grown, so it learns where that lies now."""
        if self.failures is not None:
            self.frame.close_growing()
        self.f.give(self.f.index(status))

    # ---- calls of the runtime --------------------------------------------------------------------------------

    def _function_of_context(self, cell: int) -> tuple[Value, Value]:
        """The context of calls to the runtime, and the function in one of its cells."""
        f = self.f
        context = f.load("ptr", self.frame.cell(self.frame.context_cell))
        return context, f.load("ptr", f.value("ptr", f"getelementptr inbounds ptr, {context}, i64 {cell}"))

    def _run_op(self, call: RunOp) -> None:
        """Call the runtime with the number of the op; anything but 0 ends the program."""
        f = self.f
        context, function = self._function_of_context(RUN_CELL)
        lengths = self._pass_lengths(call) if call.output_lengths else f.null()
        status = f.call_pointer(function, "i64", context, f.index(self.calls.index(call)), lengths)
        with f.leave_when(status.differs(0)):
            f.give(f.index(NO_MEMORY))
        if call.output_lengths:
            self._take_lengths(call, lengths)

    def _pass_lengths(self, call: RunOp) -> Value:
        """Cells with the address and the lengths of each input, then address, capacity and lengths of each output."""
        f = self.f
        cells: list[Value] = []
        for buffer, lengths in zip(call.inputs, call.input_lengths, strict=True):
            cells.append(self._address_number(buffer) if buffer is not None else f.index(0))
            cells += [self.expressions.write(length) for length in lengths]
        for buffer, registers in zip(call.outputs, call.output_lengths, strict=True):
            cells += [self._address_number(buffer), f.load("i64", self.frame.capacities[buffer])]
            cells += [f.index(0)] * len(registers)
        block = f.slot(f"[{len(cells)} x i64]")
        for position, value in enumerate(cells):
            f.store(value, self._block_cell(block, position))
        return block

    def _take_lengths(self, call: RunOp, block: Value) -> None:
        """Take address, capacity and lengths of each output, which the runtime has written."""
        f = self.f
        position = len(call.inputs) + sum(map(len, call.input_lengths))
        for buffer, registers in zip(call.outputs, call.output_lengths, strict=True):
            f.store(f.load("ptr", self._block_cell(block, position)), self.frame.pointers[buffer])
            f.store(f.load("i64", self._block_cell(block, position + 1)), self.frame.capacities[buffer])
            for number, var in enumerate(registers, position + 2):
                self.frame.write(var, f.load("i64", self._block_cell(block, number)))
            position += 2 + len(registers)
        self.expressions.forget()

    def _address_number(self, buffer: Buffer) -> Value:
        return self.f.convert("ptrtoint", self.frame.start_of(buffer), "i64")

    def _block_cell(self, block: Value, position: int) -> Value:
        return self.f.value("ptr", f"getelementptr inbounds i64, {block}, i64 {position}")

    # ---- kernels and polls -----------------------------------------------------------------------------------

    def _call(self, call: Call) -> None:
        f = self.f
        dtypes = [buffer.dtype for buffer, _ in call.addresses]
        routine = KERNELS[call.kernel].define(f.module, dtypes, call.numbers_or(ANY))
        addresses = [self.expressions.address(buffer, index) for buffer, index in call.addresses]
        numbers = (self.expressions.write(n) if isinstance(n, Expr) else n for n in call.numbers)
        arguments = [*addresses, *map(f.index, numbers)]
        if not call.polls:
            f.call(routine, "i64", *arguments, *NO_POLLS)
            self.expressions.forget()
            return
        context = f.load("ptr", self.frame.cell(self.frame.context_cell))
        fuel = f.load("i64", self._fuel())
        self._refuel(f.call(routine, "i64", *arguments, context, fuel))

    def _poll(self, work: int) -> None:
        """Count work; once the fuel is used up, ask whether to go on."""
        f = self.f
        ask, done = f.fresh("ask"), f.fresh("polled")
        fuel = f.load_index(self._fuel()) - min(work, FUEL)
        f.store(fuel, self._fuel())
        f.branch(fuel >= 0, done, ask, self._likely())
        f.start(ask)
        self._refuel(ask_to_go_on(f, *self._function_of_context(POLL)))
        f.jump(done)
        f.start(done)

    def _refuel(self, fuel: Value) -> None:
        """Go on with new fuel, or end the program where it is none."""
        self.f.store(fuel, self._fuel())
        with self.f.leave_when(fuel.equals(0)):
            self.f.give(self.f.index(STOPPED))

    def _fuel(self) -> Value:
        """The variable of the fuel that is left."""
        if self.fuel is None:
            self.fuel = self.f.slot("i64", self.f.index(FUEL))
        return self.fuel

    def _likely(self) -> str:
        return f", !prof {self.f.refer(self.f.module.add_metadata(_LIKELY))}"


def swap(f: Function, type: str, first: Value, second: Value) -> None:
    """Exchange the contents of two variables."""
    a, b = f.load(type, first), f.load(type, second)
    f.store(b, first)
    f.store(a, second)


def _most_iterations(extent: Expr) -> int:
    """The number of iterations, at most, where the program says it; else 0."""
    match extent:
        case Const(value=value) | Apply(op="min", args=(Const(value=value), _)):
            return int(value)
        case _:
            return 0
