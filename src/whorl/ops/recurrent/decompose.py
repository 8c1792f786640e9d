"""RNN, GRU and LSTM written out: the products of the whole sequence, then a loop of simple ops over its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.graph import Op, Region, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.core.writer import Writer, is_fixed, sizes_of
from whorl.ops.elementwise.arithmetic import Abs, Add, Clip, Div, Identity, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import GreaterOrEqual, Less, Where
from whorl.ops.elementwise.functions import Tanh
from whorl.ops.elementwise.nonlinear import Elu, HardSigmoid, LeakyRelu, Relu, Sigmoid, Softplus
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Concat, Split, Transpose
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Unsqueeze
from whorl.ops.recurrent.activations import Activation


@dataclass(frozen=True)
class CheckedLengths(Op, abstract=True):
    """Sequence lengths as int64 [batch, 1]; refuses one outside [0, steps]."""

    steps: int

    def infer(self, lengths: Fact) -> TensorType:
        return TensorType(INT64, (*tensor(lengths).shape, 1))  # type: ignore[misc]

    def run(self, lengths: np.ndarray) -> np.ndarray:
        bad = lengths[(lengths < 0) | (lengths > self.steps)]
        if bad.size:
            raise RunError(f"sequence length {bad[0]} is outside [0, {self.steps}]")
        return lengths.astype(np.int64)[:, None]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        lengths = k.materialise(inputs[0])
        for row in range(lengths.fixed_shape[0]):
            length = k.cast(lengths.at((k.const(row),)), INT64)
            inside = k.apply("and", k.compare("ge", length, k.const(0)), k.compare("le", length, k.const(self.steps)))
            k.fail_unless(inside)
        return [k.view(INT64, (*lengths.shape, 1), lambda index: k.cast(lengths.at(index[:1]), INT64), 1)]


@dataclass(frozen=True)
class Weights:
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
    """Nodes for a recurrent op on inputs of known shapes, and its outputs; None where a shape is open or empty."""
    x, w, r, b, lengths, *rest = (*inputs, *(None,) * (8 - len(inputs)))
    if not is_fixed(*inputs):
        return None
    assert x is not None
    dtype = tensor(x).dtype
    wide = FLOAT32 if dtype.itemsize < 4 else dtype
    x, w, r, b, *rest = (_widened(v, wide, build) for v in (x, w, r, b, *rest))
    initial, peepholes = rest[: op.states], rest[op.states]
    if op.layout:
        x = build.add(Transpose((1, 0, 2)), x)
        initial = [None if s is None else build.add(Transpose((1, 0, 2)), s) for s in initial]
    assert x is not None and w is not None and r is not None
    (steps, batch, _), hidden = sizes_of(x), sizes_of(r)[2]
    checked = None if lengths is None else build.add(CheckedLengths(steps), lengths)
    zero = build.add(ConstantOfShape(np.zeros(1, wide)), build.int64(batch, hidden))
    parts: list[list[Value]] = []
    for d, (reverse, functions) in enumerate(zip(op.reversals(), op.functions(), strict=True)):
        own = [zero if s is None else _row(s, d, build) for s in initial]
        wb, rb = _biases(op, b, d, build)
        p = () if peepholes is None else _cut(_row(peepholes, d, build), 3, build)
        weights = Weights(build.add(Transpose(), _row(r, d, build)), rb, tuple(p))
        product = build.add(MatMul(), x, build.add(Transpose(), _row(w, d, build)))
        projected = product if wb is None else build.add(Add(), product, wb)
        direction = _Direction(op, functions, reverse, steps, wide, weights, checked)
        parts.append(direction.walk(projected, own, build))
    return _stack_directions(op, parts, dtype, build)


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


@dataclass
class _Direction:
    op: Any
    functions: tuple[Activation, ...]
    reverse: bool
    steps: int
    dtype: np.dtype
    weights: Weights
    lengths: Value | None

    def walk(self, projected: Value, initial: Sequence[Value], build: Builder) -> list[Value]:
        """The loop of one direction: Y [steps, batch, hidden], then the last states [batch, hidden]."""
        body = Region("step")
        loop = Loop(len(initial), (Scanned(0, self.reverse),), (Collected(0, self.reverse),))
        fixed = [*self.weights.values(), *(() if self.lengths is None else (self.lengths,))]
        inner = StepBuilder(body, build.inference)
        inner.dtype = self.dtype
        i, go = body.add_argument("i", TensorType(INT64, ())), body.add_argument("go", TensorType(BOOL, ()))
        state = [body.add_argument(f"state{n}", s.type) for n, s in enumerate(initial)]
        x = body.add_argument("x", Scanned().slice_type(tensor(projected)))
        copies = {v: body.add_argument(v.name, v.type, v.known) for v in dict.fromkeys(fixed)}
        after = self.op.write_step(inner, self.functions, self.weights.copied(copies.__getitem__), x, state)
        y = after[0]
        if self.lengths is not None:
            after, y = self._freeze_finished(inner, i, copies[self.lengths], after, state)
        body.results = [inner.add(Identity(), go), *after, y]
        inputs = [None, None, *initial, projected, *copies]
        names = [*(f"last{n}" for n in range(len(initial))), "y"]
        *last, y = build.add_many(loop, inputs, names, [body])
        if self.lengths is not None:
            some = build.add(Less(), build.constant(np.array(0, np.int64)), self.lengths)
            last = [build.add(Where(), some, s, build.constant(np.array(0, self.dtype))) for s in last]
        return [y, *last]

    def _freeze_finished(
        self, inner: StepBuilder, i: Value, lengths: Value, after: Sequence[Value], state: Sequence[Value]
    ) -> tuple[list[Value], Value]:
        """States that stand still past a row's length, and the output, which is 0 there."""
        t = inner.add(Sub(), inner.constant(np.array(self.steps - 1, np.int64)), i) if self.reverse else i
        inside = inner.add(Less(), t, lengths)
        states = [inner.add(Where(), inside, new, old) for new, old in zip(after, state, strict=True)]
        return states, inner.add(Where(), inside, after[0], inner.number(0))


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
