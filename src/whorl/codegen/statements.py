"""Statements of kernel programs as blocks of LLVM IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from whorl.codegen.callers import GROW, POLL
from whorl.codegen.callers import RUN as RUN_CELL
from whorl.codegen.expressions import Expressions
from whorl.codegen.frame import Failures, Variables
from whorl.codegen.nest_functions import call_nest, call_spread
from whorl.codegen.routines import Routines, define_routine
from whorl.codegen.statuses import NO_MEMORY, STOPPED
from whorl.ir.native.expressions import Buffer, Expr
from whorl.kernel.canonical import Nest
from whorl.kernel.program import (
    Assign,
    Call,
    Fail,
    For,
    Poll,
    Reserve,
    RunOp,
    Spread,
    Statement,
    Store,
    Swap,
    Take,
    When,
    While,
)
from whorl.kernel.vectors import vectors_side_by_side
from whorl.kernels.table import KERNELS
from whorl.llvm.function import Function
from whorl.llvm.routine import NO_POLLS, PARTS, ask_to_go_on
from whorl.llvm.value import Value

NO_NESTS: Mapping[int, Nest] = MappingProxyType({})
_LIKELY = '!{!"branch_weights", i32 2000, i32 1}'


class Statements:
    """Writes statements. With `failures`, each `Fail` has a status of its own.

    `nests` are statements, by identity, that are functions to call; `routines` those that programs share.
    """

    def __init__(
        self,
        frame: Variables,
        calls: Sequence[RunOp] = (),
        nests: Mapping[int, Nest] = NO_NESTS,
        failures: Failures | None = None,
        routines: Routines | None = None,
    ) -> None:
        self.frame, self.f = frame, frame.f
        self.expressions = Expressions(frame)
        self.calls, self.nests, self.failures, self.routines = calls, nests, failures, routines

    def write(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            match statement:
                case Spread():
                    self._spread(statement)
                case For() | While() if id(statement) in self.nests:
                    self._call_nest(self.nests[id(statement)])
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
                case Poll():
                    self._poll(statement)
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
        count = vectors_side_by_side(loop, module.machine.vector_bytes) if calls_functions else 0
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
            new = f.call_pointer(self.failures.memory_function(), "ptr", old, size)
        with f.leave_when(f.compare("eq", new, f.null())):
            self._end(NO_MEMORY)
        f.store(new, self.frame.pointers[buffer])
        f.store(size, slot)
        f.jump(done)
        f.start(done)

    # ---- ends ------------------------------------------------------------------------------------------------

    def _fail(self, fail: Fail) -> None:
        self._end(fail.status if self.failures is None else self.failures.add(fail))
        self.f.start(self.f.fresh("dead"))

    def _end(self, status: Value | int) -> None:
        """Return early."""
        if self.failures is not None:
            self.failures.end()
        self.f.give(self.f.index(status))

    # ---- calls of the runtime --------------------------------------------------------------------------------

    def _function_of_context(self, cell: int) -> tuple[Value, Value]:
        """The context of calls to the runtime, and the function in one of its cells."""
        f = self.f
        context = self.frame.context()
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

    # ---- nests, kernels and polls ----------------------------------------------------------------------------

    def _spread(self, spread: Spread) -> None:
        """Run a nest's function for all steps; one range of it, where that is what is written."""
        nest = self.nests.get(id(spread))
        if nest is None:
            self.write(spread.body)
            return
        extent, work = (self.f.index(self.expressions.write(e)) for e in (spread.extent, spread.work))
        self._end_unless_done(nest, call_spread(self.frame, nest, extent, work))

    def _call_nest(self, nest: Nest) -> None:
        self._end_unless_done(nest, call_nest(self.frame, nest))

    def _end_unless_done(self, nest: Nest, status: Value) -> None:
        if nest.asks or nest.ends:
            with self.f.leave_when(status.differs(0)):
                self._end(status)
        self.expressions.forget()

    def _call(self, call: Call) -> None:
        f = self.f
        shared = self.routines
        routine = shared.add_to(f.module, call) if shared is not None else define_routine(call, f.module)
        addresses = [self.expressions.address(buffer, index) for buffer, index in call.addresses]
        parts = call.parts or ((0, PARTS) if KERNELS[call.kernel].meaning.factors else ())
        numbers = (self.expressions.write(n) if isinstance(n, Expr) else n for n in (*call.numbers, *parts))
        arguments = [*addresses, *map(f.index, numbers)]
        if not call.polls:
            f.call(routine, "i64", *arguments, *NO_POLLS)
            self.expressions.forget()
            return
        context = self.frame.context()
        fuel = f.load("i64", self.frame.fuel())
        self._refuel(f.call(routine, "i64", *arguments, context, fuel))

    def _poll(self, poll: Poll) -> None:
        """Count work; once the fuel is used up, ask whether to go on."""
        f = self.f
        ask, done = f.fresh("ask"), f.fresh("polled")
        work = self.frame.work(poll)
        if poll.times is not None:
            work *= f.index(self.expressions.write(poll.times))
        fuel = f.load_index(self.frame.fuel()) - work
        f.store(fuel, self.frame.fuel())
        f.branch(fuel >= 0, done, ask, self._likely())
        f.start(ask)
        self._refuel(ask_to_go_on(f, *self._function_of_context(POLL)))
        f.jump(done)
        f.start(done)

    def _refuel(self, fuel: Value) -> None:
        """Go on with new fuel, or end the program where it is none."""
        self.f.store(fuel, self.frame.fuel())
        with self.f.leave_when(fuel.equals(0)):
            self.f.give(self.f.index(STOPPED))

    def _likely(self) -> str:
        return f", !prof {self.f.refer(self.f.module.add_metadata(_LIKELY))}"


def swap(f: Function, type: str, first: Value, second: Value) -> None:
    """Exchange the contents of two variables."""
    a, b = f.load(type, first), f.load(type, second)
    f.store(b, first)
    f.store(a, second)
