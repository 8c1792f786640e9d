"""Scratch memory in one block: buffers that live at the same time lie apart, others may share."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whorl.ir import dims
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Buffer, Load, Var, index_const
from whorl.kernel.program import For, Program, Store, Swap
from whorl.lowering.arena_planning import plan_arena
from whorl.lowering.run_lengths import RunLengths

ZERO = index_const(0)


def buffer(name: str, count: int) -> Buffer:
    return Buffer(name, FLOAT32, (count,))


def copy(target: Buffer, source: Buffer) -> Store:
    return Store(target, (ZERO,), Load(FLOAT32, source, (ZERO,)))


def program(scratch: list[Buffer], body: list) -> Program:
    return Program([], [buffer("x", 1), buffer("y", 1)], scratch, body)


def test_buffers_one_after_the_other_share_memory():
    x, y, a, b, c = (buffer(name, 100) for name in "xyabc")
    body = [copy(a, x), copy(b, a), copy(c, b), copy(y, c)]
    arena = plan_arena(Program([], [x, y], [a, b, c], body))
    assert arena.offsets[0] == arena.offsets[2] != arena.offsets[1]
    assert arena.size == 2 * 448


def test_what_a_loop_uses_lives_as_long_as_the_loop():
    x, y, a, b = (buffer(name, 16) for name in "xyab")
    loop = For(Var(INT64, "i", False), index_const(3), [copy(a, x), copy(y, a), copy(b, x), copy(y, b)])
    arena = plan_arena(Program([], [x, y], [a, b], [loop]))
    assert sorted(arena.offsets) == [0, 64]


def test_buffers_that_trade_locations_live_together():
    x, y, a, b, c = (buffer(name, 16) for name in "xyabc")
    body = [copy(a, x), copy(b, a), Swap(a, b), copy(c, x), copy(y, c), copy(y, a)]
    arena = plan_arena(Program([], [x, y], [a, b, c], body))
    assert len(set(arena.offsets)) == 3


def test_program_without_scratch_takes_nothing():
    assert plan_arena(program([], [])).size == 0


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 20), st.integers(0, 20)), max_size=30))
def test_buffers_alive_at_once_never_overlap(lives):
    x, y = buffer("x", 1), buffer("y", 1)
    scratch = [buffer(f"s{n}", size) for n, (size, _, _) in enumerate(lives)]
    body = []
    for time in range(21):
        body += [copy(b, x) for b, (_, first, _) in zip(scratch, lives, strict=True) if first == time]
        body += [copy(y, b) for b, (_, first, after) in zip(scratch, lives, strict=True) if first + after == time]
    arena = plan_arena(Program([], [x, y], scratch, body))
    spans = []
    for b, offset in zip(scratch, arena.offsets, strict=True):
        used = [n for n, s in enumerate(body) if s.buffer is b or s.value.buffer is b]
        spans.append((offset, offset + 4 * b.shape[0], min(used), max(used)))
        assert offset % 64 == 0
        assert spans[-1][1] <= arena.size
    for k, (a0, a1, a2, a3) in enumerate(spans):
        for b0, b1, b2, b3 in spans[:k]:
            assert a1 <= b0 or b1 <= a0 or a3 < b2 or b3 < a2 or a0 == a1 or b0 == b1
    assert arena.size <= np.sum([-(-4 * size // 64) * 64 for size, _, _ in lives])


def test_buffers_whose_lengths_a_run_knows_share_slots():
    k = RunLengths()
    k.take_names({"n": Var(INT64, "n", False)})
    n = dims.name("n")
    a, b, c = (k.memory(name, FLOAT32, (n * 4,)) for name in "abc")
    d = k.memory("d", FLOAT32, (n + 1,))
    body = [copy(b, a), copy(c, b), copy(d, c)]
    arena = plan_arena(Program([], [], [a, b, c, d], body), k.shapes)
    size, offsets = arena.allocate({"n": 100})
    assert offsets[0] == offsets[2] != offsets[1] == offsets[3]
    assert size == 2 * -(-100 * 4 * 4 // 64) * 64
