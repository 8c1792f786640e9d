"""Measure a model on whorl and on other engines: results are compared first, then runs go in turns.

Times are CPU seconds on one thread, medians. Start and memory are measured in new processes: whorl compiles in the
first, and finds its code on disk in the second. The exit code is 1 where an output differs, or an engine gives none.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from whorl.api.preparing import prepare
from whorl.cli.arguments import add_inputs, add_limits, add_model, count, limits_of, module_of
from whorl.cli.documents import print_document
from whorl.cli.inputs import inputs_of, suggest_lengths
from whorl.cli.timing import in_turns
from whorl.cli.verbs.compare import PATIENCE, add_tolerances, ask, engines_of, judge, question_of
from whorl.conformance.backends import BACKENDS, load_backend
from whorl.conformance.messages import Question
from whorl.ir.types import type_of
from whorl.runtime.session import Session
from whorl.runtime.trace import COMPILE, MAIN, Trace

US = "whorl"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_inputs(parser)
    add_limits(parser)
    parser.set_defaults(backend="native")
    parser.add_argument(
        "--against", default="onnxruntime", metavar="ENGINES", help=f"comma-separated: {', '.join(BACKENDS)}"
    )
    parser.add_argument("--rounds", type=count, default=11, metavar="N", help="turns of each engine (default 11)")
    add_tolerances(parser)


def execute(arguments: argparse.Namespace) -> int:
    engines = engines_of(arguments.against)
    module = module_of(arguments)
    inputs = inputs_of(arguments, module)
    prepare(module, has_memory_limit=arguments.max_memory is not None)
    session = Session(module, limits_of(arguments), arguments.backend)
    with suggest_lengths(arguments, module, inputs):
        expected = dict(zip(module.visible_outputs, session.execute(None, inputs), strict=True))
    questions = {name: question_of(name, arguments.model, inputs) for name in (US, *engines)}
    patience = arguments.timeout or PATIENCE
    judged = {name: judge(ask(name, questions[name], patience), expected, arguments) for name in engines}
    runs: dict[str, Callable[[], object]] = {US: lambda: session.execute(None, inputs)}
    for name in engines:
        if judged[name]["status"] == "equal":
            runs[name] = _bound(load_backend(name).load(questions[name].model), inputs)
    medians = in_turns(runs, arguments.rounds)
    report = {
        "inputs": {name: str(type_of(value)) for name, value in inputs.items()},
        "results": judged,
        "engines": {
            name: {"run": seconds, "ratio": seconds / medians[US]} | _starts(name, questions[name], arguments)
            for name, seconds in medians.items()
        },
        "loops": _loops(session, inputs),
    }
    if arguments.json:
        print_document(report)
    else:
        print("\n".join(_lines(report)))
    return int(any(verdict["status"] != "equal" for verdict in judged.values()))


def _bound(run: Callable[[Mapping[str, Any]], object], inputs: Mapping[str, Any]) -> Callable[[], object]:
    return lambda: run(inputs)


# ---- measuring -----------------------------------------------------------------------------------------------


def _loops(session: Session, inputs: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Iterations of each loop in one run, and the seconds of one."""
    session.record(Trace())
    session.execute(None, inputs)
    trace = Trace()
    session.record(trace)
    session.execute(None, inputs)
    loops: dict[str, dict[str, float]] = {}
    for lane in trace.lanes():
        spans = [span for span in trace.spans if span.lane == lane]
        iterations = sum(span.facts.get("iterations", 0) for span in spans)
        if lane not in (MAIN, COMPILE) and iterations:
            seconds = sum(span.stop - span.start for span in spans) / iterations
            loops[lane] = {"iterations": iterations, "seconds": seconds}
    return loops


def _starts(engine: str, question: Question, arguments: argparse.Namespace) -> dict[str, float]:
    """What the first process of an engine takes, and for whorl the second, which finds its code on disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question"
        path.write_bytes(pickle.dumps(question))
        own = {"WHORL_CACHE": str(Path(folder) / "cache"), "WHORL_BACKEND": arguments.backend}
        first = _start(engine, path, own)
        if engine != US or not first:
            return first
        second = _start(engine, path, own)
        return first | {"second_load": second.get("load", 0.0), "second_first_run": second.get("first_run", 0.0)}


def _start(engine: str, path: Path, own: Mapping[str, str]) -> dict[str, float]:
    environment = {**os.environ, **ONE_THREAD, **own, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "whorl.cli.starting", engine, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=10 * PATIENCE)
        return json.loads(done.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return {}


# ---- printing ------------------------------------------------------------------------------------------------

_COLUMNS = (
    ("run", "one run"),
    ("ratio", "times whorl's"),
    ("load", "load"),
    ("first_run", "first run"),
    ("second_load", "load again"),
    ("second_first_run", "first run again"),
    ("memory", "memory"),
)


def _lines(report: dict[str, Any]) -> list[str]:
    lines = [f"input   {name}: {type}" for name, type in report["inputs"].items()]
    for engine, judged in report["results"].items():
        outputs = "; ".join(f"{name}: {text}" for name, text in judged.get("outputs", {}).items() if text)
        lines.append(f"results of {engine}: {judged['status']} {judged.get('message', outputs)}".rstrip())
    rows = [["", *(title for _, title in _COLUMNS)]]
    rows += [[name, *(_format(key, row.get(key)) for key, _ in _COLUMNS)] for name, row in report["engines"].items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines.append("")
    lines += ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    if report["loops"]:
        lines += ["", "loops in whorl"]
    for name, loop in report["loops"].items():
        lines.append(f"  {name}: {loop['iterations']} iterations, {_time(loop['seconds'])} each")
    return lines


def _format(key: str, value: float | None) -> str:
    if value is None:
        return ""
    match key:
        case "ratio":
            return f"{value:.3g}"
        case "memory":
            return f"{value / 1e6:.1f} MB"
        case _:
            pass
    return _time(value)


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
