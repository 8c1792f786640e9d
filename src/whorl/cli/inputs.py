"""Inputs from the command line and from stored test data, in the types the model declares."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from whorl.cli import archive
from whorl.cli.arguments import UsageError
from whorl.formats.onnx.tensors import value_of
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Module
from whorl.ir.types import OptionalType, SequenceType, TensorType, Type
from whorl.runtime.feeds import checked


def read_inputs(entries: Sequence[str], module: Module) -> dict[str, Any]:
    """The feeds that `--input` options give. Errors: UsageError for what cannot be read, RunError for what misfits."""
    types = {value.name: value.type for value in module.main.arguments}
    feeds: dict[str, Any] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if equals:
            given = {name: given_value(name, text, _declared(name, types))}
        elif entry.endswith(".npz"):
            given = archive.names_in(archive.read(Path(entry)), types)
        else:
            raise UsageError(f"--input {entry!r} has no '='", fix="write NAME=VALUE, or name a .npz file")
        for key, value in given.items():
            feeds[key] = checked(value, _declared(key, types), f"input {key!r}")
    return feeds


def _declared(name: str, types: dict[str, Type]) -> Type:
    if name not in types:
        raise UsageError(f"the model has no input {name!r}", fix=f"choose from {', '.join(types) or 'none'}")
    return types[name]


def given_value(name: str, text: str, type: Type) -> Any:
    path = Path(text)
    match path.suffix:
        case ".npy" | ".npz":
            arrays = archive.read(path) if path.suffix == ".npz" else {name: _array(path)}
            try:
                return archive.value_of(arrays, name, type)
            except KeyError:
                problem = f"{text!r} holds no {type} {name!r}"
                raise UsageError(problem, fix=f"it holds {', '.join(arrays) or 'nothing'}") from None
        case ".pb":
            return _stored(path, type)
    return _literal(text, type)


def _array(path: Path) -> np.ndarray:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {str(path)!r} as .npy: {error}") from None


def _stored(path: Path, type: Type) -> Any:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    return value_of(data, type, path.name)


def _literal(text: str, type: Type) -> Any:
    """A value as Python or JSON writes it; where text is wanted, what is neither a string nor a list is itself one."""
    wants_text = _wants_text(type)
    for read in (ast.literal_eval, json.loads):
        try:
            value = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return text if wants_text and not isinstance(value, str | list | tuple) else value
    if wants_text:
        return text
    raise UsageError(f"{text!r} is neither a file nor a value", fix="write a number, a list, or a .npy file")


def _wants_text(type: Type) -> bool:
    while isinstance(type, OptionalType | SequenceType):
        type = type.element
    return isinstance(type, TensorType) and type.dtype == STRING


def stored_case(folder: Path, module: Module) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs and expected outputs by name of a `test_data_set_N` folder: `input_0.pb`, ..., `output_0.pb`, ..."""
    inputs = {
        value.name: _stored(path, value.type)
        for k, value in enumerate(module.main.arguments)
        if (path := folder / f"input_{k}.pb").is_file()
    }
    outputs = {
        name: _stored(path, type)
        for k, (name, type) in enumerate(module.output_types().items())
        if (path := folder / f"output_{k}.pb").is_file()
    }
    if not outputs:
        raise UsageError(f"{str(folder)!r} holds no output_0.pb", fix="name a test_data_set_0 folder")
    return inputs, outputs
