"""`whorl.score`: tables of every kind, and runs that go on where others ended."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import onnx
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mdf.models import OSCILLATOR, data
from scoring.models import HALVES, PERCEPTRON, ROOTS, lists, numbers, table, tensors

import whorl
from whorl.errors import RunError
from whorl.scoring.files import FileSource

ROWS = table(1000)
Z = numbers(1000).sum(axis=1)
SLOW = """
import sys, whorl
whorl.score(sys.argv[1], sys.argv[2], sys.argv[3], columns={"x": "x", "count": "n"}, batch=64, part_rows=256)
"""


def close(actual):
    np.testing.assert_allclose(np.asarray(actual), Z, rtol=1e-4, atol=1e-5)


def test_table_of_arrow_comes_back():
    actual = whorl.score(PERCEPTRON, ROWS, outputs=["z"], part_rows=300)
    assert actual.column_names == ["z"]
    close(actual["z"])


def test_frame_of_pandas_comes_back_with_its_index():
    frame = pd.DataFrame(numbers(1000), columns=list("abcd"), index=np.arange(1000) * 2)
    actual = whorl.score(PERCEPTRON, frame, columns={"x": list("abcd")}, keep=["a"])
    assert isinstance(actual, pd.DataFrame) and actual.index.equals(frame.index)
    close(actual["z"])


def test_arrays_by_name_are_a_table():
    close(whorl.score(PERCEPTRON, {"x": numbers(1000)})["z"])


def test_strings_feed_strings():
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 4]>
names (string[n] word) => (int64[n] number) {
  number = ai.onnx.ml.LabelEncoder <keys_strings = ["a", "b"], values_int64s = [1, 2], default_int64 = 0> (word)
}
""")
    actual = whorl.score(model, pa.table({"word": ["b", "a", "c", None]}), on_error="null")
    assert actual["number"].to_pylist() == [2, 1, 0, None]
    assert actual["error"].to_pylist() == [None, None, None, "column 'word' has no value"]


def test_mdf_model_is_simulated_for_each_row(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(data(OSCILLATOR)))
    rows = pa.table({"start": [-1.0, 0.5, 1.0]})
    shared = {"steps": 20, "dt": 0.1}
    actual = whorl.score(path, rows, columns={"FN.V.initial": "start"}, shared=shared, outputs=["FN.V"])
    for start, trace in zip((-1.0, 0.5, 1.0), actual["FN.V"].to_pylist(), strict=True):
        np.testing.assert_allclose(trace, whorl.load(path).simulate(20, 0.1, initial={"FN.V": start})["FN.V"])


def test_loops_run_as_long_as_their_row_says():
    rows = pa.table({"x": np.zeros(50), "count": np.arange(50)})
    np.testing.assert_allclose(whorl.score(HALVES, rows)["y"], 1 - 0.5 ** np.arange(50), rtol=1e-6)


# ---- parts -------------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "rows.parquet"
    pq.write_table(ROWS, file, row_group_size=100)
    return file


def contents(folder):
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))}


def test_parts_are_written_once(path, tmp_path):
    out = tmp_path / "out.parquet"
    reports = []
    first = whorl.score(PERCEPTRON, path, out, part_rows=200, progress=lambda *done: reports.append(done))
    assert (first.parts, first.skipped, first.rows, first.failed) == (5, 0, 1000, 0)
    assert reports == [(k, 5) for k in range(1, 6)]
    before = contents(out)
    assert list(before) == ["_manifest.json", *(f"part-{k:06}.parquet" for k in range(5))]
    close(pq.read_table(out)["z"])
    (out / "part-000003.parquet").unlink()
    again = whorl.score(PERCEPTRON, path, out, part_rows=200)
    assert (again.skipped, again.rows) == (4, 200)
    assert contents(out) == before


def test_columns_that_no_input_takes_are_not_read(tmp_path, monkeypatch):
    pq.write_table(table(100).append_column("other", pa.array(["text"] * 100)), tmp_path / "rows.parquet")
    read, reading = set(), FileSource.read

    def record(self, part, columns, rows):
        read.update(columns)
        return reading(self, part, columns, rows)

    monkeypatch.setattr(FileSource, "read", record)
    whorl.score(PERCEPTRON, tmp_path / "rows.parquet", tmp_path / "out")
    assert read == {"x"}


def test_failed_rows_are_counted(tmp_path):
    rows = pa.table({"x": [[1.0], [2.0]], "k": [0, 3]})
    scored = whorl.score(ROOTS, rows, tmp_path / "out", on_error="null")
    assert (scored.rows, scored.failed) == (2, 1)


