"""The pool counts what folding holds, forgets what is gone, and puts what is too much into a file."""

import errno

import numpy as np
import pytest

from whorl.errors import WhorlError
from whorl.ir.dtypes import BY_NAME
from whorl.ir.elements.base import Leaf
from whorl.ir.elements.mapped import Mapped
from whorl.ir.elements.mapping import mapping_of
from whorl.ir.elements.packed import Packed, packed_bytes, packed_size
from whorl.ir.elements.pool import POISON, Pool

MIB = 1 << 20


def test_buffers_are_counted_as_long_as_they_live():
    pool = Pool(64 * MIB)
    first, second = pool.keep(np.zeros(MIB, np.uint8)), pool.keep(np.zeros(2 * MIB, np.uint8))
    assert (pool.live, pool.peak) == (3 * MIB, 3 * MIB)
    view = second[::2]
    del second
    assert pool.live == 3 * MIB
    del view, first
    assert (pool.live, pool.peak) == (0, 3 * MIB)


def test_what_passes_the_budget_goes_to_a_file():
    pool = Pool(MIB)
    array = np.arange(MIB, dtype=np.int32).reshape(1024, -1)
    actual = pool.keep(array.copy())
    assert mapping_of(actual) is not None and not actual.flags.writeable
    np.testing.assert_array_equal(actual, array)
    assert (pool.live, pool.spilled) == (0, array.nbytes)


def test_elements_are_evaluated_into_a_file_block_by_block():
    pool = Pool(0)
    array = np.arange(300_000, dtype=np.float32)
    actual = pool.evaluate(Mapped(np.negative, [Leaf(array)], array.dtype, array.shape))
    assert mapping_of(actual) is not None
    np.testing.assert_array_equal(actual, -array)


def test_poison_overwrites_what_no_constant_uses():
    pool = Pool(64 * MIB, poison=True)
    used, forgotten = pool.keep(np.zeros(8192, np.uint8)), pool.keep(np.zeros(8192, np.uint8))
    pool.collect([Leaf(used[::2])])
    assert not used.any() and (forgotten == POISON).all()


def test_narrow_elements_are_unpacked_as_they_are_read():
    for name in ("int4", "uint4", "int2", "uint2", "float4e2m1", "float6e2m3", "float6e3m2"):
        dtype = BY_NAME[name]
        array = np.arange(21, dtype=np.int8).astype(np.float32).astype(dtype).reshape(3, 7)
        data = packed_bytes(array)
        assert data.size == packed_size(dtype, array.shape)
        actual = Packed(data, dtype, array.shape)
        assert actual.numpy().tobytes() == array.tobytes()
        assert actual.read(((1, 3), (2, 5)), {}).tobytes() == np.ascontiguousarray(array[1:, 2:5]).tobytes()


def test_files_stay_within_their_budget_and_give_it_back():
    pool = Pool(0, disk=3 * MIB)
    first = pool.keep(np.zeros(2 * MIB, np.uint8))
    with pytest.raises(WhorlError) as caught:
        pool.keep(np.zeros(2 * MIB, np.uint8))
    assert str(caught.value) == (
        f"temporary files would take {4 * MIB} bytes, and may take {3 * MIB}\n"
        "  fix: raise disk_budget, or set TMPDIR to a folder on a larger disk"
    )
    del first
    assert pool.on_disk == 0
    assert mapping_of(pool.keep(np.zeros(2 * MIB, np.uint8))) is not None


def test_disk_that_is_full_is_an_error_with_its_reason(monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", fail)
    with pytest.raises(WhorlError, match=f"a temporary file of {MIB} bytes: No space left on device"):
        Pool(0).keep(np.zeros(MIB, np.uint8))
