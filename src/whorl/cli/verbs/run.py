"""Run a model on given, stored or random inputs.

Without --input and --random, the test_data_set_* folders beside the model are run and their outputs compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.api.differences import difference
from whorl.api.preparing import prepare
from whorl.cli import archive
from whorl.cli.arguments import (
    PLUGIN,
    UsageError,
    add_inputs,
    add_limits,
    add_model,
    limits_of,
    module_of,
    refuse_options,
)
from whorl.cli.documents import plain, print_document
from whorl.cli.inputs import inputs_of, stored_case, suggest_lengths
from whorl.cli.progress import progress_bar, shows_progress
from whorl.cli.simulations import OWN_OPTIONS, add_steps, simulate
from whorl.formats.registry import format_of
from whorl.ir.types import type_of
from whorl.phases import Phases, record_phases
from whorl.runtime.session import Session
from whorl.runtime.trace import Trace

RTOL, ATOL = 1e-3, 1e-7
SHOWN = 8
"""Elements of an output that are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_inputs(parser)
    add_limits(parser)
    parser.add_argument("--output", metavar="FILE", help="write the outputs to a .npz file")
    parser.add_argument("--test-data", metavar="FOLDER", help="a test_data_set_N folder to run and compare")
    parser.add_argument(
        "--profile",
        action="append",
        default=[],
        metavar="FILE",
        help="run the model as a session does, and write what took how long as a trace (.json) for chrome://tracing or "
        "ui.perfetto.dev: a lane for the main graph, one for each loop with its native slices or interpreted "
        "iterations, one for compilation",
    )
    parser.add_argument(
        "--phases",
        action="store_true",
        help="run the model as a session does, and say where the time of this first run went: parse, infer, passes, "
        "lower, LLVM, link, run; in CPU and on the clock. They are lanes of --profile's trace as well",
    )
    parser.add_argument("--rtol", type=float, help="relative tolerance of comparisons (default 1e-3)")
    parser.add_argument("--atol", type=float, help="absolute tolerance of comparisons (default 1e-7)")
    add_steps(parser)


def execute(arguments: argparse.Namespace) -> int:
    if format_of(arguments.model).simulates:
        return simulate(arguments)
    refuse_options(arguments, OWN_OPTIONS, "applies to MDF models, which are simulated over time")
    folders = _folders(arguments)
    if not folders:
        refuse_options(arguments, ("--rtol", "--atol"), "applies to stored outputs, and none are compared")
    if arguments.random is None:
        refuse_options(arguments, ("--dim",), "gives lengths of random inputs, and none are drawn", "add --random SEED")
    if arguments.output and not arguments.output.endswith(".npz"):
        raise UsageError(f"--output {arguments.output!r} does not end in .npz")
    with record_phases() as phases, _profile(phases, _traces(arguments.profile)) as trace:
        report = _report(arguments, folders, trace)
    if arguments.json:
        print_document(report.document | ({"phases": phases.document()} if arguments.phases else {}))
    else:
        print("\n".join([*report.lines, *(phases.table() if arguments.phases else ())]))
    return report.code


class _Report(Struct, frozen=True):
    """What a run prints, as text and as JSON, and the exit code."""

    lines: list[str]
    document: dict[str, Any]
    code: int = 0


def _report(arguments: argparse.Namespace, folders: list[Path], trace: Trace | None) -> _Report:
    """Load and run the model."""
    module = module_of(arguments)
    once = trace is None and not arguments.phases
    with progress_bar(shows_progress(arguments)) as progress:
        prepare(module, has_memory_limit=arguments.max_memory is not None)
        session = Session(module, limits_of(arguments, progress), arguments.backend, once=once)
        if trace is not None:
            session.record(trace)
        if folders:
            return _compare_stored(folders, session, arguments)
        inputs = inputs_of(arguments, module, fills=arguments.random is not None)
        with suggest_lengths(arguments, module, inputs):
            outputs = dict(zip(module.visible_outputs, session.execute(None, inputs), strict=True))
    if arguments.output:
        archive.write(Path(arguments.output), outputs)
    lines = [f"{name}: {shown(value)}" for name, value in outputs.items()]
    return _Report(lines, {"outputs": {name: plain(value) for name, value in outputs.items()}})


def _traces(paths: list[str]) -> list[str]:
    """The files to write traces to. Errors: UsageError for one that does not end in .json."""
    for path in paths:
        if not path.endswith(".json"):
            fix = f"write --profile trace.json; whose meaning .xml is read with is --compat {PLUGIN}"
            raise UsageError(f"--profile {path!r} does not end in .json", fix=fix)
    return paths


@contextmanager
def _profile(phases: Phases, paths: list[str]) -> Iterator[Trace | None]:
    """A trace for the runs inside, written even where one fails."""
    trace = Trace() if paths else None
    try:
        yield trace
    finally:
        if trace is not None:
            trace.add_phases(phases)
            for path in paths:
                trace.write(path)


def _folders(arguments: argparse.Namespace) -> list[Path]:
    """The stored cases to run; none with options that name inputs or write outputs."""
    if arguments.test_data:
        if arguments.input or arguments.random is not None or arguments.output:
            raise UsageError("--test-data brings its own inputs", fix="leave out --input, --random and --output")
        return [Path(arguments.test_data)]
    if arguments.input or arguments.random is not None or arguments.output:
        return []
    return sorted(Path(arguments.model).parent.glob("test_data_set_*"))


def _compare_stored(folders: list[Path], session: Session, arguments: argparse.Namespace) -> _Report:
    rtol = RTOL if arguments.rtol is None else arguments.rtol
    atol = ATOL if arguments.atol is None else arguments.atol
    report: dict[str, dict[str, str]] = {}
    for folder in folders:
        inputs, expected = stored_case(folder, session.module)
        outputs = session.execute(list(expected), inputs)
        pairs = zip(expected.items(), outputs, strict=True)
        report[folder.name] = {n: difference(e, output, rtol, atol) for (n, e), output in pairs}
    lines = [f"{f}: {name}: {problem or 'equal'}" for f, outputs in report.items() for name, problem in outputs.items()]
    return _Report(lines, {"test_data": report}, int(any(any(outputs.values()) for outputs in report.values())))


def shown(value: Any) -> str:
    """A value in one line: its type, and its first elements."""
    if isinstance(value, list):
        return f"{len(value)} items [{', '.join(shown(item) for item in value[:3])}{', ...' if len(value) > 3 else ''}]"
    if not isinstance(value, np.ndarray):
        return str(value)
    flat = value.reshape(-1)
    items = " ".join(repr(item) if isinstance(item, str) else str(item) for item in flat[:SHOWN])
    return f"{type_of(value)} {items}{' ...' if flat.size > SHOWN else ''}".rstrip()
