"""Less of a model."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import FOREVER, ROLLOUT
from traced_models import GRID, X

import whorl
from whorl.passes.expose.adding import retype
from whorl.passes.expose.limiting import keep_first_nodes, limit_iterations
from whorl.passes.expose.scopes import scopes_of


@pytest.mark.parametrize(("count", "total"), [(0, 0.0), (2, 1.0), (9, 6.0)])
def test_loop_makes_no_more_iterations(count: int, total: float) -> None:
    module = whorl.load(ROLLOUT)
    limit_iterations(module.main, module.main.nodes[-1], count)
    retype(module)
    feeds = {"count": np.array(4), "table": np.arange(12, dtype=np.float32)}
    assert whorl.InferenceSession(module).run(None, feeds) == [total]


def test_loop_without_a_trip_count_gets_one() -> None:
    module = whorl.load(FOREVER)
    limit_iterations(module.main, module.main.nodes[-1], 3)
    retype(module)
    assert whorl.InferenceSession(module).run(None, {"start": np.float32(2)}) == [-2.0]


def test_first_nodes_give_what_the_last_of_them_does() -> None:
    module = keep_first_nodes(whorl.load(GRID), 1)
    assert len(scopes_of(module)) == 1 and module.output_names == ["output_0"]
    assert whorl.InferenceSession(module).run(None, {"x": X[:2]}) == [3]
