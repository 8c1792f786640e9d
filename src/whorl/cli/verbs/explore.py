"""Write a page that shows a model: its loops, their bodies as graphs, and what happened in each iteration.

With --input or --random the model is run, and the page has the values of its loops and branches by iteration. The page
is one file that opens in a browser and reads nothing else.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from whorl.api.exploring.exploring import has_bodies, page_of, title_of
from whorl.api.exploring.page import Page
from whorl.api.exploring.serving import PageServer
from whorl.api.models import load_module
from whorl.api.tracing.profiling import profile_module
from whorl.api.tracing.recording import Selection, record
from whorl.api.tracing.storage import ENDINGS, load_trace
from whorl.api.tracing.value_trace import ValueTrace
from whorl.cli.arguments import (
    add_inputs,
    add_limits,
    add_model,
    count,
    limits_of,
    module_of,
    refuse_options,
    size,
)
from whorl.cli.documents import print_document
from whorl.cli.inputs import inputs_of, suggest_lengths
from whorl.cli.running import run_module
from whorl.cli.usage import UsageError
from whorl.ir.graph import Module

OF_RUNS = "--costs", "--values", "--budget", "--dim", "--max-iterations", "--timeout", "--max-memory", "--backend"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("-o", "--output", metavar="PAGE", help="the file to write: .html")
    add_inputs(parser)
    add_limits(parser)
    parser.add_argument(
        "--serve",
        nargs="?",
        const=0,
        type=count,
        metavar="PORT",
        help="serve the page to this machine until Ctrl-C, with all of a large trace, in the place of writing a file",
    )
    parser.add_argument("--trace", metavar="FILE", help="show what `whorl trace -o FILE` recorded, without a run")
    parser.add_argument(
        "--with",
        metavar="OTHER",
        help="show a second run beside it and what differs first: a trace, or a model whose values have the same "
        "names, run on the same inputs",
    )
    parser.add_argument(
        "--costs",
        action="store_true",
        help="show what ran natively and what each node took, as `whorl profile` measures it",
    )
    parser.add_argument(
        "--values", action="append", metavar="GLOB", help="values to record, by name or path (default all). Repeatable"
    )
    parser.add_argument(
        "--budget", type=size, metavar="SIZE", help="bytes that records may take in memory, as for `whorl trace`"
    )


def execute(arguments: argparse.Namespace) -> int:
    serves = arguments.serve is not None
    if serves == bool(arguments.output):
        raise UsageError("one of --output and --serve is needed", fix="write -o page.html, or --serve")
    if not serves and not arguments.output.endswith((".html", ".htm")):
        raise UsageError(f"--output {arguments.output!r} does not end in .html")
    runs = bool(arguments.input) or arguments.random is not None
    if arguments.trace:
        refuse_options(arguments, ("--input", "--random"), "is for a run, and --trace shows an old one")
    if not runs and not arguments.trace:
        refuse_options(arguments, ("--with",), "is compared with a run", "add --input, --random or --trace")
    if not runs:
        refuse_options(arguments, OF_RUNS, "is for a run of the model", "add --input or --random")
    module = module_of(arguments, needs_weights=runs)
    inputs = inputs_of(arguments, module, fills=arguments.random is not None) if runs else {}
    with suggest_lengths(arguments, module, inputs):
        traces = _traces(arguments, module, inputs if runs else None)
        limits = limits_of(arguments)
        profile = profile_module(module, inputs, limits, arguments.backend) if arguments.costs else None
    names = ["this run", os.path.basename(_other(arguments))]
    page = page_of(module, title_of(arguments.model, module), traces, names, profile, serves)
    if serves:
        return _serve(page, arguments)
    page.save(arguments.output)
    if arguments.json:
        size = os.path.getsize(arguments.output)
        print_document({"page": arguments.output, "bytes": size, "values": sum(map(len, traces))})
    else:
        print(f"wrote {arguments.output}")
    return 0


def _serve(page: Page, arguments: argparse.Namespace) -> int:
    with PageServer(page, arguments.serve) as server:
        if arguments.json:
            print_document({"url": server.url, "bytes": len(server.body)})
        else:
            print(f"serving {server.url} until Ctrl-C")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0


def _other(arguments: argparse.Namespace) -> str:
    return getattr(arguments, "with") or ""


def _traces(arguments: argparse.Namespace, module: Module, inputs: Mapping[str, Any] | None) -> list[ValueTrace]:
    other = _other(arguments)
    if arguments.trace:
        return [load_trace(each) for each in (arguments.trace, other) if each]
    if inputs is None or not has_bodies(module):
        return []
    selection = Selection(values=arguments.values or ["*"], budget=arguments.budget)
    run = partial(run_module, arguments)
    trace = record(module, inputs, selection, run)
    if not other:
        return [trace]
    if other.endswith(ENDINGS):
        return [trace, load_trace(other)]
    return [trace, record(load_module(other), inputs, selection, run)]
