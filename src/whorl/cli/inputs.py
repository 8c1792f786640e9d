"""Inputs from the command line, from stored test data and at random, in the types the model declares."""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from whorl.api.synthetic import DEFAULT_SIZE, fitting_lengths, lengths_of, synthetic_feeds
from whorl.cli import archive
from whorl.cli.arguments import UsageError, dims_of
from whorl.errors import LimitError, RunError
from whorl.formats.onnx.values import value_of
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Module
from whorl.ir.infer import names_in_type
from whorl.ir.suggestions import choose
from whorl.ir.types import OptionalType, SequenceType, TensorType, Type
from whorl.runtime.feeds import check_value


def inputs_of(arguments: argparse.Namespace, module: Module, fills: bool = True) -> dict[str, Any]:
    """The inputs that `--input` names, and random values for the others if it `fills` them.

    Lengths of named dims are those of `--dim`, of the inputs named, or 2. Errors: UsageError, RunError.
    """
    named = read_inputs(arguments.input, module)
    lengths = lengths_of(module, named) | _dims(arguments, module)
    return synthetic_feeds(module, arguments.random or 0, lengths) | named if fills else named


@contextmanager
def suggest_lengths(arguments: argparse.Namespace, module: Module, inputs: dict[str, Any]) -> Iterator[None]:
    """Where a run inside fails, name the options that choose the lengths which random inputs made up."""
    try:
        yield
    except LimitError:
        raise
    except RunError as error:
        named = {name: inputs[name] for name in read_inputs(arguments.input, module)}
        lengths = lengths_of(module, named) | _dims(arguments, module)
        random = [value.type for value in module.main.arguments if value.name in inputs and value.name not in named]
        drawn = sorted({name for type in random for name in names_in_type(type)} - lengths.keys())
        if not drawn:
            raise
        better = fitting_lengths(module, lengths, drawn)
        flags = " ".join(f"--dim {name}={better.get(name, 'N')}" for name in better or drawn)
        fix = f"choose lengths that the model takes: {flags} (a length that nobody chose is {DEFAULT_SIZE})"
        raise type(error)(error.message, error.where, fix) from None


def _dims(arguments: argparse.Namespace, module: Module) -> dict[str, int]:
    """The lengths that `--dim` options give to dims of inputs. Errors: UsageError for a name that no input has."""
    lengths = dims_of(arguments.dim)
    known = {name for value in module.main.arguments for name in names_in_type(value.type)}
    for name in sorted(lengths.keys() - known):
        raise UsageError(f"no input has a dim {name!r}", fix=choose(name, sorted(known)))
    return lengths


def read_inputs(entries: Sequence[str], module: Module) -> dict[str, Any]:
    """The values of `--input` options. Errors: UsageError for what cannot be read, RunError for what misfits."""
    types = {value.name: value.type for value in module.main.arguments}
    inputs: dict[str, Any] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if equals:
            values = {name: parse_value(name, text, _declared(name, types))}
        elif entry.endswith(".npz"):
            values = archive.names_in(archive.read(Path(entry)), types)
        else:
            raise UsageError(f"--input {entry!r} has no '='", fix="write NAME=VALUE, or name a .npz file")
        for key, value in values.items():
            inputs[key] = check_value(value, _declared(key, types), f"input {key!r}")
    return inputs


def _declared(name: str, types: dict[str, Type]) -> Type:
    if name not in types:
        raise UsageError(f"the model has no input {name!r}", fix=choose(name, types))
    return types[name]


def parse_value(name: str, text: str, type: Type) -> Any:
    """The value of a type in a file, or in the text itself."""
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
        case _:
            pass
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
    """A value as Python or JSON writes it; for a type of strings, what is neither a string nor a list is itself one."""
    takes_text = _takes_text(type)
    for read in (ast.literal_eval, json.loads):
        try:
            value = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return text if takes_text and not isinstance(value, str | list | tuple) else value
    if takes_text:
        return text
    raise UsageError(f"{text!r} is neither a file nor a value", fix="write a number, a list, or a .npy file")


def _takes_text(type: Type) -> bool:
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
