"""Tables in memory, cut into parts."""

import pyarrow as pa
from scoring.models import table

from whorl.scoring.sources import TableSource, cut_rows


def test_parts_cover_each_row_once():
    parts = cut_rows(3, "s", 10, 4)
    assert [(part.index, part.begin, part.end, part.first, part.rows) for part in parts] == [
        (3, 0, 4, 0, 4),
        (4, 4, 8, 4, 4),
        (5, 8, 10, 8, 2),
    ]


def test_table_is_read_in_its_order():
    source = TableSource(table(10))
    read = [rows for part in source.cut(4) for rows in source.read(part, ["id"], 3)]
    assert [rows.num_rows for rows in read] == [3, 1, 3, 1, 2]
    assert pa.concat_tables(read)["id"].to_pylist() == list(range(10))


def test_fingerprint_is_of_the_contents():
    assert TableSource(table(10)).fingerprint == TableSource(pa.concat_tables([table(10)])).fingerprint
    assert TableSource(table(10)).fingerprint != TableSource(table(11)).fingerprint


def test_fingerprint_is_of_the_texts_that_codes_stand_for():
    def codes(*texts):
        return pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), list(texts))})

    assert TableSource(codes("a", "b")).fingerprint == TableSource(codes("a", "b")).fingerprint
    assert TableSource(codes("a", "b")).fingerprint != TableSource(codes("a", "c")).fingerprint
