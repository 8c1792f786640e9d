"""MDF files: JSON, YAML, BSON and XML in, JSON and YAML out, arrays in an .npz file beside them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np

from whorl.errors import LoadError, SaveError
from whorl.formats.mdf.reading import ARRAY_KEY, model_of
from whorl.formats.mdf.writing import data_of
from whorl.formats.mdf.xml import data_of_xml
from whorl.formats.mdf.yaml import data_of_yaml, yaml_text
from whorl.mdf.model import STORED_FROM, Model


def read_mdf(path: str | Path) -> Model:
    """The model in a .json, .yaml, .yml, .bson or .xml file. Errors: LoadError, which names the place in the file."""
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise LoadError(f"{path.name!r} has no ending of an MDF file", fix=f"use one of {', '.join(_READERS)}")
    try:
        return model_of(reader(path.read_bytes()), _ArrayFile(path.with_suffix(".npz")).read)
    except RecursionError:
        raise LoadError("it is nested too deeply", str(path), "an MDF file has some ten levels") from None
    except UnicodeDecodeError as error:
        raise LoadError(f"it is not text in UTF-8: {error.reason} at byte {error.start}", str(path)) from None
    except OSError as error:
        raise LoadError(error.strerror or str(error), str(path)) from None
    except LoadError as error:
        where = f"{error.where} in {path}" if error.where else str(path)
        raise type(error)(error.message, where, error.fix) from None


def write_mdf(model: Model, path: str | Path, npz: bool = False) -> None:
    """Write a model as .json, .yaml or .yml; with `npz`, its larger arrays into an .npz file beside it."""
    path = Path(path)
    if path.suffix.lower() not in (".json", ".yaml", ".yml"):
        raise SaveError(f"{path.name!r} has no ending that MDF is written with", fix="use .json, .yaml or .yml")
    arrays: dict[str, np.ndarray] = {}

    def store(location: str, array: np.ndarray) -> object:
        if array.size < STORED_FROM:
            return array.tolist()
        name = location.strip("/").replace("/", ".")
        name = name if name not in arrays else f"{name}.{len(arrays)}"
        arrays[name] = array
        return {ARRAY_KEY: name}

    data = data_of(model, store if npz else None)
    text = _json_text(data) if path.suffix.lower() == ".json" else yaml_text(data)
    if arrays:
        np.savez(path.with_suffix(".npz"), allow_pickle=False, **{name: arrays[name] for name in arrays})
    path.write_text(text, encoding="utf-8")


def _json_text(data: dict[str, object]) -> str:
    """Plain data as JSON."""
    try:
        return json.dumps(data, indent=4)
    except (TypeError, ValueError) as error:
        raise SaveError(f"a value of the model has no form in JSON: {error}") from None


def _data_of_json(content: bytes) -> object:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        data = dict(pairs)
        if len(data) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise LoadError(f"the id {twice!r} stands twice in one object", fix="give each its own id")
        return data

    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise LoadError(f"it is not JSON: {error.msg}", f"line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        if isinstance(error, UnicodeDecodeError):
            raise
        raise LoadError(f"it is not JSON: {error}") from None


def _data_of_bson(content: bytes) -> object:
    try:
        import bson
        from bson.errors import InvalidBSON
    except ImportError:
        raise LoadError("BSON files need pymongo", fix="install whorl[mdf], or convert the file to JSON") from None
    try:
        return _plain_bson(bson.decode(content))
    except (InvalidBSON, ValueError, OverflowError) as error:
        raise LoadError(f"it is not BSON: {error}") from None


def _plain_bson(value: object) -> object:
    """Without the classes of BSON's own; what is no data of a model stays and is refused later."""
    match value:
        case dict():
            return {key: _plain_bson(entry) for key, entry in value.items()}
        case list():
            return [_plain_bson(entry) for entry in value]
        case bool() | None:
            return value
        case int():
            return int(value)
        case str() | float():
            return value
        case _:
            pass
    raise LoadError(f"it holds a {type(value).__name__}", fix="write numbers, texts, lists and objects")


_READERS = {
    ".json": _data_of_json,
    ".yaml": data_of_yaml,
    ".yml": data_of_yaml,
    ".bson": _data_of_bson,
    ".xml": data_of_xml,
}


class _ArrayFile:
    """The .npz file beside a model, opened where the model names an array of it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> np.ndarray:
        if not self.path.exists():
            raise LoadError(f"array {name!r} is not there: there is no {self.path.name}", fix="put it beside the model")
        try:
            with np.load(self.path, allow_pickle=False) as arrays:
                if name in arrays.files:
                    return arrays[name]
                known = ", ".join(map(repr, arrays.files[:8]))
        except (zipfile.BadZipFile, ValueError, EOFError) as error:
            raise LoadError(f"{self.path.name} is no file of arrays: {error}") from None
        raise LoadError(f"{self.path.name} has no array {name!r}", fix=f"it has {known}")
