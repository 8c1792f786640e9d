"""Statuses with texts that have numbers in them."""

import ctypes

import pytest

from codegen.custom_ops.fake_runtime import FakeRuntime
from whorl.codegen.custom_ops.interface import Code
from whorl.codegen.custom_ops.statuses import LONGEST_MESSAGE, Statuses, printable
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Module


@pytest.mark.parametrize("title", ["Loop '100%d'", "x" * LONGEST_MESSAGE])
def test_text_has_the_title_and_the_number_and_ends(title):
    module = Module(host())
    f = Function(module, "@refuse", "ptr", {"api": "ptr", "n": "i64"}, "")
    Statuses(f, f["api"], title).refuse(f"{printable('%')} of %lld", f["n"], code=Code.FAIL)
    code, runtime = MachineCode(module, "refuse"), FakeRuntime([])
    ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.address)(runtime.address, -7)
    assert runtime.texts == [(Code.FAIL, f"{title}: % of -7"[: LONGEST_MESSAGE - 1])]
