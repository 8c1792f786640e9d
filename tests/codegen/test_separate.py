"""Routines in modules of their own: each is complete, and the same for every program that calls it."""

import llvmlite.binding

from whorl.codegen.separate import separated

ROUTINE = """define weak hidden void @whorl.twice(ptr noalias %y, i64 %n) noinline {
entry:
  call void @whorl.once(ptr %y)
  br label %done, !llvm.loop !9
done:
  ret void
}"""
OTHER = """define weak hidden void @whorl.once(ptr %y) noinline {
entry:
  %x = call float @llvm.sqrt.f32(float 1.0)
  ret void
}"""
REST = """declare float @llvm.sqrt.f32(float)
declare float @llvm.fabs.f32(float)
!9 = distinct !{!9, !10}
!10 = !{!"llvm.loop.unroll.disable"}"""


def program(name: str) -> str:
    main = f"define i64 @{name}(ptr %cells) {{\n  call void @whorl.twice(ptr %cells, i64 1)\n  ret i64 0\n}}"
    return "\n".join((main, ROUTINE, OTHER, REST)) + "\n"


def test_program_without_routines_stays_as_it_is():
    source = "define i64 @whorl_run(ptr %cells) {\n  ret i64 0\n}\n"
    assert separated(source) == (source, [])


def test_program_declares_the_routines_it_calls():
    main, routines = separated(program("whorl_run"))
    assert "declare void @whorl.twice(ptr noalias, i64)" in main
    assert "declare void @whorl.once(ptr)" in main
    assert "weak" not in main
    assert len(routines) == 2


def test_routine_has_what_it_refers_to_and_nothing_else():
    twice, once = separated(program("whorl_run"))[1]
    assert twice.startswith("define void @whorl.twice(")
    assert "declare void @whorl.once(ptr)" in twice
    assert "!9 = " in twice and "!10 = " in twice
    assert "llvm.sqrt" not in twice and "llvm.fabs" not in twice
    assert "declare float @llvm.sqrt.f32(float)" in once and "llvm.fabs" not in once


def test_routines_of_two_programs_are_the_same():
    assert separated(program("one"))[1] == separated(program("two"))[1]


def test_every_module_is_accepted_by_llvm():
    main, routines = separated(program("whorl_run"))
    for source in (main, *routines):
        llvmlite.binding.parse_assembly(source).verify()
