"""Run the public control-flow conformance suite on an engine: whorl, onnxruntime, openvino, reference, or your own.

The engine runs in processes of its own. The exit code is 1 where a case that ONNX's text decides did not pass.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from whorl.cli.arguments import UsageError, seconds
from whorl.conformance.backends import BACKENDS
from whorl.conformance.cases import load_cases
from whorl.conformance.export import export_suite
from whorl.conformance.report import is_conformant, to_json
from whorl.conformance.runner import matches, run
from whorl.conformance.suite import run_and_report

PRINT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(BACKENDS)
    parser.add_argument(
        "--backend",
        default="whorl",
        metavar="NAME",
        help=f"{names} (default whorl), or module:function for a function that turns the bytes of a model into a "
        "function from a dict of inputs to the list of outputs",
    )
    parser.add_argument(
        "--only", action="append", metavar="PATTERN", help="run the cases named like this: while_*. May be repeated"
    )
    parser.add_argument(
        "--timeout", type=seconds, default=10.0, metavar="SECONDS", help="for one question to the engine (default 10)"
    )
    parser.add_argument(
        "--export",
        metavar="FOLDER",
        help="run nothing: write the cases as files for any language, in the layout of onnx's backend tests",
    )
    parser.add_argument(
        "--json",
        nargs="?",
        default="",
        const=PRINT,
        metavar="FILE",
        help="print one JSON document instead of text; with FILE, print the table and write the document to the file",
    )


def execute(arguments: argparse.Namespace) -> int:
    backend, only = arguments.backend, arguments.only
    if backend not in BACKENDS and ":" not in backend:
        raise UsageError(f"there is no backend {backend!r}", fix=f"choose from {', '.join(BACKENDS)}, module:function")
    cases = load_cases()
    if not any(matches(case.name, only) for case in cases):
        raise UsageError(f"no case is named like {', '.join(only)}", fix="patterns are as in while_*")
    if arguments.export is not None:
        print(f"{export_suite(Path(arguments.export), only)} cases in {arguments.export}")
        return 0
    if arguments.json != PRINT:
        return run_and_report(backend, arguments.json or None, only, arguments.timeout)
    results = run(backend, only, arguments.timeout)
    print(to_json(backend, results, cases))
    return 0 if is_conformant(results, cases) else 1
