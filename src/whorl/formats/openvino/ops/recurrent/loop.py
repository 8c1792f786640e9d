"""A cell applied to every step of a batch of sequences, as a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Region, Value
from whorl.ir.types import TensorType, tensor
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.elementwise.arithmetic import Identity, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Less, Where
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Shape, Squeeze, Unsqueeze
from whorl.ops.recurrent.decompose import StepBuilder

Step = Callable[[StepBuilder, Value, Sequence[Value], Value, Value, "Value | None"], list[Value]]
"""(builder, x, state, w, r, bias) -> the state after a step, as nodes."""


def over_steps(
    build: Builder,
    step: Step,
    reversals: Sequence[bool],
    x: Value,
    state: Sequence[Value],
    lengths: Value,
    weights: Sequence[Value],
) -> list[Value]:
    """Y [batch, directions, steps, hidden] and the last states [batch, directions, hidden].

    Past a row's length Y is 0 and the states stand still; a row without any step gives 0 for its last states.
    """
    column = build.add(Unsqueeze(), build.add(Cast(INT64), lengths), build.int64(1))
    steps = build.add(Squeeze(), build.add(Shape(start=1, end=2), x), build.int64(0))
    parts: list[list[Value]] = []
    for d, reverse in enumerate(reversals):
        own = [_row(build, s, d, 1) for s in state]
        fixed = [column, steps, *(_row(build, w, d, 0) for w in weights)]
        y, *last = _one_direction(build, step, reverse, x, own, fixed)
        zero = build.constant(np.zeros((), tensor(x).dtype))
        some = build.add(Less(), build.constant(np.array(0, np.int64)), column)
        parts.append([y, *(build.add(Where(), some, s, zero) for s in last)])
    each = [[build.add(Unsqueeze(), value, build.int64(1)) for value in column] for column in zip(*parts, strict=True)]
    return [build.add_many(Concat(1), values, ["directions"])[0] for values in each]


def _row(build: Builder, x: Value, d: int, axis: int) -> Value:
    return build.add(Gather(axis), x, build.constant(np.array(d, np.int64)))


def _one_direction(
    build: Builder, step: Step, reverse: bool, x: Value, state: Sequence[Value], fixed: Sequence[Value]
) -> list[Value]:
    """Y [batch, steps, hidden] and the last states; `fixed` are the lengths [batch, 1], the steps, and the weights."""
    body = Region("step")
    inner = StepBuilder(body, build.inference)
    inner.dtype = tensor(x).dtype
    i, go = body.add_argument("i", TensorType(INT64, ())), body.add_argument("go", TensorType(BOOL, ()))
    before = [body.add_argument(f"state{n}", s.type) for n, s in enumerate(state)]
    scanned = Scanned(1, reverse)
    part = body.add_argument("x", scanned.slice_type(tensor(x)))
    lengths, steps, w, r, bias = (body.add_argument(v.name, v.type, v.known) for v in fixed)
    after = step(inner, part, before, w, r, bias)
    t = inner.add(Sub(), inner.add(Sub(), steps, inner.constant(np.array(1, np.int64))), i) if reverse else i
    inside = inner.add(Less(), t, lengths)
    states = [inner.add(Where(), inside, new, old) for new, old in zip(after, before, strict=True)]
    y = inner.add(Where(), inside, after[0], inner.number(0))
    body.results = [inner.add(Identity(), go), *states, y]
    loop = Loop(len(state), (scanned,), (Collected(1, reverse),))
    names = [*(f"last{n}" for n in range(len(state))), "y"]
    *last, y = build.add_many(loop, [None, None, *state, x, *fixed], names, [body])
    return [y, *last]
