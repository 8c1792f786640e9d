"""Which processor this is, by what it says of itself: where its answers are equal, LLVM knows it by the same name.

The questions are those of LLVM's `getHostCPUFeatures`. The system's own list of features would not do: an emulator may
show that of the machine below it.
"""

from __future__ import annotations

import ctypes

from whorl.codegen.memory import Pages, is_supported, whole_pages

_IDENTIFY = bytes.fromhex(
    "53"  # push rbx
    "89f8"  # mov eax, edi
    "89f1"  # mov ecx, esi
    "4989d0"  # mov r8, rdx
    "0fa2"  # cpuid
    "418900"  # mov [r8], eax
    "41895804"  # mov [r8 + 4], ebx
    "41894808"  # mov [r8 + 8], ecx
    "4189500c"  # mov [r8 + 12], edx
    "5b"  # pop rbx
    "c3"  # ret
)
"""A function of a leaf, a subleaf and the address of four numbers, which are the answer."""
_ENABLED = bytes.fromhex(
    "31c9"  # xor ecx, ecx
    "0f01d0"  # xgetbv
    "48c1e220"  # shl rdx, 32
    "4809d0"  # or rax, rdx
    "c3"  # ret
)
"""A function that gives the registers which the system saves."""
_LEAVES = (
    (1, 0, "acd"),
    (7, 0, "abcd"),
    (7, 1, "abcd"),
    (0xD, 1, "a"),
    (0x14, 0, "b"),
    (0x19, 0, "b"),
    (0x1E, 1, "a"),
    (0x24, 0, "b"),
    (0x80000001, 0, "cd"),
    (0x80000008, 0, "b"),
)
"""Leaves, subleaves, and the registers in which answers are the same on every core."""
_SAVES_REGISTERS = 1 << 27


def fingerprint() -> str | None:
    """The processor's answers as text; None on systems where it is not asked."""
    if not is_supported():
        return None
    size = whole_pages(1)
    try:
        pages = Pages(size, size)
    except OSError:
        return None
    try:
        pages.fill(bytearray(_IDENTIFY + _ENABLED))
        return _answers(pages.address)
    except OSError:
        return None
    finally:
        pages.free()


def _answers(code: int) -> str:
    identify = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(code)
    enabled = ctypes.CFUNCTYPE(ctypes.c_uint64)(code + len(_IDENTIFY))
    registers = (ctypes.c_uint32 * 4)()

    def ask(leaf: int, subleaf: int, names: str) -> list[int]:
        identify(leaf, subleaf, registers)
        return [registers["abcd".index(name)] for name in names]

    (last, *vendor), (last_extended,) = ask(0, 0, "abcd"), ask(0x80000000, 0, "a")
    answers = [last, *vendor]
    for leaf, subleaf, names in _LEAVES:
        # A processor answers for its last leaf instead of one beyond it, which may differ between cores.
        answers += ask(leaf, subleaf, names) if leaf <= (last_extended if leaf >> 31 else last) else []
    answers += [enabled()] if ask(1, 0, "c")[0] & _SAVES_REGISTERS else []
    return " ".join(f"{answer:x}" for answer in answers)
