"""Steps that threads of a runtime share: each is run once, and the first failure is the one that is reported."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from codegen.custom_ops.fake_runtime import FakeRuntime
from whorl.codegen.custom_ops import sharing, times
from whorl.codegen.custom_ops.registration import registration_module
from whorl.codegen.custom_ops.sharing import FORKS, KERNEL_CELLS, LEAST_WORK, STATUS, THREADS
from whorl.codegen.ranges import ITERATIONS
from whorl.codegen.target import MachineCode, host

P, L = ctypes.c_void_p, ctypes.c_int64
Fork = ctypes.CFUNCTYPE(L, P, P, P, L, L)
Report = ctypes.CFUNCTYPE(None, P, L, L, P, L, L)
Range = ctypes.CFUNCTYPE(L, P, L, L, P)


class Shared:
    """The functions that programs share, and a context of theirs."""

    def __init__(self, threads: int = 1) -> None:
        self.runtime = runtime = FakeRuntime([])
        runtime.threads = threads
        self.is_alone = False
        self.code = {
            name: MachineCode(registration_module([], host()), name) for name in ("whorl_fork", "whorl_report")
        }
        self.iterations = (L * 4)()
        self.context = (L * sharing.COUNT)()
        self.kernel = (L * KERNEL_CELLS)(runtime.address)
        self.kernel[THREADS], self.kernel[FORKS] = threads, 16
        self.context[sharing.KERNEL], self.context[ITERATIONS] = map(ctypes.addressof, (self.kernel, self.iterations))

    def fork(self, nest: object, extent: int, work: int) -> int:
        function = Fork(self.code["whorl_fork"].address)
        return function(ctypes.addressof(self.context), ctypes.cast(nest, P), None, extent, work)  # type: ignore[arg-type]

    def fork_later(self, nest: object, extent: int, work: int) -> int:
        """The third run, which is shared whatever is faster."""
        for _ in range(times.SURE - 1):
            self.is_alone = True
            self.fork(nest, extent, work)
        self.is_alone = False
        return self.fork(nest, extent, work)

    def report(self, status: int, first: int, iterations: Sequence[int], in_order: bool) -> None:
        numbers = (L * 4)(*iterations)
        function = Report(self.code["whorl_report"].address)
        function(ctypes.addressof(self.context), status, first, numbers, len(iterations), in_order)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize(("extent", "work"), [(2, LEAST_WORK), (1000, LEAST_WORK), (100_000, 100)])
def test_every_step_is_run_once(threads: int, extent: int, work: int) -> None:
    shared, done = Shared(threads), np.zeros(extent, np.int64)

    @Range
    def nest(_arguments: int, first: int, count: int, _context: int) -> int:
        done[first : first + count] += 1
        return 0

    for number in range(1, 8):
        assert shared.fork(nest, extent, work) == 0
        assert (done == number).all()
    assert (shared.runtime.forks > 0) == (threads > 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_are_counted_at_powers_of_two_of_the_times_that_there_is_work(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "SPINS", 1 << 24)
    monkeypatch.setattr(sharing, "SEATS", threads)
    shared, counted = Shared(threads), list[int]()
    shared.kernel[THREADS] = shared.kernel[FORKS] = 0
    nest = Range(lambda *_: 0)
    assert shared.fork(nest, 4, 1) == 0 and shared.kernel[THREADS] == shared.kernel[FORKS] == 0
    for number in range(1, 10):
        shared.kernel[THREADS] = 0
        assert shared.fork(nest, 4, LEAST_WORK) == 0
        if shared.kernel[THREADS]:
            assert shared.kernel[THREADS] == threads
            counted.append(number)
    assert counted == [1, 2, 4, 8]


@pytest.mark.parametrize(("extent", "work"), [(1, 1 << 40), (1000, LEAST_WORK // 1000), (LEAST_WORK - 1, 1)])
def test_little_work_is_done_at_once_without_the_runtime(extent: int, work: int) -> None:
    shared, ran = Shared(2), list[tuple[int, int]]()

    @Range
    def nest(_arguments: int, first: int, count: int, _context: int) -> int:
        ran.append((first, count))
        return 7

    assert shared.fork(nest, extent, work) == 7
    assert ran == [(0, extent)] and shared.runtime.forks == 0


@pytest.mark.parametrize(
    ("extent", "chunks"),
    [(1 << 20, [1 << 19, 1 << 18, 1 << 18]), (LEAST_WORK, [LEAST_WORK // 2, LEAST_WORK // 4, LEAST_WORK // 4])],
)
def test_threads_have_half_of_their_part_to_hand_over(extent: int, chunks: list[int]) -> None:
    shared, counts = Shared(2), list[int]()
    shared.runtime.threads = 1

    @Range
    def nest(_arguments: int, _first: int, count: int, _context: int) -> int:
        if not shared.is_alone:
            counts.append(count)
        return 0

    shared.fork_later(nest, extent, 1)
    assert counts == chunks


def test_what_the_runtime_refuses_is_done_here() -> None:
    shared, done = Shared(2), np.zeros(1000, np.int64)
    shared.runtime.refuses_threads = True

    @Range
    def nest(_arguments: int, first: int, count: int, _context: int) -> int:
        done[first : first + count] += 1
        return 0

    assert shared.fork_later(nest, 1000, LEAST_WORK) == 0
    assert (done == times.SURE).all() and shared.runtime.released == [88]


FAILURES = [(5, 30, [2, 1]), (4, 20, [2, 3]), (6, 10, [1, 9]), (3, 40, [1, 9])]


@pytest.mark.parametrize(("in_order", "first"), [(True, 2), (False, 3)])
def test_failure_of_the_first_iteration_is_reported_whatever_came_first(in_order: bool, first: int) -> None:
    for order in itertools.permutations(FAILURES):
        shared = Shared()
        for failure in order:
            shared.report(*failure, in_order)
        status, _, iterations = FAILURES[first]
        assert (shared.context[STATUS], list(shared.iterations)[:2]) == (status, iterations)


@pytest.mark.parametrize("in_order", [True, False])
def test_steps_in_order_end_after_the_first_that_fails(in_order: bool) -> None:
    shared, counts = Shared(2), list[int]()
    shared.runtime.threads = 1

    @Range
    def nest(_arguments: int, first: int, count: int, _context: int) -> int:
        if shared.is_alone:
            return 0
        counts.append(count)
        if first >= 200:
            shared.report(2, first, [first], in_order)
        return 2 if first >= 200 else 0

    assert shared.fork_later(nest, 1000, LEAST_WORK) == 2
    assert shared.iterations[0] == 500 and (sum(counts) < 1000) == in_order