def test_changed_table_is_refused(path, tmp_path):
    out = tmp_path / "out.parquet"
    whorl.score(PERCEPTRON, path, out)
    pq.write_table(ROWS.slice(1), path)
    with pytest.raises(RunError) as error:
        whorl.score(PERCEPTRON, path, out)
    assert str(error.value) == (
        f"'{out}' was begun with another table: it changed since\n"
        "  fix: name another folder for the results, or remove this one"
    )


def test_changed_model_is_refused(path, tmp_path):
    out = tmp_path / "out.parquet"
    whorl.score(PERCEPTRON, path, out)
    other = onnx.ModelProto.FromString(PERCEPTRON.SerializeToString())
    other.graph.node[0].attribute[0].t.float_data[0] = 7
    with pytest.raises(RunError, match="was begun with another model: it changed since"):
        whorl.score(other, path, out)


def test_changed_element_of_a_large_shared_value_is_refused(tmp_path):
    text = """<ir_version: 10, opset_import: ["" : 21]> main (float[n] x, float[5000] w) => (float[n] y) {
        total = ReduceSum <keepdims = 0> (w) y = Mul (x, total) }"""
    model, rows, weights = onnx.parser.parse_model(text), pa.table({"x": [1.0, 2.0]}), np.ones(5000, np.float32)
    whorl.score(model, rows, tmp_path / "out", shared={"w": weights})
    weights[2500] = 2
    with pytest.raises(RunError, match="was begun with shared "):
        whorl.score(model, rows, tmp_path / "out", shared={"w": weights})


def test_results_go_wherever_fsspec_writes(path):
    whorl.score(PERCEPTRON, path, "memory://scored/out.parquet", part_rows=200)
    actual = whorl.score(HALVES, "memory://scored/out.parquet", columns={"x": "z"}, shared={"count": 0})
    close(actual["y"])


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (3, {}, "int is no table\n  fix: give a path, a table of Arrow or a DataFrame"),
        (ROWS, {"on": "spark"}, "there is no engine 'spark'\n  fix: choose from local, dask, ray"),
        (ROWS, {"on_error": "ignore"}, 'on_error is \'ignore\'\n  fix: choose "raise" or "null"'),
        (ROWS, {"batch": 0}, "batch is 0, expected a number of rows"),
        (
            ROWS,
            {"address": "tcp://x"},
            'an address is that of a cluster\n  fix: leave it out, or choose on="dask" or on="ray"',
        ),
    ],
)
def test_wrong_use_is_refused(data, options, message):
    with pytest.raises(RunError) as error:
        whorl.score(PERCEPTRON, data, **options)
    assert str(error.value) == message


@pytest.mark.slow
def test_run_that_is_killed_goes_on_where_it_was(tmp_path):
    model, source = tmp_path / "model.onnx", tmp_path / "rows.parquet"
    onnx.save(HALVES, model)
    rows = pa.table({"x": np.random.default_rng(0).normal(size=4096), "n": np.full(4096, 5_000)})
    pq.write_table(rows, source, row_group_size=256)
    whole = tmp_path / "whole"
    command = [sys.executable, "-c", SLOW, str(model), str(source)]
    whorl.score(model, source, whole, columns={"x": "x", "count": "n"}, batch=64, part_rows=256)
    out = tmp_path / "out"
    for moment in (1, 7):
        process = subprocess.Popen([*command, str(out)])
        while process.poll() is None and (not out.exists() or len(os.listdir(out)) < moment + 2):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([*command, str(out)], check=True)
    assert contents(out) == contents(whole)


def test_list_of_lists_is_a_tensor():
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
product (float[r, c] x) => (float[c, c] y) { t = Transpose (x)
 y = MatMul (t, x) }
""")
    actual = whorl.score(model, pa.table({"x": [[[1.0, 2.0]], [[3.0], [4.0]], [[0.0, 1.0]]]}))
    assert actual["y"].to_pylist() == [[[1, 2], [2, 4]], [[25]], [[0, 0], [0, 1]]]
    assert tensors(pa.chunked_array([lists(numbers(3))])).shape == (3, 4)


def test_scoring_loads_neither_pandas_nor_what_reads_mdf():
    code = """
import sys, whorl.scoring.score
print([name for name in sys.modules if name.startswith(("onnx", "pandas", "whorl.mdf", "whorl.formats.mdf"))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
