"""Origins of folded constants: recorded where they are small, and dropped with the constant."""

import numpy as np

from whorl.ops.movement.axes import Tile
from whorl.passes.origins import LARGE, Origins


def test_origin_goes_with_its_constant():
    origins = Origins()
    value = np.zeros(LARGE, np.float32)
    origins.note(Tile(), [np.zeros(1, np.float32)], value)
    assert origins.of(value) is not None
    del value
    assert not origins.by_identity


def test_origin_as_large_as_its_constant_is_not_recorded():
    origins = Origins()
    value = np.zeros(LARGE, np.float32)
    origins.note(Tile(), [np.ones(LARGE, np.float32)], value)
    assert origins.of(value) is None
