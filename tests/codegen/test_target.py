"""Machine code goes with its owner, and LLVM keeps nothing of what it compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from whorl.codegen.emit import FUNCTION, emit
from whorl.codegen.target import (
    MachineCode,
    _as_target,
    _Description,
    _recent,
    compiled_bytes,
    host,
    machine,
    object_codes,
    object_key,
    optimised,
)
from whorl.debug import Debug
from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import Buffer, Const, index_const
from whorl.kernel.program import Program, Store
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module, Source

SOURCE = Source("define i64 @answer() {\n  ret i64 41\n}\n")


def answer() -> Module:
    module = Module(host())
    f = Function(module, "@answer", "i64", {}, "")
    f.give(f.index(41))
    return module


SUMS = Source("""
define void @add(ptr noalias %x, ptr noalias %y, i64 %count) "min-legal-vector-width"="512" {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr inbounds float, ptr %x, i64 %i
  %q = getelementptr inbounds float, ptr %y, i64 %i
  %a = load float, ptr %p
  %b = load float, ptr %q
  %sum = fadd float %a, %b
  store float %sum, ptr %p
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}
""")

REMAINING = """
import gc
from pathlib import Path
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module, Source

def compile_one(n):
    module = Module(host())
    f = Function(module, "@f", "i64", {"x": "i64"}, "")
    x = f["x"]
    for k in range(1, 200):
        x = x + int(f"{n}{k}")
    f.give(x)
    MachineCode(module, "f")

def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

marks = []
for n in range(301):
    compile_one(n)
    if n in (100, 300):
        marks.append(resident())
print(marks[1] - marks[0])
"""


def test_code_is_unmapped_with_its_owner():
    mapped = Path("/proc/self/maps")
    if not mapped.exists():
        pytest.skip("this system does not say what is mapped")
    code = MachineCode(answer(), "answer")
    assert is_mapped(code.address)
    address = code.address
    del code
    assert not is_mapped(address)


@pytest.mark.parametrize(("features", "vector"), [("+avx512f,+avx512vl", "<8 x float>"), ("+amx-tile", "<16 x float>")])
def test_loops_have_the_widest_vectors_that_run_at_full_clock(features: str, vector: str):
    if not host().triple.startswith("x86_64"):
        pytest.skip("LLVM knows only this machine, which is no x86")
    level = "+avx,+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl"
    target = _as_target(_Description("", host().triple, "icelake-server", f"{level},{features}"))
    module = optimised(SUMS, machine(target))
    assert f"fadd {vector}" in str(module)


def test_equal_programs_share_their_code_until_the_last_goes():
    def compiled(name: str, number: float) -> MachineCode:
        x = Buffer(name, FLOAT32, (1,))
        program = Program([], [x], [], [Store(x, (index_const(0),), Const(FLOAT32, number))])
        return MachineCode(emit(program), FUNCTION)

    first, other = compiled("x", 1.0), compiled("x", 2.0)
    again = compiled("y", 1.0)
    assert first.address == again.address != other.address
    del first
    assert compiled("z", 1.0).address == again.address


def is_mapped(address: int) -> bool:
    spans = (line.split()[0].split("-") for line in Path("/proc/self/maps").read_text().splitlines())
    return any(int(first, 16) <= address < int(last, 16) for first, last in spans)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not say how much is resident")
def test_compiling_keeps_no_memory():
    environment = os.environ | {"WHORL_CACHE": ""}
    done = subprocess.run(
        [sys.executable, "-c", REMAINING], env=environment, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 4 << 20, "200 programs of 200 statements"


def test_unoptimised_code_has_an_entry_of_its_own(monkeypatch, tmp_path):
    host()  # which may write what LLVM says of the machine
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path))
    object_codes([SOURCE])
    monkeypatch.setattr("whorl.codegen.target.debug", lambda: Debug(is_unoptimised=True))
    object_codes([SOURCE])
    assert len(list(tmp_path.iterdir())) == 2


COUNTED = """define void @count(ptr %x, i64 %n) {
entry:
  br label %for
for:
  %i = phi i64 [ 0, %entry ], [ %next, %for ]
  %at = getelementptr i64, ptr %x, i64 %i
  %old = load volatile i64, ptr %at
  %square = mul i64 %i, %n
  %new = add i64 %old, %square
  store volatile i64 %new, ptr %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %for, label %done
done:
  ret void
}
"""


@pytest.mark.parametrize("effort", [Effort.ROUTINES, Effort.LOOPS])
def test_loops_keep_their_addresses_and_others_are_compiled_alike_before_and_after(monkeypatch, effort):
    monkeypatch.setenv("WHORL_CACHE", "")
    _recent.clear()
    chosen = machine(effort=effort)

    def compiled() -> bytes:
        return chosen.emit_object(optimised(Source(COUNTED, effort), chosen))

    before = compiled()
    (ours,) = object_codes([Source(COUNTED, effort)])
    assert compiled() == before != ours


INLINED = """define internal float @twice(float %x) alwaysinline {
  %y = fadd float %x, %x
  ret float %y
}
define float @four_times(float %x) {
  %slot = alloca float
  %y = call float @twice(float %x)
  store float %y, ptr %slot
  %z = load float, ptr %slot
  %w = call float @twice(float %z)
  ret float %w
}
"""


def test_what_is_written_as_it_is_to_run_has_values_in_registers_and_what_it_calls_inside():
    chosen = machine(effort=Effort.WRITTEN)
    module = str(optimised(Source(INLINED, Effort.WRITTEN), chosen))
    assert module.count("fadd") == 2 and "call" not in module and "alloca" not in module


def test_code_is_named_by_the_passes_that_made_it():
    assert len({object_key(Source(INLINED, effort)) for effort in Effort}) == len(Effort)


def test_new_sources_are_compiled_together_and_known_ones_not_again(monkeypatch, tmp_path):
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path))
    _recent.clear()
    sources = [Source(f"define i64 @f{n}() {{\n  ret i64 {n}\n}}\n", effort) for n, effort in enumerate(Effort)]
    codes = object_codes(sources)
    compiled = compiled_bytes()
    assert object_codes(sources[::-1]) == codes[::-1] and len(set(codes)) == len(sources)
    assert compiled_bytes() == compiled


def test_what_is_beside_is_compiled_with_a_program(monkeypatch, tmp_path):
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path))
    module = Module(host())
    f = Function(module, "@beside_another", "i64", {}, "")
    f.give(f.index(4711))
    other = Source("define i64 @another() {\n  ret i64 4712\n}\n", Effort.GLUE)
    code = MachineCode(module, "beside_another", beside=[other])
    before = compiled_bytes()
    assert len(object_codes([other])) == 1 and compiled_bytes() == before
    assert list(code.keys) == [0]
