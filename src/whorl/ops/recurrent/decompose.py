"""RNN, GRU and LSTM written out: the products of the whole sequence, then a loop of simple ops over its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape, TensorType, tensor
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.core.base import length_of
from whorl.ops.core.writer import Writer, is_fixed, sizes_of
from whorl.ops.elementwise.arithmetic import Abs, Add, Clip, Div, Identity, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import GreaterOrEqual, Less, Where
from whorl.ops.elementwise.functions import Tanh
from whorl.ops.elementwise.nonlinear import Elu, HardSigmoid, LeakyRelu, Relu, Sigmoid, Softplus
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Concat, Split, Transpose
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.lengths import bounds
from whorl.ops.movement.shapes import Shape, Unsqueeze
from whorl.ops.recurrent.activations import Activation
from whorl.ops.recurrent.operands import CheckedLengths, CheckedState, ZeroState


class Weights(Struct, frozen=True):
    """What one direction reads in every step; rows of `r` and of the biases are those of the gates.

    Shapes: r [hidden, gates * hidden], rb [gates * hidden], peepholes [hidden] each.
    """

    r: Value
    rb: Value | None
    peepholes: tuple[Value, ...] = ()

    def values(self) -> list[Value]:
        return [self.r, *(() if self.rb is None else (self.rb,)), *self.peepholes]

    def copied(self, take: Callable[[Value], Value]) -> Weights:
        """The same, as arguments of a region that `take` makes."""
        return Weights(take(self.r), None if self.rb is None else take(self.rb), tuple(map(take, self.peepholes)))


class StepBuilder(Builder):
    """Adds the nodes of a step; numbers take the element type of the step."""

    dtype: np.dtype = FLOAT32

    def number(self, value: float) -> Value:
        return self.constant(np.array(value, self.dtype))

    def clipped(self, x: Value, clip: float | None) -> Value:
        """The argument of an activation, held inside [-clip, clip]."""
        return x if clip is None else self.add(Clip(), x, self.number(-clip), self.number(clip))

    def columns(self, x: Value, start: int, stop: int) -> Value:
        """Columns of a matrix from one position to another."""
        return Writer(self).slice(x, 1, start, stop)

    def parts(self, x: Value, count: int) -> list[Value]:
        """Columns of a matrix cut into equal parts."""
        return self.add_many(Split(1, count, count), [x], [f"part{n}" for n in range(count)])

    def added(self, x: Value, *more: Value | None) -> Value:
        for y in more:
            x = x if y is None else self.add(Add(), x, y)
        return x

    def activated(self, f: Activation, x: Value) -> Value:
        """An activation function of x."""
        match f.name:
            case "relu" | "tanh" | "sigmoid" | "softplus":
                return self.add({"relu": Relu, "tanh": Tanh, "sigmoid": Sigmoid, "softplus": Softplus}[f.name](), x)
            case "elu":
                return self.add(Elu(f.alpha), x)
            case "leakyrelu":
                return self.add(LeakyRelu(f.alpha), x)
            case "hardsigmoid":
                return self.add(HardSigmoid(f.alpha, f.beta), x)
            case "affine":
                return self.add(Add(), self.add(Mul(), x, self.number(f.alpha)), self.number(f.beta))
            case "scaledtanh":
                return self.add(Mul(), self.add(Tanh(), self.add(Mul(), x, self.number(f.beta))), self.number(f.alpha))
            case "softsign":
                return self.add(Div(), x, self.add(Add(), self.add(Abs(), x), self.number(1)))
            case _:
                pass
        over = self.add(GreaterOrEqual(), x, self.number(f.alpha))
        return self.add(Where(), over, x, self.number(0))


def write_out(op: Any, inputs: Sequence[Value | None], build: Builder) -> list[Value] | None:
    """Nodes for a recurrent op with weights of known shapes, and its outputs; None where one is open or empty."""
    x, w, r, b, lengths, *rest = (*inputs, *(None,) * (8 - len(inputs)))
    initial, peepholes = rest[: op.states], rest[op.states]
    if x is None or w is None or r is None or not is_fixed(w, r, b, peepholes) or not _has_steps(x):
        return None
    dtype = tensor(x).dtype
    wide = FLOAT32 if dtype.itemsize < 4 else dtype
    x, w, r, b, peepholes = (_widened(v, wide, build) for v in (x, w, r, b, peepholes))
    initial = [_widened(s, wide, build) for s in initial]
    if op.layout:
        x = build.add(Transpose((1, 0, 2)), x)
        initial = [None if s is None else build.add(Transpose((1, 0, 2)), s) for s in initial]
    assert x is not None and w is not None and r is not None
    run = _Run(x, None if lengths is None else build.add(CheckedLengths(), lengths, x), wide, build)
    zero = build.add(ZeroState(sizes_of(r)[2], wide), x)
    backwards = _turned(run, op)
    parts: list[list[Value]] = []
    for d, (reverse, functions) in enumerate(zip(op.reversals(), op.functions(), strict=True)):
        own = [zero if s is None else build.add(CheckedState(), _row(s, d, build), x) for s in initial]
        wb, rb = _biases(op, b, d, build)
        p = () if peepholes is None else _cut(_row(peepholes, d, build), 3, build)
        weights = Weights(build.add(Transpose(), _row(r, d, build)), rb, tuple(p))
        steps = x if backwards is None or not reverse else backwards
        product = build.add(MatMul(), steps, build.add(Transpose(), _row(w, d, build)))
        projected = product if wb is None else build.add(Add(), product, wb)
        is_turned = steps is backwards
        parts.append(_Direction(op, functions, reverse, is_turned, weights, run).walk(projected, own))
    return _stack_directions(op, parts, dtype, build)


def _has_steps(x: Value) -> bool:
    """Whether a tensor has three axes of lengths that are not 0 as far as types tell."""
    shape = tensor(x).shape
    return not isinstance(shape, AnyShape) and len(shape) == 3 and 0 not in shape


def _widened(x: Value | None, wide: np.dtype, build: Builder) -> Value | None:
    return x if x is None or tensor(x).dtype == wide else build.add(Cast(wide), x)


def _biases(op: Any, b: Value | None, d: int, build: Builder) -> tuple[Value | None, Value | None]:
    """The bias of the input's product and that of the state's; their sum as the latter where that means the same."""
    if b is None:
        return None, None
    wb, rb = _cut(_row(b, d, build), 2, build)
    return (wb, rb) if op.has_inner_bias else (None, build.add(Add(), wb, rb))


def _cut(x: Value, count: int, build: Builder) -> list[Value]:
    """Equal parts of a vector, each by a node of its own, which can be computed in advance."""
    size = sizes_of(x)[0] // count
    return [Writer(build).slice(x, 0, n * size, (n + 1) * size) for n in range(count)]


def _row(x: Value, d: int, build: Builder) -> Value:
    """What belongs to direction `d`."""
    return build.add(Gather(0), x, build.constant(np.array(d, np.int64)))


class _Run(Struct):
    """What all directions share: X [steps, batch, input], the checked sequence lengths, and the type of the states."""

    x: Value
    lengths: Value | None
    dtype: np.dtype
    build: Builder

    @property
    def steps(self) -> Value:
        """The number of steps, as a tensor with one axis."""
        return self.build.add(Shape(0, 1), self.x)

    def zero_without_steps(self, states: list[Value], initial: Sequence[Value]) -> list[Value]:
        """Last states, 0 where a row has no step."""
        count = self.lengths
        if count is None:
            if bounds(length_of(self.x, 0))[0] > 0 or all(map(_is_zero, initial)):
                return states
            count = self.steps
        some = self.build.add(Less(), self.build.constant(np.array(0, np.int64)), count)
        zero = self.build.constant(np.array(0, self.dtype))
        return [self.build.add(Where(), some, state, zero) for state in states]


def _turned(run: _Run, op: Any) -> Value | None:
    """X from its last step to the first one for ops that also run so: the loops of both directions are then one nest.

    None where rows have lengths of their own, which the loops ask for in other ways.
    """
    if len(op.reversals()) < 2 or run.lengths is not None:
        return None
    return Writer(run.build).slice(run.x, 0, -1, np.iinfo(np.int64).min, -1)


class _Direction(Struct):
    """`is_turned`: what a reverse direction reads begins with the last step."""

    op: Any
    functions: tuple[Activation, ...]
    reverse: bool
    is_turned: bool
    weights: Weights
    run: _Run

    def walk(self, projected: Value, initial: Sequence[Value]) -> list[Value]:
        """The loop of one direction: Y [steps, batch, hidden], then the last states [batch, hidden]."""
        body, build = Region("step"), self.run.build
        loop = Loop(len(initial), (Scanned(0, self.reverse and not self.is_turned),), (Collected(0, self.reverse),))
        limit = self._limit_of_rows()
        fixed = [*self.weights.values(), *(() if limit is None else (limit,))]
        inner = StepBuilder(body, build.inference)
        inner.dtype = self.run.dtype
        i, go = body.add_argument("i", TensorType(INT64, ())), body.add_argument("go", TensorType(BOOL, ()))
        state = [body.add_argument(f"state{n}", s.type) for n, s in enumerate(initial)]
        x = body.add_argument("x", Scanned().slice_type(tensor(projected)))
        copies = {v: body.add_argument(v.name, v.type, v.known) for v in dict.fromkeys(fixed)}
        after = self.op.write_step(inner, self.functions, self.weights.copied(copies.__getitem__), x, state)
        y = after[0]
        if limit is not None:
            inside = inner.add(GreaterOrEqual() if self.reverse else Less(), i, copies[limit])
            y = inner.add(Where(), inside, y, inner.number(0))
            after = [inner.add(Where(), inside, new, old) for new, old in zip(after, state, strict=True)]
        body.results = [inner.add(Identity(), go), *after, y]
        inputs = [None, None, *initial, projected, *copies]
        names = [*(f"last{n}" for n in range(len(initial))), "y"]
        *last, y = build.add_many(loop, inputs, names, [body])
        return [y, *self.run.zero_without_steps(last, initial)]

    def _limit_of_rows(self) -> Value | None:
        """The iterations before which a row's steps come, or from which on they do in reverse; None where all are."""
        lengths, build = self.run.lengths, self.run.build
        return build.add(Sub(), self.run.steps, lengths) if lengths is not None and self.reverse else lengths


def _is_zero(state: Value) -> bool:
    return isinstance(state.owner, Node) and isinstance(state.owner.op, ZeroState)


def _stack_directions(op: Any, parts: Sequence[Sequence[Value]], dtype: np.dtype, build: Builder) -> list[Value]:
    """The outputs of all directions side by side, in the op's layout and element type."""
    axes = (1, *(0 for _ in range(op.states)))
    results: list[Value] = []
    for n, axis in enumerate(axes):
        each = [build.add(Unsqueeze(), part[n], build.int64(axis)) for part in parts]
        stacked = build.add_many(Concat(axis), each, ["joined"])[0] if len(each) > 1 else each[0]
        if op.layout:
            stacked = build.add(Transpose((2, 0, 1, 3) if n == 0 else (1, 0, 2)), stacked)
        results.append(stacked if tensor(stacked).dtype == dtype else build.add(Cast(dtype), stacked))
    return results
