"""Memory that starts at a cache line."""

import numpy as np
import pytest

from whorl.kernels.aligned import CACHE_LINE, aligned_empty


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 5)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_array_starts_at_a_cache_line(shape, dtype):
    array = aligned_empty(shape, np.dtype(dtype))
    assert array.shape == shape and array.dtype == dtype
    assert not array.size or array.ctypes.data % CACHE_LINE == 0
    array[...] = 1
    assert array.sum() == array.size
