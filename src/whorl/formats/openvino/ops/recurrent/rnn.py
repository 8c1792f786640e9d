"""LSTM, GRU and RNN written: as sequences where OpenVINO means the same, else as loops over simple nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import LoadError, SaveError, UnsupportedError
from whorl.formats.openvino.ops.native_layer import NativeLayer
from whorl.formats.openvino.ops.recurrent.loop import Step, over_steps
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import ranked
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType, tensor
from whorl.ops.elementwise.arithmetic import Add, Identity, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Concat, Split, Transpose
from whorl.ops.movement.shapes import Expand, Shape, Unsqueeze
from whorl.ops.recurrent.activations import Activation
from whorl.ops.recurrent.decompose import StepBuilder, Weights
from whorl.ops.recurrent.operands import CheckedLengths, CheckedState, ZeroState
from whorl.ops.recurrent.rnn import GRU, LSTM, RNN, Recurrent

_DEFAULTS = {"lstm": ("sigmoid", "tanh", "tanh"), "gru": ("sigmoid", "tanh"), "rnn": ("tanh",)}
_HARD = Activation("hardsigmoid", 0.2, 0.5)
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def _functions(node: IrNode, default: Sequence[str]) -> list[Activation]:
    """The activations of the cell; the entries of alpha and beta belong to those at the same index."""
    names = [part.strip() for part in node.text("activations", ",".join(default)).split(",")]
    if len(names) < len(default):
        raise LoadError(f"names {len(names)} activations, expected {len(default)}", node.title)
    alpha, beta = node.numbers("activations_alpha", ()), node.numbers("activations_beta", ())
    functions = []
    for k, name in enumerate(names[: len(default)]):
        if name not in ("sigmoid", "tanh", "relu", "hardsigmoid"):
            raise LoadError(f"names the activation {name!r}", node.title, "sigmoid, tanh, relu or hardsigmoid")
        parameters = ((*alpha, *(_HARD.alpha,) * 3)[k], (*beta, *(_HARD.beta,) * 3)[k])
        functions.append(Activation(name, *(parameters if name == _HARD.name else (0.0, 0.0))))
    return functions


def _clip(node: IrNode) -> float | None:
    """The bound of the activations' arguments; 0 and infinity are none."""
    clip = node.number("clip", 0.0)
    return clip if 0 < clip < float("inf") else None


def _stepping(build: Builder, x: Value) -> StepBuilder:
    b = StepBuilder(build.region, build.inference)
    b.dtype = tensor(x).dtype
    return b


def _product(b: Builder, x: Value, weights: Value) -> Value:
    """x @ weights^T, both matrices."""
    return b.add(MatMul(), x, b.add(Transpose(), weights))


# ---- cells -------------------------------------------------------------------------------------------------------


def lstm_step(node: IrNode, order: str = "fico") -> Step:
    """H and C after a step; `clip` does not hold the argument of the last activation."""
    (f, g, squash), clip = _functions(node, _DEFAULTS["lstm"]), _clip(node)
    coupled = node.flag("input_forget", False)

    def step(b: StepBuilder, x: Value, state: Sequence[Value], w: Value, r: Value, bias: Value | None) -> list[Value]:
        h, c = state
        total = b.added(_product(b, x, w), _product(b, h, r), bias)
        gates = dict(zip(order, b.parts(total, 4), strict=True))
        i, o = (b.activated(f, b.clipped(gates[name], clip)) for name in "io")
        forget = b.add(Sub(), b.number(1), i) if coupled else b.activated(f, b.clipped(gates["f"], clip))
        new = b.activated(g, b.clipped(gates["c"], clip))
        c = b.added(b.add(Mul(), forget, c), b.add(Mul(), i, new))
        return [b.add(Mul(), o, b.activated(squash, c)), c]

    return step


