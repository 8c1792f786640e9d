"""Files of Parquet, Arrow and CSV: found, cut, and read part by part."""

import fsspec
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from scoring.models import table

from whorl.errors import RunError
from whorl.scoring.files import find_files, open_files

TABLE = table(1000)
FLAT = pa.table({"id": range(1000), "text": [f'{k}, "{k}"\nand more' for k in range(1000)]})


def write(rows, path):
    match path.suffix:
        case ".parquet":
            pyarrow.parquet.write_table(rows, path, row_group_size=150)
        case ".arrow":
            pyarrow.feather.write_feather(rows, path, chunksize=150, compression="uncompressed")
        case _:
            pyarrow.csv.write_csv(rows, path)
    return str(path)


def contents(source, rows):
    parts = source.cut(rows)
    read = [part for each in parts for part in source.read(each, source.schema.names, 64)]
    return parts, pa.concat_tables(read)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_parts_have_all_rows_in_order(suffix, tmp_path):
    rows = FLAT if suffix == ".csv" else TABLE
    parts, actual = contents(open_files([write(rows, tmp_path / f"t{suffix}")]), 300)
    assert actual.equals(rows.cast(actual.schema))
    if suffix != ".csv":
        assert [(part.first, part.rows) for part in parts] == [(0, 300), (300, 300), (600, 300), (900, 100)]


def test_csv_is_cut_between_its_lines(tmp_path):
    rows = pa.concat_tables([FLAT] * 10)
    parts, actual = contents(open_files([write(rows, tmp_path / "t.csv")]), 300)
    assert len(parts) > 2 and actual.equals(rows)


def test_columns_of_csv_have_the_types_that_they_get(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n1.5,3\n")
    source = open_files([str(path)]).with_types({"b": pa.float64()})
    assert next(source.read(source.cut(10)[0], ["b"], 10))["b"].type == pa.float64()


def test_several_files_are_one_table(tmp_path):
    for k in range(3):
        write(TABLE.slice(100 * k, 100), tmp_path / f"part{k}.parquet")
    (tmp_path / "_manifest.json").write_text("{}")
    for paths in (tmp_path, f"{tmp_path}/*.parquet", sorted(tmp_path.glob("*.parquet"))):
        source = open_files(find_files(paths))
        assert contents(source, 1000)[1].equals(TABLE.slice(0, 300))
        assert [part.index for part in source.cut(1000)] == [0, 1, 2]


def test_files_are_read_by_fsspec(tmp_path):
    for suffix in (".parquet", ".arrow", ".csv"):
        rows = FLAT if suffix == ".csv" else TABLE
        with (
            fsspec.open(f"memory://files/t{suffix}", "wb") as file,
            open(write(rows, tmp_path / f"t{suffix}"), "rb") as f,
        ):
            file.write(f.read())
        (file_name,) = find_files(f"memory://files/t{suffix}")
        assert contents(open_files([file_name]), 300)[1].equals(rows)
    fsspec.filesystem("memory").store.clear()


def test_fingerprint_is_of_all_files(tmp_path):
    path = write(TABLE, tmp_path / "t.parquet")
    before = open_files([path]).fingerprint
    write(TABLE.slice(1), tmp_path / "t.parquet")
    assert open_files([path]).fingerprint != before


def test_missing_table_is_refused(tmp_path):
    with pytest.raises(RunError) as error:
        find_files(str(tmp_path / "missing.parquet"))
    assert str(error.value) == (
        f"there is no table at '{tmp_path}/missing.parquet'\n"
        "  fix: name a file that ends in .parquet, .pq, .arrow, .feather, .ipc, .csv, .npz or .zarr"
    )


def test_file_that_is_no_table_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"no table")
    with pytest.raises(RunError, match=rf"^cannot read '{path}': "):
        open_files([str(path)])


def test_files_of_two_kinds_are_refused(tmp_path):
    with pytest.raises(RunError) as error:
        open_files(["a.csv", "b.parquet"])
    assert error.value.message == "'a.csv' and others are not of one kind"
