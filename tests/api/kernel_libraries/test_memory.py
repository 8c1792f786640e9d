"""Memory that libraries ask for."""

import ctypes

from api.kernel_libraries.calling import answer, c_char_p, c_int, c_void_p, call

from whorl.api.kernel_libraries.interface import Allocator


def test_allocator_serves_by_its_own_functions_and_by_the_api():
    address = answer(78, c_void_p)
    assert answer(253, c_void_p, None, None) == answer(278, c_void_p, None, 0) == address
    allocator = Allocator.from_address(address)
    for allocate, free in (
        (lambda size: allocator.allocate(address, size), lambda block: allocator.free(address, block)),
        (lambda size: answer(75, c_void_p, address, size), lambda block: call(76, address, block)),
    ):
        block = allocate(64)
        ctypes.memset(block, 7, 64)
        free(block)
    assert allocator.info(address) == answer(77, c_void_p, address)


def test_memory_is_the_cpus():
    one, other = answer(69, c_void_p, 0, 0), answer(68, c_void_p, b"Cpu", 0, 0, 0)
    assert answer(70, c_int, one, other) == 0
    assert answer(70, c_int, one, answer(68, c_void_p, b"Cuda", 0, 0, 0)) == 1
    assert answer(71, c_char_p, one) == b"Cpu"
    assert [answer(slot, c_int, one) for slot in (72, 73, 74)] == [0, 0, 0]
