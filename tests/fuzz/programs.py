"""Random programs of nested Loop, Scan and If: a small syntax of their own, so that an oracle can run them unaided."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

DTYPES = ("float32", "float64", "int32", "int64", "bool")
SIZES = (0, 1, 2, 3)
MAX_DEPTH = 3


@dataclass(frozen=True)
class Type:
    """Element type and shape; None is a length that may differ from one iteration to the next."""

    dtype: str
    shape: tuple[int | None, ...]

    @property
    def is_fixed(self) -> bool:
        return None not in self.shape


@dataclass(frozen=True)
class Var:
    name: str
    type: Type


@dataclass
class Block:
    """Statements, and the values they leave; reads its arguments and anything visible around it."""

    arguments: list[Var]
    statements: list[Statement] = field(default_factory=list)
    results: list[Var] = field(default_factory=list)


@dataclass
class Apply:
    """`target = op(*inputs)`; `constant` is the value of a Constant."""

    op: str
    target: Var
    inputs: list[Var]
    constant: np.ndarray | None = None
    axis: int = 0


@dataclass
class LoopStatement:
    """ONNX Loop: body arguments (i, go_on, *carried), results (go_on, *carried, *collected)."""

    targets: list[Var]
    trip: Var | None
    condition: Var | None
    carried: list[Var]
    body: Block


@dataclass
class ScanStatement:
    """ONNX Scan: body arguments (*states, *slices), results (*states, *elements)."""

    targets: list[Var]
    states: list[Var]
    scanned: list[Var]
    axes: list[int]
    reverse: list[bool]
    output_axes: list[int]
    output_reverse: list[bool]
    body: Block


@dataclass
class IfStatement:
    targets: list[Var]
    condition: Var
    branches: tuple[Block, Block]


Statement = Apply | LoopStatement | ScanStatement | IfStatement


class Writer:
    """Draws one program: knows what is visible and gives fresh names, or reuses names of other bodies."""

    def __init__(self, draw: st.DrawFn, extremes: bool) -> None:
        self.draw, self.extremes = draw, extremes
        self.count = 0

    def choose(self, options):
        return self.draw(st.sampled_from(list(options)))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) < percent

    def fresh(self, type: Type, hint: str = "v") -> Var:
        self.count += 1
        return Var(f"{hint}{self.count}", type)

    # ---- values ----------------------------------------------------------------------------------------------

    def array(self, type: Type) -> np.ndarray:
        shape = tuple(self.choose(SIZES) if d is None else d for d in type.shape)
        seed = self.draw(st.integers(0, 1 << 16))
        values = np.random.default_rng(seed).integers(-4, 5, shape)
        if self.extremes and type.dtype.startswith("int") and self.chance(15):
            values = values * int(np.iinfo(type.dtype).max // 3)
        if self.extremes and type.dtype.startswith("float") and self.chance(15):
            specials = np.array([np.nan, np.inf, -np.inf, -0.0, 1e30])
            values = specials[np.abs(values) % len(specials)]
        return np.asarray(values > 0 if type.dtype == "bool" else values).astype(type.dtype)

    def constant(self, block: Block, type: Type, value: np.ndarray | None = None) -> Var:
        target = self.fresh(type, "k")
        block.statements.append(Apply("Constant", target, [], self.array(type) if value is None else value))
        return target

    def any_type(self) -> Type:
        rank = self.draw(st.integers(0, 2))
        return Type(self.choose(DTYPES), tuple(self.choose(SIZES) for _ in range(rank)))

    def pick(self, block: Block, visible: list[Var], type: Type) -> Var:
        """A visible value of exactly this type, or one made for it."""
        fitting = [v for v in visible if v.type == type]
        if fitting and self.chance(85):
            return self.choose(fitting)
        source = [v for v in visible if v.type.shape == type.shape and v.type.dtype != type.dtype]
        if source and type.dtype != "bool" and self.chance(30):
            integral = [v for v in source if not v.type.dtype.startswith("float")]
            if integral:
                return self.apply(block, "Cast", [self.choose(integral)], type)
        return self.constant(block, type) if type.is_fixed else self.resized(block, visible, type)

    def resized(self, block: Block, visible: list[Var], type: Type) -> Var:
        """A value of a varying length: a constant of some length stands for it."""
        return replace_type(self.constant(block, Type(type.dtype, (self.choose(SIZES), *type.shape[1:]))), type, block)

    def apply(self, block: Block, op: str, inputs: list[Var], type: Type, axis: int = 0) -> Var:
        target = self.fresh(type)
        block.statements.append(Apply(op, target, inputs, axis=axis))
        return target

    # ---- statements ------------------------------------------------------------------------------------------

    def fill(self, block: Block, outer: list[Var], depth: int, budget: int) -> list[Var]:
        """Append up to `budget` statements; returns everything then visible."""
        visible = [*outer, *block.arguments]
        for _ in range(self.draw(st.integers(0, budget))):
            kind = self.draw(st.integers(0, 9))
            if kind == 0 and depth < MAX_DEPTH:
                visible += self.loop(block, visible, depth)
            elif kind == 1 and depth < MAX_DEPTH:
                visible += self.scan(block, visible, depth)
            elif kind == 2 and depth < MAX_DEPTH:
                visible += self.branch(block, visible, depth)
            else:
                visible.append(self.simple(block, visible))
        return visible

    def simple(self, block: Block, visible: list[Var]) -> Var:
        kind = self.draw(st.integers(0, 5))
        if not visible or kind == 0:
            return self.constant(block, self.any_type())
        x = self.choose(visible)
        number = x.type.dtype != "bool"
        if kind == 1:
            return self.apply(
                block, self.choose(("Neg", "Abs", "Identity") if number else ("Not", "Identity")), [x], x.type
            )
        if kind == 2 and len(x.type.shape) >= 1 and number:
            others = [
                v
                for v in visible
                if v.type.dtype == x.type.dtype
                and v.type.shape[1:] == x.type.shape[1:]
                and len(v.type.shape) == len(x.type.shape)
            ]
            y = self.choose(others)
            lengths = (x.type.shape[0], y.type.shape[0])
            length = None if None in lengths else lengths[0] + lengths[1]
            return self.apply(block, "Concat", [x, y], Type(x.type.dtype, (length, *x.type.shape[1:])))
        if kind == 3 and x.type.dtype.startswith("int"):
            return self.apply(block, "ReduceSum", [x], Type(x.type.dtype, ()))
        if kind == 4:
            return self.apply(block, "Shape", [x], Type("int64", (len(x.type.shape),)))
        y = self.partner(block, visible, x)
        ops = ("Add", "Sub", "Mul", "Max", "Min") if number else ("And", "Or", "Xor")
        return self.apply(block, self.choose(ops), [x, y], Type(x.type.dtype, broadcast(x.type.shape, y.type.shape)))

    def partner(self, block: Block, visible: list[Var], x: Var) -> Var:
        """A second operand that surely broadcasts with the first."""
        fits = [v for v in visible if v.type.dtype == x.type.dtype and surely_broadcast(v, x)]
        return self.choose(fits) if fits and self.chance(80) else self.constant(block, Type(x.type.dtype, ()))

    def loop(self, block: Block, visible: list[Var], depth: int) -> list[Var]:
        trip, condition = self.bounds(block, visible)
        carried = [self.pick(block, visible, self.any_type()) for _ in range(self.draw(st.integers(0, 3)))]
        grows = [self.chance(25) and len(v.type.shape) > 0 for v in carried]
        types = [
            Type(v.type.dtype, (None, *v.type.shape[1:])) if g else v.type for v, g in zip(carried, grows, strict=True)
        ]
        i, go = self.fresh(Type("int64", ()), "i"), self.fresh(Type("bool", ()), "go")
        body = Block([i, go, *(self.fresh(t, "h") for t in types)])
        inside = self.fill(body, visible, depth + 1, 4)
        answer = self.answer(body, inside, i, endless=trip is None)
        states = [self.next_state(body, inside, t) for t in types]
        elements = self.elements(body, inside)
        body.results = [answer, *states, *elements]
        targets = [self.fresh(t, "y") for t in types]
        targets += [self.fresh(Type(e.type.dtype, (None, *e.type.shape)), "ys") for e in elements]
        if targets:
            block.statements.append(LoopStatement(targets, trip, condition, carried, body))
        return targets

    def bounds(self, block: Block, visible: list[Var]) -> tuple[Var | None, Var | None]:
        trip = condition = None
        if self.chance(75):
            trip = self.constant(block, Type("int64", ()), np.array(self.choose((-1, 0, 1, 2, 3, 5)), np.int64))
        if trip is None or self.chance(50):
            known = [v for v in visible if v.type == Type("bool", ())]
            condition = (
                self.choose(known)
                if known and self.chance(40)
                else self.constant(block, Type("bool", ()), np.array(True))
            )
        return trip, condition

    def answer(self, body: Block, inside: list[Var], i: Var, endless: bool) -> Var:
        """The body's condition; without a trip count it surely becomes false."""
        if not endless and self.chance(50):
            return self.pick(body, inside, Type("bool", ()))
        limit = self.constant(body, Type("int64", ()), np.array(self.choose((0, 1, 3)), np.int64))
        return self.apply(body, "Less", [i, limit], Type("bool", ()))

    def next_state(self, body: Block, inside: list[Var], type: Type) -> Var:
        if type.is_fixed:
            return self.pick(body, inside, type)
        fits = [
            v
            for v in inside
            if v.type.dtype == type.dtype
            and len(v.type.shape) == len(type.shape)
            and v.type.shape[1:] == type.shape[1:]
        ]
        return self.choose(fits)

    def elements(self, body: Block, inside: list[Var]) -> list[Var]:
        fixed = [v for v in inside if v.type.is_fixed]
        return [self.choose(fixed) for _ in range(self.draw(st.integers(0, 2)))] if fixed else []

    def scan(self, block: Block, visible: list[Var], depth: int) -> list[Var]:
        length = self.choose(SIZES)
        scanned, axes = [], []
        for _ in range(self.draw(st.integers(1, 2))):
            shape = [self.choose(SIZES) for _ in range(self.draw(st.integers(0, 2)))]
            axis = self.draw(st.integers(0, len(shape)))
            shape.insert(axis, length)
            scanned.append(self.pick(block, visible, Type(self.choose(DTYPES), tuple(shape))))
            axes.append(axis - len(shape) if self.chance(30) else axis)
        states = [self.pick(block, visible, self.any_type()) for _ in range(self.draw(st.integers(0, 2)))]
        body = Block([self.fresh(v.type, "s") for v in states])
        body.arguments += [self.fresh(slice_type(v.type, a), "e") for v, a in zip(scanned, axes, strict=True)]
        inside = self.fill(body, visible, depth + 1, 4)
        elements = self.elements(body, inside)
        body.results = [*(self.pick(body, inside, v.type) for v in states), *elements]
        output_axes = [self.draw(st.integers(0, len(e.type.shape))) for e in elements]
        targets = [self.fresh(v.type, "y") for v in states]
        for element, axis in zip(elements, output_axes, strict=True):
            shape = (*element.type.shape[:axis], length, *element.type.shape[axis:])
            targets.append(self.fresh(Type(element.type.dtype, shape), "ys"))
        shown = [
            a - len(e.type.shape) - 1 if self.chance(30) else a for a, e in zip(output_axes, elements, strict=True)
        ]
        flips = [self.chance(30) for _ in (*scanned, *elements)]
        if targets:
            split = len(scanned)
            block.statements.append(
                ScanStatement(targets, states, scanned, axes, flips[:split], shown, flips[split:], body)
            )
        return targets

    def branch(self, block: Block, visible: list[Var], depth: int) -> list[Var]:
        condition = self.pick(block, visible, Type("bool", ()))
        wanted = [self.any_type() for _ in range(self.draw(st.integers(1, 2)))]
        blocks = []
        for _ in range(2):
            inner = Block([])
            inside = self.fill(inner, visible, depth + 1, 3)
            inner.results = [self.pick(inner, inside, t) for t in wanted]
            blocks.append(inner)
        targets = [self.fresh(t, "z") for t in wanted]
        block.statements.append(IfStatement(targets, condition, (blocks[0], blocks[1])))
        return targets


