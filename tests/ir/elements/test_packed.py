"""Elements of 2, 4 and 6 bits in the bytes of a file."""

import numpy as np
import pytest

from whorl.ir.dtypes import BY_NAME, PACKED_BITS, bits
from whorl.ir.elements.packed import Packed, packed_bytes, packed_size, unpacked

NARROW = {name: dtype for name, dtype in BY_NAME.items() if dtype in PACKED_BITS}


def every(dtype: np.dtype, count: int) -> np.ndarray:
    """As many elements, of all codes in turn."""
    codes = np.resize(np.arange(1 << bits(dtype)), count)
    data = sum(int(code) << (bits(dtype) * k) for k, code in enumerate(codes))
    size = packed_size(dtype, (count,))
    return unpacked(np.frombuffer(data.to_bytes(size, "little"), np.uint8), dtype, 0, count)


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 64, 67])
def test_packed_elements_are_read_back(name, count):
    array = every(NARROW[name], count)
    data = packed_bytes(array)
    assert data.dtype == np.uint8 and data.size == packed_size(array.dtype, (count,)) == -(
        -count * bits(array.dtype) // 8
    )
    again = unpacked(data, array.dtype, 0, count)
    assert again.dtype == array.dtype and again.tobytes() == array.tobytes()


@pytest.mark.parametrize("name", NARROW)
def test_every_code_is_a_number_of_its_own(name):
    dtype = NARROW[name]
    array = every(dtype, 1 << bits(dtype))
    assert len({x.tobytes() for x in array}) == 1 << bits(dtype)


@pytest.mark.parametrize(
    ("name", "byte", "numbers"),
    [
        ("uint4", 0x21, [1, 2]),
        ("int4", 0x8F, [-1, -8]),
        ("uint2", 0b11100100, [0, 1, 2, 3]),
        ("int2", 0b11100100, [0, 1, -2, -1]),
        ("float4e2m1", 0xF1, [0.5, -6.0]),
    ],
)
def test_low_bits_come_first(name, byte, numbers):
    data = np.array([byte], np.uint8)
    assert unpacked(data, NARROW[name], 0, len(numbers)).astype(float).tolist() == numbers


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (3,), (3, 5), (2, 3, 5)])
def test_any_region_is_read(name, shape):
    count = int(np.prod(shape, dtype=int))
    array = every(NARROW[name], count).reshape(shape)
    source = Packed(packed_bytes(array), array.dtype, shape)
    assert source.numpy().shape == shape and source.numpy().tobytes() == array.tobytes()
    for start in range(0, count, 4):
        assert source.flat(start, count).tobytes() == array.reshape(-1)[start:].tobytes()
    if shape:
        region = tuple((n // 3, n) for n in shape)
        expected = array[tuple(slice(a, b) for a, b in region)]
        part = source.read(region, {})
        assert part.shape == expected.shape and part.tobytes() == expected.tobytes()


def test_bytes_after_the_last_element_are_not_read():
    data = np.array([0x21, 0x43, 0xFF], np.uint8)
    assert unpacked(data, NARROW["uint4"], 1, 2).tolist() == [2, 3]
    assert packed_bytes(np.array([1, 2, 3], NARROW["int4"])).tolist() == [0x21, 0x03]
