"""Folders of parts, and the manifests that say what they are."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from scoring.models import table

from whorl.errors import RunError, SaveError
from whorl.scoring.files import find_files, open_files
from whorl.scoring.parts import Manifest, Target, check_manifest, check_target
from whorl.scoring.sources import Part, cut_rows
from whorl.scoring.storage import Storage

PARTS = cut_rows(0, "s", 10, 4)
MANIFEST = Manifest("m", "d", {"keep": ["id"]}, 64, "axis", PARTS)
ROWS = pa.table({"id": range(10), "text": list("abcdefghij")})


def target(tmp_path, suffix=".parquet"):
    return Target(Storage(str(tmp_path / f"out{suffix}")))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv", ""])
def test_parts_are_one_table(suffix, tmp_path):
    folder = target(tmp_path, suffix)
    folder.begin(MANIFEST)
    for part in PARTS:
        assert part.index not in folder.done(PARTS)
        with folder.write(part, ROWS.schema) as writer:
            writer.write_table(ROWS.slice(part.begin, 1))
            writer.write_table(ROWS.slice(part.begin + 1, part.end - part.begin - 1))
    assert folder.done(PARTS) == {0, 1, 2}
    source = open_files(find_files(folder.folder.url))
    read = [rows for part in source.cut(100) for rows in source.read(part, ["id", "text"], 100)]
    assert pa.concat_tables(read).equals(ROWS)


def test_chunks_of_a_table_are_one_batch_of_arrow(tmp_path):
    folder = target(tmp_path, ".arrow")
    with folder.write(PARTS[0], ROWS.schema) as writer:
        writer.write_table(pa.concat_tables([ROWS.slice(0, 3), ROWS.slice(3)]))
    with pa.ipc.open_file((folder.folder / folder.name(PARTS[0])).path) as file:
        assert file.num_record_batches == 1 and file.read_all().equals(ROWS)


def test_manifest_is_read_again(tmp_path):
    folder = target(tmp_path)
    assert folder.read_manifest() is None
    folder.begin(MANIFEST)
    assert folder.read_manifest() == MANIFEST
    check_manifest(MANIFEST, MANIFEST, "out")


FIX = "\n  fix: name another folder for the results, or remove this one"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "n"}, "'out' was begun with another model: it changed since"),
        ({"data": "n"}, "'out' was begun with another table: it changed since"),
        ({"settings": {"keep": []}}, "'out' was begun with keep ['id'], and this is []"),
    ],
)
def test_other_manifest_is_refused(changes, message):
    with pytest.raises(RunError) as error:
        check_manifest(MANIFEST, replace(MANIFEST, **changes), "out")
    assert str(error.value) == message + FIX


def test_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "out.parquet").mkdir()
    (tmp_path / "out.parquet" / "thesis.txt").touch()
    with pytest.raises(RunError) as error:
        target(tmp_path).read_manifest()
    assert str(error.value) == (
        f"'{tmp_path}/out.parquet' is there, and no results of whorl\n  fix: choose another name"
    )


@pytest.mark.parametrize("text", ["{", json.dumps({"model": "m"}), "[]"])
def test_damaged_manifest_is_refused(text, tmp_path):
    folder = target(tmp_path)
    folder.begin(MANIFEST)
    (folder.folder / "_manifest.json").write_bytes(text.encode())
    with pytest.raises(RunError, match=r"^'.*/_manifest.json' is no manifest of whorl: "):
        folder.read_manifest()


def test_lists_have_no_csv(tmp_path):
    check_target(target(tmp_path), table(1).schema)
    with pytest.raises(SaveError) as error:
        check_target(target(tmp_path, ".csv"), table(1).schema)
    assert str(error.value) == (
        "column 'x' has lists, and CSV has none\n  fix: choose other outputs, or a name that ends in .parquet or .arrow"
    )


def test_floats_are_written_without_a_dictionary(tmp_path):
    columns = {
        "FN.V": pa.array([1.5, 2.5, 1.5]),
        "lists": pa.array([[1.5], [2.5, 3.5], []]),
        "n": pa.array([1, 2, 1]),
        "words": [["a"], ["b", "a"], []],
        "fixed": pa.array([[1, 2], [1, 2], [1, 2]], pa.list_(pa.int64(), 2)),
    }
    rows, folder, part = pa.table(columns), target(tmp_path), Part(0, "s", 0, 3, 0, 3)
    with folder.write(part, rows.schema) as writer:
        writer.write_table(rows)
    path = tmp_path / "out.parquet" / folder.name(part)
    group = pq.read_metadata(path).row_group(0)
    has = {
        group.column(k).path_in_schema.split(".list")[0]: group.column(k).has_dictionary_page
        for k in range(group.num_columns)
    }
    assert has == {"FN.V": False, "lists": False, "n": True, "words": True, "fixed": True}
    assert pq.read_table(path).equals(rows)
