"""The machine code of the pool: steps are handed out once each, where that pays; a failure ends all."""

from __future__ import annotations

import ctypes
import threading
import time

import numpy as np
import pytest

from whorl.codegen import callers, pool
from whorl.codegen.pool import AWAKE, BUSY, NEXT, STATUS
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module
from whorl.llvm.value import Value
from whorl.runtime.compiled import cores
from whorl.runtime.compiled.context import RunContext
from whorl.runtime.compiled.cores import Pool

pytestmark = pytest.mark.skipif(not cores.is_supported(), reason="threads of this system are not known")
Nest = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
Fork = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)


def context_of(own: Pool, threads: int, least: int = 0) -> RunContext:
    context = RunContext()
    context.set_check(lambda: None)
    context.block[callers.POOL], context.block[callers.THREADS] = own.address, threads
    context.block[callers.LEAST_WORK] = least
    return context


def fork(own: Pool, context: RunContext, nest: object, extent: int, work: int = 1) -> int:
    return Fork(own.fork)(context.address, ctypes.cast(nest, ctypes.c_void_p), None, extent, work)  # type: ignore[arg-type]


def recording(ranges: list[tuple[int, int]], status: int = 0) -> object:
    """A nest that says which steps it is run for."""

    @Nest
    def nest(_arguments: int, first: int, count: int, _context: int) -> int:
        ranges.append((first, count))
        return status

    return nest


@pytest.fixture
def own() -> Pool:
    made = Pool()
    made.grow(3)
    return made


@pytest.mark.parametrize("extent", [1, 2, 5, 1000])
def test_every_step_is_run_once(own: Pool, extent: int) -> None:
    done = np.zeros(extent, np.int64)

    @Nest
    def nest(_arguments: int, first: int, count: int, _context: int) -> int:
        done[first : first + count] += 1
        return 0

    for _ in range(20):
        assert fork(own, context_of(own, 3), nest, extent) == 0
    assert (done == 20).all()


@pytest.mark.parametrize(("awake", "first_chunks"), [(0, [500, 250, 125]), (1, [500, 500, 1])])
def test_later_chunks_are_smaller_and_equal_where_all_are_awake(awake: int, first_chunks: list[int]) -> None:
    ranges: list[tuple[int, int]] = []
    own = Pool()  # without threads of its own, which would count themselves as they wake and tire
    own.block[AWAKE] = awake

    nest = recording(ranges)
    fork(own, context_of(own, 2), nest, 1001 if awake else 1000)
    counts = [count for _, count in sorted(ranges)]
    assert counts[:3] == first_chunks and counts[-1] == 1
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("why", ["little work", "one thread", "another program has it"])
def test_program_computes_alone(own: Pool, why: str) -> None:
    ranges: list[tuple[int, int]] = []
    nest = recording(ranges)
    own.block[BUSY] = why == "another program has it"
    context = context_of(own, 1 if why == "one thread" else 3, 1 << 30 if why == "little work" else 0)
    assert fork(own, context, nest, 1000) == 0
    assert ranges == [(0, 1000)]
    assert own.block[NEXT] == 0


def test_work_that_took_long_is_shared(own: Pool) -> None:
    ranges: list[tuple[int, int]] = []

    @Nest
    def nest(_arguments: int, first: int, count: int, _context: int) -> int:
        ranges.append((first, count))
        time.sleep(0.01)
        return 0

    context = context_of(own, 3, 1 << 16)
    for _ in range(2):
        assert fork(own, context, nest, 100, 80) == 0
    assert ranges[0] == (0, 100)
    assert sum(count for _, count in ranges[1:]) == 100 and len(ranges) > 2


@pytest.mark.parametrize(("before", "is_shared"), [(1 << 20, False), (3 << 19, True)])
def test_little_work_is_shared_once_there_has_been_much_of_it(before: int, is_shared: bool) -> None:
    ranges: list[tuple[int, int]] = []
    nest = recording(ranges)
    own = Pool()
    context = context_of(own, 2, 1 << 20)
    context.block[callers.LITTLE_WORK], context.block[callers.LITTLE_UNTIL] = before, time.monotonic_ns() + (1 << 40)
    assert fork(own, context, nest, 8, 1 << 16) == 0
    assert (len(ranges) > 1) is is_shared
    assert context.block[callers.LITTLE_WORK] == (0 if is_shared else before + (1 << 19))


