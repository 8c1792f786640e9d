"""`whorl sweep`: designs from options and files of YAML."""

import json

import numpy as np
import onnx
import pytest
from mdf.models import OSCILLATOR, data, model

pq = pytest.importorskip("pyarrow.parquet")

NEWTON = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
newton (float number, float tolerance) => (float root) {
  yes = Constant <value = bool {1}> ()
  most = Constant <value = int64 {60}> ()
  root = Loop (most, yes, number) <body = body (int64 i, bool go, float guess) => (bool on, float better) {
    half = Constant <value = float {0.5}> ()
    quotient = Div (number, guess)
    sum = Add (guess, quotient)
    better = Mul (sum, half)
    change = Sub (guess, better)
    size = Abs (change)
    on = Greater (size, tolerance)
  }>
}
""")


@pytest.fixture
def simulated(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(data(OSCILLATOR)))
    return path


def test_while_loop_is_swept_over_its_inputs(whorl, saved, tmp_path):
    out = tmp_path / "out.parquet"
    grid = ["--grid", "number=1:100:12", "--random", "tolerance=0.000001:0.0001:log", "--points", "4"]
    actual = whorl("sweep", saved(NEWTON), "-o", out, *grid, "--batch", "64")
    assert (actual.code, actual.err) == (0, "")
    assert actual.out == f"{out}: 1 parts written; 48 rows, 64 a run along an axis of vmap\n"
    table = pq.read_table(out)
    np.testing.assert_allclose(table["root"], np.sqrt(table["number"]), rtol=1e-3)


def test_spec_says_the_points(whorl, simulated, tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text("grid: {FN.I: {from: 0, to: 1, count: 3}}\nsteps: 20\ndt: 0.1\nlast: true\nshared: {FN.V: 1.0}\n")
    out = tmp_path / "out"
    actual = whorl("sweep", simulated, spec, "-o", out, "--json")
    assert actual.code == 0 and actual.document["rows"] == 3
    expected = [model(OSCILLATOR).simulate(20, 0.1, initial={"FN.I": i, "FN.V": 1.0}) for i in (0, 0.5, 1)]
    assert pq.read_table(out)["FN.W"].to_pylist() == [each["FN.W"][-1] for each in expected]


def test_options_add_to_the_spec(whorl, simulated, tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text("random: {FN.I: {from: 0, to: 1}}\npoints: 4\n")
    arguments = ["--grid", "FN.V=-1,1", "--points", "2", "--steps", "5", "--dt", "0.1", "--input", "FN.a=0.6"]
    actual = whorl("sweep", simulated, spec, "-o", tmp_path / "out", *arguments, "--json")
    assert actual.code == 0 and actual.document["rows"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--grid", "x"], "whorl: --grid 'x' has no '='\n  fix: write --grid NAME=...\n"),
        (
            ["--random", "x=1"],
            "whorl: --random 'x=1': '1' is no range\n  fix: write from:to, or from:to:log\n",
        ),
        (["nowhere.yaml"], "whorl: cannot read 'nowhere.yaml': No such file or directory\n"),
    ],
)
def test_wrong_use_is_refused(whorl, saved, tmp_path, arguments, message):
    actual = whorl("sweep", saved(NEWTON), *arguments, "-o", tmp_path / "out")
    assert (actual.code, actual.err) == (2, message)


def test_spec_without_entries_is_refused(whorl, saved, tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text("- 1\n")
    actual = whorl("sweep", saved(NEWTON), spec, "-o", tmp_path / "out")
    assert actual.err == f"whorl: '{spec}' has no entries\n  fix: write grid or random, with values by name\n"
