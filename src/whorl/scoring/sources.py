"""What a table is read from, part by part: a table in memory, or files (`files.py`) and arrays (`arrays.py`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Protocol

from msgspec import Struct

from whorl.scoring.packages import arrow

PART_ROWS = 1 << 18
"""The rows of a part, where the caller chooses no other number."""


class Part(Struct, frozen=True):
    """A range of rows that is read, computed and written at once: rows, row groups, batches or bytes of a source."""

    index: int
    source: str
    begin: int
    end: int
    first: int
    """The number of its first row in its source; 0 where only reading tells."""
    rows: int | None
    """The number of its rows; None where only reading tells."""


class Source(Protocol):
    """A table that is read in parts. It can be pickled, and workers read it on their own."""

    @property
    def schema(self) -> Any:
        """The columns and their types, as Arrow has them."""
        ...

    @property
    def fingerprint(self) -> str:
        """A text that changes when the table does."""
        ...

    def cut(self, rows: int) -> list[Part]:
        """The parts, of about so many rows."""
        ...

    def read(self, part: Part, columns: list[str], rows: int) -> Iterator[Any]:
        """The tables of at most so many rows that a part has, in order."""
        ...


class TableSource(Struct, frozen=True):
    """A table of Arrow in memory."""

    table: Any

    @property
    def schema(self) -> Any:
        return self.table.schema

    @property
    def fingerprint(self) -> str:
        table = self.table.combine_chunks()
        file = _Digest()
        with arrow().ipc.new_stream(arrow().PythonFile(file, "w"), table.schema) as writer:
            writer.write_table(table)
        return file.digest.hexdigest()

    def cut(self, rows: int) -> list[Part]:
        return cut_rows(0, "the table", self.table.num_rows, rows)

    def read(self, part: Part, columns: list[str], rows: int) -> Iterator[Any]:
        for begin in range(part.begin, part.end, rows):
            yield self.table.select(columns).slice(begin, min(rows, part.end - begin))


class _Digest:
    """A file of which only a digest is kept. Arrow's streams have dictionaries too, which batches alone lack."""

    closed = False

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def cut_rows(index: int, source: str, count: int, rows: int) -> list[Part]:
    """The parts of so many rows that a source of `count` rows has, numbered from `index` on."""
    begins = range(0, count, rows)
    ends = [min(begin + rows, count) for begin in begins]
    pairs = enumerate(zip(begins, ends, strict=True), index)
    return [Part(k, source, begin, end, begin, end - begin) for k, (begin, end) in pairs]
