"""A Loop of the IR as one kernel program: carried values in registers or two buffers, the body fused into nests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import TensorType
from whorl.kernel.program import TRUE, Assign, Buffer, Program, Statement, Var, While
from whorl.lowering.builder import KernelBuilder, View
from whorl.lowering.regions import (
    Place,
    change_together,
    enter_body,
    fixed_type,
    kept_value,
    lower_region,
    refuse_parts,
    require_kept_shapes,
    sizes,
)
from whorl.ops.control import Loop


@dataclass
class LoopProgram:
    """A program for one Loop node at fixed shapes, and where its values lie among the program's buffers.

    Scalars: the next iteration, the one to stop before, whether to go on. Buffers, in order: two for each carried
    value (the current one first), scanned, captured, collected. `captured` are the positions, among the captured
    operands, of those that the program reads from memory.
    """

    program: Program
    carried: list[TensorType]
    collected: list[TensorType]
    captured: list[int]
    may_fail: bool


def lower_loop(node: Node, captured: Sequence[np.ndarray | None]) -> LoopProgram:
    """The kernel program of a Loop whose values all have known shapes. `captured` gives values fixed in the program.

    Raises Unsupported with the reason where something in it has no native form.
    """
    assert isinstance(node.op, Loop)
    return _LoopLowering(node, node.op, captured).lower()


@dataclass
class _LoopLowering:
    node: Node
    op: Loop
    fixed: Sequence[np.ndarray | None]
    k: KernelBuilder = field(default_factory=KernelBuilder)
    memory: dict[int, Buffer] = field(default_factory=dict)

    def lower(self) -> LoopProgram:
        op, body, k = self.op, self.node.regions[0], self.k
        refuse_parts(op)
        _, _, states, slices, copies = op.split(body.arguments)
        i, stop, go = Var(INT64, "i", False), Var(INT64, "stop", False), Var(BOOL, "go", False)
        env = enter_body(op, body, i, k)
        carried = [fixed_type(s.type, f"carried value {s.name!r}") for s in states]
        pairs = [self._pair(s.name, t) for s, t in zip(states, carried, strict=True)]
        places: list[Place] = [
            k.variable(t.dtype, "c", once=False) if math.prod(sizes(t)) == 1 else pair
            for t, pair in zip(carried, pairs, strict=True)
        ]
        for state, type, place in zip(states, carried, places, strict=True):
            env[state] = k.scalar(place, sizes(type)) if isinstance(place, Var) else k.view_of(place[0])
        scanned = [self._scanned(s, i, env) for s in slices]
        self._captured(copies, env)
        elements = body.results[1 + op.carried :]
        collected = [fixed_type(v.type, f"collected value {v.name!r}") for v in elements]
        outs = [Buffer(f"out{n}", t.dtype, (None, *sizes(t))) for n, t in enumerate(collected)]
        loop = While([], k.apply("and", go, k.compare("lt", i, stop)))
        with k.into(loop.body):
            self._iteration(env, i, go, places, outs)
        enter, leave = self._registers(places, pairs)
        buffers = [b for pair in pairs for b in pair] + scanned + list(self.memory.values()) + outs
        program = Program([i, stop, go], buffers, k.scratch, [*enter, *k.block, loop, *leave], k.calls)
        return LoopProgram(program, carried, collected, list(self.memory), k.may_fail)

    def _pair(self, name: str, type: TensorType) -> tuple[Buffer, Buffer]:
        shape = sizes(type)
        return Buffer(f"{name}.now", type.dtype, shape), Buffer(f"{name}.next", type.dtype, shape)

    def _scanned(self, argument: Value, i: Var, env: dict[Value, View]) -> Buffer:
        type = fixed_type(argument.type, f"slice {argument.name!r}")
        buffer = Buffer(f"{argument.name}.rows", type.dtype, (None, *sizes(type)))
        env[argument] = self.k.view_of(buffer, sizes(type), (i,))
        return buffer

    def _captured(self, copies: Sequence[Value], env: dict[Value, View]) -> None:
        """Captured values: a fixed single element is a number in the code, the others lie in memory."""
        k = self.k
        for n, (argument, value) in enumerate(zip(copies, self.fixed, strict=True)):
            type = fixed_type(argument.type, f"captured value {argument.name!r}")
            if value is not None and value.size == 1:
                number = k.const(value.reshape(-1)[0].item(), type.dtype)
                env[argument] = k.scalar(number, sizes(type), argument.known)
                continue
            buffer = self.memory[n] = Buffer(f"{argument.name}.in", type.dtype, sizes(type))
            k.fixed.add(buffer)
            view = k.view_of(buffer)
            env[argument] = View(view.dtype, view.shape, view.at, 1, buffer, argument.known)

    def _registers(
        self, places: Sequence[Place], pairs: Sequence[tuple[Buffer, Buffer]]
    ) -> tuple[list[Statement], list[Statement]]:
        """Carried values of one element are read into registers before the loop and written back after it."""
        k, enter, leave = self.k, list[Statement](), list[Statement]()
        for place, (now, _) in zip(places, pairs, strict=True):
            if isinstance(place, Var):
                origin = (k.const(0),) * len(now.shape)
                enter.append(Assign(place, k.load(now, origin)))
                with k.into(leave):
                    k.store(now, origin, place)
        return enter, leave

    def _iteration(
        self, env: dict[Value, View], i: Var, go: Var, places: Sequence[Place], outs: Sequence[Buffer]
    ) -> None:
        k, op = self.k, self.op
        results = lower_region(self.node.regions[0], env, k)
        require_kept_shapes(results[1 : 1 + op.carried], op.split(self.node.regions[0].arguments)[2])
        answer = TRUE if self.node.inputs[1] is None else kept_value(results[0], k)
        elements = [(view, out, (i,)) for view, out in zip(results[1 + op.carried :], outs, strict=True)]
        change_together(results[1 : 1 + op.carried], places, elements, k)
        k.assign(i, k.add(i, k.const(1)))
        k.assign(go, answer)
