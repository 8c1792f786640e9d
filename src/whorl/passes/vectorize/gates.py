"""The gates of recurrent cells, reset by algebra: an update is a polynomial of the states and of activations.

The order of gates, how they are cut out of one product, and how the update is written make no difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whorl.ir.dtypes import FLOAT32
from whorl.ir.graph import Op, Value
from whorl.ops.elementwise.arithmetic import Mul
from whorl.ops.elementwise.functions import Tanh
from whorl.ops.elementwise.nonlinear import Relu, Sigmoid
from whorl.ops.movement.axes import Slice, Split
from whorl.ops.recurrent.rnn import GRU, LSTM, RNN, Recurrent
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.linear_maps import NoMap, columns_of, width_of
from whorl.passes.vectorize.polynomials import Product, polynomial_of, product

ACTIVATIONS: dict[type[Op], str] = {Tanh: "Tanh", Relu: "Relu", Sigmoid: "Sigmoid"}


class Gate(Struct, frozen=True):
    """An activation of some columns of a value; `is_turned`: of its negative, since 1 - sigmoid(x) = sigmoid(-x)."""

    activation: str
    source: Value
    start: int
    end: int
    is_turned: bool = False


class Cell(Struct, frozen=True):
    """The gates of a cell in the order of its op; `hidden` is what the last gate of a GRU depends on in h's stead."""

    op: Recurrent
    gates: Sequence[Gate]
    hidden: Value | None = None
    inner: Value | None = None
    """What the reset gate multiplies, where that is an affine map of h."""


def gate_of(value: Value) -> Gate | None:
    """The gate that a value is, or some columns of it are."""
    node = maker(value)
    try:
        if node is not None and isinstance(node.op, Slice | Split) and node.inputs[0] is not None:
            start, end = columns_of(node, value)
            whole = gate_of(node.inputs[0])
            return whole and Gate(whole.activation, whole.source, whole.start + start, whole.start + end)
        if node is None or type(node.op) not in ACTIVATIONS or node.inputs[0] is None:
            return None
        return Gate(ACTIVATIONS[type(node.op)], node.inputs[0], 0, width_of(value))
    except NoMap:
        return None


def cell_of(states: Sequence[Value], updates: Sequence[Value], dependents: set[Value]) -> Cell | None:
    """The cell whose states have these updates: h, or h and c. `dependents` are the values that depend on h."""
    if any(tensor_type(x).dtype != FLOAT32 or tensor_type(x).rank not in (1, 2) for x in states):
        return None
    if len(states) == 2:
        return _lstm(states[1], *updates)
    gate = gate_of(updates[0])
    if gate is not None:
        return Cell(RNN(activations=(gate.activation,)), (gate,))
    return _gru(states[0], updates[0], dependents)


def _lstm(c: Value, new_h: Value, new_c: Value) -> Cell | None:
    """c' = f * c + i * g; h' = o * tanh(c')."""
    outer = polynomial_of(new_h)
    inner = polynomial_of(new_c)
    if outer is None or inner is None or set(outer.values()) | set(inner.values()) != {1.0}:
        return None
    keeps, adds = ([factors for factors in inner if (c in factors) is has_memory] for has_memory in (True, False))
    if [len(factors) for factors in (*outer, *keeps, *adds)] != [2, 2, 2] or len(keeps) != 1 or len(adds) != 1:
        return None
    (out,) = outer
    squashed = [x for x in out if (node := maker(x)) and node.inputs[0] is new_c and isinstance(node.op, Tanh)]
    if len(squashed) != 1:
        return None
    o, f = _other(out, squashed[0]), _other(keeps[0], c)
    pair = [gate_of(x) for x in (*adds[0], o, f)]
    if any(gate is None for gate in pair):
        return None
    first, second, output, forget = (gate for gate in pair if gate is not None)
    entry, new = (second, first) if first.activation == "Tanh" else (first, second)
    kinds = [gate.activation for gate in (entry, output, forget, new)]
    return Cell(LSTM(), (entry, output, forget, new)) if kinds == ["Sigmoid"] * 3 + ["Tanh"] else None


def _gru(h: Value, new_h: Value, dependents: set[Value]) -> Cell | None:
    """h' = (1 - z) * n + z * h."""
    polynomial = polynomial_of(new_h)
    alone = [] if polynomial is None else [factors[0] for factors in polynomial if len(factors) == 1]
    if polynomial is None or len(polynomial) != 3 or len(alone) != 1:
        return None
    keeps = [_other(factors, h) for factors in polynomial if h in factors and len(factors) == 2]
    adds = [factors for factors in polynomial if h not in factors and len(factors) == 2]
    if len(keeps) != 1 or len(adds) != 1 or keeps[0] not in adds[0]:
        return None
    z, n = keeps[0], _other(adds[0], keeps[0])
    is_turned = alone[0] is h
    first, second = (h, n) if is_turned else (n, h)
    update, new = gate_of(z), gate_of(n)
    if polynomial != {(first,): 1.0, product(z, first): -1.0, product(z, second): 1.0} or not (update and new):
        return None
    reset = _reset(new.source, dependents)
    if reset is None or (update.activation, new.activation, reset[0].activation) != ("Sigmoid", "Tanh", "Sigmoid"):
        return None
    gate, hidden, inner = reset
    op = GRU(linear_before_reset=0 if inner is h else 1)
    update = Gate(update.activation, update.source, update.start, update.end, is_turned)
    return Cell(op, (update, gate, new), hidden, None if inner is h else inner)


def _reset(source: Value, dependents: set[Value]) -> tuple[Gate, Value, Value] | None:
    """The reset gate, its product with h or with an affine map of it, and what it multiplies."""
    seen = [source]
    while seen:
        node = maker(seen.pop())
        inputs = [] if node is None else [value for value in node.inputs if value is not None and value in dependents]
        if node is None or not isinstance(node.op, Mul):
            seen += inputs
            continue
        for inner, gate in (inputs, inputs[::-1]) if len(inputs) == 2 else ():
            reset = gate_of(gate)
            if reset is not None and gate_of(inner) is None:
                return reset, node.outputs[0], inner
    return None


def _other(factors: Product, value: Value) -> Value:
    """The other one of two factors."""
    return factors[1] if factors[0] is value else factors[0]
