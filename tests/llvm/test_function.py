"""Functions: control flow, memory and calls, run by LLVM where it is there."""

import ctypes

from whorl.llvm.function import Function
from whorl.llvm.module import Machine, Module

MODULE = Machine(32, True)


def new(result: str = "i64", **parameters: str) -> Function:
    return Function(Module(MODULE), "@f", result, parameters, "")


def run(f: Function, *arguments: int) -> int:
    from whorl.codegen.target import MachineCode

    code = MachineCode(f.module, "f")
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))(code.address)(*arguments)


def test_loop_counts_from_start_to_stop_by_step():
    f = new(stop="i64")
    total = f.variable(f.index(0))
    with f.loop(2, f.argument("stop"), 3) as i:
        f.store(f.load_index(total) + i, total)
    f.give(f.load("i64", total))
    assert run(f, 12) == 2 + 5 + 8 + 11 and run(f, 2) == 0


def test_when_runs_its_body_only_where_the_condition_has():
    f = new(x="i64")
    result = f.variable(f.index(1))
    with f.when(f.argument("x") > 5):
        f.store(f.index(2), result)
    f.give(f.load("i64", result))
    assert [run(f, x) for x in (5, 6)] == [1, 2]


def test_leave_when_returns_early():
    f = new(x="i64")
    with f.leave_when(f.argument("x") < 0):
        f.give(f.index(-1))
    f.give(f["x"])
    assert [run(f, x) for x in (-7, 7)] == [-1, 7]


def test_slot_has_its_initial_value_before_all_instructions():
    f = new()
    f.start("later")
    slot = f.slot("i64", f.index(5), align=16)
    f.give(f.load("i64", slot))
    assert f.text().splitlines()[2:4] == ["  %slot.1 = alloca i64, align 16", "  store i64 5, ptr %slot.1"]


def test_select_takes_a_python_number_on_either_side():
    f = new("float", x="float")
    f.select(f["x"] > 0.0, 1.0, f["x"])
    assert f.blocks[-1].lines[-1].endswith("select i1 %t.1, float 0x3FF0000000000000, float %x")


def test_intrinsic_is_declared_and_referred_to():
    f = new("float", x="float")
    f.muladd(f["x"], 2.0, f["x"])
    assert "@llvm.fmuladd.f32" in f.module and list(f.references) == ["@llvm.fmuladd.f32"]


def test_offset_of_nothing_is_the_pointer():
    f = new(p="ptr")
    assert f.offset(f["p"], "i8", 0) == f["p"]
    assert f.offset(f["p"], "i8", 4).text != "%p"


def test_declaration_leaves_names_out():
    f = new("void", p="ptr noalias", n="i64")
    assert f.declaration() == "declare void @f(ptr noalias, i64)"
