"""Memory that starts at a cache line."""

import numpy as np
import pytest

from whorl.kernels.aligned import CACHE_LINE, aligned_empty, read_aligned


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 5)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_array_starts_at_a_cache_line(shape, dtype):
    array = aligned_empty(shape, np.dtype(dtype))
    assert array.shape == shape and array.dtype == dtype
    assert not array.size or array.ctypes.data % CACHE_LINE == 0
    array[...] = 1
    assert array.sum() == array.size


@pytest.mark.parametrize("start", [0, 32, 100])
@pytest.mark.parametrize("size", [0, 100, 1 << 23])
def test_contents_of_a_file_start_at_a_cache_line(tmp_path, start, size):
    path = tmp_path / "file"
    path.write_bytes(np.arange(size, dtype=np.uint32).astype(np.uint8).tobytes())
    with open(path, "rb", buffering=0) as file:
        contents = read_aligned(file, size + 5, start)
    assert contents == path.read_bytes() and contents.readonly
    if start < size:
        assert np.frombuffer(contents[start:], np.uint8).ctypes.data % CACHE_LINE == 0
