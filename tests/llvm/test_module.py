"""Modules: routines in modules of their own, each complete, and the same for every program that calls it."""

import llvmlite.binding as llvm
import pytest

from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Machine, Module, Source, Unit
from whorl.llvm.routine import Routine

MACHINE = Machine(32, True)


def program(name: str) -> Module:
    """A program that calls `twice`, which calls `once`; both are routines, and only `once` takes a root."""
    module = Module(MACHINE)
    main = Function(module, f"@{name}", "i64", {"cells": "ptr"}, "")
    main.intrinsic("fabs", main.number(1.0, "float"))
    twice = Routine(module, "@twice", ["_y"], ["n"])
    with twice.loop(0, twice.argument("n")):
        twice.run("@once", twice["y"])
    twice.end()
    once = Routine(module, "@once", ["_y"], [])
    once.store(once.intrinsic("sqrt", once.number(1.0, "float")), once["y"])
    once.end()
    main.run("@twice", main["cells"], main.index(1))
    main.give(main.index(0))
    return module


def test_module_without_routines_remains_whole():
    module = Module(MACHINE)
    f = Function(module, "@f", "i64", {}, "")
    f.give(f.index(0))
    assert module.split() == (Source(str(module)), {})
    assert str(module) == "define i64 @f() nounwind {\nentry:\n  ret i64 0\n}\n"


def test_program_declares_the_routines_it_calls():
    main, routines = program("whorl_run").split()
    assert "declare void @twice(ptr noalias, i64)" in main.text
    assert "declare void @once(ptr noalias)" in main.text
    assert "weak" not in main.text
    assert list(routines) == ["@twice", "@once"]


def test_routine_has_what_it_refers_to_and_nothing_else():
    twice, once = (routine.text for routine in program("whorl_run").split()[1].values())
    assert twice.startswith("define void @twice(")
    assert "declare void @once(ptr noalias)" in twice
    assert '!{!"llvm.loop.unroll.disable"}' in twice
    assert "llvm.sqrt" not in twice and "llvm.fabs" not in twice
    assert "declare float @llvm.sqrt.f32(float)" in once and "llvm.fabs" not in once


def test_routines_of_two_programs_are_the_same():
    other = program("two")
    other.add_metadata("distinct !{}")
    assert program("one").split()[1] == other.split()[1]


def test_every_module_is_accepted_by_llvm():
    module = program("whorl_run")
    main, routines = module.split()
    for source in (str(module), main.text, *(routine.text for routine in routines.values())):
        llvm.parse_assembly(source).verify()


def test_unit_is_declared_where_it_is_called_and_brings_its_routines():
    module = Module(MACHINE, Effort.GLUE)
    module.add(Unit("@whorl_run", program("whorl_run")))
    f = Function(module, "@main", "i64", {"cells": "ptr"}, "")
    f.give(f.call("@whorl_run", "i64", f["cells"]))
    main, routines = module.split()
    assert "declare i64 @whorl_run(ptr)" in main.text and main.effort == Effort.GLUE
    assert list(routines) == ["@whorl_run", "@twice", "@once"]
    assert routines["@whorl_run"] == program("whorl_run").split()[0]


def test_second_definition_of_a_name_is_refused():
    module = Module(MACHINE)
    Function(module, "@f", "i64", {})
    with pytest.raises(ValueError, match="@f is defined twice"):
        Function(module, "@f", "i64", {})


def test_equal_metadata_is_one_node_unless_it_is_distinct():
    module = Module(MACHINE)
    assert module.add_metadata('!{!"a"}') == module.add_metadata('!{!"a"}') == "!0"
    assert module.add_metadata("distinct !{!self}") == "!1"
    assert module.add_metadata("distinct !{!self}") == "!2"
    assert str(module) == '!0 = !{!"a"}\n!1 = distinct !{!1}\n!2 = distinct !{!2}\n'
