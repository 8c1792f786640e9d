"""Slots of onnxruntime's C API, called by their numbers."""

import ctypes

from codegen.custom_ops.fake_runtime import FakeRuntime
from whorl.codegen.custom_ops.interface import MEMBERS, Slot, call
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Module


def test_function_of_a_slot_is_called():
    module = Module(host())
    f = Function(module, "@fail", "ptr", {"api": "ptr", "text": "ptr"}, "")
    f.give(call(f, f["api"], Slot.CREATE_STATUS, f.number(6, "i32"), f["text"]))
    runtime, code = FakeRuntime([]), MachineCode(module, "fail")
    text = ctypes.create_string_buffer(b"why")
    assert ctypes.CFUNCTYPE(*[ctypes.c_void_p] * 3)(code.address)(runtime.address, ctypes.addressof(text)) == 1
    assert runtime.texts == [(6, "why")]


def test_members_have_the_order_of_the_header():
    assert MEMBERS.index("KernelComputeV2") == 17 and len(MEMBERS) == 25
