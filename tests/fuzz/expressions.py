"""Drawing single operations: values of any type, and ops on what is visible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

from fuzz.syntax import BOOL, INT64, AnyType, Apply, Block, Opt, Seq, Type, Var, accepts

T = TypeVar("T")
INTEGERS = ("int8", "uint8", "int32", "int64")
FLOATS = ("float16", "float32", "float64")
DTYPES = (*FLOATS, *INTEGERS, "bool", "str")
SIZES = (0, 1, 2, 3)
WORDS = np.array(["", "a", "bc", "é", "x y"], object)


class Expressions:
    """Draws values and ops; with `extremes` NaN, infinities and integers that overflow among them.

    A program uses few element types and lengths, so that many values fit each other.
    """

    def __init__(self, draw: st.DrawFn, extremes: bool) -> None:
        self.draw, self.extremes = draw, extremes
        self.count = 0
        self.dtypes = [self.choose(DTYPES) for _ in range(2)]
        self.sizes = [self.choose(SIZES) for _ in range(2)]
        self.makers = (
            self.unary,
            self.binary,
            self.binary,
            self.compare,
            self.concat,
            self.reduce,
            self.measure,
            self.where,
            self.cast,
            self.reshape,
            self.gather,
            self.slice,
            self.expand,
            self.unsqueeze,
            self.sequence,
            self.sequence,
            self.optional,
        )

    def choose(self, options: Iterable[T]) -> T:
        return self.draw(st.sampled_from(list(options)))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) < percent

    def fresh(self, type: AnyType, hint: str = "v") -> Var:
        self.count += 1
        return Var(f"{hint}{self.count}", type)

    # ---- types and values ----------------------------------------------------------------------------------------

    def fixed_type(self) -> Type:
        rank = self.choose((0, 1, 1, 2))
        return Type(self.choose(self.dtypes), tuple(self.choose(self.sizes) for _ in range(rank)))

    def any_type(self) -> AnyType:
        kind = self.draw(st.integers(0, 9))
        if kind == 8:
            return Seq(self.choose(self.dtypes))
        if kind == 9:
            return Opt(self.loosened(self.fixed_type()) if self.chance(60) else Seq(self.choose(self.dtypes)))
        return self.fixed_type()

    def loosened(self, type: AnyType) -> AnyType:
        """The type of a value that may grow, or change its rank, from one iteration or branch to another."""
        if not isinstance(type, Type) or not type.shape or self.chance(70):
            return type
        return Type(type.dtype, None if self.chance(30) else (None, *type.shape[1:]))

    def array(self, type: Type) -> np.ndarray:
        """Elements of any type; a length that may differ is one of some length."""
        lengths = (None,) * self.draw(st.integers(0, 2)) if type.shape is None else type.shape
        shape = tuple(self.choose(self.sizes) if d is None else d for d in lengths)
        values = np.random.default_rng(self.draw(st.integers(0, 1 << 16))).integers(-4, 5, shape)
        if type.dtype == "str":
            return np.asarray(WORDS[np.abs(values)], object)
        extreme = self.extremes and self.chance(15)
        if extreme and type.dtype in INTEGERS:
            values = values * int(np.iinfo(type.dtype).max // 3)
        if extreme and type.dtype in FLOATS:
            values = np.array([np.nan, np.inf, -np.inf, -0.0, 1e30])[np.abs(values)]
        with np.errstate(all="ignore"):
            return np.asarray(values > 0 if type.dtype == "bool" else values).astype(type.dtype)

    def value(self, type: AnyType) -> Any:
        match type:
            case Type():
                return self.array(type)
            case Seq():
                return [self.array(Type(type.dtype, None)) for _ in range(self.draw(st.integers(0, 2)))]
            case Opt():
                return self.value(type.of) if self.chance(60) else None

    def constant(self, block: Block, type: Type, value: np.ndarray | None = None) -> Var:
        value = self.array(type) if value is None else value
        return self.apply(block, "Constant", [], Type(type.dtype, value.shape), value=value)

    def made(self, block: Block, visible: list[Var], type: AnyType) -> Var:
        """A value of this type that nothing gave yet."""
        match type:
            case Type():
                return self.constant(block, type)
            case Seq():
                if self.chance(30):
                    return self.apply(block, "SequenceEmpty", [], type)
                items = [self.constant(block, Type(type.dtype, None)) for _ in range(self.draw(st.integers(1, 2)))]
                return self.apply(block, "SequenceConstruct", items, type)
            case Opt():
                if self.chance(50):
                    return self.apply(block, "EmptyOptional", [], type)
                return self.apply(block, "Optional", [self.pick(block, visible, type.of)], type)

    def pick(self, block: Block, visible: list[Var], type: AnyType) -> Var:
        """A visible value of this type, or one made for it."""
        fitting = [v for v in visible if accepts(type, v.type)]
        return self.choose(fitting) if fitting and self.chance(85) else self.made(block, visible, type)

    def apply(self, block: Block, op: str, inputs: list[Var], type: AnyType, **attributes: Any) -> Var:
        target = self.fresh(type)
        block.statements.append(Apply(op, target, inputs, attributes))
        return target

    # ---- operations: each gives a value, or None where x is nothing for it ---------------------------------------

    def simple(self, block: Block, visible: list[Var], depth: int = 0) -> Var:
        if not visible or self.chance(10):
            return self.made(block, visible, self.any_type())
        rare = [v for v in visible if not isinstance(v.type, Type)]
        x = self.choose(rare if rare and self.chance(25) else visible)
        makers = (self.sequence, self.optional, self.unary) if x in rare else self.makers
        return self.choose(makers)(block, visible, x) or self.apply(block, "Identity", [x], x.type)

    def unary(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type) or x.type.dtype in ("str", "uint8"):
            return None
        return self.apply(block, "Not" if x.type.dtype == "bool" else self.choose(("Neg", "Abs")), [x], x.type)

    def partner(self, block: Block, visible: list[Var], x: Var) -> Var:
        """A second operand; rarely one of which nobody knows whether it broadcasts."""
        same = [v for v in visible if isinstance(v.type, Type) and v.type.dtype == x.type.dtype]
        fits = same if self.chance(4) else [v for v in same if surely_broadcast(v, x)]
        return self.choose(fits) if fits and self.chance(80) else self.constant(block, Type(x.type.dtype, ()))

    def binary(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type):
            return None
        names = {"bool": ("And", "Or", "Xor"), "str": ("StringConcat",)}
        op = self.choose(names.get(x.type.dtype, ("Add", "Sub", "Mul", "Max", "Min")))
        y = self.partner(block, visible, x)
        return self.apply(block, op, [x, y], broadcast(x.type.dtype, x, y))

    def compare(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type):
            return None
        y = self.partner(block, visible, x)
        op = "Equal" if x.type.dtype in ("bool", "str") or self.chance(30) else "Less"
        return self.apply(block, op, [x, y], broadcast("bool", x, y))

    def concat(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type) or not x.type.shape:
            return None
        rest = (None, *x.type.shape[1:])
        y = self.choose([v for v in visible if accepts(Type(x.type.dtype, rest), v.type)])
        lengths = (x.type.shape[0], y.type.shape[0])
        length = None if None in lengths else lengths[0] + lengths[1]
        return self.apply(block, "Concat", [x, y], Type(x.type.dtype, (length, *x.type.shape[1:])))

    def reduce(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type) or x.type.dtype not in ("int32", "int64"):
            return None
        return self.apply(block, "ReduceSum", [x], Type(x.type.dtype, ()))

    def measure(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type):
            return None
        if self.chance(30):
            return self.apply(block, "Size", [x], INT64)
        return self.apply(block, "Shape", [x], shape_type(x))

    def where(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type) or not x.type.is_fixed:
            return None
        condition = self.pick(block, visible, Type("bool", x.type.shape) if self.chance(50) else BOOL)
        return self.apply(block, "Where", [condition, x, self.pick(block, visible, x.type)], x.type)

    def cast(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        """Integers to anything, floats to floats: casts on which all engines agree."""
        if not isinstance(x.type, Type) or x.type.dtype == "str":
            return None
        targets = FLOATS if x.type.dtype in FLOATS else (*FLOATS, *INTEGERS, "bool")
        return self.apply(block, "Cast", [x], Type(self.choose(targets), x.type.shape))

    def reshape(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        """Flattened, and perhaps brought back to the shape it had, or to that of something else."""
        if not isinstance(x.type, Type):
            return None
        count = int(np.prod(x.type.shape)) if x.type.is_fixed else None
        flat = self.constant(block, Type("int64", (1,)), np.array([-1], np.int64))
        y = self.apply(block, "Reshape", [x, flat], Type(x.type.dtype, (count,)))
        if self.chance(40):
            return y
        like = x if self.chance(95) else self.choose([v for v in visible if isinstance(v.type, Type)])
        shape = self.apply(block, "Shape", [like], shape_type(like))
        return self.apply(block, "Reshape", [y, shape], Type(x.type.dtype, like.type.shape))

    def gather(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type) or not x.type.shape:
            return None
        scalars = [v for v in visible if v.type == INT64]
        if scalars and self.chance(30):
            index = self.choose(scalars)
        else:
            low = -min(x.type.shape[0] or 0, 1)
            index = self.constant(block, INT64, np.array(self.choose((low, low, 0, 1)), np.int64))
        return self.apply(block, "Gather", [x, index], Type(x.type.dtype, x.type.shape[1:]))

    def slice(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type) or not x.type.shape:
            return None
        length, *rest = x.type.shape
        scalars = [v for v in visible if v.type == INT64]
        if scalars and self.chance(40):
            return self.apply(block, "SliceTo", [x, self.choose(scalars)], Type(x.type.dtype, (None, *rest)))
        step, ends = self.choose((1, 1, 2, -1, -2)), (-1, 0, 1, 2, 3, 1000, -1000, -3, -2)
        # ONNX clamps the start of a negative step to the first element, NumPy to none.
        part = slice(self.choose(ends if step > 0 else ends[:6]), self.choose(ends), step)
        if length is not None:
            length = len(range(*part.indices(length)))
        return self.apply(block, "Slice", [x], Type(x.type.dtype, (length, *rest)), part=part)

    def expand(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        """As wide as something else, or with a new axis in front."""
        if not isinstance(x.type, Type):
            return None
        tensors = [v for v in visible if isinstance(v.type, Type) and surely_broadcast(v, x)]
        if x.type.is_fixed and self.chance(50):
            expected = (self.choose(self.sizes), *(self.choose(self.sizes) if d == 1 else d for d in x.type.shape))
            shape = self.constant(block, Type("int64", (len(expected),)), np.array(expected, np.int64))
            return self.apply(block, "Expand", [x, shape], Type(x.type.dtype, expected))
        like = self.choose(tensors)
        shape = self.apply(block, "Shape", [like], shape_type(like))
        return self.apply(block, "Expand", [x, shape], broadcast(x.type.dtype, x, like))

    def unsqueeze(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Type):
            return None
        if x.type.shape is None:
            return self.apply(block, "Unsqueeze", [x], x.type, axis=self.choose((0, -1)))
        axis = self.draw(st.integers(0, len(x.type.shape)))
        shape = (*x.type.shape[:axis], 1, *x.type.shape[axis:])
        message = axis - len(shape) if self.chance(30) else axis
        return self.apply(block, "Unsqueeze", [x], Type(x.type.dtype, shape), axis=message)

    def sequence(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if isinstance(x.type, Type):
            fits = [v for v in visible if v.type == Seq(x.type.dtype)]
            if x.type.shape and self.chance(30):
                return self.apply(block, "SplitToSequence", [x], Seq(x.type.dtype), size=self.choose((1, 1, 2, 3)))
            if fits and self.chance(60):
                return self.apply(block, "SequenceInsert", [self.choose(fits), x], Seq(x.type.dtype))
            return self.apply(block, "SequenceConstruct", [x] * self.choose((1, 2)), Seq(x.type.dtype))
        if not isinstance(x.type, Seq):
            return None
        kind = self.draw(st.integers(0, 4))
        if kind == 0:
            return self.apply(block, "SequenceLength", [x], INT64)
        if kind == 4:
            return self.apply(block, "ConcatFromSequence", [x], Type(x.type.dtype, None))
        position = self.constant(block, INT64, np.array(self.choose((0, 0, -1, 1)), np.int64))
        if kind == 1:
            return self.apply(block, "SequenceErase", [x, position], x.type)
        if kind == 2:
            item = self.pick(block, visible, Type(x.type.dtype, None))
            return self.apply(block, "SequenceInsertAt", [x, item, position], x.type)
        return self.apply(block, "SequenceAt", [x, position], Type(x.type.dtype, None))

    def optional(self, block: Block, visible: list[Var], x: Var) -> Var | None:
        if not isinstance(x.type, Opt):
            return self.apply(block, "Optional", [x], Opt(x.type))
        if self.chance(50):
            return self.apply(block, "OptionalHasElement", [x], BOOL)
        return self.apply(block, "OptionalGetElement", [x], x.type.of)


def shape_type(x: Var) -> Type:
    return Type("int64", (None if x.type.shape is None else len(x.type.shape),))


def surely_broadcast(a: Var, b: Var) -> bool:
    if a is b or () in (a.type.shape, b.type.shape):
        return True
    if not (a.type.is_fixed and b.type.is_fixed):
        return False
    pairs = zip(reversed(a.type.shape), reversed(b.type.shape), strict=False)
    return all(x == y or 1 in (x, y) for x, y in pairs)


def broadcast(dtype: str, x: Var, y: Var) -> Type:
    """The type of two values broadcast together."""
    a, b = x.type.shape, y.type.shape
    if x is y or b == ():
        return Type(dtype, a)
    if a == ():
        return Type(dtype, b)
    if x.type.is_fixed and y.type.is_fixed and surely_broadcast(x, y):
        return Type(dtype, np.broadcast_shapes(a, b))
    return Type(dtype, None)