def test_functions_of_a_large_program_keep_their_times_side_by_side() -> None:
    count, own = 600, Pool()
    module = Module(host(), Effort.GLUE)
    entry = Function(module, "@entry", "i64", {"cells": "ptr"}, "", "")
    parameters = {"arguments": "ptr", "first": "i64", "count": "i64", "context": "ptr"}
    for n in range(count):
        nest = Function(module, f"@nest{n}", "i64", parameters, "", "")
        nest.give(nest.index(0))
        entry.store(Value(entry, "ptr", entry.refer(f"@nest{n}")), entry.offset(entry["cells"], "ptr", n))
    entry.give(entry.index(0))
    code, addresses = MachineCode(module, "entry"), (ctypes.c_int64 * count)()
    ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address)(ctypes.addressof(addresses))
    context = context_of(own, 2, 1 << 10)
    for address in addresses:
        assert Fork(own.fork)(context.address, address, None, 2, 32) == 0
    assert {*own.block[pool.RATES : pool.CONTEXT : 2]} - {0} == {*addresses}


@pytest.mark.parametrize("pause", [0, 0.05])
def test_threads_take_steps_awake_or_asleep(own: Pool, pause: float) -> None:
    meeting = threading.Barrier(3, timeout=60)

    @Nest
    def nest(_arguments: int, _first: int, _count: int, _context: int) -> int:
        meeting.wait()
        return 0

    for _ in range(20):
        assert fork(own, context_of(own, 3), nest, 3) == 0
        time.sleep(pause)


def test_program_waits_for_no_thread_that_has_not_begun() -> None:
    ranges: list[tuple[int, int]] = []
    nest = recording(ranges)
    without_threads = Pool()
    assert fork(without_threads, context_of(without_threads, 3), nest, 1000) == 0
    assert sum(count for _, count in ranges) == 1000
    assert without_threads.block[pool.SEATS] == 0


def test_first_failure_ends_the_rest(own: Pool) -> None:
    done: list[int] = []

    @Nest
    def nest(_arguments: int, first: int, count: int, _context: int) -> int:
        done.extend(range(first, first + count))
        return 7 if first + count > 300 else 0

    assert fork(own, context_of(own, 2), nest, 1000) == 7
    assert own.block[STATUS] == 7 and own.block[BUSY] == 0
    assert len(done) < 1000


def test_thread_is_stops_where_a_range_has_failed(own: Pool) -> None:
    poll = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(own.block[pool.CONTEXT + callers.POLL])
    context = own.address + 8 * pool.CONTEXT
    assert poll(context) > 0
    own.block[pool.STOP] = 1
    assert poll(context) == 0


def test_program_without_a_pool_says_that_it_misses_one() -> None:
    ranges: list[tuple[int, int]] = []

    nest = recording(ranges, 5)
    context = RunContext()
    context.block[callers.LEAST_WORK] = 100
    call = Fork(context.block[callers.FORK])
    for extent, is_missed in ((9, 0), (10, 1)):
        assert call(context.address, ctypes.cast(nest, ctypes.c_void_p), None, extent, 10) == 5
        assert context.block[callers.IS_MISSED] == is_missed
    assert ranges == [(0, 9), (0, 10)]


def test_program_without_a_pool_misses_one_for_little_work_that_comes_often() -> None:
    nest = recording([])
    context = RunContext()
    context.block[callers.LEAST_WORK] = 100
    call, missed = Fork(context.block[callers.FORK]), list[int]()
    for work in (11, 13, 99, 80, 50):
        context.block[callers.LITTLE_UNTIL] = time.monotonic_ns() + (1 << 40)
        assert call(context.address, ctypes.cast(nest, ctypes.c_void_p), None, 1, work) == 0
        missed.append(context.block[callers.IS_MISSED])
    assert missed == [0, 0, 0, 0, 1]


def test_little_work_before_a_pause_does_not_count() -> None:
    nest = recording([])
    own = Pool()
    context = context_of(own, 2, 1 << 20)
    context.block[callers.LITTLE_WORK] = 1 << 21
    context.block[callers.LITTLE_UNTIL] = time.monotonic_ns() - callers.PAUSE
    assert fork(own, context, nest, 8, 1 << 16) == 0
    assert context.block[callers.LITTLE_WORK] == 1 << 19
