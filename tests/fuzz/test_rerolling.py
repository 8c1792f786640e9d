"""Graphs of blocks, equal ones and nearly equal ones, whose program has a loop over them beside one that has none.

`WHORL_FUZZ_EXAMPLES` sets how many graphs are drawn, anew each time; without it they are the same 40. A failure prints
what reproduces it.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import numpy_helper
from onnx_text import model
from runtime.native_sessions import session

from whorl.lowering import rerolling

WIDTH = 5
UNARY = (
    "Tanh",
    "Neg",
    "Sigmoid",
    "Softmax <axis = -1>",
    "Transpose <perm = [1, 0]>",
    "Identity",
)
BINARY = ("Add", "Mul", "Max", "Sub", "MatMul")


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """A square matrix or two through 4 to 14 blocks of 8 to 20 nodes, of which some are changed in some place."""
    states, count, size = draw(st.integers(1, 3)), draw(st.integers(4, 14)), draw(st.integers(8, 20))
    weights = draw(st.integers(1, 3))
    steps = [_step(draw, n, states, weights) for n in range(size)]
    odd = {draw(st.integers(0, count - 1)): draw(st.integers(0, size - 1)) for _ in range(draw(st.integers(0, 2)))}
    lines = []
    for block in range(count):
        for n, (op, operands) in enumerate(steps):
            kind = "Abs" if odd.get(block) == n and len(operands) == 1 else "Min" if odd.get(block) == n else op
            lines.append(f"v{block}_{n} = {kind} ({', '.join(_name(each, block) for each in operands)})")
        lines += [
            f"s{block + 1}_{n} = {'Sigmoid' if n % 2 else 'Tanh'} (v{block}_{size - 1 - n})" for n in range(states)
        ]
    seen = [
        f"v{draw(st.integers(0, count - 1))}_{draw(st.integers(0, size - 1))}" for _ in range(draw(st.integers(0, 1)))
    ]
    outputs = [f"s{count}_{n}" for n in range(states)] + seen
    inputs = ", ".join(f"float[{WIDTH}, {WIDTH}] {name}" for name in (*(f"s0_{n}" for n in range(states)), "shared"))
    results = ", ".join(f"float[{WIDTH}, {WIDTH}] r{n}" for n in range(len(outputs)))
    ends = [f"r{n} = Identity ({name})" for n, name in enumerate(outputs)]
    made = model(f"main ({inputs}) => ({results}) {{ {' '.join([*lines, *ends])} }}")
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    for block in range(count):
        for n in range(weights):
            shape = (WIDTH, WIDTH) if n else (1,)
            array = rng.standard_normal(shape).astype(np.float32)
            made.graph.initializer.append(numpy_helper.from_array(array, f"w{block}_{n}"))
    return made, states


def _step(draw: st.DrawFn, n: int, states: int, weights: int) -> tuple[str, list[tuple[str, int]]]:
    """An op on what was computed before in the block, on states, weights and what all blocks share."""
    earlier = [("v", k) for k in range(max(0, n - 4), n)] + [("s", k) for k in range(states)]
    op, first = draw(st.sampled_from(UNARY + BINARY)), earlier[-1 - states] if n else ("s", 0)
    if op in UNARY:
        return op, [first]
    second = [*earlier, ("shared", 0), *(("w", k) for k in range(op == "MatMul", weights))]
    return op, [first, draw(st.sampled_from(second))]


def _name(operand: tuple[str, int], block: int) -> str:
    kind, n = operand
    return kind if kind == "shared" else f"{kind}{block}_{n}"


@pytest.mark.slow
@settings(
    max_examples=int(os.environ.get("WHORL_FUZZ_EXAMPLES", "40")),
    deadline=None,
    derandomize="WHORL_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
@given(graphs())
def test_loop_over_blocks_gives_the_bits_of_blocks(graph: Any) -> None:
    proto, states = graph
    rng = np.random.default_rng(0)
    names = [*(f"s0_{n}" for n in range(states)), "shared"]
    feeds = {name: rng.standard_normal((WIDTH, WIDTH)).astype(np.float32) for name in names}
    results = []
    for least in (24, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rerolling, "LEAST_SAVED", least)
            patch.setattr(rerolling, "LEAST_PERIOD", 4)
            made = session(proto)
            results.append([made.run(None, feeds) for _ in range(2)])
    for a, b in zip(*results, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)
