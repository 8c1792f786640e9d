"""A library as LLVM IR: constants, tables, and functions that describe it."""

import ctypes

import numpy as np
import pytest

from codegen.library.samples import library, with_constant
from whorl.codegen.library.ports import LARGE
from whorl.codegen.library.text import failure_text, fill_constants, library_module
from whorl.codegen.target import MachineCode, host, linkable_code
from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Var
from whorl.kernel.program import Fail


def call(name, result, *arguments):
    module, _ = library_module(library(), host())
    code = MachineCode(module, name)
    return ctypes.CFUNCTYPE(result, *[ctypes.c_int32] * len(arguments))(code.address)(*arguments)


def test_failure_names_node_and_iterations_from_the_outside_in():
    i, j = Var(INT64, "i", False), Var(INT64, "j", False)
    fail = Fail(
        1, "too far", "Gather 'read'", (("body of Loop 'a'", i), ("then branch", None), ("body of Loop 'b'", j))
    )
    text = failure_text(fail)
    assert text.endswith(": too far") and text.index("(iteration {1})") < text.index("(iteration {0})")


@pytest.mark.parametrize(("n", "text"), [(0, b"n"), (1, None), (-1, None)])
def test_length_is_named_or_null(n, text):
    assert call("sample_length", ctypes.c_char_p, n) == text


@pytest.mark.parametrize(("status", "text"), [(0, b"done"), (1, b"memory was refused"), (999, b"no such status")])
def test_status_has_a_message(status, text):
    assert call("sample_message", ctypes.c_char_p, status) == text


def test_port_beyond_the_last_is_null():
    assert call("sample_input", ctypes.c_void_p, 2) and not call("sample_input", ctypes.c_void_p, 3)


def test_windows_functions_are_exported():
    text = str(library_module(library(), host(), is_dll=True)[0])
    assert "define dllexport i32 @sample_run(" in text and "define weak dllexport ptr @whorl_library_1(" in text


def test_large_constant_is_filled_into_the_object_after_its_mark():
    sample = with_constant(LARGE)
    code, _ = linkable_code(str(library_module(sample, host())[0]), host())
    data = np.arange(LARGE, dtype=np.float32).tobytes()
    assert data not in code and data in fill_constants(code, sample)
