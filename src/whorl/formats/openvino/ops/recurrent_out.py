"""LSTM, GRU and RNN written: as sequences where OpenVINO means the same, else as loops over simple nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.convolution_out import ranked
from whorl.formats.openvino.ops.native_layer import NativeLayer
from whorl.formats.openvino.ops.recurrent_loop import over_steps
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import TensorType, tensor
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.elementwise.casting import Cast
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Concat, Split, Transpose
from whorl.ops.movement.shapes import Expand, Shape, Unsqueeze
from whorl.ops.recurrent.decompose import CheckedLengths, StepBuilder, Weights
from whorl.ops.recurrent.rnn import GRU, LSTM, Recurrent

_NATIVE = {"sigmoid", "tanh", "relu"}
_GATES = {"LSTM": (2, 0, 3, 1), "GRU": (0, 1, 2), "RNN": (0,)}
"""The hub's blocks of gates in OpenVINO's order."""


@exporter("LSTM")
@exporter("GRU")
@exporter("RNN")
def recurrent(node: Node, write: LayerWriter) -> list[Source]:
    """OpenVINO's CPU plugin heeds the lengths of rows only where the batch and the steps are known."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Recurrent) and x is not None
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

    def __init__(self, op: Recurrent, build: Builder, write: LayerWriter, is_native: bool) -> None:
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
        found: dict[str, Any] = {
            "direction": op.direction,
            "hidden_size": hidden,
            "activations": ",".join(f.name for f in op.functions()[0]),
            "activations_alpha": "",
            "activations_beta": "",
            "clip": float(op.clip or 0),
        }
        if isinstance(op, GRU):
            found["linear_before_reset"] = bool(op.linear_before_reset)
        return tuple(found.items())

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


@rewritten("CheckedLengths")
def checked_lengths(node: Node, build: Builder, lengths: Value) -> Value:
    """Lengths as they are: OpenVINO has nothing that refuses wrong ones."""
    assert isinstance(node.op, CheckedLengths)
    return build.add(Unsqueeze(), build.add(Cast(INT64), lengths), build.int64(1))
