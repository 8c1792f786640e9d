"""Scratch memory whose sizes a run knows: slots behind the fixed block, as large as the largest of their buffers."""

import pytest

from whorl.ir import dims
from whorl.lowering.arena import Arena, aligned


@pytest.mark.parametrize(("size", "expected"), [(0, 0), (1, 64), (64, 64), (65, 128)])
def test_sizes_are_rounded_up(size, expected):
    assert aligned(size) == expected


def test_fixed_buffers_lie_where_the_plan_says():
    assert Arena(128, (64, 0)).allocate({}) == (128, (64, 0))


@pytest.mark.parametrize(("length", "size", "offsets"), [(1, 256, (0, 128, 192)), (100, 1280, (0, 128, 576))])
def test_slots_follow_the_fixed_block(length, size, offsets):
    n = dims.name("n")
    arena = Arena(128, (0, 0, 0), ((n * 4, 12), (n * 7,)), ((1, 0), (2, 1)))
    assert arena.allocate({"n": length}) == (size, offsets)
