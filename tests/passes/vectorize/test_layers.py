"""Recurrent ops in the place of loops."""

import pytest
from passes.vectorize.programs import kinds, vectorized
from passes.vectorize.test_masks import WAYS, masked


@pytest.mark.parametrize(("iterations", "batch", "fills"), [("n", "2", True), ("4", "m", True), ("4", "2", False)])
def test_rows_are_added_only_where_there_may_be_none(iterations, batch, fills):
    program = masked(WAYS["below"]).replace("[n,", f"[{iterations},").replace("[m", f"[{batch}")
    module, remaining = vectorized(program.replace(", m, 3]", f", {batch}, 3]"))
    assert not remaining and ("Pad" in kinds(module)) is fills
