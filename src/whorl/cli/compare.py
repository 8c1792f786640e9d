"""Run a model on whorl and on other engines with the same inputs, and compare the outputs.

Each engine runs in a process of its own, so that one that crashes or hangs is reported and not fatal. The exit code is
1 where an output differs, or an engine gives none.
"""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from whorl.api.differences import difference
from whorl.api.models import ir_bytes, is_ir, onnx_bytes
from whorl.cli.arguments import UsageError, add_feeds, add_limits, add_model, limits_of, module_of
from whorl.cli.documents import print_document
from whorl.cli.feeds import feeds_of, naming_lengths
from whorl.conformance.backends import BACKENDS
from whorl.conformance.messages import Answer, Question
from whorl.conformance.runner import Worker, WorkerLost
from whorl.errors import SaveError
from whorl.runtime.session import Session

PATIENCE = 60.0
"""Seconds an engine has to load and run the model where no --timeout is given."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_feeds(parser)
    add_limits(parser)
    parser.add_argument(
        "--against",
        default="onnxruntime",
        metavar="ENGINES",
        help=f"comma-separated: {', '.join(BACKENDS)}, or module:function as for conformance (default onnxruntime)",
    )
    add_tolerances(parser)


def add_tolerances(parser: argparse.ArgumentParser) -> None:
    """How far results may lie apart."""
    parser.add_argument("--rtol", type=float, default=1e-4, help="relative tolerance (default 1e-4)")
    parser.add_argument("--atol", type=float, default=1e-6, help="absolute tolerance (default 1e-6)")


def engines_of(text: str) -> list[str]:
    """The engines that `--against` names."""
    engines = [name.strip() for name in text.split(",")]
    for engine in engines:
        if engine not in BACKENDS and ":" not in engine:
            raise UsageError(f"there is no engine {engine!r}", fix=f"choose from {', '.join(BACKENDS)}")
    return engines


def execute(arguments: argparse.Namespace) -> int:
    engines = engines_of(arguments.against)
    module = module_of(arguments)
    report = {}
    for engine in engines:
        asked = module if _takes_ir(engine, arguments.model) else dataclasses.replace(module, states=[])
        feeds = feeds_of(arguments, asked)
        with naming_lengths(arguments, asked, feeds):
            expected = Session(asked, limits_of(arguments), arguments.backend, once=True).execute(None, feeds)
        answer = _answer(engine, arguments.model, feeds, arguments.timeout or PATIENCE)
        report[engine] = judge(answer, dict(zip(asked.visible_outputs, expected, strict=True)), arguments)
    if arguments.json:
        print_document(report)
    else:
        print("\n".join(line for engine, judged in report.items() for line in _lines(engine, judged)))
    return int(any(judged["status"] != "equal" for judged in report.values()))


def _answer(engine: str, model: str, feeds: dict[str, Any], patience: float) -> Answer:
    """What an engine says; "unsupported" where the model has no form that it reads."""
    try:
        return ask(engine, question_of(engine, model, feeds), patience)
    except SaveError as error:
        return Answer("unsupported", str(error))


def question_of(engine: str, model: str, feeds: dict[str, Any]) -> Question:
    """What an engine is asked: IR as it is where that is openvino, else ONNX. Errors: LoadError, SaveError."""
    return Question(ir_bytes(model) if _takes_ir(engine, model) else onnx_bytes(model), feeds)


def _takes_ir(engine: str, model: str) -> bool:
    """Whether an engine is given IR as it is; the ONNX form has states as inputs and outputs."""
    return engine == "openvino" and is_ir(model)


def ask(engine: str, question: Question, timeout: float) -> Answer:
    """The answer of an engine in a process of its own; one that ends or hangs is an answer, too."""
    try:
        worker = Worker(engine)
    except WorkerLost as lost:
        return Answer(lost.status, lost.message)
    try:
        return worker.ask(question, timeout)
    except WorkerLost as lost:
        return Answer(lost.status, lost.message)
    finally:
        worker.close()


def judge(answer: Answer, expected: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """`equal` or `different` with what differs by output; else what became of the engine."""
    if answer.status != "ran":
        return {"status": answer.status, "message": answer.message}
    if len(answer.runs[0]) != len(expected):
        return {"status": "different", "message": f"{len(answer.runs[0])} outputs instead of {len(expected)}"}
    pairs = zip(expected.items(), answer.runs[0], strict=True)
    outputs = {name: difference(ours, theirs, arguments.rtol, arguments.atol) for (name, ours), theirs in pairs}
    return {"status": "different" if any(outputs.values()) else "equal", "outputs": outputs}


def _lines(engine: str, judged: dict[str, Any]) -> list[str]:
    if "message" in judged:
        return [f"{engine}: {judged['status']}: {' '.join(judged['message'].split())}"]
    return [f"{engine}: {name}: {problem or 'equal'}" for name, problem in judged["outputs"].items()]