def replace_type(var: Var, type: Type, block: Block) -> Var:
    """The same value seen with a varying length."""
    seen = replace(var, type=type)
    block.statements[-1] = replace(block.statements[-1], target=seen)
    return seen


def slice_type(type: Type, axis: int) -> Type:
    axis %= len(type.shape)
    return Type(type.dtype, (*type.shape[:axis], *type.shape[axis + 1 :]))


def surely_broadcast(a: Var, b: Var) -> bool:
    if a is b or () in (a.type.shape, b.type.shape):
        return True
    if not (a.type.is_fixed and b.type.is_fixed):
        return False
    pairs = zip(reversed(a.type.shape), reversed(b.type.shape), strict=False)
    return all(x == y or 1 in (x, y) for x, y in pairs)


def broadcast(a: tuple, b: tuple) -> tuple:
    if a == b or not b:
        return a
    return b if not a else tuple(np.broadcast_shapes(a, b))


@st.composite
def programs(draw: st.DrawFn, extremes: bool = True) -> tuple[Block, dict[str, np.ndarray]]:
    """A program and values for its inputs; with `extremes`, NaN, infinities and integers that overflow among them."""
    writer = Writer(draw, extremes)
    block = Block([writer.fresh(writer.any_type(), "x") for _ in range(draw(st.integers(1, 3)))])
    visible = writer.fill(block, [], 0, 5)
    visible += writer.choose((writer.loop, writer.scan, writer.branch))(block, visible, 0)
    made = [v for v in visible if v not in block.arguments]
    block.results = made[-4:] or block.arguments[:1]
    return block, {v.name: writer.array(v.type) for v in block.arguments}
