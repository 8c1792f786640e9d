"""Run a model on whorl and on other engines with the same inputs, and compare the outputs.

Each engine runs in a process of its own, so that one that crashes or hangs is reported and not fatal.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from whorl.api.differences import difference
from whorl.api.synthetic import synthetic_feeds
from whorl.cli.models import add_feeds, add_limits, add_model, limits_of, module_of, read_inputs, sizes_of
from whorl.conformance.backends import BACKENDS
from whorl.conformance.messages import Answer, Question
from whorl.conformance.runner import Worker, WorkerLost
from whorl.errors import RunError
from whorl.runtime.session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_feeds(parser)
    add_limits(parser)
    others = ",".join(name for name in BACKENDS if name != "whorl")
    parser.add_argument("--against", default="onnxruntime", metavar="ENGINES", help=f"comma-separated: {others}")
    parser.add_argument("--rtol", type=float, default=1e-4, help="relative tolerance (default 1e-4)")
    parser.add_argument("--atol", type=float, default=1e-6, help="absolute tolerance (default 1e-6)")


def execute(arguments: argparse.Namespace) -> int:
    engines = arguments.against.split(",")
    for engine in engines:
        if engine not in BACKENDS and ":" not in engine:
            raise RunError(f"there is no engine {engine!r}", fix=f"choose from {', '.join(BACKENDS)}")
    module = module_of(arguments)
    feeds = synthetic_feeds(module, arguments.random or 0, sizes_of(arguments.dim))
    feeds |= read_inputs(arguments.input, module)
    expected = Session(module, limits_of(arguments)).execute(None, feeds)
    report = {}
    for engine in engines:
        answer = _ask(engine, Path(arguments.model), feeds, arguments.timeout or 60.0)
        report[engine] = _judge(answer, module.output_names, expected, arguments.rtol, arguments.atol)
    if arguments.json:
        print(json.dumps(report, indent=1))
    else:
        for engine, outputs in report.items():
            for name, problem in outputs.items():
                print(f"{engine}: {name}: {problem or 'equal'}")
    return int(any(problem for outputs in report.values() for problem in outputs.values()))


def _ask(engine: str, model: Path, feeds: dict[str, Any], timeout: float) -> Answer:
    try:
        worker = Worker(engine)
    except WorkerLost as lost:
        return Answer(lost.status, lost.message)
    try:
        return worker.ask(Question(model.read_bytes(), feeds), timeout)
    except WorkerLost as lost:
        return Answer(lost.status, lost.message)
    finally:
        worker.close()


def _judge(answer: Answer, names: list[str], expected: list[Any], rtol: float, atol: float) -> dict[str, str]:
    """What differs, by output; everything where the engine gave no answer."""
    if answer.status != "ran":
        return dict.fromkeys(names, f"{answer.status}: {answer.message}")
    found = zip(names, expected, answer.runs[0], strict=True)
    return {name: difference(ours, theirs, rtol, atol) for name, ours, theirs in found}
