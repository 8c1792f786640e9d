"""Files of traces: `.npz`, and `.zarr` for large ones.

A value lies under its path as an array whose first axis are the records, and under `path@iterations` is what iterations
these are of. Values of several shapes lie in one dimension under `path@elements`, with their shapes in `path@shapes`:
for each record the number of its items where it is a list, then of each tensor the rank and the lengths. The array
`trace` is a JSON document that says what of these each value has.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from whorl.api.tracing.value_trace import ValueTrace
from whorl.errors import LoadError, SaveError, UnsupportedError
from whorl.ir.dtypes import BY_NAME, STRING, name_of
from whorl.ir.guards import is_array
from whorl.passes.expose.reading import Records

DOCUMENT = "trace"
KINDS = "values", "trip_counts", "branches"
ENDINGS = ".npz", ".zarr"


def save_trace(trace: ValueTrace, path: str | os.PathLike[str]) -> None:
    """Write a trace to a `.npz` file or a `.zarr` folder. Errors: SaveError, UnsupportedError without zarr."""
    target = Path(path)
    arrays = dict(_arrays(trace))
    try:
        match target.suffix:
            case ".npz":
                _write_npz(target, arrays)
            case ".zarr":
                _write_zarr(target, arrays)
            case _:
                raise SaveError(f"a trace cannot be written to {str(target)!r}", fix=f"choose {' or '.join(ENDINGS)}")
    except OSError as error:
        raise SaveError(f"cannot write {str(target)!r}: {error.strerror or error}") from None


def load_trace(path: str | os.PathLike[str]) -> ValueTrace:
    """Read a trace that `save_trace` or `whorl trace` wrote. Errors: LoadError, UnsupportedError without zarr."""
    source = Path(path)
    try:
        arrays = _read_zarr(source) if source.suffix == ".zarr" else _read_npz(source)
        document = json.loads(str(arrays[DOCUMENT]))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise LoadError(f"{str(source)!r} holds no trace: {error}") from None
    parts = [{entry["path"]: _records(entry, arrays, kind) for entry in document[kind]} for kind in KINDS]
    return ValueTrace(parts[0], parts[1], parts[2], frozenset(document["summaries"]))


def _key(path: str, kind: str) -> str:
    return path if kind == KINDS[0] else f"{path}@{kind}"


def _arrays(trace: ValueTrace) -> Iterator[tuple[str, np.ndarray]]:
    document: dict[str, Any] = {"summaries": sorted(trace.summaries)}
    members: tuple[Mapping[str, Records], ...] = (
        {path: trace.records(path) for path in trace},
        trace.trip_counts,
        trace.branches,
    )
    for kind, each in zip(KINDS, members, strict=True):
        document[kind] = []
        for path, records in each.items():
            key, entry = _key(path, kind), {"path": path, "loops": list(records.loops)}
            values = records.values
            yield f"{key}@iterations", records.iterations
            if isinstance(values, np.ndarray):
                entry |= {"dtype": name_of(values.dtype)}
                yield key, _stored(values)
            else:
                tensors = [item for value in values for item in ([value] if is_array(value) else value)]
                entry |= {"lists": not all(map(is_array, values))}
                entry |= {"dtype": name_of(tensors[0].dtype) if tensors else "float32"}
                elements = [tensor.reshape(-1) for tensor in tensors]
                yield f"{key}@elements", _stored(np.concatenate(elements) if elements else np.zeros(0, np.float32))
                yield f"{key}@shapes", np.array([n for value in values for n in _shapes(value)], np.int64)
            document[kind].append(entry)
    yield DOCUMENT, np.array(json.dumps(document))


def _shapes(value: Any) -> Iterator[int]:
    """The shapes of a record, as numbers."""
    if is_array(value):
        yield value.ndim
        yield from value.shape
        return
    yield len(value)
    for item in value:
        yield from _shapes(item)


def _records(entry: Mapping[str, Any], arrays: Mapping[str, np.ndarray], kind: str) -> Records:
    path, dtype = str(entry["path"]), BY_NAME[entry["dtype"]]
    key = _key(path, kind)
    iterations = arrays[f"{key}@iterations"]
    if "lists" not in entry:
        return Records(path, tuple(entry["loops"]), iterations, _restored(arrays[key], dtype))
    elements, shapes = _restored(arrays[f"{key}@elements"], dtype), arrays[f"{key}@shapes"].tolist()
    reader = _Reader(elements, shapes)
    take = reader.take_list if entry["lists"] else reader.take
    return Records(path, tuple(entry["loops"]), iterations, [take() for _ in range(len(iterations))])


class _Reader:
    """Tensors taken one after the other from their elements and shapes."""

    def __init__(self, elements: np.ndarray, shapes: list[int]) -> None:
        self.elements, self.shapes = elements, shapes
        self.position = self.begin = 0

    def take(self) -> np.ndarray:
        rank, first = self.shapes[self.position], self.position + 1
        shape = tuple(self.shapes[first : first + rank])
        begin, self.begin = self.begin, self.begin + math.prod(shape)
        self.position = first + rank
        return self.elements[begin : self.begin].reshape(shape)

    def take_list(self) -> list[np.ndarray]:
        count, self.position = self.shapes[self.position], self.position + 1
        return [self.take() for _ in range(count)]


def _stored(array: np.ndarray) -> np.ndarray:
    """The array in a type that files have: texts of a fixed width, and unsigned integers for what NumPy lacks."""
    if array.dtype == STRING:
        return array.astype(np.str_)
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def _restored(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if dtype == STRING:
        return array.astype(object)
    return array if array.dtype == dtype else array.view(dtype)


def _write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    # `np.savez` takes names as keywords, so it cannot write one called `file`.
    with zipfile.ZipFile(path, "w", allowZip64=True) as archive:
        for key, array in arrays.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def _zarr() -> Any:
    try:
        return importlib.import_module("zarr")
    except ModuleNotFoundError:
        raise UnsupportedError("zarr is not installed", fix="pip install 'whorl[zarr]', or write .npz") from None


def _write_zarr(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    group = _zarr().open_group(str(path), mode="w")
    for number, (key, array) in enumerate(arrays.items()):
        if key == DOCUMENT:
            group.attrs[DOCUMENT] = str(array)
        else:
            # Numbers, since paths may be parts of each other, which names of arrays in a group may not.
            data = array.astype(np.dtypes.StringDType()) if array.dtype.kind == "U" else np.asarray(array)
            group.create_array(str(number), data=data).attrs["path"] = key


def _read_zarr(path: Path) -> dict[str, Any]:
    group = _zarr().open_group(str(path), mode="r")
    arrays: dict[str, Any] = {str(array.attrs["path"]): array[...] for _, array in group.arrays()}
    return arrays | {DOCUMENT: group.attrs[DOCUMENT]}
