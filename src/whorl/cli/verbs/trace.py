"""Record what happens inside loops and branches: values by iteration, trip counts, branches taken.

--values chooses values by globs for their names or paths, such as 'newton/*'. What is recorded goes to a .npz file or a
.zarr folder, which `whorl.load_trace` reads. --stop-at finds the first iteration in which something goes wrong,
--watch prints values while the model runs.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from typing import Any

import numpy as np

from whorl.api.tracing.locating import Located, locate_in
from whorl.api.tracing.recording import Selection, record
from whorl.api.tracing.storage import ENDINGS, save_trace
from whorl.api.tracing.value_trace import ValueTrace
from whorl.api.tracing.watching import Watched, watch_in
from whorl.cli.arguments import UsageError, add_inputs, add_limits, add_model, count, module_of, refuse_options, size
from whorl.cli.documents import plain, print_document
from whorl.cli.inputs import inputs_of, suggest_lengths
from whorl.cli.running import run_module
from whorl.cli.verbs.run import shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_inputs(parser)
    add_limits(parser)
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to write: .npz or .zarr")
    parser.add_argument("--plot", metavar="FILE", help="draw what is recorded, as .png, .svg or .pdf")
    parser.add_argument(
        "--values", action="append", metavar="GLOB", help="values to record, by name or path (default all). Repeatable"
    )
    parser.add_argument("--every", type=count, metavar="N", help="every Nth iteration of outermost loops")
    parser.add_argument("--first", type=count, metavar="N", help="the first N iterations of outermost loops")
    parser.add_argument("--last", type=count, metavar="N", help="the last N iterations of outermost loops")
    parser.add_argument(
        "--when",
        metavar="CONDITION",
        help="iterations in which a condition holds in the body that it reads of, such as 'abs(h) > 1e6'",
    )
    parser.add_argument(
        "--stop-at",
        metavar="CONDITION",
        help="instead of recording, find the first iteration in which a condition holds, the node and what it read: "
        "nan or inf of any value, or a condition as for --when",
    )
    parser.add_argument(
        "--watch",
        action="append",
        metavar="WHAT",
        help="instead of recording, print values as the model runs: by name or path as for --values, in each iteration "
        "or every Nth one (--every N), or those of a condition as for --when where it holds. Repeatable",
    )
    parser.add_argument(
        "--budget",
        type=size,
        metavar="SIZE",
        help="bytes that records may take in memory, such as 512M: beyond it they go to disk in several runs, and "
        "of a value that alone exceeds it there are summaries (min, max, mean, norm, counts of NaN and infinity)",
    )


PLOTS = ".png", ".svg", ".pdf"
RECORDING = "--output", "--plot", "--values", "--every", "--first", "--last", "--when", "--budget"
"""The options that say what is recorded."""


def execute(arguments: argparse.Namespace) -> int:
    if arguments.stop_at:
        refuse_options(arguments, ("--watch",), "prints values, and --stop-at only where a condition holds first")
        return _locate(arguments)
    if arguments.watch:
        return _watch(arguments)
    if arguments.output and not arguments.output.endswith(ENDINGS):
        raise UsageError(f"--output {arguments.output!r} does not end in {' or '.join(ENDINGS)}")
    if arguments.plot and not arguments.plot.endswith(PLOTS):
        raise UsageError(f"--plot {arguments.plot!r} does not end in {' or '.join(PLOTS)}")
    module = module_of(arguments)
    inputs = inputs_of(arguments, module, fills=arguments.random is not None)
    selection = Selection(
        values=arguments.values or ["*"],
        every=1 if arguments.every is None else arguments.every,
        first=arguments.first,
        last=arguments.last,
        when=arguments.when or "",
        budget=arguments.budget,
    )
    with suggest_lengths(arguments, module, inputs):
        trace = record(module, inputs, selection, partial(run_module, arguments))
    if arguments.output:
        save_trace(trace, arguments.output)
    if arguments.plot:
        trace.plot().savefig(arguments.plot)
    written = [f"wrote {path}" for path in (arguments.output, arguments.plot) if path]
    if arguments.json:
        print_document(document_of(trace))
    else:
        print("\n".join([*trace.lines(), *written]))
    return 0


def _locate(arguments: argparse.Namespace) -> int:
    """Print where a condition holds first."""
    refuse_options(arguments, RECORDING, "is for what is recorded, and --stop-at records nothing")
    module = module_of(arguments)
    inputs = inputs_of(arguments, module, fills=arguments.random is not None)
    with suggest_lengths(arguments, module, inputs):
        located = locate_in(module, inputs, arguments.stop_at, partial(run_module, arguments))
    if arguments.json:
        print_document({"first": None if located is None else _document_of(located)})
    elif located is None:
        print(f"{arguments.stop_at!r} never holds")
    else:
        lines = [f"loop      {name}: iteration {iteration}" for name, iteration in located.loops]
        lines += [f"node      {located.node}", f"value     {located.value}"]
        print("\n".join([*lines, *(f"operand   {name}: {shown(value)}" for name, value in located.operands.items())]))
    return 0


def _watch(arguments: argparse.Namespace) -> int:
    """Print values while the model runs, and its outputs when it is over."""
    others = [flag for flag in RECORDING if flag != "--every"]
    refuse_options(arguments, others, "is for what is recorded, and --watch records nothing")
    module = module_of(arguments)
    inputs = inputs_of(arguments, module, fills=arguments.random is not None)
    every = 1 if arguments.every is None else arguments.every
    show = _print_document if arguments.json else _print_watched
    with suggest_lengths(arguments, module, inputs):
        outputs = watch_in(module, inputs, arguments.watch, show, every, partial(run_module, arguments))
    named = dict(zip(module.output_names, outputs, strict=True))
    if arguments.json:
        print(json.dumps({"outputs": {name: plain(value) for name, value in named.items()}}))
    else:
        print("\n".join(f"{name}: {shown(value)}" for name, value in named.items()))
    return 0


def _print_watched(watched: Watched) -> None:
    """A line for each value, with the iteration that each loop around is in."""
    where = ", ".join(f"{path} {number}" for path, number in watched.loops)
    mark = f" [{watched.condition}]" if watched.condition else ""
    print("\n".join(f"{where}{mark}  {path}: {shown(value)}" for path, value in watched.values.items()), flush=True)


def _print_document(watched: Watched) -> None:
    """A line of JSON for each iteration."""
    loops = [{"name": path, "iteration": number} for path, number in watched.loops]
    values = {path: plain(value) for path, value in watched.values.items()}
    print(json.dumps({"loops": loops, "condition": watched.condition, "values": values}), flush=True)


def _document_of(located: Located) -> dict[str, Any]:
    return {
        "loops": [{"name": name, "iteration": iteration} for name, iteration in located.loops],
        "node": located.node,
        "value": located.value,
        "operands": {name: plain(value) for name, value in located.operands.items()},
    }


def document_of(trace: ValueTrace) -> dict[str, Any]:
    """What was recorded, without the values themselves."""
    return {
        "trip_counts": {path: np.asarray(each.values).tolist() for path, each in trace.trip_counts.items()},
        "branches": {path: np.asarray(each.values).reshape(-1).tolist() for path, each in trace.branches.items()},
        "values": {path: _described(trace, path) for path in trace},
    }


def _described(trace: ValueTrace, path: str) -> dict[str, Any]:
    records = trace.records(path)
    return {
        "loops": list(records.loops),
        "records": records.count,
        "ragged": records.is_ragged,
        "summary": path in trace.summaries,
    }
