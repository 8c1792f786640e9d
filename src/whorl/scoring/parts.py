"""The folder that results are written to: a file a part, and a manifest that says of which model and table they are.

A part is written under another name and then renamed, so a part that has its name is complete, and is never computed
again. A manifest of another model, table or settings is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from msgspec import Struct

from whorl.errors import RunError, SaveError
from whorl.scoring.packages import arrow, package
from whorl.scoring.sources import Part
from whorl.scoring.storage import Storage

MANIFEST = "_manifest.json"
ENDINGS = {".parquet": ".parquet", ".pq": ".parquet", ".arrow": ".arrow", ".feather": ".arrow", ".csv": ".csv"}
"""The ending of a part by that of the folder; a folder without one of these has Parquet."""


class Manifest(Struct, frozen=True):
    """What the parts of a folder are: of which model and table, by which settings, and the rows of each."""

    model: str
    data: str
    settings: dict[str, Any]
    batch: int
    layout: str
    parts: list[Part]

    def text(self) -> bytes:
        """The manifest as JSON."""
        parts = [[part.source, part.begin, part.end, part.first, part.rows] for part in self.parts]
        fields = {"model": self.model, "data": self.data, "settings": self.settings}
        return json.dumps(fields | {"batch": self.batch, "layout": self.layout, "parts": parts}, indent=1).encode()


class Target(Struct, frozen=True):
    """A folder of parts."""

    folder: Storage

    @property
    def ending(self) -> str:
        """The ending of the parts."""
        return ENDINGS.get(self.folder.suffix, ".parquet")

    def name(self, part: Part) -> str:
        """The file of a part."""
        return f"part-{part.index:06}{self.ending}"

    def done(self, parts: Sequence[Part]) -> set[int]:
        """The parts that are there."""
        names = set(self.folder.names())
        return {part.index for part in parts if self.name(part) in names}

    def read_manifest(self) -> Manifest | None:
        """What an earlier run began; None for a new folder. Errors: RunError for a folder of something else."""
        names = [name for name in self.folder.names() if name != "_temporary"]
        if MANIFEST not in names:
            if names or (self.folder.exists() and not self.folder.system.isdir(self.folder.path)):
                raise RunError(f"{self.folder.url!r} is there, and no results of whorl", fix="choose another name")
            return None
        try:
            fields = json.loads((self.folder / MANIFEST).read())
            fields["parts"] = [Part(k, *entry) for k, entry in enumerate(fields["parts"])]
            return Manifest(**fields)
        except (ValueError, KeyError, TypeError) as error:
            what = f"{(self.folder / MANIFEST).url!r} is no manifest of whorl: {error}"
            raise RunError(what, fix="name another folder for the results") from None

    def begin(self, manifest: Manifest) -> None:
        """Write the manifest, before any part."""
        (self.folder / MANIFEST).write_bytes(manifest.text())

    @contextmanager
    def write(self, part: Part, schema: Any) -> Iterator[_Writer]:
        """A writer of the tables of a part. Errors: SaveError."""
        with (self.folder / self.name(part)).write() as file, _writer(self.ending, file, schema) as writer:
            yield _Whole(writer) if self.ending == ".arrow" else writer


class _Writer(Protocol):
    def write_table(self, table: Any) -> None: ...


class _Whole(Struct, frozen=True):
    """A writer of Arrow, whose batches are tables and not their chunks, which may be small."""

    writer: _Writer

    def write_table(self, table: Any) -> None:
        self.writer.write_table(table.combine_chunks())


def _writer(ending: str, file: Any, schema: Any) -> Any:
    match ending:
        case ".parquet":
            return package("pyarrow.parquet").ParquetWriter(file, schema, use_dictionary=_repetitive(schema))
        case ".arrow":
            return arrow().ipc.new_file(file, schema)
        case _:
            return package("pyarrow.csv").CSVWriter(file, schema)


def _repetitive(schema: Any) -> list[str]:
    """The columns that are written with a dictionary of their values.

    Floats hardly repeat, and to look for that takes most of the time of writing.
    """
    return [path for field in schema if (path := _path(field.name, field.type))]


def _path(path: str, type: Any) -> str:
    """The name of a column in Parquet, where lists have levels; nothing for floats and structures."""
    types = arrow().types
    if types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type):
        return _path(f"{path}.list.element", type.value_type)
    return "" if types.is_floating(type) or types.is_nested(type) else path


def check_target(target: Target, schema: Any) -> None:
    """Refuse what a file cannot hold. Errors: SaveError."""
    types = arrow().types
    for field in schema:
        if target.ending == ".csv" and types.is_nested(field.type):
            what = f"column {field.name!r} has lists, and CSV has none"
            raise SaveError(what, fix="choose other outputs, or a name that ends in .parquet or .arrow")


def check_manifest(old: Manifest, new: Manifest, url: str) -> None:
    """Refuse to go on with another model, table or settings. Errors: RunError."""
    fix = "name another folder for the results, or remove this one"
    for what, one, other in (("model", old.model, new.model), ("table", old.data, new.data)):
        if one != other:
            raise RunError(f"{url!r} was begun with another {what}: it changed since", fix=fix)
    for name in old.settings.keys() | new.settings.keys():
        one, other = old.settings.get(name), new.settings.get(name)
        if one != other:
            raise RunError(f"{url!r} was begun with {name} {one!r}, and this is {other!r}", fix=fix)
