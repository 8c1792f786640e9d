"""Where an array object has the address of its memory."""

import ctypes

import numpy as np
import pytest

from whorl.codegen.array_address import address_offset


@pytest.mark.parametrize("array", [np.empty(3), np.zeros((2, 0)), np.arange(6)[::2], np.empty((), np.int8)])
def test_field_at_the_offset_is_the_address(array: np.ndarray) -> None:
    offset = address_offset()
    if offset is None:
        pytest.skip("this Python keeps the address elsewhere")
    assert ctypes.c_void_p.from_address(id(array) + offset).value == array.ctypes.data
