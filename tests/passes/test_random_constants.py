"""Folding equals running the op, bit for bit, however lazily, in blocks of any size, from memory or from a file."""

import os

import numpy as np
import pytest
from passes.random_constants import Draw

from whorl.ir.constants import Constant, as_array
from whorl.ir.elements import base, mapped
from whorl.ir.graph import Node
from whorl.passes import fold_constants
from whorl.passes.context import Context, PassOptions
from whorl.passes.pipeline import optimize

EXAMPLES = int(os.environ.get("WHORL_FUZZ_EXAMPLES", "300"))
GROUP = 60
WAYS = {
    "at once": (4096, 1 << 20, 1 << 16, None),
    "lazily in large blocks": (0, 0, 1 << 16, None),
    "lazily in small blocks": (0, 0, 7, None),
    "element by element": (0, 0, 1, None),
    "from a file": (0, 0, 64, 0),
}
"""Elements and bytes up to which a result is computed at once, elements in a block, and the memory budget."""


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    if expected.dtype == object:
        assert actual.tolist() == expected.tolist()
    else:
        assert actual.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("first", range(0, EXAMPLES, GROUP))
def test_folding_equals_interpretation(first: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small, large, block, budget = WAYS[way]
    monkeypatch.setattr(fold_constants, "SMALL", small)
    monkeypatch.setattr(mapped, "SMALL", small)
    monkeypatch.setattr(fold_constants, "LARGE", large)
    monkeypatch.setattr(base, "BLOCK", block)
    monkeypatch.setattr(base, "SCATTERED", 1)
    for seed in range(first, first + GROUP):
        draw = Draw(seed)
        options = PassOptions(only=("fold_constants",), memory_budget=budget, verify=True, poison=True)
        context = Context(draw.module, options)
        optimize(draw.module, context=context)
        for value, expected in zip(draw.module.main.results, draw.expected, strict=True):
            if isinstance(value.owner, Node) and isinstance(value.owner.op, Constant):
                assert_same(as_array(value.owner.op.value), expected)
            else:
                assert budget == 0, (seed, value.owner, context.report.skipped)