def gru_step(node: IrNode) -> Step:
    """H after a step; gates in the order z, r, h, and a bias of its own for R's part of h if that is reset after it."""
    (f, g), clip = _functions(node, _DEFAULTS["gru"]), _clip(node)
    late = node.flag("linear_before_reset", False)

    def step(b: StepBuilder, x: Value, state: Sequence[Value], w: Value, r: Value, bias: Value | None) -> list[Value]:
        (h,) = state
        wz, wr, wn = _rows(b, w, 3)
        rz, rr, rn = _rows(b, r, 3)
        bz, br, bn, *inner = (None,) * 4 if bias is None else _rows(b, bias, 4 if late else 3)
        z = b.activated(f, b.clipped(b.added(_product(b, x, wz), _product(b, h, rz), bz), clip))
        reset = b.activated(f, b.clipped(b.added(_product(b, x, wr), _product(b, h, rr), br), clip))
        if late:
            far = b.add(Mul(), reset, b.added(_product(b, h, rn), *inner))
        else:
            far = _product(b, b.add(Mul(), reset, h), rn)
        new = b.activated(g, b.clipped(b.added(_product(b, x, wn), far, bn), clip))
        return [b.added(b.add(Mul(), b.add(Sub(), b.number(1), z), new), b.add(Mul(), z, h))]

    return step


def rnn_step(node: IrNode) -> Step:
    """H after a step."""
    (f,), clip = _functions(node, _DEFAULTS["rnn"]), _clip(node)

    def step(b: StepBuilder, x: Value, state: Sequence[Value], w: Value, r: Value, bias: Value | None) -> list[Value]:
        total = b.added(_product(b, x, w), _product(b, state[0], r), bias)
        return [b.activated(f, b.clipped(total, clip))]

    return step


def _rows(b: Builder, x: Value, count: int) -> list[Value]:
    """Equal parts along the first axis."""
    return b.add_many(Split(0, count, count), [x], [f"{x.name}{n}" for n in range(count)])


def _cell(node: IrNode, build: Builder, step: Step, states: int) -> list[Value]:
    x, *state = (node.required(n) for n in range(1 + states))
    w, r = node.required(1 + states), node.required(2 + states)
    return step(_stepping(build, x), x, state, w, r, node.input(3 + states))


@importer("LSTMCell", 1)
def lstm_cell_1(node: IrNode, build: Builder) -> list[Value]:
    """The gates lie in the order that `weights_format` names."""
    order = node.text("weights_format", "fico")
    if sorted(order) != sorted("fico"):
        raise LoadError(f"weights_format is {order!r}", node.title, "fico, icof, ifco, ifoc or iofc")
    if node.input(6) is not None:
        raise UnsupportedError("has peepholes, which no plugin computes", node.title, "leave out input 6")
    return _cell(node, build, lstm_step(node, order), 2)


@importer("LSTMCell", 4)
def lstm_cell_4(node: IrNode, build: Builder) -> list[Value]:
    return _cell(node, build, lstm_step(node), 2)


@importer("GRUCell", 3)
def gru_cell_3(node: IrNode, build: Builder) -> list[Value]:
    return _cell(node, build, gru_step(node), 1)


@importer("RNNCell", 1, 3)
def rnn_cell_3(node: IrNode, build: Builder) -> list[Value]:
    return _cell(node, build, rnn_step(node), 1)


# ---- sequences ---------------------------------------------------------------------------------------------------


def _fields(node: IrNode, default: Sequence[str]) -> dict[str, Any]:
    """The attributes that the hub's recurrent ops share; each direction has the same activations."""
    direction, functions = node.text("direction", choices=tuple(_DIRECTIONS)), _functions(node, default)
    count = len(_DIRECTIONS[direction])
    hard = [f for f in functions if f.name == _HARD.name] * count
    return {
        "activations": tuple(f.name.capitalize() for f in functions) * count,
        "activation_alpha": tuple(f.alpha for f in hard) or None,
        "activation_beta": tuple(f.beta for f in hard) or None,
        "clip": _clip(node),
        "direction": direction,
        "hidden_size": node.integer("hidden_size"),
    }


def _direction(node: IrNode) -> tuple[bool, ...]:
    """Whether each direction runs backwards."""
    return _DIRECTIONS[node.text("direction", choices=tuple(_DIRECTIONS))]


def _hidden_size(node: IrNode, bias: Value) -> int:
    """A number of which the biases, blocks of as many, have a multiple."""
    size, shape = node.integer("hidden_size"), tensor(bias).shape
    length = shape[-1] if isinstance(shape, tuple) and shape else None
    if size < 1 or (isinstance(length, int) and length % size):
        raise LoadError(f"hidden_size is {size}, the biases are {tensor(bias)}", node.title)
    return size


