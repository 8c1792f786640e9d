"""What several verbs share: how a model is loaded, limited and fed."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from whorl.api.models import load
from whorl.errors import RunError
from whorl.formats.onnx.tensors import value_of
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Module
from whorl.ir.types import TensorType, Type
from whorl.runtime.feeds import checked
from whorl.runtime.limits import Limits


def add_model(parser: argparse.ArgumentParser) -> None:
    """The model, and how it is read."""
    parser.add_argument("model", metavar="MODEL", help="a .onnx or .onnxtxt file")
    parser.add_argument(
        "--condition-when-omitted",
        choices=("specification", "honour"),
        default="specification",
        help="a Loop without a condition input: ignore what its body answers, as the specification says (default), "
        "or stop as onnxruntime does",
    )
    parser.add_argument("--max-depth", type=int, default=64, help="nested graphs allowed (default 64)")


def module_of(arguments: argparse.Namespace) -> Module:
    """The module that MODEL names."""
    return load(
        arguments.model,
        condition_when_omitted=arguments.condition_when_omitted,
        max_depth=arguments.max_depth,
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Bounds on a run."""
    parser.add_argument("--max-iterations", type=int, help="iterations allowed to any one loop")
    parser.add_argument("--timeout", type=float, help="seconds allowed to a run")
    parser.add_argument("--max-memory", type=int, help="bytes that the values of a run may take")


def limits_of(arguments: argparse.Namespace, progress: Any = None) -> Limits:
    return Limits(arguments.max_iterations, arguments.timeout, arguments.max_memory, progress)


def add_feeds(parser: argparse.ArgumentParser) -> None:
    """Where inputs come from."""
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an input: NAME=file.npy, NAME=file.npz (the array NAME in it), NAME=file.pb, NAME=a Python value such as "
        "'[1, 2.5]'; or a file.npz alone for all arrays in it. May be repeated",
    )
    parser.add_argument("--random", type=int, metavar="SEED", help="fill the inputs not given with random values")
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=SIZE", help="the length of a named dim, for --random"
    )


def read_inputs(entries: Sequence[str], module: Module) -> dict[str, Any]:
    """The feeds that `--input` options give, in the types the model declares."""
    types = {value.name: value.type for value in module.main.arguments}
    feeds: dict[str, Any] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not equals and entry.endswith(".npz"):
            feeds.update({key: _checked(value, key, types) for key, value in _npz(Path(entry)).items()})
        elif not equals:
            raise RunError(f"--input {entry!r} has no '='", fix="write NAME=VALUE, or a .npz file")
        else:
            feeds[name] = _checked(_read_value(name, text, types), name, types)
    return feeds


def _checked(value: Any, name: str, types: dict[str, Type]) -> Any:
    if name not in types:
        raise RunError(f"the model has no input {name!r}", fix=f"choose from {', '.join(types)}")
    return checked(value, types[name], f"input {name!r}")


def _read_value(name: str, text: str, types: dict[str, Type]) -> Any:
    path = Path(text)
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        if path.suffix == ".npz":
            arrays = _npz(path)
            if name not in arrays:
                raise RunError(f"{text!r} holds no array {name!r}", fix=f"it holds {', '.join(arrays)}")
            return arrays[name]
        if path.suffix == ".pb" and name in types:
            return value_of(path.read_bytes(), types[name], text)
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {text!r}: {error}") from None
    return _literal(text, types.get(name))


def _npz(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {str(path)!r}: {error}") from None


def _literal(text: str, type: Type | None) -> Any:
    """A Python value; text that is none stands for itself where strings are wanted."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        if isinstance(type, TensorType) and type.dtype == STRING:
            return text
        raise RunError(
            f"{text!r} is neither a file nor a value", fix="write a number, a list, or a .npy file"
        ) from None


def sizes_of(entries: Sequence[str]) -> dict[str, int]:
    """The sizes that `--dim` options give."""
    sizes: dict[str, int] = {}
    for entry in entries:
        name, _, text = entry.partition("=")
        if not text.isdecimal():
            raise RunError(f"--dim {entry!r} is not NAME=SIZE")
        sizes[name] = int(text)
    return sizes


def test_data(folder: Path, module: Module) -> tuple[dict[str, Any], list[Any]]:
    """Inputs by name and expected outputs of a `test_data_set_N` folder."""
    inputs = {}
    for k, value in enumerate(module.main.arguments):
        if (path := folder / f"input_{k}.pb").is_file():
            inputs[value.name] = value_of(path.read_bytes(), value.type, path.name)
    outputs = []
    for k, value in enumerate(module.main.results):
        if (path := folder / f"output_{k}.pb").is_file():
            outputs.append(value_of(path.read_bytes(), value.type, path.name))
    if not outputs:
        raise RunError(f"{str(folder)!r} holds no output_0.pb")
    return inputs, outputs
