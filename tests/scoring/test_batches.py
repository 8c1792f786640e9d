"""How many rows a run has, and whether they may share it."""

from collections import Counter

import pytest
from scoring.models import HALVES, PERCEPTRON, RANKS, table

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.errors import RunError
from whorl.scoring.batches import LARGEST, SMALLEST, choose_batch
from whorl.scoring.preparing import Settings, prepare_scorer
from whorl.scoring.rows import Scorer


def scorer(model, rows, **settings):
    return prepare_scorer(load_module(model), rows.schema, rows, Settings(**settings), SessionOptions())


def test_batch_is_measured():
    assert SMALLEST <= scorer(PERCEPTRON, table(20_000)).batch <= LARGEST


def test_batch_is_as_small_as_the_memory_limit_makes_it():
    assert scorer(PERCEPTRON, table(20_000), max_memory=20_000).batch <= 1024


@pytest.mark.parametrize(
    "delay",
    [pytest.param(1e-3, id="another process, as is common on a busy machine"), pytest.param(2e-2, id="LLVM optimises")],
)
def test_second_run_that_something_delays_does_not_end_the_search(monkeypatch, delay):
    """A run costs 10 us and a row 10 ns; the second one of 256 rows takes longer."""
    measured = scorer(PERCEPTRON, table(LARGEST), batch=64)
    clock, runs = [0.0], Counter()

    def run(self, feeds, rows):
        runs[len(rows)] += 1
        clock[0] += 1e-5 + 1e-8 * len(rows) + (delay if len(rows) == 256 and runs[256] == 2 else 0)

    monkeypatch.setattr("whorl.scoring.batches.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("whorl.scoring.batches.time.process_time", lambda: clock[0])
    monkeypatch.setattr(Scorer, "run", run)
    assert choose_batch(measured, table(LARGEST)) == 16384


def test_search_takes_a_part_of_what_the_rows_take(monkeypatch):
    """A row costs 25 us and a run 300 us: all rows take 0.25 s, so no run of 1,024, which takes 26 ms, is measured."""
    measured, clock, sizes = scorer(PERCEPTRON, table(10_000), batch=64), [0.0], set()

    def run(self, feeds, rows):
        sizes.add(len(rows))
        clock[0] += 3e-4 + 2.5e-5 * len(rows)

    monkeypatch.setattr("whorl.scoring.batches.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("whorl.scoring.batches.time.process_time", lambda: clock[0])
    monkeypatch.setattr(Scorer, "run", run)
    assert choose_batch(measured, table(10_000)) == 256 and max(sizes) == 256


def test_run_that_waits_for_other_processes_costs_its_cpu(monkeypatch):
    """A row costs 100 ns and a run 10 us; runs of more than 64 rows wait twice as long as they compute."""
    measured = scorer(PERCEPTRON, table(LARGEST), batch=64)
    clock, own = [0.0], [0.0]

    def run(self, feeds, rows):
        seconds = 1e-5 + 1e-7 * len(rows)
        own[0] += seconds
        clock[0] += seconds * (1 + 2 * (len(rows) > 64))

    monkeypatch.setattr("whorl.scoring.batches.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("whorl.scoring.batches.time.process_time", lambda: own[0])
    monkeypatch.setattr(Scorer, "run", run)
    assert choose_batch(measured, table(LARGEST)) == 1024


def test_runs_that_are_measured_have_rows_of_their_own(monkeypatch):
    measured, firsts = scorer(PERCEPTRON, table(LARGEST), batch=64), list[float]()

    def run(self, feeds, rows):
        if len(rows) == 64:
            firsts.append(float(feeds["x"][0, 0]))

    monkeypatch.setattr(Scorer, "run", run)
    choose_batch(measured, table(LARGEST))
    assert len(set(firsts[1:])) == len(firsts[1:]) > 1


def test_batch_that_takes_long_is_no_larger_than_pays(monkeypatch):
    measured, clock, sizes = scorer(PERCEPTRON, table(LARGEST), batch=64), [0.0], set()

    def run(self, feeds, rows):
        sizes.add(len(rows))
        clock[0] += 1e-3 * len(rows)

    monkeypatch.setattr("whorl.scoring.batches.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("whorl.scoring.batches.time.process_time", lambda: clock[0])
    monkeypatch.setattr(Scorer, "run", run)
    assert choose_batch(measured, table(LARGEST)) == SMALLEST and max(sizes) <= 256


def test_rows_that_meet_are_computed_alone():
    rows = table(10).append_column("y", table(10)["id"])
    chosen = scorer(RANKS, rows, columns={"x": "id"})
    assert chosen.layout.kind == "vmap"
    assert chosen.score(rows.slice(1))["y"].to_pylist() == [1.0] * 9


def test_one_row_a_run_needs_no_axis():
    assert scorer(PERCEPTRON, table(10), batch=1).layout.kind == "rows"


def test_table_without_rows_has_a_batch():
    rows = table(0).append_column("count", [[]])
    assert scorer(HALVES, rows, columns={"x": "id", "count": "id"}).batch == SMALLEST


def test_batch_of_another_length_than_the_model_has_is_refused():
    with pytest.raises(RunError) as error:
        scorer(PERCEPTRON, table(10), batch=0)
    assert str(error.value) == "batch is 0, and the model computes one or more rows\n  fix: leave it out"
