"""Functions about memory that libraries call: one allocator, which is that of C, and one kind of memory."""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_size_t, c_void_p
from typing import Any

from whorl.api.kernel_libraries.interface import ALLOCATE, FREE, INFO, Allocator
from whorl.api.kernel_libraries.objects import Memory, hold, resolve
from whorl.errors import RunError

_VERSION = 17
_C = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
_C.malloc.restype, _C.malloc.argtypes = c_void_p, (c_size_t,)
_C.free.restype, _C.free.argtypes = None, (c_void_p,)
_CPU = hold(Memory())


def _allocate(_: int, size: int) -> int | None:
    return _C.malloc(size)


def _free(_: int, address: int | None) -> None:
    _C.free(address)


def _info(_: int) -> int:
    return _CPU


_ALLOCATOR = Allocator(_VERSION, ALLOCATE(_allocate), FREE(_free), INFO(_info), ALLOCATE(_allocate))


def default_allocator(result: Any) -> None:
    """`GetAllocatorWithDefaultOptions`."""
    result[0] = ctypes.addressof(_ALLOCATOR)


def allocator_of_call(_: int, __: int, result: Any) -> None:
    """`KernelContext_GetAllocator`."""
    default_allocator(result)


def allocator_of_node(_: int, __: int, result: Any) -> None:
    """`KernelInfoGetAllocator`."""
    default_allocator(result)


def allocate(_: int, size: int, result: Any) -> None:
    """`AllocatorAlloc`."""
    address = _C.malloc(size)
    if size and not address:
        raise RunError(f"there are no {size} bytes")
    result[0] = address


def free(_: int, address: int | None) -> None:
    """`AllocatorFree`."""
    _C.free(address)


def memory_of_allocator(_: int, result: Any) -> None:
    """`AllocatorGetInfo`."""
    result[0] = _CPU


def memory_of_tensor(_: int, result: Any) -> None:
    """`GetTensorMemoryInfo`."""
    result[0] = _CPU


def create_memory(name: bytes, _: int, __: int, ___: int, result: Any) -> None:
    """`CreateMemoryInfo`."""
    result[0] = hold(Memory(name))


def create_cpu_memory(_: int, __: int, result: Any) -> None:
    """`CreateCpuMemoryInfo`."""
    result[0] = hold(Memory())


def compare_memory(one: int, other: int, result: Any) -> None:
    """`CompareMemoryInfo`."""
    result[0] = int(resolve(one, Memory).name != resolve(other, Memory).name)


def name_of_memory(memory: int, result: Any) -> None:
    """`MemoryInfoGetName`."""
    result[0] = resolve(memory, Memory).name


def zero(_: int, result: Any) -> None:
    """The number of the device, and the kinds of memory and allocator, that there are."""
    result[0] = 0
