"""Object files linked in memory: code that computes, what it refers to, and what is left to LLVM."""

import ctypes
import math
import struct

import pytest

from whorl.codegen import elf
from whorl.codegen.elf import UnknownForm, link, parse
from whorl.codegen.memory import is_supported
from whorl.codegen.target import MachineCode, host, object_codes
from whorl.llvm.function import Function
from whorl.llvm.module import Module, Source

pytestmark = pytest.mark.skipif(
    not is_supported(), reason="the linker of this package is for other systems: LLVM links on this one"
)

CALLER = """
declare i64 @callee(i64)
define i64 @caller(i64 %x) {
  %y = call i64 @callee(i64 %x)
  %z = mul i64 %y, 3
  ret i64 %z
}
"""
CALLEE = "define i64 @callee(i64 %x) {\n  %y = add i64 %x, 41\n  ret i64 %y\n}\n"
TABLES = """
@numbers = private unnamed_addr constant [4 x double] [double 1.0, double 2.0, double 3.0, double 4.0]
@addresses = private unnamed_addr constant [2 x ptr] [ptr @first, ptr @second]
declare double @fmod(double, double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define private double @first(double %x) {
  %y = fadd double %x, 0.1
  ret double %y
}
define private double @second(double %x) {
  %y = call double @fmod(double %x, double 1.5)
  ret double %y
}
define double @f(i64 %n) {
  %at = getelementptr [4 x double], ptr @numbers, i64 0, i64 %n
  %x = load double, ptr %at
  switch i64 %n, label %other [ i64 0, label %a
                                i64 1, label %b
                                i64 2, label %c
                                i64 3, label %d ]
a:
  ret double %x
b:
  %half = fmul double %x, 0.5
  ret double %half
c:
  %power = call double @fmod(double %x, double 2.0)
  ret double %power
d:
  %parity = and i64 %n, 1
  %which = getelementptr [2 x ptr], ptr @addresses, i64 0, i64 %parity
  %function = load ptr, ptr %which
  %called = call double %function(double %x)
  ret double %called
other:
  ret double 0.0
}
"""


def compiled(text: str) -> bytes:
    return object_codes([Source(text)])[0]


def call(linked: elf.Linked | None, *numbers: int) -> int:
    assert linked is not None
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(numbers))(linked.address)(*numbers)


@pytest.mark.parametrize("swapped", [False, True])
def test_functions_of_other_files_are_called(swapped: bool) -> None:
    objects = [compiled(CALLER), compiled(CALLEE)]
    assert call(link(objects[::-1] if swapped else objects, "caller"), 1) == 126


def test_functions_are_named_by_address_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[tuple[int, int, str]] = []
    monkeypatch.setattr(elf, "name_code", named.extend)
    linked = link([compiled(CALLER), compiled(CALLEE)], "callee")
    assert linked is not None
    (caller, size, first), (callee, _, second) = named
    assert (first, second) == ("caller", "callee")
    assert callee == linked.address and 0 < size <= callee - caller


def test_constants_jump_tables_addresses_and_functions_of_the_process() -> None:
    linked = link([compiled(TABLES)], "f")
    assert linked is not None
    f = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(linked.address)
    assert [f(n) for n in range(5)] == [1.0, 1.0, 1.0, math.fmod(4.0, 1.5), 0.0]


@pytest.mark.parametrize(
    ("texts", "function"),
    [
        ([CALLER], "caller"),
        ([CALLEE], "absent"),
        ([CALLEE, CALLEE], "callee"),
        (["@state = global i64 0\ndefine ptr @f() {\n  ret ptr @state\n}\n"], "f"),
        (["@own = thread_local global i64 0\ndefine i64 @f() {\n  %x = load i64, ptr @own\n  ret i64 %x\n}\n"], "f"),
    ],
    ids=["undefined", "absent", "twice", "variable", "thread"],
)
def test_what_is_not_known_is_left_to_llvm(texts: list[str], function: str) -> None:
    assert link([compiled(text) for text in texts], function) is None


def test_file_of_another_machine_is_left_to_llvm() -> None:
    data = bytearray(compiled(CALLEE))
    assert parse(bytes(data)).sections
    struct.pack_into("<H", data, 18, 183)
    with pytest.raises(UnknownForm, match="no object file of x86-64"):
        parse(bytes(data))
    assert link([bytes(data)], "callee") is None


def test_unknown_relocation_is_left_to_llvm() -> None:
    objects = [compiled(CALLER), compiled(CALLEE)]
    kinds = {relocation.kind for each in objects for relocation in parse(each).relocations}
    assert kinds and kinds <= set(elf.Kind)
    changed = bytearray(objects[0])
    for kind in kinds:
        changed = changed.replace(struct.pack("<I", kind), struct.pack("<I", 99))
    assert link([bytes(changed), objects[1]], "caller") is None


def test_llvm_links_what_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whorl.codegen.target.elf.link", lambda objects, function: None)
    module = Module(host())
    f = Function(module, "@linked_by_llvm", "i64", {}, "")
    f.give(f.index(43))
    code = MachineCode(module, "linked_by_llvm")
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(code.address)() == 43