def _blocks(build: Builder, x: Value, count: int, order: Sequence[int]) -> Value:
    """The blocks of axis 1 in another order."""
    parts = build.add_many(Split(1, count, count), [x], [f"{x.name}{n}" for n in range(count)])
    return build.add_many(Concat(1), [parts[n] for n in order], ["blocks"])[0]


def _biases(node: IrNode, build: Builder, bias: Value, zeros: int) -> Value:
    """The bias of the input's product with as many blocks of zeros behind it."""
    shape = len(_direction(node)), zeros * _hidden_size(node, bias)
    return build.add_many(Concat(1), [bias, build.constant(np.zeros(shape, tensor(bias).dtype))], ["biases"])[0]


def _sequence(node: IrNode, build: Builder, op: Recurrent, weights: Sequence[Value]) -> list[Value]:
    """The hub's op on tensors with the steps first, and turned back; onnxruntime knows no other."""
    turned = [build.add(Transpose((1, 0, 2)), node.required(n)) for n in range(1 + op.states)]
    lengths = node.required(1 + op.states)
    lengths = lengths if tensor(lengths).dtype == INT32 else build.add(Cast(INT32), lengths)
    names = ["y", *(f"last{n}" for n in range(op.states))]
    y, *last = build.add_many(op, [turned[0], *weights, lengths, *turned[1:]], names, name=node.name)
    orders = [(2, 1, 0, 3), *((1, 0, 2) for _ in last)]
    values = zip([y, *last], orders, node.outputs, strict=True)
    return [build.add_many(Transpose(order), [value], [name])[0] for value, order, name in values]


def _weights(node: IrNode, states: int) -> list[Value]:
    return [node.required(n) for n in range(2 + states, 5 + states)]


@importer("LSTMSequence", 5)
def lstm_sequence_5(node: IrNode, build: Builder) -> list[Value]:
    """With a clip as a loop over cells, since the hub's op would hold the last activation's argument as well."""
    x, *state = (node.required(n) for n in range(3))
    weights = _weights(node, 2)
    if _clip(node) is not None:
        return over_steps(build, lstm_step(node), _direction(node), x, state, node.required(3), weights)
    order = (1, 3, 0, 2)
    w, r, bias = (_blocks(build, value, 4, order) for value in weights)
    bias = _biases(node, build, bias, 4)
    return _sequence(node, build, LSTM(**_fields(node, _DEFAULTS["lstm"])), [w, r, bias])


@importer("GRUSequence", 5)
def gru_sequence_5(node: IrNode, build: Builder) -> list[Value]:
    late = node.flag("linear_before_reset", False)
    w, r, bias = _weights(node, 1)
    bias = _biases(node, build, bias, 2 if late else 3)
    bias = _blocks(build, bias, 6, (0, 1, 2, 4, 5, 3)) if late else bias
    op = GRU(linear_before_reset=int(late), **_fields(node, _DEFAULTS["gru"]))
    return _sequence(node, build, op, [w, r, bias])


@importer("RNNSequence", 5)
def rnn_sequence_5(node: IrNode, build: Builder) -> list[Value]:
    w, r, bias = _weights(node, 1)
    return _sequence(node, build, RNN(**_fields(node, _DEFAULTS["rnn"])), [w, r, _biases(node, build, bias, 1)])


_NATIVE = {"sigmoid", "tanh", "relu"}
_GATES = {"LSTM": (2, 0, 3, 1), "GRU": (0, 1, 2), "RNN": (0,)}
"""The hub's blocks of gates in OpenVINO's order."""


@exporter(LSTM, GRU, RNN)
def recurrent(op: Recurrent, node: Node, write: NetWriter) -> list[Source]:
    """OpenVINO's CPU plugin heeds the lengths of rows only where the batch and the steps are known."""
    x = node.inputs[0]
    assert x is not None
    lengths, peepholes = (*node.inputs, *(None,) * 8)[4], (*node.inputs, *(None,) * 8)[5 + op.states]
    is_fixed_size = all(isinstance(dim, int) for dim in ranked(x, "X")[:2])
    if peepholes is None and (is_native := _is_native(op)) and (lengths is None or is_fixed_size):
        return write.through(node, lambda build, *inputs: _Sequence(op, build, write, is_native).outputs(*inputs))

    def simpler(build: Builder, *inputs: Value | None) -> Sequence[Value]:
        built = op.decompose(inputs, build)
        if built is not None:
            return built
        if peepholes is not None:
            raise SaveError("has peepholes and lengths that are not known", fix="save it with fixed input shapes")
        return _Sequence(op, build, write, False).outputs(*inputs)

    return write.through(node, simpler)


