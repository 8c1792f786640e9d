"""Models and tables made ready, and parts computed from end to end."""

import errno
import os

import numpy as np
import onnx
import pyarrow as pa
import pytest
from scoring.models import PERCEPTRON, numbers, table

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.errors import RunError, SaveError
from whorl.scoring.files import open_files
from whorl.scoring.jobs import Job, Settings, float_columns, prepare_scorer, read_model
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
