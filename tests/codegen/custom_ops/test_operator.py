"""The table of a custom op: what onnxruntime reads of it."""

import ctypes

import numpy as np
import pytest
from compilers import needs_linker

from codegen.custom_ops.fake_runtime import LoadedOps
from codegen.library.samples import library
from whorl.codegen.custom_ops.interface import API_VERSION, MEMBERS
from whorl.codegen.custom_ops.sharing import KERNEL_CELLS

pytestmark = needs_linker


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    ops = LoadedOps([library()], "Loop 'l'", tmp_path_factory.mktemp("sample"))
    yield ops.table()
    del ops


def member(table, name, result, *types):
    return ctypes.CFUNCTYPE(result, ctypes.c_void_p, *types)(table[1 + MEMBERS.index(name)])


def test_table_begins_with_the_version_and_names_the_op(table):
    assert table[0] & 0xFFFFFFFF == API_VERSION
    assert member(table, "GetName", ctypes.c_char_p)(None) == b"sample"
    assert member(table, "GetExecutionProviderType", ctypes.c_char_p)(None) is None
    assert member(table, "GetStartVersion", ctypes.c_int)(None) == 1


def test_table_has_numbers_and_types_of_inputs_and_outputs(table):
    assert member(table, "GetInputTypeCount", ctypes.c_size_t)(None) == 3
    assert member(table, "GetOutputTypeCount", ctypes.c_size_t)(None) == 2
    input_type = member(table, "GetInputType", ctypes.c_int, ctypes.c_size_t)
    assert [input_type(None, n) for n in range(3)] == [1, 1, 7]
    output_type = member(table, "GetOutputType", ctypes.c_int, ctypes.c_size_t)
    assert [output_type(None, n) for n in range(2)] == [1, 1]


def test_kernel_begins_with_the_table_of_functions_that_makes_it(table):
    out = np.zeros(1, np.int64)
    create = ctypes.CFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * 4)(table[1 + MEMBERS.index("CreateKernelV2")])
    assert create(None, 1234, None, out.ctypes.data) is None
    assert list((ctypes.c_int64 * KERNEL_CELLS).from_address(int(out[0]))) == [1234, *[0] * (KERNEL_CELLS - 1)]
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(table[1 + MEMBERS.index("KernelDestroy")])(int(out[0]))
