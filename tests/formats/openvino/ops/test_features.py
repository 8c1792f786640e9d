"""The preparation of features written as IR."""

from __future__ import annotations

import numpy as np
import pytest
from formats.openvino.one_layer import check_node

from whorl.ops.ml.features import Scaler


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize(("offset", "scale"), [((), ()), ((1.5,), (0.5,)), ((1.0, -2.0, 3.5), (2.0, 0.25, -1.0))])
@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 4, 3)])
def test_scaled_features_written(shape: tuple[int, ...], offset: tuple, scale: tuple, dtype: type) -> None:
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    check_node(Scaler(offset, scale), [x])
