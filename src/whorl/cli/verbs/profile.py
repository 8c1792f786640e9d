"""Show where the time of a run goes: every node of every loop and branch, natively run ones too.

The model is run until its time is known, and then with clocks between its nodes, in a second form that is compiled for
that. Inputs that are not given are random.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from msgspec import to_builtins

from whorl.api.preparing import prepare
from whorl.api.tracing.flames import chrome_events, flame_graph
from whorl.api.tracing.profiling import profile_module
from whorl.api.tracing.recording import copy_module
from whorl.cli.arguments import UsageError, add_inputs, add_limits, add_model, limits_of, module_of
from whorl.cli.documents import print_document
from whorl.cli.inputs import inputs_of, suggest_lengths
from whorl.formats.writing import save_whole
from whorl.ir.graph import Module
from whorl.runtime.session import Session
from whorl.runtime.trace import Trace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_inputs(parser)
    add_limits(parser)
    parser.add_argument(
        "--chrome", metavar="FILE", help="also write the nodes, and what a run did when, for Chrome and Perfetto: .json"
    )
    parser.add_argument("--flame", metavar="FILE", help="also write a flame graph: .svg")


def execute(arguments: argparse.Namespace) -> int:
    for path, ending in ((arguments.chrome, ".json"), (arguments.flame, ".svg")):
        if path and not path.endswith(ending):
            raise UsageError(f"{path!r} does not end in {ending}")
    module = module_of(arguments)
    inputs = inputs_of(arguments, module)
    with suggest_lengths(arguments, module, inputs):
        actual = profile_module(module, inputs, limits_of(arguments), arguments.backend)
    written = []
    if arguments.chrome:
        document = _traced(module, inputs, arguments).document()
        events = [*document["traceEvents"], *chrome_events(actual)]  # type: ignore[misc]
        written.append(_write(arguments.chrome, json.dumps(document | {"traceEvents": events})))
    if arguments.flame:
        written.append(_write(arguments.flame, flame_graph(actual, Path(arguments.model).name)))
    if arguments.json:
        print_document(to_builtins(actual))
    else:
        print("\n".join([*actual.lines(), *(f"wrote {path}" for path in written)]))
    return 0


def _traced(module: Module, inputs: dict[str, object], arguments: argparse.Namespace) -> Trace:
    """What a run does when, once everything is compiled."""
    session = Session(prepare(copy_module(module)), limits_of(arguments), arguments.backend or "native")
    session.record(Trace())
    session.execute(None, inputs)
    trace = Trace()
    session.record(trace)
    session.execute(None, inputs)
    return trace


def _write(path: str, text: str) -> str:
    save_whole({Path(path): text.encode()})
    return path
