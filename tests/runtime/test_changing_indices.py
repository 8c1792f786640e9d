"""Indices that another thread writes during a run: an op that reads one twice, to check and to use it, is found out.

An element is right for a number of reads and another from then on, by the interpreter of kernel programs and by the
ops' `run`. So nothing depends on when a thread writes; `racing_feeds.py` has such a thread.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest
from runtime.index_attacks import OPS, feeds_of, limited, model_of

import whorl
from whorl.debug import debug
from whorl.errors import VerifyError, WhorlError
from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Buffer, Const, Load
from whorl.kernel import interpret as programs
from whorl.kernel.program import Program, Store
from whorl.kernel.watched_memory import Path, WatchedMemory
from whorl.ops.core.work import Effort
from whorl.runtime.compiled import debug_entries

LATER = 9, 0
"""What an index becomes: far outside, or a divisor that is refused."""
MOST_READS = 4


class Changing(np.ndarray):
    """Integers that NumPy reads a number of times as they were; indexing sees at once what they become."""

    before: np.ndarray
    reads: list[int]

    @classmethod
    def of(cls, array: np.ndarray, later: int, reads: int) -> Changing:
        self = np.full(array.shape, later, array.dtype).view(cls)
        self.before, self.reads = array, [reads]
        return self

    def __array_finalize__(self, source: object) -> None:
        self.before, self.reads = self, [0]

    def read(self) -> np.ndarray:
        self.reads[0] -= 1
        return np.array((self if self.reads[0] < 0 else self.before).view(np.ndarray))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(read, inputs), **options)

    def __array_function__(self, function: Callable, types: Any, inputs: Any, options: dict[str, Any]) -> Any:
        return function(*[[*map(read, x)] if isinstance(x, list | tuple) else read(x) for x in inputs], **options)

    def astype(self, *inputs: Any, **options: Any) -> np.ndarray:
        return self.read().astype(*inputs, **options)

    def tolist(self) -> list[Any]:
        return self.read().tolist()

    def reshape(self, *shape: Any, **options: Any) -> Changing:
        result = super().reshape(*shape, **options)
        result.before, result.reads = self.before.view(np.ndarray).reshape(*shape, **options), self.reads
        return result


def read(value: Any) -> Any:
    return value.read() if isinstance(value, Changing) else value


def run_with_ones(name: str, backend: str) -> Iterator[np.ndarray]:
    """The indices of an op, all 1, before each run with them."""
    for type_ in OPS[name].types:
        index = np.ones(OPS[name].shape, type_)
        model = model_of(OPS[name], type_, "main", index).SerializeToString()
        yield index
        with contextlib.suppress(WhorlError):
            whorl.InferenceSession(model, limited(backend)).run(None, feeds_of("main", index))


@pytest.mark.parametrize("name", OPS)
def test_ops_use_the_index_that_they_checked(monkeypatch, name):
    errors: list[str] = []
    run = Effort.run

    def changed(self: Effort, function: Callable, inputs: Sequence[Any], check: Callable[[], None]) -> Any:
        integers = [isinstance(x, np.ndarray) and x.dtype.kind == "i" for x in inputs]
        for later, reads in product(LATER, range(MOST_READS)):
            try:
                function(*[Changing.of(x, later, reads) if k else x for k, x in zip(integers, inputs, strict=True)])
            except (WhorlError, MemoryError):
                pass
            except Exception as error:
                errors.append(f"after {reads} reads {later}: {type(error).__name__}: {error}")
        return run(self, function, inputs, check)

    monkeypatch.setattr(Effort, "run", changed)
    for _ in run_with_ones(name, "interpreter"):
        pass
    assert errors == []


class Changed(WatchedMemory):
    """Memory of kernel programs whose elements become others after a number of reads."""

    index: ClassVar[np.ndarray] = np.zeros(0)
    later: ClassVar[int] = 0
    reads: ClassVar[int] = 0
    counts: ClassVar[Counter[int]] = Counter()

    def touch(self, path: Path, position: int, writes: bool, name: str) -> None:
        if not writes and np.may_share_memory(self.array, self.index):
            if self.counts[position] == self.reads > 0:
                self.flat[position] = self.later
            self.counts[position] += 1
        super().touch(path, position, writes, name)


@pytest.fixture
def machine(monkeypatch) -> Iterator[type[Changed]]:
    monkeypatch.setattr(programs, "WatchedMemory", Changed)
    monkeypatch.setenv("WHORL_DEBUG", "programs")
    debug.cache_clear()
    yield Changed
    debug.cache_clear()


@pytest.mark.parametrize("name", OPS)
def test_kernel_programs_use_the_index_that_they_checked(monkeypatch, machine, name):
    errors: list[str] = []

    def interpret(*arguments: Any) -> programs.Outcome:
        before = machine.index.copy()
        for machine.later, machine.reads in product(LATER, range(1, MOST_READS)):
            machine.counts.clear()
            try:
                programs.interpret(*arguments)
            except VerifyError as error:
                errors.append(f"after {machine.reads} reads {machine.later}: {error}")
            machine.index[...] = before
        machine.reads = 0
        return programs.interpret(*arguments)

    monkeypatch.setattr(debug_entries, "interpret", interpret)
    for index in run_with_ones(name, "native"):
        machine.index = index
    assert errors == []


def test_index_that_is_read_again_is_refused(machine):
    x, i = Buffer("x", INT64, (4,)), Buffer("i", INT64, (1,))
    element = Load(INT64, i, (Const(INT64, 0),))
    body = [Store(x, (element,), Const(INT64, 0)) for _ in range(2)]
    machine.index, machine.later, machine.reads = np.ones(1, np.int64), 9, 1
    machine.counts.clear()
    with pytest.raises(VerifyError, match=r"is at \[9\] of \[4\]"):
        programs.interpret(Program([], [x, i], [], body), [], [np.zeros(4, np.int64), machine.index])
