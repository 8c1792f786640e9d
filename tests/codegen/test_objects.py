"""Machine code reads fields of Python's and NumPy's objects where they are, and nowhere if they are elsewhere."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from msgspec import structs

from whorl.codegen import objects
from whorl.codegen.objects import Layout
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module


@pytest.fixture
def known() -> Layout:
    layout = objects.layout()
    if layout is None:
        pytest.skip("array objects of this NumPy have no address of their elements at a known offset")
    return layout


def field(kind, owner: object, offset: int):
    return kind.from_address(id(owner) + offset).value


def test_fields_of_arrays_and_lists_are_at_their_offsets(known) -> None:
    array = np.zeros((3, 4), np.float16)
    items = [None, array]
    assert field(ctypes.c_void_p, array, known.type) == id(np.ndarray)
    assert field(ctypes.c_void_p, array, known.dtype) == id(array.dtype)
    assert field(ctypes.c_void_p, array, known.memory) == array.ctypes.data
    assert field(ctypes.c_int, array, known.rank) == 2
    assert field(ctypes.c_int, array, known.flags) & objects.CONTIGUOUS == objects.CONTIGUOUS
    assert not field(ctypes.c_int, array.T, known.flags) & 1
    assert field(ctypes.c_ssize_t, items, known.count) == 2
    assert [*(ctypes.c_void_p * 2).from_address(field(ctypes.c_void_p, items, known.items))] == [id(None), id(array)]


@pytest.mark.parametrize("name", ["type", "count", "rank", "lengths", "dtype", "flags"])
def test_layout_of_other_objects_is_refused(known, name: str) -> None:
    array = np.zeros((2, 3, 5), np.float32)
    moved = {"type": known.dtype, "lengths": known.dtype, "dtype": known.type}
    other = structs.replace(known, **{name: moved.get(name, known.type)})
    assert objects._describes(known, array)
    assert not objects._describes(other, array)


def test_machine_code_reads_rank_and_elements(known) -> None:
    module = Module(host(), Effort.ROUTINES)
    f = Function(module, "@sum_of_first_and_rank", "i64", {"array": "ptr"}, "", "")
    first = f.load_index(objects.memory_of(f, known, f["array"]))
    f.give(first + objects.number_in(f, f["array"], known.rank))
    code = MachineCode(module, "sum_of_first_and_rank")
    call = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.py_object)(code.address)
    assert call(np.array([[40]])) == 42
    assert call(np.array(7)) == 7


def test_function_for_new_arrays_makes_one(known) -> None:
    address, dtype = objects.new_array(), np.dtype(np.int32)
    assert address is not None
    lengths = np.array([2, 5], np.int64)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))
    shape = ctypes.c_int, *[ctypes.c_void_p] * 3
    kind = ctypes.PYFUNCTYPE(*[ctypes.py_object] * 3, *shape, ctypes.c_int, ctypes.c_void_p)
    made = kind(address)(np.ndarray, dtype, 2, lengths.ctypes.data, None, None, 0, None)
    assert (type(made), made.shape, made.dtype) == (np.ndarray, (2, 5), dtype)
    assert made.flags.owndata


def test_functions_of_python_have_addresses_and_others_none() -> None:
    address = objects.python_function("PyList_Size")
    assert address is not None
    assert ctypes.PYFUNCTYPE(ctypes.c_ssize_t, ctypes.py_object)(address)([1, 2, 3]) == 3
    assert objects.python_function("PyList_Fold") is None
