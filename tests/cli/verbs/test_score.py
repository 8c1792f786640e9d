"""`whorl score`: tables in, folders of parts out."""

import numpy as np
import onnx
import pytest

from whorl.cli import main

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SUM = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
sum (float[n, 2] x, float scale) => (float[n] y, float[n] z) {
  last = Constant <value = int64[1] {1}> ()
  total = ReduceSum <keepdims = 0> (x, last)
  y = Mul (total, scale)
  z = Neg (y)
}
""")


@pytest.fixture
def model(saved):
    return saved(SUM)


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,name\n1,2,x\n3,4,y\n5,,z\n")
    return path


def test_results_are_written_with_a_sentence(whorl, model, rows, tmp_path):
    out = tmp_path / "out.parquet"
    options = ["--map", "x=a,b", "--input", "scale=2", "--keep", "name", "--only", "y", "--batch", "64"]
    actual = whorl("score", model, rows, "-o", out, *options)
    expected = f"{out}: 1 parts written; 3 rows, 64 a run along the model's own axis\n"
    assert (actual.code, actual.out, actual.err) == (0, expected, "")
    table = pq.read_table(out)
    assert table["name"].to_pylist() == ["x", "y", "z"]
    np.testing.assert_array_equal(table["y"].to_numpy(), [6, 14, np.nan])


def test_second_start_says_what_was_there(whorl, model, rows, tmp_path):
    arguments = ["score", model, rows, "-o", tmp_path / "out", "--map", "x=a,b", "--input", "scale=2"]
    whorl(*arguments)
    assert whorl(*arguments).out.startswith(f"{tmp_path}/out: 0 parts written, 1 were there; 0 rows, ")


def test_failed_rows_are_counted(whorl, saved, tmp_path):
    table = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": pa.array([[1, 2], None], pa.list_(pa.float32()))}), table)
    arguments = ["score", saved(SUM), table, "-o", tmp_path / "out", "--input", "scale=2", "--on-error", "null"]
    actual = whorl(*arguments, "--json")
    assert actual.code == 1 and (actual.document["rows"], actual.document["failed"]) == (2, 1)


def test_missing_column_is_named(whorl, model, rows, tmp_path):
    actual = whorl("score", model, rows, "-o", tmp_path / "out", "--input", "scale=2")
    assert (actual.code, actual.err) == (
        4,
        "whorl: no column is called as input 'x' (float32[n, 2])\n"
        "  fix: map it to a column (a, b, name), or give one value for all rows\n",
    )


def test_wrong_map_is_refused(whorl, model, rows, tmp_path):
    actual = whorl("score", model, rows, "-o", tmp_path / "out", "--map", "x")
    assert (actual.code, actual.err) == (
        2,
        "whorl: --map 'x' is not INPUT=COLUMN\n  fix: write --map x=length, or --map x=a,b,c\n",
    )


def test_bar_says_how_many_parts_are_done(model, rows, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    arguments = ["score", model, rows, "-o", tmp_path / "out", "--map", "x=a,b", "--input", "scale=2"]
    assert main([str(each) for each in arguments]) == 0
    assert "1 parts written" in capsys.readouterr().out
