"""RNN, GRU and LSTM over whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from msgspec import Struct

from whorl.errors import RunError, TypeRuleError
from whorl.ir.attributes import defaults
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.graph import Op, Value
from whorl.ir.types import Fact, TensorType
from whorl.ops.core.base import COMPUTED_FLOATS, check_types, dims_of, require_dtype, same_dtype, unify_lengths, widen
from whorl.ops.core.pieces import matmul
from whorl.ops.core.writer import sizes_of
from whorl.ops.elementwise.arithmetic import Mul, Sub
from whorl.ops.linear.products import MatMul
from whorl.ops.recurrent.activations import Activation, activation_functions
from whorl.ops.recurrent.decompose import StepBuilder, Weights, write_out

_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
Arrays = tuple[np.ndarray, ...]
Functions = tuple[Activation, ...]


class Cell(Struct, frozen=True):
    """The weights of one direction, transposed, in the type that is computed in.

    Shapes: w [input, gates * hidden], r [hidden, gates * hidden], wb and rb [gates * hidden], peepholes [3, hidden].
    `functions` are the activations in the order the op names them.
    """

    w: np.ndarray
    r: np.ndarray
    wb: np.ndarray
    rb: np.ndarray
    peepholes: np.ndarray
    functions: tuple[Activation, ...]


class Recurrent(Op, frozen=True):
    """A cell applied to every step of a batch of sequences.

    Inputs: X [seq, batch, input], W [directions, gates * hidden, input], R [directions, gates * hidden, hidden],
    B [directions, 2 * gates * hidden], sequence_lens [batch], then an initial value [directions, batch, hidden] of each
    state. Outputs: Y [seq, directions, batch, hidden], then the last value of each state. `layout` 1 puts batch first.
    Past a row's length Y is 0 and the states stand still; a row without any step gives 0 for its last states, as
    onnxruntime and OpenVINO do. 16-bit floats are computed in float32 and rounded at the end.
    """

    abstract: ClassVar[bool] = True

    activation_alpha: tuple[float, ...] | None = None
    activation_beta: tuple[float, ...] | None = None
    activations: tuple[str, ...] | None = None
    clip: float | None = None
    direction: str = "forward"
    hidden_size: int | None = None
    layout: int = 0

    gates: ClassVar[int]
    """Row blocks of W and R."""
    states: ClassVar[int] = 1
    """How many states are carried from step to step; the first one is the output."""
    defaults: ClassVar[tuple[str, ...]]
    """The activations of one direction where none are named."""

    def step(self, cell: Cell, x: np.ndarray, *state: np.ndarray) -> Arrays:
        """The states after one step; `x` [batch, gates * hidden] is this step's Xt*W^T + Wb."""
        raise NotImplementedError

    def write_step(
        self, b: StepBuilder, functions: Functions, weights: Weights, x: Value, state: Sequence[Value]
    ) -> list[Value]:
        """`step` as nodes; `x` may be without Wb, and `weights.rb` then is Wb + Rb."""
        raise NotImplementedError

    @property
    def has_inner_bias(self) -> bool:
        """Whether Rb means something else than Wb."""
        return False

    def decompose(self, inputs: Sequence[Value | None], build: Builder) -> list[Value] | None:
        return write_out(self, inputs, build)

    # ---- types -------------------------------------------------------------------------------------------------

    def infer(self, *inputs: Fact | None) -> tuple[TensorType, ...]:
        x, w, r, b, lengths, *initial = (*inputs, *(None,) * (8 - len(inputs)))
        dtype = same_dtype(x, w, r, b, *initial)
        require_dtype(dtype, COMPUTED_FLOATS)
        self.functions()
        directions = len(self.reversals())
        sequence, batch, size = self._batch_second(dims_of(x, 3, "X"))
        hidden = self._check_weights(directions, size, w, r, b)
        p = dims_of(initial[self.states], 2, "P")
        unify_lengths("directions", directions, p[0])
        unify_lengths("length of P", hidden * 3, p[1])
        states = [self._batch_second(dims_of(s, 3, "an initial state")) for s in initial[: self.states]]
        unify_lengths("directions", directions, *(s[0] for s in states))
        batch = unify_lengths("batch size", batch, dims_of(lengths, 1, "sequence_lens")[0], *(s[1] for s in states))
        hidden = unify_lengths("hidden size", hidden, *(s[2] for s in states))
        if self.layout:
            y, last = (batch, sequence, directions, hidden), (batch, directions, hidden)
        else:
            y, last = (sequence, directions, batch, hidden), (directions, batch, hidden)
        return (TensorType(dtype, y), *(TensorType(dtype, last),) * self.states)

    def _check_weights(self, directions: int, size: Dim, w: Fact | None, r: Fact | None, b: Fact | None) -> Dim:
        """The hidden size, after W, R and B are seen to fit each other."""
        w_dims, r_dims, b_dims = dims_of(w, 3, "W"), dims_of(r, 3, "R"), dims_of(b, 2, "B")
        unify_lengths("directions", directions, w_dims[0], r_dims[0], b_dims[0])
        unify_lengths("input size", size, w_dims[2])
        known = () if self.hidden_size is None else (self.hidden_size,)
        hidden = unify_lengths("hidden size", *known, r_dims[2], *(d // self.gates for d in (w_dims[1], r_dims[1])))
        unify_lengths("rows of W and R", hidden * self.gates, w_dims[1], r_dims[1])
        unify_lengths("length of B", hidden * (2 * self.gates), b_dims[1])
        return hidden

    def _batch_second(self, shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
        return (shape[1], shape[0], shape[2]) if self.layout else shape

    def reversals(self) -> tuple[bool, ...]:
        """For each direction whether it runs from the last step to the first."""
        if self.direction not in _DIRECTIONS:
            raise TypeRuleError(f"direction {self.direction!r} does not exist", fix="forward, reverse or bidirectional")
        return _DIRECTIONS[self.direction]

    def functions(self) -> list[tuple[Activation, ...]]:
        """The activations of each direction."""
        directions, each = len(self.reversals()), len(self.defaults)
        names = self.activations or self.defaults * directions
        if len(names) not in (each * directions, len(defaults(type(self))["activations"] or ())):
            raise TypeRuleError(f"{len(names)} activations are named, expected {each * directions}")
        functions = activation_functions(names, self.activation_alpha, self.activation_beta)
        return [tuple(functions[d * each : (d + 1) * each]) for d in range(directions)]

    # ---- meaning -----------------------------------------------------------------------------------------------

    def run(
        self,
        x: np.ndarray,
        w: np.ndarray,
        r: np.ndarray,
        b: np.ndarray | None = None,
        sequence_lens: np.ndarray | None = None,
        *rest: np.ndarray | None,
    ) -> Arrays:
        check_types(self, x, w, r, b, sequence_lens, *rest)
        padded = (*rest, *(None,) * 3)
        initial, peepholes = list(padded[: self.states]), padded[self.states]
        if self.layout:
            x = x.swapaxes(0, 1)
            initial = [None if s is None else s.swapaxes(0, 1) for s in initial]
        steps, batch, hidden = len(x), x.shape[1], r.shape[2]
        lengths = np.full(batch, steps) if sequence_lens is None else _checked(sequence_lens, steps)
        y = np.zeros((steps, len(w), batch, hidden), x.dtype)
        finals = [np.zeros((len(w), batch, hidden), x.dtype) for _ in initial]
        for d, (reverse, functions) in enumerate(zip(self.reversals(), self.functions(), strict=True)):
            cell = _cell(d, w, r, b, peepholes, functions)
            zeros = np.zeros((batch, hidden), cell.w.dtype)
            state = tuple(zeros if s is None else widen(s[d]) for s in initial)
            for final, value in zip(finals, self._walk(cell, x, lengths, state, reverse, y[:, d]), strict=True):
                final[d] = np.where(lengths[:, None] > 0, value, 0)
        if not self.layout:
            return y, *finals
        return y.transpose(2, 0, 1, 3), *(final.swapaxes(0, 1) for final in finals)

    def _walk(
        self, cell: Cell, x: np.ndarray, lengths: np.ndarray, state: Arrays, reverse: bool, y: np.ndarray
    ) -> Arrays:
        """Run one direction, fill its part of Y, and give the last states."""
        steps, batch, size = x.shape
        rows = matmul(widen(x).reshape(steps * batch, size), cell.w) + cell.wb
        projected = rows.reshape(steps, batch, len(cell.wb))
        for t in reversed(range(steps)) if reverse else range(steps):
            after = self.step(cell, projected[t], *state)
            inside = (t < lengths)[:, None]
            state = tuple(np.where(inside, new, old) for new, old in zip(after, state, strict=True))
            y[t] = np.where(inside, after[0], 0)
        return state

    def clipped(self, x: np.ndarray) -> np.ndarray:
        """The argument of an activation, held inside [-clip, clip]."""
        return x if self.clip is None else np.clip(x, -self.clip, self.clip)


def _checked(lengths: np.ndarray, steps: int) -> np.ndarray:
    bad = lengths[(lengths < 0) | (lengths > steps)]
    if bad.size:
        raise RunError(f"sequence length {bad[0]} is outside [0, {steps}]")
    return lengths


def _cell(
    d: int, w: np.ndarray, r: np.ndarray, b: np.ndarray | None, p: np.ndarray | None, functions: tuple[Activation, ...]
) -> Cell:
    """The weights of direction `d`."""
    input_weights, rows, hidden = widen(w[d]).T, w.shape[1], r.shape[2]
    bias = np.zeros(2 * rows, input_weights.dtype) if b is None else widen(b[d])
    peepholes = np.zeros((3, hidden), input_weights.dtype) if p is None else widen(p[d]).reshape(3, hidden)
    return Cell(input_weights, widen(r[d]).T, bias[:rows], bias[rows:], peepholes, functions)


class RNN(Recurrent, frozen=True):
    """Ht = f(Xt*W^T + Ht-1*R^T + Wb + Rb). Of two activations one direction takes the first. Source: ONNX RNN-22."""

    activations: tuple[str, ...] | None = ("Tanh", "Tanh")

    gates = 1
    defaults = ("Tanh",)

    def step(self, cell: Cell, x: np.ndarray, *state: np.ndarray) -> Arrays:
        (h,), (f,) = state, cell.functions
        return (f(self.clipped(x + h @ cell.r + cell.rb)),)

    def write_step(
        self, b: StepBuilder, functions: Functions, weights: Weights, x: Value, state: Sequence[Value]
    ) -> list[Value]:
        total = b.added(x, b.add(MatMul(), state[0], weights.r), weights.rb)
        return [b.activated(functions[0], b.clipped(total, self.clip))]


class GRU(Recurrent, frozen=True):
    """z, r = f(Xt*W^T + Ht-1*R^T + Wb + Rb); ht = g(Xt*Wh^T + Wbh + (r*Ht-1)*Rh^T + Rbh); Ht = (1-z)*ht + z*Ht-1.

    With `linear_before_reset` the reset gate comes last: ht = g(Xt*Wh^T + Wbh + r*(Ht-1*Rh^T + Rbh)).
    Source: ONNX GRU-22.
    """

    linear_before_reset: int = 0

    gates = 3
    defaults = ("Sigmoid", "Tanh")

    def step(self, cell: Cell, x: np.ndarray, *state: np.ndarray) -> Arrays:
        (h,), (f, g), n = state, cell.functions, len(cell.r)
        z, r = np.split(f(self.clipped(x[:, : 2 * n] + h @ cell.r[:, : 2 * n] + cell.rb[: 2 * n])), 2, axis=1)
        if self.linear_before_reset:
            hidden = r * (h @ cell.r[:, 2 * n :] + cell.rb[2 * n :])
        else:
            hidden = (r * h) @ cell.r[:, 2 * n :] + cell.rb[2 * n :]
        candidate = g(self.clipped(x[:, 2 * n :] + hidden))
        return ((1 - z) * candidate + z * h,)

    @property
    def has_inner_bias(self) -> bool:
        return bool(self.linear_before_reset)

    def write_step(
        self, b: StepBuilder, functions: Functions, weights: Weights, x: Value, state: Sequence[Value]
    ) -> list[Value]:
        (h,), (f, g) = state, functions
        if self.linear_before_reset:
            hidden = b.added(b.add(MatMul(), h, weights.r), weights.rb)
            (xz, xr, xn), (hz, hr, hn) = (b.parts(each, 3) for each in (x, hidden))
            z, r = (b.activated(f, b.clipped(b.added(*pair), self.clip)) for pair in ((xz, hz), (xr, hr)))
            far = b.add(Mul(), r, hn)
        else:
            x = b.added(x, weights.rb)
            opened, n = 2 * sizes_of(weights.r)[0], sizes_of(weights.r)[1]
            xg, xn = b.columns(x, 0, opened), b.columns(x, opened, n)
            total = b.added(xg, b.add(MatMul(), h, b.columns(weights.r, 0, opened)))
            z, r = b.parts(b.activated(f, b.clipped(total, self.clip)), 2)
            far = b.add(MatMul(), b.add(Mul(), r, h), b.columns(weights.r, opened, n))
        candidate = b.activated(g, b.clipped(b.added(xn, far), self.clip))
        return [b.added(b.add(Mul(), b.add(Sub(), b.number(1), z), candidate), b.add(Mul(), z, h))]


class LSTM(Recurrent, frozen=True):
    """i = f(G + Pi*Ct-1); f = f(G + Pf*Ct-1); Ct = f*Ct-1 + i*g(G); o = f(G + Po*Ct); Ht = o*h(Ct).

    G is the gate's own block of Xt*W^T + Ht-1*R^T + Wb + Rb, the blocks in the order i, o, f, c. `input_forget` makes
    the forget gate 1 - i. The last input is P [directions, 3 * hidden] in the order i, o, f. `clip` holds the argument
    of every activation, that of h included (onnxruntime and OpenVINO leave that one out). Source: ONNX LSTM-22.
    """

    input_forget: int = 0

    gates = 4
    states = 2
    defaults = ("Sigmoid", "Tanh", "Tanh")

    def step(self, cell: Cell, x: np.ndarray, *state: np.ndarray) -> Arrays:
        (h, c), (f, g, squash) = state, cell.functions
        i, o, forget, candidate = np.split(x + h @ cell.r + cell.rb, 4, axis=1)
        peep_i, peep_o, peep_f = cell.peepholes
        i = f(self.clipped(i + peep_i * c))
        forget = 1 - i if self.input_forget else f(self.clipped(forget + peep_f * c))
        c = forget * c + i * g(self.clipped(candidate))
        o = f(self.clipped(o + peep_o * c))
        return o * squash(self.clipped(c)), c

    def write_step(
        self, b: StepBuilder, functions: Functions, weights: Weights, x: Value, state: Sequence[Value]
    ) -> list[Value]:
        (h, c), (f, g, squash) = state, functions
        peepholes = weights.peepholes or (None,) * 3
        i, o, forget, new = b.parts(b.added(x, b.add(MatMul(), h, weights.r), weights.rb), 4)

        def opened(gate: Value, peephole: Value | None, memory: Value) -> Value:
            from_memory = None if peephole is None else b.add(Mul(), peephole, memory)
            return b.activated(f, b.clipped(b.added(gate, from_memory), self.clip))

        i = opened(i, peepholes[0], c)
        forget = b.add(Sub(), b.number(1), i) if self.input_forget else opened(forget, peepholes[2], c)
        new = b.activated(g, b.clipped(new, self.clip))
        c = b.added(b.add(Mul(), forget, c), b.add(Mul(), i, new))
        o = opened(o, peepholes[1], c)
        return [b.add(Mul(), o, b.activated(squash, b.clipped(c, self.clip))), c]
