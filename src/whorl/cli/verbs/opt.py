"""Run passes over MLIR text with the onnx dialect, as onnx-mlir-opt does, and print the text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from whorl.cli.arguments import UsageError, count
from whorl.cli.documents import print_document
from whorl.errors import LoadError, SaveError
from whorl.formats.options import MAX_DEPTH, LoadOptions
from whorl.formats.registry import MLIR

PASSES = (
    ("shape-inference", "print the types that inference finds, instead of those in the text"),
    ("decompose-onnx", "accepted: ops of older versions are read as the newest, so that nothing is left to do"),
    ("canonicalize", "simplify: algebra, branches and loops, equal nodes, what nobody reads"),
    ("constprop-onnx", "fold constants, and regroup sums and products so that constants meet"),
)
_TRUTH = {"": True, "true": True, "1": True, "false": False, "0": False}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.mlir", nargs="?", default="-", help="the text; '-' is standard input")
    for name, help in PASSES:
        _add(parser, name, dest="passes", action="append_const", const=name, help=help)
    _add(parser, "split-input-file", action="store_true", help="treat pieces between '// -----' on their own")
    _add(parser, "mlir-print-debuginfo", action="store_true", help="print locations")
    parser.add_argument("-j", dest="threads", type=count, default=1, metavar="N", help="accepted: one thread is used")
    parser.add_argument("-o", dest="output", metavar="OUT", default="-", help="the file to write (default: print)")
    _add(
        parser,
        "onnx-const-prop-expansion-bound",
        type=int,
        default=-1,
        metavar="N",
        help="fold only to results of at most N times the bytes of the operands (default -1: to any)",
    )
    _add(
        parser,
        "onnx-const-prop-disable-pattern",
        action="append",
        default=[],
        metavar="NAME",
        help="leave out a pattern, such as AddConstProp; may be repeated, or a list with commas",
    )
    _add(
        parser,
        "onnx-const-prop-round-fp-to-int",
        nargs="?",
        const="",
        default="false",
        metavar="BOOL",
        help="casts from floats to integers round to the nearest instead of towards zero",
    )
    _add(parser, "disable-constant-prop", action="store_true", help="leave constant propagation out")
    _add(parser, "onnx-const-prop-report", action="store_true", help="print what was folded, as comments")
    parser.add_argument(
        "--max-depth", type=count, default=MAX_DEPTH, metavar="N", help=f"nested regions allowed (default {MAX_DEPTH})"
    )


def _add(parser: argparse.ArgumentParser, name: str, **settings: Any) -> None:
    """An option of MLIR's tools, which one dash introduces as well as two."""
    parser.add_argument(f"--{name}", f"-{name}", **settings)


def execute(arguments: argparse.Namespace) -> int:
    result = _optimized(arguments)
    lines = result.report.constprop_lines() if arguments.onnx_const_prop_report else []
    text = result.text + "".join(f"// {line}\n" for line in lines)
    for error in result.errors:
        print(f"whorl: {error}", file=sys.stderr)
    code = 3 if result.errors else 0
    if arguments.output != "-":
        _write(Path(arguments.output), text)
    if arguments.json:
        errors = [str(error) for error in result.errors]
        print_document({"text": text, "report": result.report.as_dict(), "errors": errors, "exit_code": code})
    elif arguments.output == "-":
        sys.stdout.write(text)
    return code


def _optimized(arguments: argparse.Namespace) -> Any:
    """The text after the passes."""
    optimizing = MLIR.part("optimizing")
    rounds = _TRUTH.get(arguments.onnx_const_prop_round_fp_to_int)
    if rounds is None:
        raise UsageError("--onnx-const-prop-round-fp-to-int takes true or false")
    disabled = [name.strip() for entry in arguments.onnx_const_prop_disable_pattern for name in entry.split(",")]
    passes = [
        name for name in arguments.passes or () if name != "constprop-onnx" or not arguments.disable_constant_prop
    ]
    bound = arguments.onnx_const_prop_expansion_bound
    options = optimizing.TextOptions(
        passes,
        optimizing.ConstpropOptions(bound, frozenset(disabled), rounds),
        arguments.split_input_file,
        arguments.mlir_print_debuginfo,
    )
    name = "<stdin>" if arguments.file == "-" else Path(arguments.file).name
    return optimizing.optimize_text(_read(arguments.file), name, options, LoadOptions(max_depth=arguments.max_depth))


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise LoadError(f"cannot read {file!r}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise LoadError(f"{file!r} is not UTF-8: {error}") from None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SaveError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
