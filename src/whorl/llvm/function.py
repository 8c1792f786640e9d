"""Functions of LLVM IR: blocks of instructions, loops, branches, memory and calls."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from msgspec import Struct, field

from whorl.llvm.module import Effort, Module
from whorl.llvm.value import (
    INTEGER_OF,
    Index,
    Operand,
    Value,
    is_real,
    literal,
    overload,
    scalar_of,
    with_scalar,
)


class Block(Struct):
    """Instructions that run one after the other, the last of which is a branch or a return."""

    name: str
    lines: list[str] = field(default_factory=list[str])


class Function:
    """A function being written: instructions are appended to the last block.

    Parameters are types by name, attributes after a scalar type: {"y": "ptr noalias"}. Variables are stack slots in the
    entry, which LLVM turns into registers, so no writer needs phi instructions.
    """

    is_routine = False
    effort = Effort.ROUTINES

    def __init__(
        self,
        module: Module,
        name: str,
        result: str,
        parameters: Mapping[str, str],
        linkage: str = "internal",
        attributes: str = "nounwind",
    ) -> None:
        self.module, self.name, self.result = module, name, result
        self.parameters, self.linkage, self.attributes = dict(parameters), linkage, attributes
        self.references: dict[str, None] = {}
        self.slots: list[str] = []
        self.blocks = [Block("entry")]
        self.count = 0
        module.add(self)

    # ---- text ------------------------------------------------------------------------------------------------

    def text(self, is_alone: bool = False) -> str:
        parameters = ", ".join(f"{type} %{name}" for name, type in self.parameters.items())
        linkage = f"{self.linkage} " if self.linkage and not is_alone else ""
        entry, *blocks = self.blocks
        lines = [f"define {linkage}{self.result} {self.name}({parameters}) {self.attributes} {{", "entry:"]
        lines += self.slots
        lines += entry.lines
        for block in blocks:
            lines.append(f"{block.name}:")
            lines += block.lines
        return "\n".join((*lines, "}"))

    def declaration(self) -> str:
        return f"declare {self.result} {self.name}({', '.join(self.parameters.values())})"

    def line(self, instruction: str) -> None:
        self.blocks[-1].lines.append(f"  {instruction}")

    def fresh(self, hint: str = "t") -> str:
        """A name that the function does not use yet."""
        self.count += 1
        return f"{hint}.{self.count}"

    def value(self, type: str, instruction: str) -> Value:
        """A register of a type with what an instruction gives."""
        name = self.fresh()
        self.line(f"%{name} = {instruction}")
        return Value(self, type, f"%{name}")

    def refer(self, name: str) -> str:
        """The name of a definition that an instruction uses; every name in the text goes through here."""
        self.references[name] = None
        return name

    # ---- values ----------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Value:
        """A parameter."""
        type = self.parameters[name]
        return Value(self, type if type.startswith("<") else type.split()[0], f"%{name}")

    def argument(self, name: str) -> Index:
        """A parameter that is an index."""
        return self.index(self[name])

    def index(self, value: Value | int) -> Index:
        """An i64 that counts or indexes."""
        return Index(self, "i64", value.text if isinstance(value, Value) else str(value))

    def number(self, value: Operand, type: str) -> Value:
        """A Python number as a literal of a type; a value as it is."""
        return value if isinstance(value, Value) else Value(self, type, literal(value, type))

    def null(self) -> Value:
        return Value(self, "ptr", "null")

    def binary(self, instruction: str, a: Value, b: Value) -> Value:
        return self.value(a.type, f"{instruction} {a}, {b.text}")

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """A bool, or a vector of them; the predicate is one of `fcmp` for real types, else of `icmp`."""
        instruction = "fcmp" if is_real(a.type) else "icmp"
        return self.value(with_scalar(a.type, "i1"), f"{instruction} {predicate} {a}, {b.text}")

    def negate(self, x: Value) -> Value:
        return self.value(x.type, f"fneg {x}" if is_real(x.type) else f"sub {x.type} 0, {x.text}")

    def select(self, condition: Value, x: Operand, y: Operand) -> Value:
        """x where the condition holds, else y; one of them is a value, the other may be a Python number."""
        type = x.type if isinstance(x, Value) else y.type if isinstance(y, Value) else ""
        return self.value(type, f"select {condition}, {self.number(x, type)}, {self.number(y, type)}")

    def choose(self, condition: Value, x: Index, y: Index | int) -> Index:
        return self.index(self.select(condition, x, y))

    def convert(self, instruction: str, x: Value, type: str) -> Value:
        return self.value(type, f"{instruction} {x} to {type}")

    def bits(self, x: Value) -> Value:
        """The bits of a real number as an integer."""
        return self.convert("bitcast", x, with_scalar(x.type, INTEGER_OF[scalar_of(x.type)]))

    def real(self, x: Value) -> Value:
        """The real number that has these bits."""
        return self.convert("bitcast", x, with_scalar(x.type, "float" if scalar_of(x.type) == "i32" else "double"))

    def muladd(self, x: Value, y: Operand, z: Operand) -> Value:
        """x * y + z, one rounding where the machine fuses the two and two roundings where it does not."""
        return self.intrinsic("fmuladd", x, x.number(y), x.number(z))

    def least(self, x: Index, y: Operand) -> Index:
        return self.index(self.intrinsic("smin", x, x.number(y)))

    def most(self, x: Index, y: Operand) -> Index:
        return self.index(self.intrinsic("smax", x, x.number(y)))

    def splat(self, x: Value, lanes: int) -> Value:
        """A vector with a number in every lane."""
        type = f"<{lanes} x {x.type}>"
        first = self.value(type, f"insertelement {type} poison, {x}, i64 0")
        return self.value(type, f"shufflevector {first}, {type} poison, <{lanes} x i32> zeroinitializer")

    # ---- calls -----------------------------------------------------------------------------------------------

    def call(self, name: str, result: str, *arguments: Value | str, flags: str = "", attributes: str = "") -> Value:
        """Call a function by its name; arguments may be text with a type."""
        return self.value(result, self._call_text(self.refer(name), result, arguments, flags, attributes))

    def call_pointer(self, pointer: Value, result: str, *arguments: Value | str, attributes: str = "") -> Value:
        """Call a function at an address; `result` may be the whole type of one with variable arguments."""
        text = self._call_text(pointer.text, result, arguments, "", attributes)
        return self.value(result.split(" (")[0], text)

    def run(self, name: str, *arguments: Value | str) -> None:
        """Call a function that gives nothing."""
        self.line(self._call_text(self.refer(name), "void", arguments, "", ""))

    def run_pointer(self, pointer: Value, *arguments: Value | str) -> None:
        self.line(self._call_text(pointer.text, "void", arguments, "", ""))

    @staticmethod
    def _call_text(callee: str, result: str, arguments: tuple[Value | str, ...], flags: str, attributes: str) -> str:
        return f"call {flags}{result} {callee}({', '.join(map(str, arguments))}){attributes}"

    def intrinsic(self, operation: str, *arguments: Value, flags: str = "") -> Value:
        """An intrinsic of LLVM with a result like its arguments."""
        type = arguments[0].type
        name = f"@llvm.{operation}.{overload(type)}"
        self.module.declare(name, type, [argument.type for argument in arguments])
        return self.call(name, type, *arguments, flags=flags)

    # ---- memory ----------------------------------------------------------------------------------------------

    def slot(self, type: str, initial: Value | None = None, align: int = 0) -> Value:
        """A variable; memory in the entry, which has its initial value before all other instructions."""
        name = self.fresh("slot")
        self.slots.append(f"  %{name} = alloca {type}{_aligned(align)}")
        if initial is not None:
            self.slots.append(f"  store {initial}, ptr %{name}")
        return Value(self, "ptr", f"%{name}")

    def variable(self, value: Value) -> Value:
        """A slot that has a value from here on."""
        slot = self.slot(value.type)
        self.store(value, slot)
        return slot

    def load(self, type: str, pointer: Value, align: int = 0, access: str = "") -> Value:
        """`access` is metadata that the instruction carries."""
        return self.value(type, f"load {type}, {pointer}{_aligned(align)}{access}")

    def load_index(self, pointer: Value) -> Index:
        return self.index(self.load("i64", pointer))

    def store(self, value: Value, pointer: Value, align: int = 0, access: str = "") -> None:
        self.line(f"store {value}, {pointer}{_aligned(align)}{access}")

    def offset(self, pointer: Value, type: str, index: Value | int) -> Value:
        """The address of an element that lies inside the same memory."""
        index = self.index(index)
        return pointer if index.text == "0" else self._offset("getelementptr inbounds", pointer, type, index)

    def offset_outside(self, pointer: Value, type: str, index: Value | int) -> Value:
        """The address of an element that may lie outside of the memory; it is then not read."""
        return self._offset("getelementptr", pointer, type, self.index(index))

    def _offset(self, instruction: str, pointer: Value, type: str, index: Value) -> Value:
        return self.value("ptr", f"{instruction} {type}, {pointer}, {index}")

    # ---- control ---------------------------------------------------------------------------------------------

    def start(self, name: str) -> None:
        """Begin a block; the one before has ended with a branch or a return."""
        self.blocks.append(Block(name))

    def jump(self, block: str, attributes: str = "") -> None:
        self.line(f"br label %{block}{attributes}")

    def branch(self, condition: Value, then: str, other: str, attributes: str = "") -> None:
        self.line(f"br {condition}, label %{then}, label %{other}{attributes}")

    def give(self, value: Value | None = None) -> None:
        """Return."""
        self.line(f"ret {value}" if value is not None else "ret void")

    @contextmanager
    def when(self, condition: Value, attributes: str = "") -> Generator[None]:
        """`if condition:`"""
        then, done = self.fresh("then"), self.fresh("fi")
        self.branch(condition, then, done, attributes)
        self.start(then)
        yield
        self.jump(done)
        self.start(done)

    @contextmanager
    def leave_when(self, condition: Value, attributes: str = "") -> Generator[None]:
        """`if condition:` around what returns."""
        then, done = self.fresh("then"), self.fresh("else")
        self.branch(condition, then, done, attributes)
        self.start(then)
        yield
        self.start(done)

    @contextmanager
    def loop(
        self, start: Index | int, stop: Index | int, step: Index | int = 1, attributes: str = ""
    ) -> Generator[Index]:
        """`for i in range(start, stop, step)`; the attributes are those of the branch back."""
        slot = self.variable(self.index(start))
        head, body, done = self.fresh("head"), self.fresh("loop"), self.fresh("done")
        self.jump(head)
        self.start(head)
        index = self.load_index(slot)
        self.branch(index < stop, body, done)
        self.start(body)
        yield index
        self.store(index + step, slot)
        self.jump(head, attributes)
        self.start(done)


def _aligned(align: int) -> str:
    return f", align {align}" if align else ""
