"""Clocks between nodes: they count executions of all regions, and change no output."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from recorder import Recorder
from traced_models import traced_models

from whorl.api.tracing.recording import copy_module, run_once
from whorl.codegen.clock import cycle_counter
from whorl.ir.graph import Module
from whorl.kernels.clock.meaning import COLUMNS, FIRST, INTERPRETED, NATIVE, TICKS
from whorl.passes.expose.adding import retype
from whorl.passes.expose.scopes import scopes_of
from whorl.passes.expose.timing import READING, add_clocks


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Module, Mapping[str, Any]]]:
    return traced_models(tmp_path_factory.mktemp("timed"))


NAMES = "nested", "no iteration", "OpenVINO IR", "MDF", "sequence_of_different_shapes", "program_words_to_lines"


@pytest.mark.parametrize("backend", ["native", "interpreter"])
@pytest.mark.parametrize("name", NAMES)
def test_every_clock_is_read_in_each_execution_and_outputs_stay(
    models: dict[str, Any], name: str, backend: str
) -> None:
    module, inputs = models[name]
    recorder = Recorder(module)
    recorder.run(inputs)
    copy = copy_module(module)
    clock = cycle_counter() if backend == "native" else time.perf_counter_ns
    timed = add_clocks(copy, scopes_of(copy), scopes_of(module), clock)
    retype(copy)
    outputs = dict(zip(copy.output_names, run_once(copy, inputs, mode=backend), strict=True))
    for each in timed:
        rows = outputs[each.output][FIRST:].reshape(-1, COLUMNS)
        counts = set((rows[:, NATIVE] + rows[:, INTERPRETED]).tolist())
        assert len(rows) == READING + 1 + len(each.nodes)
        own = [len(rows) for path, rows in recorder.entries.items() if path.rpartition("/")[0] == each.scope.path]
        assert counts == ({own[0]} if each.scope.path and own else counts if own else {1})
    for ours, expected in zip(outputs.values(), run_once(module, inputs, mode="interpreter"), strict=False):
        if isinstance(expected, np.ndarray) and expected.dtype.kind == "f":
            np.testing.assert_allclose(ours, expected, rtol=1e-5)
        elif isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(ours, expected)


def test_rows_of_a_run_that_is_partly_native_are_of_one_clock(models: dict[str, Any]) -> None:
    module, inputs = models["rank_depends_on_iteration"]
    clock, copy = cycle_counter(), copy_module(module)
    timed = add_clocks(copy, scopes_of(copy), scopes_of(module), clock)
    retype(copy)
    before = clock()
    outputs = dict(zip(copy.output_names, run_once(copy, inputs, mode="native"), strict=True))
    taken = clock() - before
    rows = outputs[timed[0].output][FIRST:].reshape(-1, COLUMNS)
    assert rows[:, NATIVE].any() and rows[:, INTERPRETED].any()
    assert rows[READING:, TICKS].min() >= 0 and rows[READING:, TICKS].sum() <= taken
