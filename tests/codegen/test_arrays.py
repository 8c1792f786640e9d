"""The entry that takes arrays and finds out where their memory is."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from whorl.codegen.array_address import ARRAYS_FUNCTION, address_offset
from whorl.codegen.arrays import add_arrays_entry
from whorl.codegen.emit import emit
from whorl.codegen.target import MachineCode
from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import Buffer, Const, index_const
from whorl.kernel.program import Program, Store


def test_entry_replaces_arrays_by_their_addresses() -> None:
    offset = address_offset()
    if offset is None:
        pytest.skip("this Python keeps the address elsewhere")
    x = Buffer("x", FLOAT32, (2,))
    module = emit(Program([], [x], [], [Store(x, (index_const(1),), Const(FLOAT32, 5.0))]))
    add_arrays_entry(module, [0], offset)
    array = np.zeros(2, np.float32)
    cells = np.array([id(array), 0, 0], np.int64)
    code = MachineCode(module, ARRAYS_FUNCTION)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address)(cells.ctypes.data) == 0
    assert array.tolist() == [0, 5] and cells[0] == array.ctypes.data
