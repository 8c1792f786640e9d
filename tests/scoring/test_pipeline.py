"""Results that are written while the next ones are computed, and rows that are read ahead."""

import os
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whorl.errors import SaveError
from whorl.scoring.parts import Target
from whorl.scoring.pipeline import Done, Output, WrittenOutput, read_ahead
from whorl.scoring.sources import Part
from whorl.scoring.storage import Storage

PART = Part(3, "rows.csv", 0, 4, 0, 4)
ROWS = pa.table({"y": [1.0, 2.0]})


@pytest.fixture
def thread():
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_results_in_memory_are_one_table():
    output = Output(PART, ROWS.schema)
    output.add(ROWS, 1)
    output.add(ROWS, 0)
    done = output.close().result()
    assert (done.index, done.rows, done.failed) == (3, 4, 1)
    assert done.table["y"].to_pylist() == [1, 2, 1, 2]


def test_part_without_rows_has_the_columns():
    done = Output(PART, ROWS.schema).close().result()
    assert done.table.schema == ROWS.schema and done.rows == 0


def test_results_are_written_in_order(tmp_path, thread):
    output = WrittenOutput(PART, ROWS.schema, Target(Storage(str(tmp_path))), thread)
    output.add(ROWS, 0)
    output.add(pa.table({"y": [3.0]}), 1)
    assert output.close().result() == Done(3, 3, 1)
    assert pq.read_table(tmp_path / "part-000003.parquet")["y"].to_pylist() == [1, 2, 3]


def test_abandoned_part_leaves_nothing(tmp_path, thread):
    output = WrittenOutput(PART, ROWS.schema, Target(Storage(str(tmp_path))), thread)
    output.add(ROWS, 0)
    output.abandon(KeyboardInterrupt())
    assert os.listdir(tmp_path) == ["_temporary"] and not os.listdir(tmp_path / "_temporary")


def test_error_of_writing_is_named(tmp_path, thread):
    target = tmp_path / "file"
    target.touch()
    output = WrittenOutput(PART, ROWS.schema, Target(Storage(str(target))), thread)
    with pytest.raises(SaveError) as error:
        output.add(ROWS, 0)
    assert error.value.message == f"cannot write '{target}/part-000003.parquet': Not a directory"


def test_items_are_made_one_ahead(thread):
    made = []

    def items():
        for number in range(5):
            made.append(number)
            yield number

    ahead = read_ahead(items(), thread)
    assert next(ahead) == 0
    thread.submit(lambda: None).result()
    assert made == [0, 1]
    assert list(ahead) == [1, 2, 3, 4] and made == list(range(5))


def test_error_of_an_item_is_raised(thread):
    def items():
        yield 1
        raise OSError("unreadable")

    ahead = read_ahead(items(), thread)
    assert next(ahead) == 1
    with pytest.raises(OSError, match="unreadable"):
        next(ahead)
