"""Command-line options that several verbs share: the model, its limits, and where inputs come from."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import get_args

from msgspec.structs import replace

from whorl.api.models import load_module
from whorl.cli.usage import UsageError
from whorl.formats.options import MAX_DEPTH, Compat, Condition, Integrator, LoadOptions, Precision, SaveOptions
from whorl.formats.registry import FORMATS, Format, format_of, format_to_write, listed
from whorl.ir.attributes import defaults
from whorl.ir.graph import Module
from whorl.runtime.backends import BACKENDS
from whorl.runtime.limits import Limits, Progress

_, PLUGIN = get_args(Compat)
LOADING = "condition_when_omitted", "max_depth", "compat", "precision", "integrator"
"""The fields of `LoadOptions` that `add_model` makes options."""
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
"""Bytes of the units of sizes."""


def add_model(parser: argparse.ArgumentParser) -> None:
    """The model, and how it is read. The defaults are those of `LoadOptions`."""
    parser.add_argument(
        "model", metavar="MODEL", help=f"a file: {suffixes_of(each.suffixes for each in FORMATS)}; - is standard input"
    )
    parser.add_argument(
        "--condition-when-omitted",
        choices=get_args(Condition),
        help="a Loop without a condition input ignores what its body answers, as the specification says (default), "
        "or stops as in onnxruntime",
    )
    parser.add_argument("--max-depth", type=count, metavar="N", help=f"nested graphs allowed (default {MAX_DEPTH})")
    parser.add_argument(
        "--compat",
        metavar=PLUGIN,
        help=f"{PLUGIN}: read OpenVINO IR with the meaning that OpenVINO's CPU plugin gives it",
    )
    parser.add_argument(
        "--precision",
        choices=get_args(Precision),
        help="what functions of ONNX in an MDF model compute in; onnxruntime has kernels for some, as Conv, in float32 "
        "only (default float64)",
    )
    parser.add_argument(
        "--integrator",
        choices=get_args(Integrator),
        help="how parameters of an MDF model with a time derivative go over a time step (default euler)",
    )


def suffixes_of(formats: Iterable[tuple[str, ...]]) -> str:
    """The suffixes of formats, each once: `.onnx, .mlir or .xml`."""
    return listed(list(dict.fromkeys(suffix for suffixes in formats for suffix in suffixes)))


def add_output(parser: argparse.ArgumentParser) -> None:
    """The file to write, and how it is written."""
    parser.add_argument(
        "output",
        metavar="OUT",
        help=f"the file to write: {suffixes_of(each.written for each in FORMATS)}; - is standard output, as .onnx",
    )
    parser.add_argument(
        "--opset", type=count, metavar="N", help="the ai.onnx version to write (default: the model's own)"
    )
    parser.set_defaults(writes_model=True)
    parser.add_argument("--compress-to-fp16", action="store_true", help="keep float32 weights of .xml as float16")


def save_options(arguments: argparse.Namespace) -> SaveOptions:
    """How OUT is written. Errors: SaveError for an unknown ending, UsageError for an option that it does not have."""
    format = format_to_write(arguments.output)
    options = SaveOptions(arguments.opset, arguments.compress_to_fp16)
    for name, default in defaults(SaveOptions).items():
        if getattr(options, name) != default:
            require_option(name, format)
    return options


def load_options(arguments: argparse.Namespace) -> LoadOptions:
    """How MODEL is read. Errors: UsageError for an option that its format does not have."""
    if arguments.compat not in (None, PLUGIN):
        raise UsageError(f"there is no --compat {arguments.compat!r}", fix=f"did you mean --compat {PLUGIN}?")
    chosen = {name: value for name in LOADING if (value := getattr(arguments, name)) is not None}
    for name in chosen:
        require_option(name, format_of(arguments.model))
    return LoadOptions(**chosen)


def require_option(name: str, format: Format) -> None:
    """Refuse an option, by its field of LoadOptions or SaveOptions, that the format would ignore."""
    if name not in format.options:
        flag = f"--{name.replace('_', '-')}"
        formats = listed([each.name for each in FORMATS if name in each.options])
        raise UsageError(f"{flag} applies to {formats}, not to {format.name}", fix=f"leave out {flag}")


def module_of(arguments: argparse.Namespace, needs_weights: bool = True) -> Module:
    """The module that MODEL names; what only shows its structure needs no weights from beside it."""
    return load_module(arguments.model, replace(load_options(arguments), needs_weights=needs_weights))


def add_limits(parser: argparse.ArgumentParser) -> None:
    """How a run is done, and what bounds it."""
    parser.add_argument("--max-iterations", type=count, metavar="N", help="iterations allowed to any one loop")
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="seconds allowed to a run")
    parser.add_argument(
        "--max-memory", type=size, metavar="SIZE", help="bytes that the values of a run may take, such as 512M"
    )
    parser.add_argument(
        "--backend", choices=tuple(BACKENDS), help="what runs the model (default: native code for long loops)"
    )


def limits_of(arguments: argparse.Namespace, progress: Progress | None = None) -> Limits:
    """The bounds that the options give."""
    return Limits(arguments.max_iterations, arguments.timeout, arguments.max_memory, progress)


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Where inputs come from."""
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an input: NAME=file.npy, NAME=file.npz (what is called NAME in it), NAME=file.pb (a TensorProto and the "
        "like), or NAME=VALUE as in Python or JSON, such as '[1, 2.5]'; or a file.npz alone for all that is in it. "
        "May be repeated",
    )
    parser.add_argument(
        "--random", type=count, metavar="SEED", help="fill the inputs that are not given with random values"
    )
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=SIZE", help="the length of a named dim, for random values"
    )


def refuse_options(arguments: argparse.Namespace, flags: Sequence[str], reason: str, fix: str = "") -> None:
    """Refuse options that would be ignored: those whose value is not None, False or empty, as it is by default."""
    for flag in flags:
        value = getattr(arguments, flag.removeprefix("--").replace("-", "_"))
        if value is not None and value is not False and value != []:
            raise UsageError(f"{flag} {reason}", fix=fix or f"leave out {flag}")


def dims_of(entries: list[str], option: str = "--dim") -> dict[str, int]:
    """The lengths of named dims that `--dim` options give, or other numbers by name."""
    dims: dict[str, int] = {}
    for entry in entries:
        name, _, text = entry.partition("=")
        if not name or not text.isdecimal():
            raise UsageError(f"{option} {entry!r} is not NAME=SIZE")
        dims[name] = int(text)
    return dims


def count(text: str) -> int:
    """A number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def seconds(text: str) -> float:
    """A duration that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def size(text: str) -> int:
    """A number of bytes, with K, M or G for powers of 1024."""
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if unit not in UNITS or not number.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M")
    return int(number) * UNITS[unit]
