"""Arrays that have a row each on their first axis, as columns: those of a `.npz` file, or of a group of Zarr."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.errors import RunError
from whorl.scoring.columns import array_column
from whorl.scoring.packages import arrow, package
from whorl.scoring.sources import Part, cut_rows
from whorl.scoring.storage import Storage


class ArraySource(Struct, frozen=True):
    """The arrays of a file or folder, all of one length."""

    url: str
    schema: Any
    length: int
    chunk: int

    @property
    def fingerprint(self) -> str:
        if self.url.endswith(".npz"):
            return f"{self.url} {Storage(self.url).fingerprint}"
        storage = Storage(self.url)
        files = sorted(storage.system.find(storage.path))
        names = [file if storage.is_local else storage.system.unstrip_protocol(file) for file in files]
        return "\n".join(f"{name} {Storage(name).fingerprint}" for name in names)

    def cut(self, rows: int) -> list[Part]:
        return cut_rows(0, self.url, self.length, max(1, rows // self.chunk) * self.chunk)

    def read(self, part: Part, columns: list[str], rows: int) -> Iterator[Any]:
        arrays = _cached(self.url, self.fingerprint) if self.url.endswith(".npz") else _arrays(self.url)
        for begin in range(part.begin, part.end, rows):
            slices = {name: np.asarray(arrays[name][begin : min(begin + rows, part.end)]) for name in columns}
            yield arrow().table({name: array_column(array, name) for name, array in slices.items()})


def open_arrays(url: str) -> ArraySource:
    """The arrays of a `.npz` file or a group of Zarr. Errors: RunError where they cannot be columns of one table."""
    arrays = _arrays(url)
    if not arrays:
        raise RunError(f"{url!r} has no arrays")
    lengths = {name: array.shape[0] if array.ndim else None for name, array in arrays.items()}
    if len({*lengths.values()}) > 1 or None in lengths.values():
        shown = ", ".join(f"{name} {list(array.shape)}" for name, array in arrays.items())
        raise RunError(f"the arrays of {url!r} have several lengths: {shown}", fix="give all the same first axis")
    fields = [(name, array_column(np.asarray(array[:0]), name).type) for name, array in arrays.items()]
    chunk = max((array.chunks[0] for array in arrays.values() if hasattr(array, "chunks")), default=1)
    return ArraySource(url, arrow().schema(fields), next(iter(lengths.values())) or 0, chunk)


@lru_cache(maxsize=1)
def _cached(url: str, fingerprint: str) -> Mapping[str, Any]:  # noqa: ARG001 - a changed file is read again
    """The arrays of the `.npz` file that parts are read of."""
    return _arrays(url)


def _arrays(url: str) -> Mapping[str, Any]:
    """What can be sliced, by name."""
    if url.endswith(".npz"):
        try:
            return dict(np.load(io.BytesIO(Storage(url).read()), allow_pickle=False))
        except (ValueError, zipfile.BadZipFile) as error:
            raise RunError(f"cannot read {url!r}: {error}") from None
    try:
        return dict(package("zarr").open_group(url, mode="r").arrays())
    except (OSError, KeyError, ValueError) as error:
        raise RunError(f"cannot read {url!r}: {error}") from None
