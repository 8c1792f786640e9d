"""A Loop of the IR as one kernel program: carried values in registers or two buffers, the body fused into nests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from whorl.ir import dims
from whorl.ir.constants import as_array
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.infer import names_of
from whorl.ir.native.expressions import TRUE, Buffer, Expr, Var
from whorl.ir.native.view import View
from whorl.ir.types import Known, TensorType, Type, lengths_of
from whorl.kernel.optimise import optimise
from whorl.kernel.program import Assign, Program, Statement, While
from whorl.lowering.builder import KernelBuilder
from whorl.lowering.collecting import require_part
from whorl.lowering.expressions import Unsupported
from whorl.lowering.native_types import is_single, native_type, sizes
from whorl.lowering.regions import enter_body, lower_body
from whorl.lowering.storage import (
    GrowableBuffers,
    StateStorage,
    carried_view,
    commit_iteration,
    growable_buffers,
    memory_type,
    require_same_shapes,
    snapshot_element,
)
from whorl.ops.control.flow import Loop
from whorl.phases import Phase, in_phase

FREE = "?"
"""How names begin that stand for lengths of operands which a program takes as they come."""


class LoopProgram(Struct):
    """A program for one Loop node at fixed operand shapes, and where its values lie among the program's buffers.

    Scalars: the next iteration, the one to stop before, whether to go on, then the lengths that change. Buffers, in
    order: two for each carried value (the current one first), scanned, captured, `constants`, collected. `lengths` are
    the axes of each carried value whose lengths change, with what an iteration adds to them where that is a number;
    `free` names of operands' lengths, whose values follow as scalars; `captured` the positions, among the captured
    operands, of those that the program reads from memory.
    """

    program: Program
    carried: list[TensorType]
    lengths: list[dict[int, int | None]]
    collected: list[TensorType]
    captured: list[int]
    constants: list[np.ndarray]
    free: list[str]
    may_fail: bool

    @property
    def cells(self) -> int:
        """The cells after the scalars: addresses of buffers, scratch and two functions, and capacities."""
        program = self.program
        return len(program.buffers) + len(program.scratch) + 2 + len(program.growing)


@in_phase(Phase.LOWER)
def lower_loop(node: Node, captured: Sequence[np.ndarray | None], most_iterations: int | None = None) -> LoopProgram:
    """The kernel program of a Loop typed for its operands. `captured` gives values fixed in the program.

    It fails where a loop inside wants more than `most_iterations`. Raises Unsupported with the reason where something
    in it has no native form.
    """
    assert isinstance(node.op, Loop)
    return _LoopLowering(node, node.op, captured, KernelBuilder(most_iterations)).lower()


class _LoopLowering(Struct):
    node: Node
    op: Loop
    fixed: Sequence[np.ndarray | None]
    k: KernelBuilder
    memory: dict[int, Buffer] = field(default_factory=dict[int, Buffer])

    def lower(self) -> LoopProgram:
        op, body, k = self.op, self.node.regions[0], self.k
        _, _, states, slices, copies = op.split(body.arguments)
        i, stop, go = Var(INT64, "i", False), Var(INT64, "stop", False), Var(BOOL, "go", False)
        env = enter_body(op, body, i, k)
        free = sorted({name for value in (*states, *slices, *copies) for name in self._operand_dims(value)})
        parameters = [k.variable(INT64, "size", once=False) for _ in free]
        k.dims.update(zip(free, parameters, strict=True))
        carried = [memory_type(s, k, "carried value ") for s in states]
        names = [*(s.name for s in states), *(v.name for v in body.results[1 + op.carried :][: op.last])]
        carried += [self._last_type(n) for n in range(op.last)]
        pairs = [self._pair(name, t) for name, t in zip(names, carried, strict=True)]
        storages: list[StateStorage] = [
            k.variable(t.dtype, "c", once=False) if is_single(t) else pair
            for t, pair in zip(carried, pairs, strict=True)
        ]
        for state, type, storage in zip(states, carried, storages, strict=False):
            env[state] = carried_view(storage, type, k)
            if (buffer := env[state].buffer) is not None:
                k.owners[buffer] = state
        scanned = [self._scanned(s, i, env) for s in slices]
        self._captured(copies, env)
        collected = [self._element_type(n) for n in range(len(op.collected))]
        outs = [Buffer(f"out{n}", t.dtype, (None, *self._lengths(t))) for n, t in enumerate(collected)]
        loop = While([], k.apply("and", go, k.compare("lt", i, stop)))
        with k.into(loop.body):
            self._iteration(env, i, go, carried, storages, outs)
        enter, leave = self._registers(storages, pairs)
        flat = [b for pair in pairs for b in ((pair.now, pair.next) if isinstance(pair, GrowableBuffers) else pair)]
        buffers = flat + scanned + list(self.memory.values()) + list(k.constants) + outs
        lengths = [pair.lengths if isinstance(pair, GrowableBuffers) else {} for pair in pairs]
        scalars = [i, stop, go, *(var for result in lengths for var in result.values()), *parameters]
        spare = [pair.next if isinstance(pair, GrowableBuffers) else pair[1] for pair in pairs]
        program = Program(scalars, buffers, k.scratch, [*enter, *k.block, loop, *leave], k.calls, [], spare)
        optimise(program)
        after = body.results[1 : 1 + op.carried]
        each = zip(lengths, carried, after, strict=False)
        steps = [{axis: _step(t, v.type, axis) for axis in result} for result, t, v in each]
        steps += [dict.fromkeys(result) for result in lengths[op.carried :]]
        constants = list(map(as_array, k.constants.values()))
        return LoopProgram(program, carried, steps, collected, list(self.memory), constants, free, k.may_fail)

    def _operand_dims(self, value: Value) -> set[str]:
        """The names in a type that stand for lengths of operands."""
        return {name for name in names_of((value,)) if name.startswith(FREE)}

    def _bound_type(self, value: Value, what: str) -> TensorType:
        """The type of a value whose lengths are numbers or follow from those of operands."""
        type = native_type(value.type, f"{what}{value.name!r}")
        if not _are_operand_dims(names_of((Known(type),))):
            raise Unsupported(f"the shape of {what}{value.name!r} changes or is not known: {type}")
        return type

    def _last_type(self, number: int) -> TensorType:
        """The type of a value of the last iteration; lengths that an iteration decides have names of their own."""
        value = self.node.regions[0].results[1 + self.op.carried + number]
        type = native_type(value.type, f"last value {value.name!r}")
        own = (dims.name(f"{value.name}.last{number}.{axis}") for axis in range(len(lengths_of(type))))
        pairs = zip(lengths_of(type), own, strict=True)
        return type.with_shape(tuple(d if _are_operand_dims(dims.names_in(d)) else name for d, name in pairs))

    def _element_type(self, number: int) -> TensorType:
        """The type of a collected value of one iteration."""
        op, value = self.op, self.node.regions[0].results[1 + self.op.carried + self.op.last + number]
        type = self._bound_type(value, "collected value ")
        require_part(type, op.collected[number], self.k)
        return type

    def _lengths(self, type: TensorType) -> tuple[int | Expr, ...]:
        """Lengths as memory is addressed."""
        return tuple(n if isinstance(n, int) else self.k.length(n) for n in lengths_of(type))

    def _pair(self, name: str, type: TensorType) -> tuple[Buffer, Buffer] | GrowableBuffers:
        if not _are_operand_dims(names_of((Known(type),))):
            return growable_buffers(self.k, name, type)
        shape = self._lengths(type)
        return Buffer(f"{name}.now", type.dtype, shape), Buffer(f"{name}.next", type.dtype, shape)

    def _scanned(self, argument: Value, i: Var, env: dict[Value, View]) -> Buffer:
        type = self._bound_type(argument, "slice ")
        buffer = Buffer(f"{argument.name}.rows", type.dtype, (None, *self._lengths(type)))
        self.k.from_caller.add(buffer)
        env[argument] = self.k.view_of(buffer, lengths_of(type), (i,))
        return buffer

    def _captured(self, copies: Sequence[Value], env: dict[Value, View]) -> None:
        """Captured values: a fixed single element is a number in the code, the others lie in memory."""
        k = self.k
        for n, (argument, value) in enumerate(zip(copies, self.fixed, strict=True)):
            type = self._bound_type(argument, "captured value ")
            if value is not None and value.size == 1:
                number = k.const(value.reshape(-1)[0].item(), type.dtype)
                env[argument] = k.scalar(number, sizes(type), argument.known)
                continue
            buffer = self.memory[n] = Buffer(f"{argument.name}.in", type.dtype, self._lengths(type))
            k.fixed.add(buffer)
            k.from_caller.add(buffer)
            env[argument] = replace(k.view_of(buffer, lengths_of(type)), known=argument.known)

    def _registers(
        self, storages: Sequence[StateStorage], pairs: Sequence[Any]
    ) -> tuple[list[Statement], list[Statement]]:
        """Carried values of one element are read into registers before the loop and written back after it."""
        k, enter, leave = self.k, list[Statement](), list[Statement]()
        for storage, pair in zip(storages, pairs, strict=True):
            if isinstance(storage, Var):
                origin = (k.const(0),) * len(pair[0].shape)
                enter.append(Assign(storage, k.load(pair[0], origin)))
                with k.into(leave):
                    k.store(pair[0], origin, storage)
        return enter, leave

    def _iteration(
        self,
        env: dict[Value, View],
        i: Var,
        go: Var,
        carried: Sequence[TensorType],
        storages: Sequence[StateStorage],
        outs: Sequence[Buffer],
    ) -> None:
        k, op = self.k, self.op
        results = lower_body(self.node.regions[0], env, k, op.carried)
        first = 1 + op.carried + op.last
        after = results[1:first]
        require_same_shapes(after, carried, storages, op.carried if op.keep_shapes else 0, k)
        answer = TRUE if self.node.inputs[1] is None else snapshot_element(results[0], k)
        elements = [(view, out, (i,)) for view, out in zip(results[first:], outs, strict=True)]
        commit_iteration(after, storages, elements, k)
        k.assign(i, k.add(i, k.const(1)))
        k.assign(go, answer)


def _are_operand_dims(names: set[str]) -> bool:
    """Whether names stand for lengths of operands."""
    return all(name.startswith(FREE) for name in names)


def _step(before: TensorType, after: Type, axis: int) -> int | None:
    """What an iteration adds to a length, where that is a number."""
    if not isinstance(after, TensorType):
        return 1
    difference = lengths_of(after)[axis] - lengths_of(before)[axis]
    return difference if isinstance(difference, int) else None
