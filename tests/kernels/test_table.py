"""The table of kernels: rows by name, and routines whose writers are imported when one is called."""

import numpy as np
import pytest

from whorl.kernels.convolution.llvm import define_convolution, define_convolution_sum
from whorl.kernels.plane.llvm import define_plane_maxima, define_plane_sums, define_split_phases
from whorl.kernels.table import KERNELS
from whorl.llvm.module import Machine, Module

LATER = {
    "convolution": define_convolution,
    "convolution_sum": define_convolution_sum,
    "split_phases": define_split_phases,
    "plane_sums": define_plane_sums,
    "plane_maxima": define_plane_maxima,
}


def test_rows_are_listed_by_their_names() -> None:
    assert all(name == kernel.name for name, kernel in KERNELS.items())


@pytest.mark.parametrize("name", ["split_phases", "plane_sums", "plane_maxima"])
def test_routine_that_is_imported_later_is_that_of_its_kernel(name: str) -> None:
    written = []
    for define in (KERNELS[name].define, LATER[name]):
        module = Module(Machine(32, True))
        written.append((define(module, [np.dtype(np.float32)] * 2, [1] * 24), str(module)))
    assert written[0] == written[1] and name in written[0][0]


@pytest.mark.parametrize("name", LATER)
def test_writer_of_a_routine_is_called_with_what_the_table_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []
    writer = LATER[name]
    monkeypatch.setattr(f"{writer.__module__}.{writer.__name__}", lambda *passed: calls.append(passed) or "@written")
    module = Module(Machine(32, True))
    assert KERNELS[name].define(module, [], (1, 2)) == "@written"
    assert calls == [(module, [], (1, 2))]
