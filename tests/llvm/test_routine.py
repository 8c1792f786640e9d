"""Routines: how they count work, and how they are stopped."""

import ctypes

import pytest

from whorl.codegen.target import MachineCode
from whorl.llvm.fuel import FUEL
from whorl.llvm.module import Effort, Machine, Module
from whorl.llvm.routine import Routine

ASK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@pytest.fixture
def count():
    """A routine that adds 1 to a cell n times, each counted as so much work; the function takes an asking function."""
    module = Module(Machine(32, True))
    f = Routine(module, "@count", ["_y"], ["n", "work"], polls=True)
    with f.loop(0, f.argument("n")):
        f.poll(f.argument("work"))
        f.store(f.load_index(f["y"]) + 1, f["y"])
    f.end()
    code = MachineCode(module, "count")
    entry = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p, *[ctypes.c_int64] * 2, ctypes.c_void_p, ctypes.c_int64])

    def run(n: int, work: int, fuel: int, answer: int) -> tuple[int, int, int]:
        """What it gives, how often it counted, how often it asked."""
        requested: list[int] = []
        ask = ASK(lambda context: requested.append(1) or answer)
        context = (ctypes.c_void_p * 1)(ctypes.cast(ask, ctypes.c_void_p).value)
        cell = ctypes.c_int64(0)
        left = entry(code.address)(ctypes.addressof(cell), n, work, ctypes.addressof(context), fuel)
        return left, cell.value, len(requested)

    return run


def test_routine_with_enough_fuel_never_asks_and_gives_what_is_left(count):
    assert count(10, 7, 100, 0) == (100 - 70 | 1, 10, 0)


def test_routine_without_fuel_asks_and_goes_on_with_new_fuel(count):
    left, counted, requested = count(10, FUEL, 0, FUEL)
    assert left and counted == 10 and requested >= 5


def test_routine_that_is_reported_to_stop_gives_nothing(count):
    assert count(10, 7, 0, 0) == (0, 0, 1)


def test_routine_is_declared_by_its_types():
    f = Routine(Module(Machine(32, True)), "@f", ["_y", "x"], ["n"])
    f.end()
    assert f.declaration() == "declare void @f(ptr noalias, ptr noalias readonly, i64)"
    assert f.text().startswith("define weak hidden void @f(ptr noalias %y, ptr noalias readonly %x, i64 %n) noinline")


@pytest.mark.parametrize("effort", [Effort.WRITTEN, Effort.ROUTINES])
def test_routine_is_compiled_with_the_effort_that_it_asks_for(effort):
    module = Module(Machine(32, True))
    Routine(module, "@nothing", ["_y"], [], effort=effort).end()
    assert module.routine_sources(["@nothing"])["@nothing"].effort == effort
