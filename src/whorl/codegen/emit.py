"""Kernel programs as LLVM IR text.

The function takes one pointer to a block of 64-bit cells: scalars, then addresses of buffers, of scratch, of the
context of calls to the runtime (`codegen/callers.py`) and, in a library, of the function that gives memory, then the
bytes of each buffer that grows; it writes scalars and buffer addresses back before it returns 0, or returns the status
of a `Fail` at once. Variables are stack slots, which LLVM turns into registers. Loads and stores inside parallel loops
carry access groups, so that the vectoriser needs no alias checks: with some sixteen arrays it would give up.
"""

from __future__ import annotations

from collections.abc import Sequence

from whorl.codegen.callers import GROW, POLL, RUN
from whorl.codegen.formulas import Library
from whorl.codegen.kernels import require_kernel
from whorl.codegen.routine import FUEL, NO_POLLS, asked
from whorl.codegen.scalars import Scalars, literal, memory_type, register_type
from whorl.debug import dumped_program
from whorl.ir.dtypes import BOOL
from whorl.ir.native.expressions import Apply, Buffer, Const, Expr, Load, Var
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
    When,
    While,
)
from whorl.kernel.verify import parts

FUNCTION = "whorl_run"
FIRST_FAILURE = 2
"""The status of the first failure with a number; 1 is that of memory that was refused."""
STOPPED = -1
"""The status of a program that was told not to go on."""
_LIKELY = '!{!"branch_weights", i32 2000, i32 1}'
INTERLEAVED = ((512, 4), (128, 2))
"""Iterations of a parallel loop from which so many vectors are computed side by side where it calls functions: each of
these is a long chain of operations that wait for each other."""


def emit(program: Program) -> str:
    """The LLVM IR of a program."""
    return dumped_program(program, _Emitter().program(program))


def emit_numbered(program: Program) -> tuple[str, list[Fail]]:
    """The LLVM IR of a program that a library embeds, and the places where it may fail.

    The status of failure n is n + FIRST_FAILURE; the iteration numbers around it follow the other cells.
    """
    emitter = _Emitter()
    emitter.failures = []
    text = emitter.program(program).replace(f"define i64 @{FUNCTION}(", f"define internal i64 @{FUNCTION}(", 1)
    return dumped_program(program, text), emitter.failures


