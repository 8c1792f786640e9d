"""Tables in files of Parquet, of Arrow and of CSV: one file, a folder, a pattern, or a list of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.errors import RunError
from whorl.scoring.packages import arrow, package
from whorl.scoring.sources import Part
from whorl.scoring.storage import Storage

KINDS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
}
CSV_BYTES = 1 << 26
"""The bytes of a part of CSV."""
LINE = 1 << 16
"""Bytes of CSV that are searched at once for the end of a line."""


def find_files(paths: str | os.PathLike[str] | Sequence[Any]) -> list[str]:
    """The files that a path, a folder, a pattern, or a list names, in order. Errors: RunError where there are none."""
    if not isinstance(paths, str | os.PathLike):
        return [file for path in paths for file in find_files(path)]
    url = os.fspath(paths)
    storage = Storage(url)
    system, path = storage.system, storage.path
    if any(mark in path for mark in "*?["):
        files = sorted(system.glob(path))
    elif system.isdir(path) and storage.suffix != ".zarr":
        names = (name for name in sorted(system.find(path)) if not _is_hidden(name[len(path) :]))
        files = [name for name in names if Storage(name).suffix in KINDS]
    else:
        files = [path] if storage.exists() else []
    if not files:
        raise RunError(
            f"there is no table at {url!r}", fix=f"name a file that ends in {', '.join(KINDS)}, .npz or .zarr"
        )
    return [file if storage.is_local else system.unstrip_protocol(file) for file in files]


def _is_hidden(path: str) -> bool:
    return any(part.startswith(("_", ".")) for part in path.split("/"))


class FileSource(Struct, frozen=True):
    """Files of one kind, one after the other; `types` are those of columns of CSV, by name."""

    files: tuple[str, ...]
    kind: str
    schema: Any
    types: dict[str, Any] = {}

    @property
    def fingerprint(self) -> str:
        return "\n".join(f"{file} {Storage(file).fingerprint}" for file in self.files)

    def cut(self, rows: int) -> list[Part]:
        parts = list[Part]()
        for file in self.files:
            with _reading(file):
                cut = {"parquet": _cut_parquet, "arrow": _cut_arrow, "csv": _cut_csv}[self.kind]
                for begin, end, first, count in cut(Storage(file), rows):
                    parts.append(Part(len(parts), file, begin, end, first, count))
        return parts

    def read(self, part: Part, columns: list[str], rows: int) -> Iterator[Any]:
        storage = Storage(part.source)
        with _reading(part.source):
            match self.kind:
                case "parquet":
                    yield from _read_parquet(storage, part, columns, rows)
                case "arrow":
                    yield from _read_arrow(storage, part, columns, rows)
                case _:
                    yield from _read_csv(storage, part, columns, self.schema, self.types)

    def with_types(self, types: dict[str, Any]) -> FileSource:
        """The same files, with columns of CSV read as these types."""
        return replace(self, types=types) if self.kind == "csv" else self


def open_files(files: Sequence[str]) -> FileSource:
    """The table in files of one kind. Errors: RunError."""
    kinds = {KINDS.get(Storage(file).suffix, "") for file in files}
    if len(kinds) > 1 or "" in kinds:
        raise RunError(f"{files[0]!r} and others are not of one kind", fix=f"name files that end in {', '.join(KINDS)}")
    (kind,) = kinds
    with _reading(files[0]):
        return FileSource(tuple(files), kind, _schema(Storage(files[0]), kind))


@contextmanager
def _reading(file: str) -> Iterator[None]:
    try:
        yield
    except (OSError, arrow().ArrowException) as error:
        raise RunError(f"cannot read {file!r}: {getattr(error, 'strerror', None) or error}") from None


def _schema(storage: Storage, kind: str) -> Any:
    match kind:
        case "parquet":
            return package("pyarrow.parquet").read_schema(storage.for_arrow())
        case "arrow":
            return arrow().ipc.open_file(storage.for_arrow()).schema
        case _:
            with storage.system.open(storage.path, "rb") as file:
                return package("pyarrow.csv").open_csv(file).schema


# ---- Parquet -----------------------------------------------------------------------------------------------------


def _cut_parquet(storage: Storage, rows: int) -> Iterator[tuple[int, int, int, int | None]]:
    """Runs of row groups of about so many rows; a row group is never cut."""
    metadata = package("pyarrow.parquet").read_metadata(storage.for_arrow())
    counts = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    yield from _runs(counts, rows)


def _runs(counts: list[int], rows: int) -> Iterator[tuple[int, int, int, int | None]]:
    begin, first, count = 0, 0, 0
    for k, more in enumerate(counts):
        if count and count + more > rows:
            yield begin, k, first, count
            begin, first, count = k, first + count, 0
        count += more
    if count:
        yield begin, len(counts), first, count


def _read_parquet(storage: Storage, part: Part, columns: list[str], rows: int) -> Iterator[Any]:
    # What is far away is fetched at once; on a disk that keeps the part in memory and takes a quarter longer.
    options = {"metadata": _metadata(storage), "pre_buffer": not storage.is_local}
    with package("pyarrow.parquet").ParquetFile(storage.for_arrow(), **options) as file:
        groups = list(range(part.begin, part.end))
        for batch in file.iter_batches(rows, row_groups=groups, columns=columns):
            yield arrow().Table.from_batches([batch]).select(columns)


def _metadata(storage: Storage) -> Any:
    """What a local file says of its row groups, which takes longer to read than a row group may; None for others."""
    if not storage.is_local:
        return None
    facts = os.stat(storage.path)
    return _cached_metadata(storage.path, facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=1)
def _cached_metadata(path: str, size: int, time: int) -> Any:  # noqa: ARG001 - a changed file is read again
    return package("pyarrow.parquet").read_metadata(path)


# ---- Arrow -------------------------------------------------------------------------------------------------------


def _open_arrow(storage: Storage) -> Any:
    pa = arrow()
    return pa.ipc.open_file(pa.memory_map(storage.path) if storage.is_local else storage.for_arrow())


def _cut_arrow(storage: Storage, rows: int) -> Iterator[tuple[int, int, int, int | None]]:
    reader = _open_arrow(storage)
    yield from _runs([reader.get_batch(k).num_rows for k in range(reader.num_record_batches)], rows)


def _read_arrow(storage: Storage, part: Part, columns: list[str], rows: int) -> Iterator[Any]:
    reader = _open_arrow(storage)
    for k in range(part.begin, part.end):
        table = arrow().Table.from_batches([reader.get_batch(k)]).select(columns)
        for begin in range(0, table.num_rows, rows):
            yield table.slice(begin, rows)


# ---- CSV ---------------------------------------------------------------------------------------------------------


def _cut_csv(storage: Storage, rows: int) -> Iterator[tuple[int, int, int, int | None]]:
    """Ranges of bytes that end with a line; a line break between quotation marks ends none."""
    size = min(CSV_BYTES, 256 * rows)
    with storage.system.open(storage.path, "rb") as file:
        begin, position, quoted = 0, 0, 0
        while block := file.read(LINE):
            marks = np.frombuffer(block, np.uint8)
            inside = (quoted + np.cumsum(marks == ord('"'))) & 1
            quoted = int(inside[-1])
            ends = np.flatnonzero((marks == ord("\n")) & (inside == 0))
            if len(ends) and position + int(ends[-1]) + 1 - begin >= size:
                yield begin, position + int(ends[-1]) + 1, 0, None
                begin = position + int(ends[-1]) + 1
            position += len(block)
        if position > begin:
            yield begin, position, 0, None


def _read_csv(storage: Storage, part: Part, columns: list[str], schema: Any, types: dict[str, Any]) -> Iterator[Any]:
    pa, csv = arrow(), package("pyarrow.csv")
    types = {field.name: types.get(field.name, field.type) for field in schema}
    reading = csv.ReadOptions(column_names=None if part.begin == 0 else schema.names)
    converting = csv.ConvertOptions(column_types=types, include_columns=columns)
    data = storage.system.cat_file(storage.path, part.begin, part.end)
    yield from _non_empty(csv.open_csv(pa.py_buffer(data), reading, convert_options=converting))


def _non_empty(batches: Any) -> Iterator[Any]:
    for batch in batches:
        if batch.num_rows:
            yield arrow().Table.from_batches([batch])
