"""Sweeps: tables over grids, points that fail, files to go on from, and the engines."""

import json

import numpy as np
import pytest
from mdf.models import OSCILLATOR, data

import whorl
from whorl.errors import RunError

GRID = {"FN.I": [0.0, 0.5, 1.0], "FN.V": [-1.0, 1.0]}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "model.json"
    file.write_text(json.dumps(data(OSCILLATOR)))
    return file


def peak(actual):
    return {"peak": actual["FN.V"].max()}


def expected(path):
    model = whorl.load(path)
    points = [{"FN.I": i, "FN.V": v} for i in GRID["FN.I"] for v in GRID["FN.V"]]
    return [model.simulate(50, 0.1, initial=point)["FN.V"].max() for point in points]


def test_every_combination_is_a_row(path):
    actual = whorl.sweep(path, GRID, steps=50, dt=0.1, measure=peak)
    assert list(actual) == ["FN.I", "FN.V", "peak", "error"]
    np.testing.assert_array_equal(actual["peak"], expected(path))
    assert list(actual["FN.I"]) == [0, 0, 0.5, 0.5, 1, 1]


def test_without_a_measure_the_last_values_are_the_columns(path):
    actual = whorl.sweep(path, [{"FN.I": 0.3}], steps=5, dt=0.1)
    last = whorl.load(path).simulate(5, 0.1, initial={"FN.I": 0.3})
    assert (actual["FN.V"][0], actual["FN.W"][0]) == (last["FN.V"][-1], last["FN.W"][-1])


def test_point_that_fails_is_reported_and_the_others_run(path):
    actual = whorl.sweep(path, [{"FN.V": 1.0}, {"FN.V": [1.0, 2.0]}], steps=5, dt=0.1, measure=peak)
    assert actual["error"][0] == "" and "has the shape [2]" in actual["error"][1]
    assert actual["peak"][0] > 0


def test_finished_points_in_the_file_are_not_run_again(path, tmp_path):
    file = tmp_path / "rows.jsonl"
    whorl.sweep(path, {"FN.I": [0.0, 0.5], "FN.V": [-1.0, 1.0]}, steps=50, dt=0.1, measure=peak, file=file)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[0]["peak"] = 77.0
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"FN.I": 1.0, "FN.V"')
    actual = whorl.sweep(path, GRID, steps=50, dt=0.1, measure=peak, file=file)
    assert actual["peak"][0] == 77.0
    np.testing.assert_array_equal(actual["peak"][1:], expected(path)[1:])


def test_unknown_engine_is_refused(path):
    with pytest.raises(RunError, match="there is no engine 'spark'"):
        whorl.sweep(path, GRID, steps=1, engine="spark")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_workers_give_the_same_table(path, engine):
    pytest.importorskip({"dask": "distributed", "ray": "ray"}[engine], reason=f"{engine} is not installed")
    actual = whorl.sweep(path, GRID, steps=50, dt=0.1, engine=engine)
    here = whorl.sweep(path, GRID, steps=50, dt=0.1)
    for name in here:
        assert list(actual[name]) == list(here[name])
