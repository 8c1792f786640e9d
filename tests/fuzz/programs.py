"""Random programs of nested Loop, Scan and If."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.expressions import Expressions
from fuzz.syntax import (
    BOOL,
    INT64,
    AnyType,
    Apply,
    Block,
    IfStatement,
    LoopStatement,
    ScanStatement,
    Seq,
    Type,
    Var,
)

MAX_DEPTH = 3


class Writer(Expressions):
    """Draws one program. A portable one hides no names and has no blank outputs, on which engines fall out."""

    def __init__(self, draw: st.DrawFn, extremes: bool, portable: bool) -> None:
        super().__init__(draw, extremes)
        self.portable = portable
        self.names: list[str] = []

    def fill(self, block: Block, outer: list[Var], depth: int, budget: int) -> list[Var]:
        """Append up to `budget` statements; returns everything then visible."""
        block.is_direct = depth > 0 and not self.portable and self.chance(30)
        visible = see(outer, block.arguments)
        for _ in range(self.draw(st.integers(0, budget))):
            kind = self.draw(st.integers(0, 9))
            control = {0: self.loop, 1: self.scan, 2: self.branch}.get(kind)
            visible = self.after(control if control and depth < MAX_DEPTH else self.simple, block, visible, depth)
        return visible

    def after(self, write: Callable, block: Block, visible: list[Var], depth: int) -> list[Var]:
        """What is visible once a statement is written."""
        count = len(block.statements)
        write(block, visible, depth)
        return see(visible, self.renamed(block)) if len(block.statements) > count else visible

    def renamed(self, block: Block) -> list[Var]:
        """What the last statement gives, some of it under names of other graphs."""
        statement = block.statements[-1]
        taken = block.own_names()
        targets = [None if v is None else self.rename(v, taken) for v in statement.targets]
        if isinstance(statement, Apply):
            assert targets[0] is not None
            statement.target = targets[0]
        else:
            statement.targets = targets
        return [v for v in targets if v is not None]

    def rename(self, var: Var, taken: set[str]) -> Var:
        """The value under a name that another graph of the program has, or as it is."""
        others = [name for name in self.names if name not in taken]
        if not self.portable and others and self.chance(10):
            var = replace(var, name=self.choose(others))
        taken.add(var.name)
        self.names.append(var.name)
        return var

    def arguments(self, types: list[AnyType]) -> list[Var]:
        taken: set[str] = set()
        return [self.rename(self.fresh(type, "a"), taken) for type in types]

    def maybe_blank(self, targets: list[Var]) -> list[Var | None]:
        return [None if not self.portable and self.chance(5) else v for v in targets]

    # ---- Loop ----------------------------------------------------------------------------------------------------

    def loop(self, block: Block, visible: list[Var], depth: int) -> None:
        trip, condition = self.bounds(block, visible)
        carried = [self.pick(block, visible, self.any_type()) for _ in range(self.draw(st.integers(0, 3)))]
        types = [self.loosened(v.type) for v in carried]
        body = Block(self.arguments([INT64, BOOL, *types]))
        inside = self.fill(body, visible, depth + 1, 4)
        answer = self.answer(body, inside, body.arguments[0], endless=trip is None)
        states = [self.pick(body, inside, t) for t in types]
        elements = self.elements(inside)
        body.results = [answer, *states, *elements]
        targets = [self.fresh(t, "y") for t in types]
        targets += [self.fresh(Type(v.type.dtype, stacked(v.type, None, 0)), "ys") for v in elements]
        if targets:
            block.statements.append(LoopStatement(self.maybe_blank(targets), trip, condition, carried, body))

    def bounds(self, block: Block, visible: list[Var]) -> tuple[Var | None, Var | None]:
        trip = condition = None
        if self.chance(75):
            trip = self.constant(block, INT64, np.array(self.choose((-1, 0, 1, 2, 3, 5)), np.int64))
            numbers = [v for v in visible if v.type == INT64]
            if numbers and self.chance(40):
                trip = self.apply(block, "Min", [self.choose(numbers), trip], INT64)
        if trip is None or self.chance(50):
            known = [v for v in visible if v.type == BOOL]
            condition = self.choose(known) if known and self.chance(40) else self.constant(block, BOOL, np.array(True))
        return trip, condition

    def answer(self, body: Block, inside: list[Var], i: Var, endless: bool) -> Var:
        """The body's condition; without a trip count it surely becomes false."""
        if i not in inside:
            return self.constant(body, BOOL, np.array(False))
        if not endless and self.chance(50):
            return self.pick(body, inside, BOOL)
        limit = self.constant(body, INT64, np.array(self.choose((0, 1, 3)), np.int64))
        return self.apply(body, "Less", [i, limit], BOOL)

    def elements(self, inside: list[Var]) -> list[Var]:
        """Values to collect; rarely some that may change their shape between iterations."""
        tensors = [v for v in inside if isinstance(v.type, Type)]
        fixed = [v for v in tensors if v.type.is_fixed]
        pool = tensors if self.chance(5) else fixed
        return [self.choose(pool) for _ in range(self.draw(st.integers(0, 2)))] if pool else []

    # ---- Scan ----------------------------------------------------------------------------------------------------

    def scan(self, block: Block, visible: list[Var], depth: int) -> None:
        length = self.choose(self.sizes)
        scanned, axes = [], []
        for _ in range(self.draw(st.integers(1, 2))):
            type = self.fixed_type()
            axis = self.draw(st.integers(0, len(type.shape)))
            own = self.choose(self.sizes) if scanned and self.chance(5) else length
            scanned.append(self.pick(block, visible, Type(type.dtype, stacked(type, own, axis))))
            axes.append(axis - len(type.shape) - 1 if self.chance(30) else axis)
        states = [self.pick(block, visible, self.fixed_type()) for _ in range(self.draw(st.integers(0, 2)))]
        slices = [slice_type(v.type, axis) for v, axis in zip(scanned, axes, strict=True)]
        body = Block(self.arguments([*(v.type for v in states), *slices]))
        inside = self.fill(body, visible, depth + 1, 4)
        elements = self.elements(inside)
        body.results = [*(self.state(body, inside, v.type) for v in states), *elements]
        output_axes = [self.output_axis(v.type) for v in elements]
        targets = [self.fresh(v.type, "y") for v in states]
        for element, axis in zip(elements, output_axes, strict=True):
            shape = stacked(element.type, length, axis)
            targets.append(self.fresh(Type(element.type.dtype, shape), "ys"))
        flips = [self.chance(30) for _ in (*scanned, *elements)]
        if targets:
            reverse, output_reverse = flips[: len(scanned)], flips[len(scanned) :]
            blank = self.maybe_blank(targets)
            block.statements.append(
                ScanStatement(blank, states, scanned, axes, reverse, output_axes, output_reverse, body)
            )

    def state(self, body: Block, inside: list[Var], type: Any) -> Var:
        """A state after an iteration, rarely of a shape that it may not have."""
        expected = Type(type.dtype, (None,) * len(type.shape)) if self.chance(3) else type
        return self.pick(body, inside, expected)

    def output_axis(self, type: Any) -> int:
        if type.shape is None:
            return 0
        axis = self.draw(st.integers(0, len(type.shape)))
        return axis - len(type.shape) - 1 if self.chance(30) else axis

    # ---- If ------------------------------------------------------------------------------------------------------

    def branch(self, block: Block, visible: list[Var], depth: int) -> None:
        condition = self.pick(block, visible, BOOL)
        expected = [self.loosened(self.any_type()) for _ in range(self.draw(st.integers(1, 2)))]
        blocks = []
        for _ in range(2):
            inner = Block([])
            inside = self.fill(inner, visible, depth + 1, 3)
            inner.results = [self.pick(inner, inside, t) for t in expected]
            blocks.append(inner)
        targets = self.maybe_blank([self.fresh(t, "z") for t in expected])
        block.statements.append(IfStatement(targets, condition, (blocks[0], blocks[1])))


