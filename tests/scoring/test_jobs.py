"""Parts computed from end to end."""

import errno
import os
import pickle
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scoring.models import PERCEPTRON, ROOTS, table

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.errors import RunError, SaveError
from whorl.scoring.files import open_files
from whorl.scoring.jobs import Job
from whorl.scoring.parts import Target
from whorl.scoring.preparing import Settings, prepare_scorer
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


def test_worker_loads_neither_pandas_nor_what_reads_and_rewrites_models(tmp_path):
    (tmp_path / "job").write_bytes(pickle.dumps(Job(TableSource(TABLE), prepare(batch=64), None)))
    code = """
import pickle, sys
job = pickle.load(open(sys.argv[1], "rb"))
assert job(job.source.cut(600)[0]).rows == 600
names = "onnx", "pandas", "whorl.formats.", "whorl.passes.vec", "whorl.mdf"
print([name for name in sys.modules if name.startswith(names)])
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "job"], capture_output=True, text=True, check=True)
    assert done.stdout == "['whorl.formats.options', 'whorl.formats.onnx', 'whorl.formats.onnx.wire']\n"
