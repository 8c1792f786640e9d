"""DepthToSpace and SpaceToDepth undo each other, on images of named lengths too."""

import numpy as np
import pytest
from evaluation import shaped
from named_dims import M, N, shape_of

from whorl.errors import TypeRuleError
from whorl.ops.movement.blocks import DepthToSpace, SpaceToDepth


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_space_to_depth_undoes_depth_to_space(mode):
    x = np.arange(2 * 12 * 2 * 3).reshape(2, 12, 2, 3)
    wide = DepthToSpace(2, mode).run(x)
    assert wide.shape == (2, 3, 4, 6)
    np.testing.assert_array_equal(SpaceToDepth(2, mode).run(wide), x)


def test_blocks_of_named_images():
    assert shape_of(DepthToSpace(2), shaped(N, 4 * M, 3, N)) == (N, M, 6, N * 2)
    assert shape_of(SpaceToDepth(2), shaped(N, M, 6, 2 * N)) == (N, M * 4, 3, N)
    with pytest.raises(TypeRuleError, match="depth 3 is not a multiple of 4"):
        DepthToSpace(2).infer(shaped(1, 3, 2, 2))
