"""Run a model on given, stored or random inputs.

Without inputs, the `test_data_set_*` folders beside the model are run and their outputs compared.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from whorl.api.differences import difference
from whorl.api.synthetic import synthetic_feeds
from whorl.cli.models import add_feeds, add_limits, add_model, limits_of, module_of, read_inputs, sizes_of, test_data
from whorl.cli.progress import progress_bar
from whorl.errors import RunError
from whorl.ir.graph import Module
from whorl.ir.types import type_of
from whorl.runtime.session import Session

SHOWN = 8
"""Elements of an output that are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_feeds(parser)
    add_limits(parser)
    parser.add_argument("--output", metavar="FILE", help="write the outputs to a .npz file")
    parser.add_argument("--test-data", metavar="FOLDER", help="a test_data_set_N folder to run and compare")
    parser.add_argument("--rtol", type=float, default=1e-3, help="relative tolerance of comparisons (default 1e-3)")
    parser.add_argument("--atol", type=float, default=1e-7, help="absolute tolerance of comparisons (default 1e-7)")


def execute(arguments: argparse.Namespace) -> int:
    module = module_of(arguments)
    folders = _folders(arguments)
    with progress_bar(enabled=sys.stderr.isatty() and not arguments.json) as progress:
        session = Session(module, limits_of(arguments, progress))
        if folders:
            return _check_stored(folders, module, session, arguments)
        feeds = read_inputs(arguments.input, module)
        if arguments.random is not None:
            feeds = synthetic_feeds(module, arguments.random, sizes_of(arguments.dim)) | feeds
        outputs = dict(zip(module.output_names, session.execute(None, feeds), strict=True))
    if arguments.output:
        _write(Path(arguments.output), outputs)
    if arguments.json:
        print(json.dumps({name: _plain(value) for name, value in outputs.items()}))
    else:
        for name, value in outputs.items():
            print(f"{name}: {shown(value)}")
    return 0


def _folders(arguments: argparse.Namespace) -> list[Path]:
    if arguments.test_data:
        return [Path(arguments.test_data)]
    if arguments.input or arguments.random is not None:
        return []
    return sorted(Path(arguments.model).parent.glob("test_data_set_*"))


def _check_stored(folders: list[Path], module: Module, session: Session, arguments: argparse.Namespace) -> int:
    report = {}
    for folder in folders:
        feeds, expected = test_data(folder, module)
        outputs = session.execute(None, feeds)
        found = zip(module.output_names, expected, outputs, strict=False)
        report[folder.name] = {n: difference(e, o, arguments.rtol, arguments.atol) for n, e, o in found}
    if arguments.json:
        print(json.dumps(report))
    else:
        for folder, outputs in report.items():
            for name, problem in outputs.items():
                print(f"{folder}: {name}: {problem or 'equal'}")
    return int(any(problem for outputs in report.values() for problem in outputs.values()))


def _write(path: Path, outputs: dict[str, Any]) -> None:
    if path.suffix != ".npz":
        raise RunError(f"--output {str(path)!r} does not end in .npz", fix="name a .npz file")
    arrays: dict[str, np.ndarray] = {}
    for name, value in outputs.items():
        for key, array in _flat(name, value):
            arrays[key] = np.array(array, dtype=str) if array.dtype == object else array
    try:
        _save(path, arrays)
    except OSError as error:
        raise RunError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def _save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write an .npz file; `np.savez` takes names as keywords and so refuses `file` and `allow_pickle`."""
    with zipfile.ZipFile(path, "w", allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def _flat(name: str, value: Any) -> list[tuple[str, np.ndarray]]:
    """An array under its name, the items of a sequence as `name/0`, `name/1`; None leaves nothing."""
    if isinstance(value, np.ndarray):
        return [(name, value)]
    return [pair for k, item in enumerate(value or ()) for pair in _flat(f"{name}/{k}", item)]


def shown(value: Any) -> str:
    """A value in one line: its type, and its first elements."""
    if isinstance(value, list):
        return f"{len(value)} items [{', '.join(shown(item) for item in value[:3])}{', ...' if len(value) > 3 else ''}]"
    if not isinstance(value, np.ndarray):
        return str(value)
    flat = value.reshape(-1)
    items = " ".join(str(item) for item in flat[:SHOWN])
    return f"{type_of(value)} {items}{' ...' if flat.size > SHOWN else ''}".rstrip()


def _plain(value: Any) -> Any:
    """A value for JSON: type, shape and elements of an array; complex numbers and small floats as text or numbers."""
    if isinstance(value, np.ndarray):
        number = value.dtype.kind in "bifu" or value.dtype == object
        elements = value if number else value.astype(str if value.dtype.kind == "c" else np.float64)
        return {"type": str(type_of(value)), "value": elements.tolist()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
