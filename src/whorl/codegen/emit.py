"""Kernel programs as LLVM IR text.

The function takes one pointer to a block of 64-bit cells: scalars, then addresses of buffers, of scratch, and of the
function that runs ops; it writes scalars and buffer addresses back before it returns 0, or returns the status of a `Fail` at once. Variables are stack
slots, which LLVM turns into registers. Loads and stores inside parallel loops carry access groups, so that the
vectoriser needs no alias checks.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from whorl.codegen import mathlib
from whorl.ir.dtypes import BOOL, UNSIGNED, is_float
from whorl.kernel.program import (
    Apply,
    Assign,
    Buffer,
    Const,
    Expr,
    Fail,
    For,
    Load,
    Program,
    RunOp,
    Statement,
    Store,
    Swap,
    Var,
    When,
    While,
)

FUNCTION = "whorl_run"
_INTRINSICS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "rint": "rint", "trunc": "trunc", "abs": "fabs"}
_COMPARE_FLOAT = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_COMPARE_INT = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
_BINARY_FLOAT = {"add": "fadd", "sum": "fadd reassoc", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_BINARY_INT = {"add": "add", "sum": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl"}


def emit(program: Program) -> str:
    """The LLVM IR of a program."""
    return _Emitter().program(program)


def register_type(dtype: np.dtype) -> str:
    """The LLVM type of a scalar in a register."""
    if dtype == BOOL:
        return "i1"
    if is_float(dtype):
        return {2: "half", 4: "float", 8: "double"}[dtype.itemsize]
    return f"i{dtype.itemsize * 8}"


def memory_type(dtype: np.dtype) -> str:
    """The LLVM type of an element in memory."""
    return "i8" if dtype == BOOL else register_type(dtype)


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
        self.memo: dict[Expr, str] = {}
        self.library: dict[str, str] = {}
        self.callback = 0
        self.calls: list[RunOp] = []

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
        self.lines.append("body:")
        for position, cell in enumerate(cells):
            address = self.value(f"getelementptr inbounds i64, ptr %cells, i64 {position}")
            self._open(cell, address)
        self.block(program.body)
        for position, cell in enumerate((*program.scalars, *program.buffers)):
            address = self.value(f"getelementptr inbounds i64, ptr %cells, i64 {position}")
            self._close(cell, address)
        self.line("ret i64 0")
        head = ["define i64 @whorl_run(ptr noundef %cells) nounwind {", "entry:", *self.entry, "  br label %body"]
        nodes = [f"!{k} = {content}" for k, content in enumerate(self.metadata)]
        return "\n".join((*head, *self.lines, "}", *self.library.values(), *nodes)) + "\n"

    def _open(self, cell: Var | Buffer, address: str) -> None:
        if isinstance(cell, Buffer):
            slot = self.pointers[cell] = self._alloca("ptr")
            self.line(f"store ptr {self.value(f'load ptr, ptr {address}')}, ptr {slot}")
            return
        self._write(cell, self.value(f"load {register_type(cell.dtype)}, ptr {address}") if cell.dtype != BOOL
                    else self.value(f"trunc i64 {self.value(f'load i64, ptr {address}')} to i1"))

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
                    first, second = self.pointers[a], self.pointers[b]
                    p, q = self.value(f"load ptr, ptr {first}"), self.value(f"load ptr, ptr {second}")
                    self.line(f"store ptr {q}, ptr {first}")
                    self.line(f"store ptr {p}, ptr {second}")
                    self.memo = {}
                case RunOp():
                    self._run_op(statement)
                case Fail(status):
                    self.line(f"ret i64 {status}")
                    self.label(self.fresh("dead"))

    def _run_op(self, call: RunOp) -> None:
        """Call the runtime with the number of the op; anything but 0 ends the program."""
        function = self.value(f"load ptr, ptr {self.value(f'getelementptr inbounds i64, ptr %cells, i64 {self.callback}')}")
        status = self.value(f"call i64 {function}(i64 {self.calls.index(call)})")
        failed, done = self.fresh("failed"), self.fresh("called")
        self.line(f"br i1 {self.value(f'icmp ne i64 {status}, 0')}, label {failed}, label {done}")
        self.label(failed)
        self.line("ret i64 1")
        self.label(done)

    def _store(self, store: Store) -> None:
        value, address = self.expr(store.value), self._address(store.buffer, store.index)
        dtype = store.buffer.dtype
        if dtype == BOOL:
            value = self.value(f"zext i1 {value} to i8")
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
        metadata = ""
        if loop.parallel:
            group = self.node("distinct !{}")
            accesses = self.node('!{!"llvm.loop.parallel_accesses", !' + f"{group}" + "}")
            own = self.node("")
            self.metadata[own] = f"distinct !{{!{own}, !{accesses}}}"
            metadata = f", !llvm.loop !{own}"
            self.groups.append(group)
        self.block(loop.body)
        if loop.parallel:
            self.groups.pop()
        self.line(f"br label {after}")
        self.label(after)
        step = self.value(f"add nuw nsw i64 {self.value(f'load i64, ptr {slot}')}, 1")
        self.line(f"store i64 {step}, ptr {slot}")
        self.line(f"br i1 {self.value(f'icmp slt i64 {step}, {extent}')}, label {body}, label {done}{metadata}")
        self.label(done)

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
        if expr not in self.memo:
            self.memo[expr] = self._compute(expr)
        return self.memo[expr]

    def _compute(self, expr: Expr) -> str:
        match expr:
            case Var():
                return self._read(expr)
            case Load():
                kind = memory_type(expr.dtype)
                value = self.value(f"load {kind}, ptr {self._address(expr.buffer, expr.index)}{self._group()}")
                return self.value(f"icmp ne i8 {value}, 0") if expr.dtype == BOOL else value
            case Apply():
                return self._apply(expr, [self.expr(a) for a in expr.args])
        raise TypeError(f"{expr!r} is no expression")

    def _address(self, buffer: Buffer, index: Sequence[Expr]) -> str:
        flat = "0"
        for position, stride in zip(index, buffer.strides, strict=True):
            step = self.expr(position)
            if step == "0":
                continue
            if stride != 1:
                step = self.value(f"mul nsw i64 {step}, {stride}")
            flat = step if flat == "0" else self.value(f"add nsw i64 {flat}, {step}")
        pointer = self.value(f"load ptr, ptr {self.pointers[buffer]}")
        return self.value(f"getelementptr inbounds {memory_type(buffer.dtype)}, ptr {pointer}, i64 {flat}")

    def _apply(self, expr: Apply, args: list[str]) -> str:
        source = expr.args[0].dtype
        kind = register_type(source)
        op = expr.op
        if op == "select":
            chosen = register_type(expr.dtype)
            return self.value(f"select i1 {args[0]}, {chosen} {args[1]}, {chosen} {args[2]}")
        if op == "cast":
            return self._cast(args[0], source, expr.dtype)
        if op in _COMPARE_INT:
            return self._compare(op, source, args)
        if op == "isnan":
            return self.value(f"fcmp uno {kind} {args[0]}, {args[0]}")
        if op in ("min", "max"):
            return self._extreme(op, source, args)
        if is_float(source):
            return self._float(op, source, kind, args)
        return self._integer(op, source, kind, args)

    def _compare(self, op: str, dtype: np.dtype, args: list[str]) -> str:
        kind = register_type(dtype)
        if is_float(dtype):
            return self.value(f"fcmp {_COMPARE_FLOAT[op]} {kind} {args[0]}, {args[1]}")
        predicate = _COMPARE_INT[op]
        if (dtype in UNSIGNED or dtype == BOOL) and predicate[0] == "s":
            predicate = "u" + predicate[1:]
        return self.value(f"icmp {predicate} {kind} {args[0]}, {args[1]}")

    def _extreme(self, op: str, dtype: np.dtype, args: list[str]) -> str:
        """The first operand where it wins or is NaN, else the second."""
        kind, (a, b) = register_type(dtype), args
        wins = self._compare("le" if op == "min" else "ge", dtype, args)
        if is_float(dtype):
            wins = self.value(f"or i1 {wins}, {self.value(f'fcmp uno {kind} {a}, {a}')}")
        return self.value(f"select i1 {wins}, {kind} {a}, {kind} {b}")

    def _float(self, op: str, dtype: np.dtype, kind: str, args: list[str]) -> str:
        if op in _BINARY_FLOAT:
            return self.value(f"{_BINARY_FLOAT[op]} {kind} {args[0]}, {args[1]}")
        if op == "neg":
            return self.value(f"fneg {kind} {args[0]}")
        if op in _INTRINSICS:
            name = f"@llvm.{_INTRINSICS[op]}.f{dtype.itemsize * 8}"
            self.library.setdefault(name, f"declare {kind} {name}({kind})")
            return self.value(f"call {kind} {name}({kind} {args[0]})")
        name = mathlib.require(op, dtype, self.library)
        return self.value(f"call {kind} {name}({', '.join(f'{kind} {a}' for a in args)})")

    def _integer(self, op: str, dtype: np.dtype, kind: str, args: list[str]) -> str:
        unsigned = dtype in UNSIGNED
        if op in _BINARY_INT:
            return self.value(f"{_BINARY_INT[op]} {kind} {args[0]}, {args[1]}")
        if op in ("div", "rem"):
            return self.value(f"{'u' if unsigned else 's'}{op} {kind} {args[0]}, {args[1]}")
        if op == "shr":
            return self.value(f"{'lshr' if unsigned else 'ashr'} {kind} {args[0]}, {args[1]}")
        if op == "not":
            return self.value(f"xor {kind} {args[0]}, {'true' if dtype == BOOL else '-1'}")
        if op == "neg":
            return self.value(f"sub {kind} 0, {args[0]}")
        if op == "abs":
            if unsigned:
                return args[0]
            negative = self.value(f"icmp slt {kind} {args[0]}, 0")
            return self.value(f"select i1 {negative}, {kind} {self.value(f'sub {kind} 0, {args[0]}')}, {kind} {args[0]}")
        raise TypeError(f"{op} has no form for {dtype}")

    def _cast(self, value: str, source: np.dtype, target: np.dtype) -> str:
        a, b = register_type(source), register_type(target)
        if a == b and is_float(source) == is_float(target):
            return value
        if is_float(source) and is_float(target):
            return self.value(f"{'fpext' if source.itemsize < target.itemsize else 'fptrunc'} {a} {value} to {b}")
        if is_float(source):
            return self.value(f"{'fptoui' if target in UNSIGNED else 'fptosi'} {a} {value} to {b}")
        unsigned = source in UNSIGNED or source == BOOL
        if is_float(target):
            return self.value(f"{'uitofp' if unsigned else 'sitofp'} {a} {value} to {b}")
        if a == b:
            return value
        narrower = _bits(target) < _bits(source)
        return self.value(f"{'trunc' if narrower else 'zext' if unsigned else 'sext'} {a} {value} to {b}")


def _bits(dtype: np.dtype) -> int:
    return 1 if dtype == BOOL else dtype.itemsize * 8


def literal(value: bool | int | float, dtype: np.dtype) -> str:
    """A constant as LLVM writes it: floats as the bits of the double that equals them."""
    if dtype == BOOL:
        return "true" if value else "false"
    if not is_float(dtype):
        return str(int(value))
    exact = float(dtype.type(value))
    if dtype.itemsize == 2:
        return "0xH" + np.float16(value).tobytes()[::-1].hex().upper()
    return f"0x{struct.unpack('<Q', struct.pack('<d', exact))[0]:016X}"


