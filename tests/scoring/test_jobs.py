"""Models and tables made ready, and parts computed from end to end."""

import errno
import os

import numpy as np
import onnx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scoring.models import PERCEPTRON, ROOTS, lists, numbers, table

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.errors import RunError, SaveError
from whorl.scoring.files import open_files
from whorl.scoring.jobs import (
    READ_BYTES,
    READ_ROWS,
    Job,
    Settings,
    float_columns,
    needed_columns,
    prepare_scorer,
    read_model,
    rows_at_once,
)
from whorl.scoring.parts import Target
from whorl.scoring.sources import TableSource
from whorl.scoring.storage import Storage

TABLE = table(1000)


def prepare(**settings):
    return prepare_scorer(load_module(PERCEPTRON), TABLE.schema, TABLE, Settings(**settings), SessionOptions())


def test_part_is_a_table_or_a_file(tmp_path):
    source, scorer = TableSource(TABLE), prepare(outputs=["z"], batch=64)
    part = source.cut(600)[1]
    done = Job(source, scorer, None)(part)
    assert (done.index, done.rows, done.failed) == (1, 400, 0)
    written = Job(source, scorer, Target(Storage(str(tmp_path / "out"))))(part)
    assert written.rows == 400 and written.table is None
    again = open_files([str(tmp_path / "out" / "part-000001.parquet")])
    assert next(again.read(again.cut(1000)[0], ["z"], 1000)).equals(done.table.combine_chunks())


def test_part_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    class Full:
        def __init__(self, file, schema, **_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def write_table(self, rows):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter", Full)
    source = TableSource(TABLE)
    with pytest.raises(SaveError) as error:
        Job(source, prepare(), Target(Storage(str(tmp_path / "out"))))(source.cut(600)[0])
    assert error.value.message == f"cannot write '{tmp_path}/out/part-000000.parquet': No space left on device"
    assert os.listdir(tmp_path / "out") == ["_temporary"] and not os.listdir(tmp_path / "out" / "_temporary")


def test_parts_are_computed_in_order_and_each_is_written_once(tmp_path):
    source, scorer = TableSource(TABLE), prepare(outputs=["z"], batch=64)
    parts = source.cut(300)
    expected = [Job(source, scorer, None)(part) for part in parts]
    done = list(Job(source, scorer, Target(Storage(str(tmp_path / "out"))), rows=128).run(parts))
    assert [(each.index, each.rows, each.failed) for each in done] == [
        (0, 300, 0),
        (1, 300, 0),
        (2, 300, 0),
        (3, 100, 0),
    ]
    written = pa.concat_tables(pq.read_table(tmp_path / "out" / f"part-{k:06}.parquet") for k in range(4))
    assert written["z"].to_pylist() == pa.concat_tables(each.table for each in expected)["z"].to_pylist()


def test_row_that_fails_in_a_later_part_is_named_and_the_parts_before_are_whole(tmp_path):
    rows = pa.table({"x": [[1.0, 2.0]] * 9, "k": [0] * 7 + [5, 0]})
    scorer = prepare_scorer(load_module(ROOTS), rows.schema, rows, Settings(batch=2), SessionOptions())
    source = TableSource(rows)
    with pytest.raises(RunError) as error:
        list(Job(source, scorer, Target(Storage(str(tmp_path / "out"))), rows=2).run(source.cut(3)))
    assert error.value.where == "row 7 of the table"
    assert sorted(os.listdir(tmp_path / "out")) == ["_temporary", "part-000000.parquet", "part-000001.parquet"]
    assert not os.listdir(tmp_path / "out" / "_temporary")


def test_no_parts_give_nothing():
    assert list(Job(TableSource(TABLE), prepare(), None).run([])) == []


def test_large_rows_are_read_few_at_once():
    narrow, wide = prepare(batch=64), pa.table({"x": lists(np.zeros((20, 1 << 16), np.float32))})
    assert rows_at_once(narrow, TABLE) == READ_ROWS
    model = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    twice (float[n, t] x) => (float[n, t] y) { y = Add (x, x) }
    """)
    scorer = prepare_scorer(load_module(model), wide.schema, wide, Settings(batch=4), SessionOptions())
    assert 0 <= READ_BYTES // (8 << 16) - rows_at_once(scorer, wide) <= 1


def test_results_count_as_bytes_that_are_in_memory():
    model = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    many (float[n] x) => (float[n, t] y) {
      last = Constant <value = int64[1] {1}> ()
      column = Unsqueeze (x, last)
      wide = Constant <value = int64[2] {1, 65536}> ()
      y = Expand (column, wide)
    }
    """)
    rows = pa.table({"x": np.zeros(20, np.float32)})
    scorer = prepare_scorer(load_module(model), rows.schema, rows, Settings(batch=4), SessionOptions())
    assert rows_at_once(scorer, rows) <= READ_BYTES // (4 * 65536)


def test_needed_columns_are_inputs_and_columns_to_keep():
    module = load_module(PERCEPTRON)
    assert needed_columns(module, TABLE.schema, Settings(keep=["id"])) == ["x", "id"]
    assert needed_columns(module, TABLE.schema, Settings()) == ["x"]


def test_unknown_output_is_refused():
    with pytest.raises(RunError) as error:
        prepare(outputs=["q"])
    assert str(error.value) == "the model has no output 'q'\n  fix: choose from y, z"


def test_unknown_column_to_keep_is_refused():
    with pytest.raises(RunError) as error:
        prepare(keep=["q"])
    assert str(error.value) == "there is no column 'q' to keep\n  fix: choose from x, id"


def test_whole_numbers_that_feed_floats_may_be_floats():
    rows = pa.table({name: [1, 2] for name in "abcd"})
    settings = Settings(columns={"x": list("abcd")})
    scorer = prepare_scorer(load_module(PERCEPTRON), rows.schema, rows, settings, SessionOptions())
    assert float_columns(scorer, rows.schema) == dict.fromkeys("abcd", pa.float64())


def test_fingerprint_of_a_model_is_of_its_weights_too(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(PERCEPTRON, path)
    assert read_model(path, None)[1] == read_model(str(path), None)[1]
    other = onnx.ModelProto.FromString(PERCEPTRON.SerializeToString())
    weights = np.frombuffer(numbers(3).tobytes(), np.float32)
    other.graph.node[0].attribute[0].t.CopyFrom(onnx.numpy_helper.from_array(weights.reshape(4, 3)))
    assert read_model(PERCEPTRON, None)[1] != read_model(other, None)[1]