def _is_native(op: Recurrent) -> bool:
    """Whether OpenVINO's sequence means the same: one set of plain activations, gates on their own.

    A clip does not reach the last activation of its LSTM.
    """
    functions = op.functions()
    if any(each != functions[0] for each in functions) or {f.name for f in functions[0]} - _NATIVE:
        return False
    return not isinstance(op, LSTM) or (op.clip is None and not op.input_forget)


class _Sequence:
    """One recurrent op as nodes around OpenVINO's sequence, or around loops that hold for any lengths."""

    def __init__(self, op: Recurrent, build: Builder, write: NetWriter, is_native: bool) -> None:
        self.op, self.build, self.write, self.is_native = op, build, write, is_native

    def outputs(
        self,
        x: Value | None,
        w: Value | None,
        r: Value | None,
        b: Value | None = None,
        lengths: Value | None = None,
        *rest: Value | None,
    ) -> list[Value]:
        assert x is not None and w is not None and r is not None
        hidden, op, build = self._hidden(r), self.op, self.build
        x = self._batch_first(x)
        states = [
            self._zeros(x, hidden) if s is None else self._batch_first(s) for s in (*rest, None, None)[: op.states]
        ]
        lengths = self._full(x) if lengths is None else lengths
        if self.is_native:
            y, *last = self._layer([x, *states, lengths], w, r, b, hidden)
        else:
            y, *last = self._loops(x, states, lengths, [w, r, self._zero_bias(w, hidden) if b is None else b])
        if op.layout:
            return [build.add(Transpose((0, 2, 1, 3)), y), *last]
        return [build.add(Transpose((2, 1, 0, 3)), y), *(build.add(Transpose((1, 0, 2)), s) for s in last)]

    def _layer(self, inputs: Sequence[Value], w: Value, r: Value, b: Value | None, hidden: int) -> list[Value]:
        op, order, x = self.op, _GATES[self.op.name], inputs[0]
        weights = [self._reordered(w, order), self._reordered(r, order), self._bias(b, w, hidden)]
        directions, dtype = len(op.reversals()), tensor(x).dtype
        batch, steps, _ = ranked(x, "X")
        last = TensorType(dtype, (batch, directions, hidden))
        types = (TensorType(dtype, (batch, directions, steps, hidden)), *(last,) * op.states)
        layer = NativeLayer(f"{op.name}Sequence", 5, types, self._attributes(hidden))
        return self.build.add_many(layer, [*inputs, *weights], [f"out{n}" for n in range(len(types))])

    def _loops(self, x: Value, states: Sequence[Value], lengths: Value, weights: Sequence[Value]) -> list[Value]:
        op, functions = self.op, self.op.functions()
        if any(each != functions[0] for each in functions):
            raise SaveError("has activations that differ by direction", fix="save it with fixed input shapes")

        def step(
            b: StepBuilder, x: Value, state: Sequence[Value], w: Value, r: Value, bias: Value | None
        ) -> list[Value]:
            assert bias is not None
            wb, rb = b.add_many(Split(0, 2, 2), [bias], ["wb", "rb"])
            product = b.add(MatMul(), x, b.add(Transpose(), w))
            if op.has_inner_bias:
                product = b.add(Add(), product, wb)
            else:
                rb = b.add(Add(), wb, rb)
            return op.write_step(b, functions[0], Weights(b.add(Transpose(), r), rb), product, state)

        return over_steps(self.build, step, op.reversals(), x, states, lengths, weights)

    def _zero_bias(self, w: Value, hidden: int) -> Value:
        shape = len(self.op.reversals()), 2 * self.op.gates * hidden
        return self.build.constant(np.zeros(shape, tensor(w).dtype))

    def _attributes(self, hidden: int) -> tuple[tuple[str, Any], ...]:
        op = self.op
        attributes: dict[str, Any] = {
            "direction": op.direction,
            "hidden_size": hidden,
            "activations": ",".join(f.name for f in op.functions()[0]),
            "activations_alpha": "",
            "activations_beta": "",
            "clip": float(op.clip or 0),
        }
        if isinstance(op, GRU):
            attributes["linear_before_reset"] = bool(op.linear_before_reset)
        return tuple(attributes.items())

    def _hidden(self, r: Value) -> int:
        size = self.op.hidden_size or ranked(r, "R")[2]
        if not isinstance(size, int):
            raise SaveError("has a hidden size that is not known", fix="set hidden_size")
        return size

    def _batch_first(self, x: Value) -> Value:
        return x if self.op.layout else self.build.add(Transpose((1, 0, 2)), x)

    def _zeros(self, x: Value, hidden: int) -> Value:
        """Initial states."""
        batch, each = ranked(x, "X")[0], (len(self.op.reversals()), hidden)
        zeros = np.zeros((batch if isinstance(batch, int) else 1, *each), tensor(x).dtype)
        if isinstance(batch, int):
            return self.build.constant(zeros)
        sizes = [self.build.add(Shape(start=0, end=1), x), self.build.int64(*each)]
        return self.build.add(Expand(), self.build.constant(zeros), self.build.add_many(Concat(0), sizes, ["shape"])[0])

    def _full(self, x: Value) -> Value:
        """Lengths of rows that use all steps."""
        batch, steps, _ = ranked(x, "X")
        if isinstance(batch, int) and isinstance(steps, int):
            return self.build.constant(np.full(batch, steps, INT32))
        long = self.build.add(Expand(), self.build.add(Shape(start=1, end=2), x), self.build.add(Shape(end=1), x))
        return self.build.add(Cast(INT32), long)

    def _reordered(self, value: Value, order: Sequence[int]) -> Value:
        """The blocks of axis 1 in another order."""
        if list(order) == sorted(order):
            return value
        known = self.write.constant_value(value)
        if known is not None:
            blocks = np.split(known, len(order), axis=1)
            return self.build.constant(np.concatenate([blocks[n] for n in order], axis=1))
        blocks = self._cut(value, len(order))
        return self.build.add_many(Concat(1), [blocks[n] for n in order], ["blocks"])[0]

    def _cut(self, value: Value, count: int) -> list[Value]:
        return self.build.add_many(Split(1, count, count), [value], [f"block{n}" for n in range(count)])

    def _bias(self, b: Value | None, w: Value, hidden: int) -> Value:
        """The sum of both biases; with `linear_before_reset` those of the candidate apart."""
        op, gates = self.op, self.op.gates
        late = isinstance(op, GRU) and op.linear_before_reset
        if b is None:
            return self.build.constant(np.zeros((len(op.reversals()), (gates + bool(late)) * hidden), tensor(w).dtype))
        known = self.write.constant_value(b)
        blocks = self._cut(b, 2 * gates) if known is None else np.split(known, 2 * gates, axis=1)
        summed = [self._sum(one, other) for one, other in zip(blocks[:gates], blocks[gates:], strict=True)]
        chosen = [*summed[:2], blocks[2], blocks[5]] if late else [summed[n] for n in _GATES[op.name]]
        if known is not None:
            return self.build.constant(np.concatenate(chosen, axis=1))
        return self.build.add_many(Concat(1), chosen, ["bias"])[0]

    def _sum(self, one: Any, other: Any) -> Any:
        return self.build.add(Add(), one, other) if isinstance(one, Value) else one + other


@rewritten(CheckedLengths)
def checked_lengths(op: CheckedLengths, build: Builder, lengths: Value, x: Value) -> Value:
    """Lengths as they are: OpenVINO has nothing that refuses wrong ones."""
    return build.add(Unsqueeze(), build.add(Cast(INT64), lengths), build.int64(1))


@rewritten(CheckedState)
def checked_state(op: CheckedState, build: Builder, state: Value, x: Value) -> Value:
    """A state as it is: another batch than that of X fails where it meets it."""
    return build.add(Identity(), state)


@rewritten(ZeroState)
def zero_state(op: ZeroState, build: Builder, x: Value) -> Value:
    row, batch = build.constant(np.zeros((1, op.hidden), op.dtype)), tensor(x).shape
    if not isinstance(batch, AnyShape) and isinstance(count := batch[1], int):
        return build.constant(np.zeros((count, op.hidden), op.dtype))
    shape = build.add(Concat(0), build.add(Shape(1, 2), x), build.int64(op.hidden))
    return build.add(Expand(), row, shape)