def see(visible: list[Var], new: list[Var]) -> list[Var]:
    """What is visible once `new` are there: their names hide others."""
    names = {v.name for v in new}
    return [*(v for v in visible if v.name not in names), *new]


def stacked(type: Type, length: int | None, axis: int) -> tuple[int | None, ...] | None:
    """The shape of elements on a new axis of some length."""
    if type.shape is None:
        return None
    shape = list(type.shape)
    shape.insert(axis % (len(shape) + 1), length)
    return tuple(shape)


def slice_type(type: Any, axis: int) -> Type:
    axis %= len(type.shape)
    return Type(type.dtype, (*type.shape[:axis], *type.shape[axis + 1 :]))


@st.composite
def programs(draw: st.DrawFn, extremes: bool = True, portable: bool = False) -> tuple[Block, dict[str, Any]]:
    """A program and values for its inputs; `extremes` and `portable` as in `Writer`."""
    writer = Writer(draw, extremes, portable)
    types: list[AnyType] = [writer.fixed_type() for _ in range(draw(st.integers(1, 3)))]
    if not portable and writer.chance(20):
        types.append(Seq(writer.choose(writer.dtypes)))
    block = Block([writer.fresh(type, "x") for type in types])
    visible = writer.fill(block, [], 0, 5)
    visible = writer.after(writer.choose((writer.loop, writer.scan, writer.branch)), block, visible, 0)
    made = [v for v in visible if v not in block.arguments]
    block.results = made[-4:] or block.arguments[:1]
    return block, {v.name: writer.value(v.type) for v in block.arguments}
