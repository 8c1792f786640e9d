"""LinearAttention as a loop over its tokens, and the causal convolution before it as a convolution of each channel."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Region, Value
from whorl.ir.types import TensorType, lengths_of, tensor
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.core.base import accumulator
from whorl.ops.core.writer import Writer, has_elements
from whorl.ops.elementwise.arithmetic import Identity
from whorl.ops.elementwise.functions import Exp
from whorl.ops.elementwise.nonlinear import Sigmoid
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Shape
from whorl.ops.windows.convolution import Conv


def write_convolution(inputs: Sequence[Value | None], activation: str, build: Builder) -> list[Value] | None:
    """The result and the last columns; None where lengths may differ, or there are no columns before the first."""
    x, weight, bias, past = (*inputs, None, None)[:4]
    if x is None or weight is None or not has_elements(x, weight, bias, past):
        return None
    (batch, channels, _), taps = lengths_of(tensor(x)), lengths_of(tensor(weight))[2]
    if not isinstance(channels, int) or not isinstance(taps, int) or taps < 2:
        return None
    expected = [(weight, (channels, 1, taps)), (bias, (channels,)), (past, (batch, channels, taps - 1))]
    if any(value is not None and lengths_of(tensor(value)) != shape for value, shape in expected):
        return None
    write, dtype = Writer(build), tensor(x).dtype
    wide = accumulator(dtype)
    padded = (
        write.concat([past, x], 2) if past is not None else write.node(Pad(), x, build.int64(0, 0, taps - 1, 0, 0, 0))
    )
    operands = [write.cast(value, wide) for value in (padded, weight, bias) if value is not None]
    y = build.add(Conv(group=channels), *operands)
    if activation != "none":
        y = write.mul(y, write.node(Sigmoid(), y))
    return [write.cast(y, dtype), write.slice(padded, 2, 1 - taps, np.iinfo(np.int64).max)]


def write_attention_loop(
    inputs: Sequence[Value | None], heads: int, query_heads: int, scale: float, build: Builder
) -> list[Value] | None:
    """The result and the last state; None where lengths may differ or only the run knows those of a head."""
    query, key, value, past, decay, beta = (*inputs, None, None, None)[:6]
    if query is None or key is None or value is None or not has_elements(query, key, value, past, decay, beta):
        return None
    batch, time, columns = lengths_of(tensor(key))
    width = lengths_of(tensor(value))[2]
    if not isinstance(columns, int) or not isinstance(width, int):
        return None
    if any(x is not None and lengths_of(tensor(x))[:2] != (batch, time) for x in (query, value, decay, beta)):
        return None
    d_k, d_v = columns // heads, width // heads
    if past is not None and lengths_of(tensor(past)) != (batch, heads, d_k, d_v):
        return None
    write, dtype = Writer(build), tensor(query).dtype
    wide = accumulator(dtype)

    def split(x: Value, count: int) -> Value:
        size = lengths_of(tensor(x))[2]
        assert isinstance(size, int)
        return write.reshape_lengths(write.cast(x, wide), (batch, time, count, size // count))

    if not all(isinstance(lengths_of(tensor(x))[2], int) for x in (query, decay, beta) if x is not None):
        return None
    scanned = {"q": split(query, query_heads), "k": split(key, heads), "v": split(value, heads)}
    if decay is not None:
        scanned["gate"] = write.node(Exp(), split(decay, heads))
    if beta is not None:
        scanned["rate"] = write.unsqueeze(write.cast(beta, wide), 3)
    if past is None:
        shape = write.concat([write.node(Shape(0, 1), query), build.int64(heads, d_k, d_v)], 0)
        state = write.node(ConstantOfShape(np.zeros(1, wide)), shape)
    else:
        state = write.cast(past, wide)
    body = _write_step(scanned, state, (batch, heads, query_heads // heads, d_k, d_v), scale, build)
    loop = Loop(1, tuple(Scanned(1) for _ in scanned), (Collected(1),))
    last, y = build.add_many(loop, [None, None, state, *scanned.values()], ["state", "y"], [body])
    y = write.cast(write.reshape_lengths(y, (batch, time, query_heads * d_v)), dtype)
    return [y, write.cast(last, dtype if past is None else tensor(past).dtype)]


def _write_step(
    scanned: dict[str, Value], state: Value, shape: tuple[Dim, int, int, int, int], scale: float, build: Builder
) -> Region:
    """The body for one token: the next state and the result [batch, query heads, d_v]."""
    body, (batch, heads, shared, d_k, d_v) = Region("token"), shape
    write = Writer(Builder(body, build.inference))
    body.add_argument("i", TensorType(INT64, ()))
    go, old = body.add_argument("go", TensorType(BOOL, ())), body.add_argument("state", state.type)
    own = {name: body.add_argument(name, Scanned(1).slice_type(tensor(value))) for name, value in scanned.items()}
    key, update, gate, rate = own["k"], own["v"], own.get("gate"), own.get("rate")
    if gate is not None:
        old = write.mul(old, write.unsqueeze(gate, 3))
    if rate is not None:
        read = write.squeeze(write.node(MatMul(), write.unsqueeze(key, 2), old), 2)
        update = write.mul(rate, write.sub(update, read))
    new = write.add(old, write.mul(write.unsqueeze(key, 3), write.unsqueeze(update, 2)))
    query = write.reshape_lengths(own["q"], (batch, heads, shared, d_k))
    read = write.node(MatMul(), query, new)
    scale = scale or 1 / math.sqrt(max(d_k, 1))
    y = write.mul(write.number(scale, tensor(read).dtype), write.reshape_lengths(read, (batch, heads * shared, d_v)))
    body.results = [write.node(Identity(), go), new, y]
    return body
