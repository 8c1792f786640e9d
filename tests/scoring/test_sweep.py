"""`whorl.sweep_points`: models of every format at the points of a design."""

import json
import os

import numpy as np
import onnx
import pyarrow.parquet as pq
import pytest
from mdf.models import OSCILLATOR, data, model, node
from scoring.models import HALVES

import whorl
from whorl.errors import RunError, SaveError

GRID = whorl.Design(grid={"FN.I": [0.0, 0.5, 1.0], "FN.V": [-1.0, 1.0]})
WIDTHS = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
widths (float start, int64 width) => (float best) {
  zero = Constant <value = int64 {0}> ()
  one = Constant <value = int64 {1}> ()
  beam = Range (zero, width, one)
  numbers = Cast <to = 1> (beam)
  last = Constant <value = int64[1] {0}> ()
  scores = Sub (numbers, start)
  squares = Mul (scores, scores)
  best = ReduceMin <keepdims = 0> (squares, last)
}
""")
"""The length of a tensor is a parameter, so no two widths share a run."""


LEAKY = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
leaky (float[8] drive, float rate) => (float state) {
  zero = Constant <value = float {0}> ()
  state = Scan <num_scan_inputs = 1, body = step (float before, float input) => (float next) {
    change = Sub (input, before)
    scaled = Mul (change, rate)
    next = Add (before, scaled)
  }> (zero, drive)
}
""")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "model.json"
    file.write_text(json.dumps(data(OSCILLATOR)))
    return file


def expected():
    points = [(i, v) for i in (0.0, 0.5, 1.0) for v in (-1.0, 1.0)]
    return [model(OSCILLATOR).simulate(20, 0.1, initial={"FN.I": i, "FN.V": v})["FN.W"][-1] for i, v in points]


def test_grid_is_a_dataset_with_its_axes(path):
    actual = whorl.sweep_points(path, GRID, steps=20, dt=0.1, last=True)
    assert dict(actual.sizes) == {"FN.I": 3, "FN.V": 2}
    np.testing.assert_array_equal(actual["FN.W"].values.reshape(-1), expected())
    assert set(actual["error"].values.reshape(-1)) == {""}


def test_values_over_time_are_an_axis(path):
    actual = whorl.sweep_points(path, GRID, steps=20, dt=0.1, record=["FN.W"])
    assert actual["FN.W"].shape == (3, 2, 21)
    np.testing.assert_array_equal(actual["FN.W"].values[..., -1].reshape(-1), expected())


def test_tensor_iterator_of_openvino_runs_at_all_points_at_once(tmp_path):
    whorl.save(LEAKY, tmp_path / "leaky.xml")
    assert 'type="TensorIterator"' in (tmp_path / "leaky.xml").read_text()
    rates, drive = np.array([0.1, 0.5, 0.9], np.float32), np.arange(8, dtype=np.float32)
    out = tmp_path / "out.parquet"
    design = whorl.Design(grid={"rate": rates.tolist()})
    scored = whorl.sweep_points(tmp_path / "leaky.xml", design, out, shared={"drive": drive}, batch=3)
    assert scored.layout == "along an axis of vmap"
    expected = np.zeros(3, np.float32)
    for value in drive:
        expected += (value - expected) * rates
    np.testing.assert_allclose(pq.read_table(out)["state"].to_numpy(), expected, rtol=1e-6)


def test_samples_lie_along_points():
    design = whorl.Design(grid={"x": [0.0]}, random={"count": whorl.Range(0, 6)}, points=16, method="sobol")
    actual = whorl.sweep_points(HALVES, design)
    np.testing.assert_allclose(actual["y"], 1 - 0.5 ** actual["count"].values, rtol=1e-6)


def test_trip_counts_and_lengths_are_parameters():
    actual = whorl.sweep_points(WIDTHS, whorl.Design(grid={"start": [2.0], "width": [1.0, 2.0, 3.0, 0.0]}))
    assert actual["best"].values[0].tolist()[:3] == [4, 1, 0]


def test_parts_are_written_once(path, tmp_path):
    out = tmp_path / "out.parquet"
    first = whorl.sweep_points(path, GRID, out, steps=20, dt=0.1, last=True)
    assert (first.rows, first.failed, first.skipped) == (6, 0, 0)
    assert pq.read_table(out)["FN.W"].to_pylist() == expected()
    assert whorl.sweep_points(path, GRID, out, steps=20, dt=0.1, last=True).skipped == first.parts


def test_another_run_is_refused(path, tmp_path):
    out = tmp_path / "out.parquet"
    whorl.sweep_points(path, GRID, out, steps=20, dt=0.1)
    with pytest.raises(RunError, match="was begun with steps 20, and this is 30"):
        whorl.sweep_points(path, GRID, out, steps=30, dt=0.1)


def test_zarr_is_the_dataset(path, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    out = tmp_path / "out.zarr"
    whorl.sweep_points(path, GRID, out, steps=20, dt=0.1)
    actual = xarray.open_zarr(out, consolidated=False).compute()
    assert actual["FN.W"].equals(whorl.sweep_points(path, GRID, steps=20, dt=0.1)["FN.W"])
    assert os.listdir(tmp_path) == ["model.json", "out.zarr"] or sorted(os.listdir(tmp_path))[1] == "out.zarr"
    with pytest.raises(SaveError) as error:
        whorl.sweep_points(path, GRID, out, steps=20, dt=0.1)
    assert str(error.value) == f"'{out}' is there already\n  fix: choose another name, or remove it"


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (None, {}, "an MDF model is simulated, and a sweep of it needs steps\n  fix: give steps, and dt"),
        (HALVES, {"steps": 3}, "steps is an option of MDF models, which are simulated\n  fix: leave it out"),
        (HALVES, {}, "the model has no input 'FN.I'\n  fix: choose from x, count"),
    ],
)
def test_wrong_use_is_refused(source, options, message, path):
    with pytest.raises(RunError) as error:
        whorl.sweep_points(source or path, GRID, **options)
    assert str(error.value) == message


def test_changed_element_of_a_large_array_is_noticed(tmp_path):
    def network(values):
        parameters = {"I": {"value": values}, "k": {"value": 1.0}, "y": {"value": "I * k"}}
        return model({"cell": node(parameters, ["y"])})

    values, design, out = np.arange(5000.0), whorl.Design(grid={"cell.k": [1.0, 2.0]}), tmp_path / "out.parquet"
    whorl.sweep_points(network(values), design, out, steps=2)
    values[2500] += 1
    with pytest.raises(RunError, match="was begun with another model: it changed since"):
        whorl.sweep_points(network(values), design, out, steps=2)