class _Emitter:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.tail: list[str] = []
        self.count = 0
        self.metadata: list[str] = []
        self.groups: list[int] = []
        self.slots: dict[str, str] = {}
        self.pointers: dict[Buffer, str] = {}
        self.capacities: dict[Buffer, str] = {}
        self.memo: dict[Expr, str] = {}
        self.library: Library = {}
        self.scalars = Scalars(self.value, self._group, self.library)
        self.callback = 0
        self.calls: list[RunOp] = []
        self.failures: list[Fail] | None = None
        self.report = 0
        self.growing: dict[Var | Buffer, int] = {}
        self.fuel = ""

    # ---- text ------------------------------------------------------------------------------------------------

    def fresh(self, hint: str = "t") -> str:
        self.count += 1
        return f"%{hint}{self.count}"

    def value(self, instruction: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {instruction}")
        return name

    def line(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name[1:]}:")
        self.memo = {}

    def node(self, content: str) -> int:
        self.metadata.append(content)
        return len(self.metadata) - 1

    # ---- the function ----------------------------------------------------------------------------------------

    def program(self, program: Program) -> str:
        cells = [*program.scalars, *program.buffers, *program.scratch]
        self.callback, self.calls = len(cells), program.calls
        self.report = len(cells) + 2 + len(program.growing)
        self.growing = {buffer: position for position, buffer in enumerate(cells) if buffer in program.growing}
        self.lines.append("body:")
        for position, cell in enumerate(cells):
            self._open(cell, self._cell(position))
        for position, buffer in enumerate(program.growing, self.callback + 2):
            slot = self.capacities[buffer] = self._alloca("i64")
            self.line(f"store i64 {self.value(f'load i64, ptr {self._cell(position)}')}, ptr {slot}")
        self.block(program.body)
        for position, cell in enumerate(cells):
            if not isinstance(cell, Buffer) or cell.grows or cell in program.buffers:
                self._close(cell, self._cell(position))
        for position, buffer in enumerate(program.growing, self.callback + 2):
            value = self.value(f"load i64, ptr {self.capacities[buffer]}")
            self.line(f"store i64 {value}, ptr {self._cell(position)}")
        self.line("ret i64 0")
        head = ["define i64 @whorl_run(ptr noundef %cells) nounwind {", "entry:", *self.entry, "  br label %body"]
        nodes = [f"!{k} = {content}" for k, content in enumerate(self.metadata)]
        return "\n".join((*head, *self.lines, "}", *self.library.values(), *nodes)) + "\n"

    def _cell(self, position: int) -> str:
        return self.value(f"getelementptr inbounds i64, ptr %cells, i64 {position}")

    def _open(self, cell: Var | Buffer, address: str) -> None:
        if isinstance(cell, Buffer):
            slot = self.pointers[cell] = self._alloca("ptr")
            self.line(f"store ptr {self.value(f'load ptr, ptr {address}')}, ptr {slot}")
            return
        if cell.dtype == BOOL:
            self._write(cell, self.value(f"trunc i64 {self.value(f'load i64, ptr {address}')} to i1"))
        else:
            self._write(cell, self.value(f"load {register_type(cell.dtype)}, ptr {address}"))

    def _close(self, cell: Var | Buffer, address: str) -> None:
        if isinstance(cell, Buffer):
            self.line(f"store ptr {self.value(f'load ptr, ptr {self.pointers[cell]}')}, ptr {address}")
        elif cell.dtype == BOOL:
            self.line(f"store i64 {self.value(f'zext i1 {self._read(cell)} to i64')}, ptr {address}")
        else:
            self.line(f"store {register_type(cell.dtype)} {self._read(cell)}, ptr {address}")

    def _alloca(self, kind: str) -> str:
        name = self.fresh("slot")
        self.entry.append(f"  {name} = alloca {kind}")
        return name

    def _slot(self, var: Var) -> str:
        if var.name not in self.slots:
            self.slots[var.name] = self._alloca(register_type(var.dtype))
        return self.slots[var.name]

    def _read(self, var: Var) -> str:
        return self.value(f"load {register_type(var.dtype)}, ptr {self._slot(var)}")

    def _write(self, var: Var, value: str) -> None:
        self.line(f"store {register_type(var.dtype)} {value}, ptr {self._slot(var)}")

    # ---- statements ------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            match statement:
                case Assign(var, value):
                    self._write(var, self.expr(value))
                    if not var.once:
                        self.memo = {}
                case Store():
                    self._store(statement)
                case For():
                    self._for(statement)
                case When():
                    self._when(statement)
                case While():
                    self._while(statement)
                case Swap(a, b):
                    self._swap("ptr", self.pointers[a], self.pointers[b])
                    if a.grows:
                        self._swap("i64", self.capacities[a], self.capacities[b])
                    self.memo = {}
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

    def _swap(self, kind: str, first: str, second: str) -> None:
        a, b = self.value(f"load {kind}, ptr {first}"), self.value(f"load {kind}, ptr {second}")
        self.line(f"store {kind} {b}, ptr {first}")
        self.line(f"store {kind} {a}, ptr {second}")

    def _reserve(self, buffer: Buffer, count: Expr) -> None:
        """Ask the runtime for more memory, at least twice as much as there is; none ends the program."""
        slot = self.capacities[buffer]
        needed = self.value(f"mul i64 {self.expr(count)}, {buffer.dtype.itemsize}")
        capacity = self.value(f"load i64, ptr {slot}")
        grow, refused, given, done = (self.fresh(hint) for hint in ("grow", "refused", "given", "enough"))
        enough = self.value(f"icmp ule i64 {needed}, {capacity}")
        self.line(f"br i1 {enough}, label {done}, label {grow}, !prof !{self.node(_LIKELY)}")
        self.label(grow)
        double = self.value(f"shl i64 {capacity}, 1")
        size = self.value(f"call i64 @llvm.umax.i64(i64 {needed}, i64 {double})")
        old = self.value(f"load ptr, ptr {self.pointers[buffer]}")
        if self.failures is None:
            context, function = self._caller(GROW)
            new = self.value(f"call ptr {function}(ptr {context}, ptr {old}, i64 {size})")
        else:
            function = self.value(f"load ptr, ptr {self._cell(self.callback + 1)}")
            new = self.value(f"call ptr {function}(ptr {old}, i64 {size})")
        self.line(f"br i1 {self.value(f'icmp eq ptr {new}, null')}, label {refused}, label {given}")
        self.label(refused)
        self._end(1)
        self.label(given)
        self.line(f"store ptr {new}, ptr {self.pointers[buffer]}")
        self.line(f"store i64 {size}, ptr {slot}")
        self.line(f"br label {done}")
        self.label(done)

    def _fail(self, fail: Fail) -> None:
        status = fail.status
        if self.failures is not None:
            status = FIRST_FAILURE + len(self.failures)
            self.failures.append(fail)
            for position, var in enumerate(fail.iterations, self.report):
                self.line(f"store i64 {self._read(var)}, ptr {self._cell(position)}")
        self._end(status)
        self.label(self.fresh("dead"))

    def _end(self, status: int) -> None:
        """Return early; who numbers failures learns, too, where memory that has grown lies now."""
        if self.failures is not None:
            for buffer, position in self.growing.items():
                self._close(buffer, self._cell(position))
        self.line(f"ret i64 {status}")

    def _run_op(self, call: RunOp) -> None:
        """Call the runtime with the number of the op; anything but 0 ends the program."""
        context, function = self._caller(RUN)
        said = self._say(call) if call.found else "null"
        status = self.value(f"call i64 {function}(ptr {context}, i64 {self.calls.index(call)}, ptr {said})")
        failed, done = self.fresh("failed"), self.fresh("called")
        self.line(f"br i1 {self.value(f'icmp ne i64 {status}, 0')}, label {failed}, label {done}")
        self.label(failed)
        self.line("ret i64 1")
        self.label(done)
        if call.found:
            self._hear(call, said)

    def _caller(self, position: int) -> tuple[str, str]:
        """The context of calls to the runtime, and the function at a position in it."""
        context = self.value(f"load ptr, ptr {self._cell(self.callback)}")
        place = self.value(f"getelementptr inbounds ptr, ptr {context}, i64 {position}")
        return context, self.value(f"load ptr, ptr {place}")

    def _poll(self, work: int) -> None:
        """Count work; once the fuel is used up, ask whether to go on."""
        ask, more, done = (self.fresh(hint) for hint in ("ask", "more", "polled"))
        fuel = self.value(f"sub nsw i64 {self.value(f'load i64, ptr {self._tank()}')}, {min(work, FUEL)}")
        self.line(f"store i64 {fuel}, ptr {self._tank()}")
        enough = self.value(f"icmp sge i64 {fuel}, 0")
        self.line(f"br i1 {enough}, label {done}, label {ask}, !prof !{self.node(_LIKELY)}")
        self.label(ask)
        context, function = self._caller(POLL)
        given = self.value(asked(context, function))
        self._refuel(given, more)
        self.line(f"br label {done}")
        self.label(done)

    def _refuel(self, given: str, go_on: str) -> None:
        """Take the fuel that is given and go on, or end the program where it is none."""
        stop = self.fresh("stop")
        self.line(f"store i64 {given}, ptr {self._tank()}")
        is_none = self.value(f"icmp eq i64 {given}, 0")
        self.line(f"br i1 {is_none}, label {stop}, label {go_on}")
        self.label(stop)
        self.line(f"ret i64 {STOPPED}")
        self.label(go_on)

    def _tank(self) -> str:
        """The variable that holds the fuel that is left."""
        if not self.fuel:
            self.fuel = self._alloca("i64")
            self.entry.append(f"  store i64 {FUEL}, ptr {self.fuel}")
        return self.fuel

    def _say(self, call: RunOp) -> str:
        """Cells with the address and the lengths of each input, then address, capacity and lengths of each output."""
        cells: list[str] = []
        for buffer, lengths in zip(call.inputs, call.given, strict=True):
            cells.append(self._where(buffer) if buffer is not None else "0")
            cells += [self.expr(length) for length in lengths]
        for buffer, registers in zip(call.outputs, call.found, strict=True):
            cells += [self._where(buffer), self.value(f"load i64, ptr {self.capacities[buffer]}")]
            cells += ["0"] * len(registers)
        block = self._alloca(f"[{len(cells)} x i64]")
        for place, value in enumerate(cells):
            self.line(f"store i64 {value}, ptr {self._part(block, place)}")
        return block

    def _hear(self, call: RunOp, block: str) -> None:
        """Take what the runtime said of the outputs."""
        place = len(call.inputs) + sum(map(len, call.given))
        for buffer, registers in zip(call.outputs, call.found, strict=True):
            start = self.value(f"load ptr, ptr {self._part(block, place)}")
            self.line(f"store ptr {start}, ptr {self.pointers[buffer]}")
            capacity = self.value(f"load i64, ptr {self._part(block, place + 1)}")
            self.line(f"store i64 {capacity}, ptr {self.capacities[buffer]}")
            for number, var in enumerate(registers, place + 2):
                self._write(var, self.value(f"load i64, ptr {self._part(block, number)}"))
            place += 2 + len(registers)
        self.memo = {}

    def _where(self, buffer: Buffer) -> str:
        return self.value(f"ptrtoint ptr {self.value(f'load ptr, ptr {self.pointers[buffer]}')} to i64")

    def _part(self, block: str, place: int) -> str:
        return self.value(f"getelementptr inbounds i64, ptr {block}, i64 {place}")

    def _call(self, call: Call) -> None:
        function = require_kernel(call, self.library)
        places = [f"ptr {self._address(buffer, index)}" for buffer, index in call.places]
        numbers = [f"i64 {number}" for number in call.numbers]
        given = ", ".join((*places, *numbers))
        if not call.polls:
            self.line(f"call i64 {function}({given}, {NO_POLLS})")
            self.memo = {}
            return
        context = self.value(f"load ptr, ptr {self._cell(self.callback)}")
        fuel = self.value(f"load i64, ptr {self._tank()}")
        left = self.value(f"call i64 {function}({given}, ptr {context}, i64 {fuel})")
        self._refuel(left, self.fresh("called"))

    def _store(self, store: Store) -> None:
        dtype, address = store.buffer.dtype, self._address(store.buffer, store.index)
        value = self.scalars.to_memory(self.expr(store.value), dtype)
        self.line(f"store {memory_type(dtype)} {value}, ptr {address}{self._group()}")
        self.memo = {}

    def _group(self) -> str:
        if not self.groups:
            return ""
        if len(self.groups) == 1:
            return f", !llvm.access.group !{self.groups[0]}"
        group = self.node("!{" + ", ".join(f"!{g}" for g in self.groups) + "}")
        return f", !llvm.access.group !{group}"

    def _for(self, loop: For) -> None:
        body, after, done = self.fresh("for"), self.fresh("next"), self.fresh("done")
        extent = self.expr(loop.extent)
        slot = self._slot(loop.var)
        self.line(f"store i64 0, ptr {slot}")
        self.line(f"br i1 {self.value(f'icmp sgt i64 {extent}, 0')}, label {body}, label {done}")
        self.label(body)
        functions = self.scalars.functions
        if loop.parallel:
            self.groups.append(self.node("distinct !{}"))
        self.block(loop.body)
        metadata = self._parallel(loop, self.scalars.functions > functions) if loop.parallel else ""
        self.line(f"br label {after}")
        self.label(after)
        step = self.value(f"add nuw nsw i64 {self.value(f'load i64, ptr {slot}')}, 1")
        self.line(f"store i64 {step}, ptr {slot}")
        self.line(f"br i1 {self.value(f'icmp slt i64 {step}, {extent}')}, label {body}, label {done}{metadata}")
        self.label(done)

    def _parallel(self, loop: For, calls_functions: bool) -> str:
        """What the vectoriser is told of a parallel loop, whose group of accesses ends here."""
        facts = [self.node('!{!"llvm.loop.parallel_accesses", !' + f"{self.groups.pop()}" + "}")]
        extent = _most(loop.extent) if calls_functions else 0
        count = next((count for least, count in INTERLEAVED if extent >= least), 0)
        if count:
            facts.append(self.node('!{!"llvm.loop.interleave.count", i32 ' + f"{count}" + "}"))
        own = self.node("")
        self.metadata[own] = f"distinct !{{!{own}, {', '.join(f'!{fact}' for fact in facts)}}}"
        return f", !llvm.loop !{own}"

    def _when(self, when: When) -> None:
        then, other, done = self.fresh("then"), self.fresh("else"), self.fresh("fi")
        self.line(f"br i1 {self.expr(when.condition)}, label {then}, label {other}")
        for label, statements in ((then, when.then), (other, when.other)):
            self.label(label)
            self.block(statements)
            self.line(f"br label {done}")
        self.label(done)

    def _while(self, loop: While) -> None:
        head, body, done = self.fresh("head"), self.fresh("while"), self.fresh("end")
        self.line(f"br label {head}")
        self.label(head)
        self.block(loop.head)
        self.line(f"br i1 {self.expr(loop.condition)}, label {body}, label {done}")
        self.label(body)
        self.block(loop.body)
        self.line(f"br label {head}")
        self.label(done)

    # ---- expressions -----------------------------------------------------------------------------------------

    def expr(self, expr: Expr) -> str:
        """The register, or the literal, that holds an expression; shared parts of one block are computed once."""
        if isinstance(expr, Const):
            return literal(expr.value, expr.dtype)
        waiting = [expr]
        while waiting:
            part = waiting[-1]
            inside = [p for p in parts(part) if not isinstance(p, Const) and p not in self.memo]
            if part not in self.memo and inside:
                waiting += reversed(inside)
                continue
            if part not in self.memo:
                self.memo[part] = self._compute(part)
            waiting.pop()
        return self.memo[expr]

    def _compute(self, expr: Expr) -> str:
        match expr:
            case Var():
                return self._read(expr)
            case Load():
                kind = memory_type(expr.dtype)
                value = self.value(f"load {kind}, ptr {self._address(expr.buffer, expr.index)}{self._group()}")
                return self.scalars.from_memory(value, expr.dtype)
            case Apply():
                return self.scalars.apply(expr, [self.expr(a) for a in expr.args])
        raise TypeError(f"{expr!r} is no expression")

    def _address(self, buffer: Buffer, index: Sequence[Expr]) -> str:
        flat = "0"
        for position, stride in zip(index, buffer.strides, strict=True):
            step = self.expr(position)
            if step == "0":
                continue
            if stride != 1:
                step = self.value(f"mul nsw i64 {step}, {self.expr(stride) if isinstance(stride, Expr) else stride}")
            flat = step if flat == "0" else self.value(f"add nsw i64 {flat}, {step}")
        pointer = self.value(f"load ptr, ptr {self.pointers[buffer]}")
        return self.value(f"getelementptr inbounds {memory_type(buffer.dtype)}, ptr {pointer}, i64 {flat}")


def _most(extent: Expr) -> int:
    """The number of iterations, at most, where the program says it; else 0."""
    match extent:
        case Const(value=value) | Apply(op="min", args=(Const(value=value), _)):
            return int(value)
    return 0
