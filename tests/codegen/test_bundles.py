"""Bundles: modules that become one object, and what of them other objects replace."""

import ctypes

import pytest

from whorl.codegen import target
from whorl.codegen.bundles import bundle, parse_bundle
from whorl.codegen.elf import link
from whorl.codegen.memory import is_supported
from whorl.codegen.target import object_codes
from whorl.llvm.module import Effort, Source

CALLER = """
@number = private constant i64 3
declare i64 @callee(i64)
define i64 @caller(i64 %x) {
  %y = call i64 @callee(i64 %x)
  %n = load i64, ptr @number
  %z = mul i64 %y, %n
  ret i64 %z
}
"""
CALLEE = """
@number = private constant i64 41
define internal i64 @own(i64 %x) alwaysinline {
  %n = load i64, ptr @number
  %y = add i64 %x, %n
  ret i64 %y
}
define i64 @callee(i64 %x) {
  %y = call i64 @own(i64 %x)
  ret i64 %y
}
"""
BETTER = "define i64 @callee(i64 %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n"


def test_bundle_is_compiled_without_being_optimised_whatever_its_parts_are() -> None:
    made = bundle([Source(CALLER, Effort.GLUE), Source(CALLEE, Effort.ROUTINES)])
    assert made.effort == Effort.GLUE and CALLER in made.text and CALLEE in made.text


def test_only_definitions_after_the_first_part_are_weak() -> None:
    llvm = target._llvm()
    module = parse_bundle(llvm, bundle([Source(CALLER), Source(CALLEE)]).text, llvm.create_context())
    linkage = {each.name: each.linkage.name for each in module.functions}
    assert (linkage["caller"], linkage["callee"], linkage["own"]) == ("external", "weak_any", "internal")


@pytest.mark.skipif(
    not is_supported(), reason="the linker of this package is for other systems: LLVM links on this one"
)
@pytest.mark.parametrize("is_last", [True, False])
def test_definition_of_another_object_prevails(is_last: bool) -> None:
    whole, better = object_codes([bundle([Source(CALLER), Source(CALLEE)]), Source(BETTER)])
    for objects, result in (([whole], 3 * 142), ([whole, better] if is_last else [better, whole], 3 * 102)):
        linked = link(objects, "caller")
        assert linked is not None
        assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(linked.address)(101) == result
        linked.pages.free()


@pytest.mark.skipif(
    not is_supported(), reason="the linker of this package is for other systems: LLVM links on this one"
)
def test_llvm_links_bundles_and_what_replaces_parts_of_them() -> None:
    whole, better = object_codes([bundle([Source(CALLER), Source(CALLEE)]), Source(BETTER)])
    for objects, result in (([whole], 3 * 142), ([whole, better], 3 * 102), ([better, whole], 3 * 102)):
        address, release = target._linked_by_llvm(objects, "caller")
        assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(101) == result
        release()
