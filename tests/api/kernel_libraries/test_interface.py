"""The layout of an op's table."""

import ctypes

from whorl.api.kernel_libraries.interface import SINCE, Allocator, Table
from whorl.codegen.custom_ops.interface import MEMBERS, Slot


def test_members_lie_where_embedded_libraries_put_them():
    names = ["CreateKernel", "KernelCompute", "GetInputCharacteristic", "CreateKernelV2", "GetEndVersion"]
    members = [Table.create, Table.compute, Table.input_kind, Table.create_with_status, Table.last_version]
    assert [1 + MEMBERS.index(name) for name in names] == [member.offset // 8 for member in members]
    assert set(SINCE) <= {name for name, _ in Table._fields_}


def test_allocator_begins_with_its_version():
    assert (Allocator.allocate.offset, Allocator.free.offset, Allocator.info.offset) == (8, 16, 24)
    assert ctypes.sizeof(ctypes.c_void_p) == 8 or Allocator.allocate.offset == 4


def test_slots_agree_with_embedded_libraries():
    from whorl.api.kernel_libraries.interface import FUNCTIONS

    expected = {Slot.GET_INPUT: "input", Slot.GET_OUTPUT: "output", Slot.GET_TENSOR_MUTABLE_DATA: "data"}
    assert {slot: FUNCTIONS[slot][0] for slot in expected} == expected
