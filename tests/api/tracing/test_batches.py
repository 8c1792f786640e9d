"""Batches of values within a budget, and records in files."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from traced_models import GRID

import whorl
from whorl.api.tracing.batches import known_elements, plan_batches, spill
from whorl.passes.expose.reading import Records
from whorl.passes.expose.scopes import choose, scopes_of


def test_batches_hold_what_a_third_of_the_budget_does() -> None:
    chosen = choose(scopes_of(whorl.load(GRID)), ["rows/s", "v", "rows/t"])
    assert [known_elements(each) for each in chosen] == [2, 2, 2]
    counts = {each.path: (10, 20) for each in chosen}
    plan = plan_batches(chosen, counts, 3 * 160)
    assert plan.batches == [["rows/s", "rows/columns/v"], ["rows/t"]] and plan.spills
    plan = plan_batches(chosen, counts, 3 * 240)
    assert plan.batches == [[each.path for each in chosen]] and not plan.spills


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6, dtype=np.float32).reshape(3, 2),
        np.arange(3).astype(ml_dtypes.bfloat16),
        [np.zeros(2, np.int8), np.ones((2, 3), np.int8), np.zeros(0, np.int8)],
        np.array(["a", "b", ""], object),
        np.zeros((3, 0)),
    ],
)
def test_spilled_records_are_the_same(tmp_path: Path, values: np.ndarray | list[np.ndarray]) -> None:
    spilled = spill(Records("p", ("l",), np.zeros((3, 1), np.int64), values), tmp_path / "file").values
    for ours, expected in zip(spilled, values, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(expected))
    is_in_memory = isinstance(values, np.ndarray) and (values.dtype == object or not values.size)
    assert len(list(tmp_path.iterdir())) == (not is_in_memory)
