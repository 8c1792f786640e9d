"""LSTM, GRU and RNN written: as sequences where OpenVINO means the same, else as loops over simple nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.convolution_out import ranked
from whorl.formats.openvino.ops.native_layer import NativeLayer
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import TensorType, tensor
from whorl.ops.casting import Cast
from whorl.ops.elementwise import Add
from whorl.ops.movement import Concat, Split, Transpose
from whorl.ops.recurrences import CheckedLengths
from whorl.ops.recurrent import GRU, LSTM, Recurrent
from whorl.ops.shapes import Expand, Shape, Unsqueeze

_NATIVE = {"sigmoid", "tanh", "relu"}
_GATES = {"LSTM": (2, 0, 3, 1), "GRU": (0, 1, 2), "RNN": (0,)}
"""The hub's blocks of gates in OpenVINO's order."""


@exporter("LSTM")
@exporter("GRU")
@exporter("RNN")
def recurrent(node: Node, write: LayerWriter) -> list[Source]:
    op = node.op
    assert isinstance(op, Recurrent)
    if _is_native(op, node):
        return write.through(node, lambda build, *inputs: _Sequence(op, build, write).outputs(*inputs))

    def simpler(build: Builder, *inputs: Value | None) -> Sequence[Value]:
        built = op.decompose(inputs, build)
        if built is None:
            raise SaveError("is written as a loop, which needs fixed shapes", fix="save it with fixed input shapes")
        return built

    return write.through(node, simpler)


def _is_native(op: Recurrent, node: Node) -> bool:
    """Whether OpenVINO's sequence means the same: one set of plain activations, no peepholes, gates on their own.

    A clip does not reach the last activation of its LSTM.
    """
    functions = op.functions()
    if any(each != functions[0] for each in functions) or {f.name for f in functions[0]} - _NATIVE:
        return False
    if isinstance(op, LSTM):
        return op.clip is None and not op.input_forget and (*node.inputs, *(None,) * 8)[7] is None
    return True


class _Sequence:
    """One recurrent op as nodes around OpenVINO's sequence."""

    def __init__(self, op: Recurrent, build: Builder, write: LayerWriter) -> None:
        self.op, self.build, self.write = op, build, write

    def outputs(
        self,
        x: Value,
        w: Value,
        r: Value,
        b: Value | None = None,
        lengths: Value | None = None,
        *rest: Value | None,
    ) -> list[Value]:
        hidden, op, build = self._hidden(r), self.op, self.build
        x = self._batch_first(x)
        states = [
            self._zeros(x, hidden) if s is None else self._batch_first(s) for s in (*rest, None, None)[: op.states]
        ]
        lengths = self._full(x) if lengths is None else lengths
        order = _GATES[op.name]
        weights = [self._reordered(w, order), self._reordered(r, order), self._bias(b, w, hidden)]
        directions, dtype = len(op.reversals()), tensor(x).dtype
        batch, steps, _ = ranked(x, "X")
        last = TensorType(dtype, (batch, directions, hidden))
        types = (TensorType(dtype, (batch, directions, steps, hidden)), *(last,) * op.states)
        layer = NativeLayer(f"{op.name}Sequence", 5, types, self._attributes(hidden))
        names = [f"out{n}" for n in range(len(types))]
        y, *last_states = build.add_many(layer, [x, *states, lengths, *weights], names)
        if op.layout:
            return [build.add(Transpose((0, 2, 1, 3)), y), *last_states]
        return [build.add(Transpose((2, 1, 0, 3)), y), *(build.add(Transpose((1, 0, 2)), s) for s in last_states)]

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
