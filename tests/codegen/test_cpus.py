"""CPUs by name: what LLVM would end the process for is an error."""

import pytest

from whorl.codegen.target import target_of
from whorl.errors import CompileError


def test_cpu_that_llvm_lists_is_taken():
    assert target_of("aarch64-linux-gnu", "apple-m1").cpu == "apple-m1"


def test_unknown_cpu_is_refused_with_the_name_that_may_be_meant():
    with pytest.raises(CompileError) as caught:
        target_of("x86_64-linux-gnu", "haswel")
    assert str(caught.value) == "there is no CPU 'haswel' for 'x86_64-linux-gnu'\n  fix: did you mean 'haswell'?"


def test_cpu_that_cannot_run_the_target_is_refused():
    with pytest.raises(CompileError) as caught:
        target_of("x86_64-linux-gnu", "i486")
    assert str(caught.value) == (
        "no code of 'x86_64-linux-gnu' is for the CPU 'i486': LLVM ERROR: 64-bit code requested on a subtarget that "
        "doesn't support it!\n  fix: choose a newer CPU"
    )
