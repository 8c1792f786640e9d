"""Random programs give the same bits before and after the passes, and their values lie where the ranges say."""

import os

import numpy as np
import pytest
from passes.bits import assert_same_bits, copied, interpreted, optimized
from passes.random_programs import Draw

from whorl.ir.graph import Module
from whorl.passes.pipeline import optimize
from whorl.passes.value_ranges import Ranges

EXAMPLES = int(os.environ.get("WHORL_FUZZ_EXAMPLES", "120"))
BLOCK = 40


@pytest.mark.parametrize("first", range(0, EXAMPLES, BLOCK))
def test_passes_keep_every_bit(first: int) -> None:
    for seed in range(first, first + BLOCK):
        draw = Draw(seed)
        expected = interpreted(draw.module, draw.feeds)
        assert_same_bits(expected, interpreted(optimized(draw.module), draw.feeds))


@pytest.mark.parametrize("first", range(0, EXAMPLES, BLOCK))
def test_values_lie_in_their_ranges(first: int) -> None:
    for seed in range(first, first + BLOCK):
        draw = Draw(seed)
        module = copied(draw.module)
        module.main.results = [value for node in module.main.nodes for value in node.outputs]
        _check_ranges(module, interpreted(module, draw.feeds))


def _check_ranges(module: Module, values: list | None) -> None:
    ranges = Ranges(module)
    for value, actual in zip(module.main.results, values or (), strict=values is not None):
        interval = ranges.of(value)
        if interval is None or not actual.size:
            continue
        elements = actual.astype(object if actual.dtype.kind in "iub" else np.float64).reshape(-1).tolist()
        inside = [interval.nan if e != e else interval.low <= e <= interval.high for e in elements]
        assert all(inside), (value, actual, interval)


@pytest.mark.parametrize("seed", range(8))
def test_passes_may_stop_after_any_edit(seed: int) -> None:
    draw = Draw(seed)
    expected = interpreted(draw.module, draw.feeds)
    edits = optimize(copied(draw.module)).edits.total()
    for limit in range(min(edits, 40)):
        assert_same_bits(expected, interpreted(optimized(draw.module, limit=limit), draw.feeds))
