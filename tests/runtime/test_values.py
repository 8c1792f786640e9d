"""Kinds of run-time values."""

from __future__ import annotations

import numpy as np

from whorl.runtime.values import is_array, is_map, is_sequence


def test_each_kind_is_reported_from_the_others() -> None:
    kinds = {"array": np.zeros(2), "sequence": [np.zeros(2)], "map": {1: 2.0}, "empty optional": None}
    assert [name for name, value in kinds.items() if is_array(value)] == ["array"]
    assert [name for name, value in kinds.items() if is_sequence(value)] == ["sequence"]
    assert [name for name, value in kinds.items() if is_map(value)] == ["map"]
