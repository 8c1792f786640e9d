"""Run a model on whorl and on other engines with the same inputs, and compare the outputs.

With --bisect, the first value that differs is looked for: in which iteration of which loops, at which node.

Each engine runs in a process of its own, so that one that crashes or hangs is reported and not fatal. The exit code is
1 where an output differs, or an engine gives none.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from whorl.api.differences import difference
from whorl.api.models import load_module
from whorl.cli import bisection
from whorl.cli.arguments import (
    UsageError,
    add_inputs,
    add_limits,
    add_model,
    limits_of,
    module_of,
    refuse_options,
)
from whorl.cli.documents import print_document
from whorl.cli.inputs import inputs_of, suggest_lengths
from whorl.cli.terminal import paint
from whorl.conformance.backends import BACKENDS
from whorl.conformance.messages import Answer, Question
from whorl.conformance.runner import Worker, WorkerLost
from whorl.errors import LoadError, SaveError
from whorl.formats.onnx.files import bytes_in_one
from whorl.formats.onnx.saving import to_proto
from whorl.formats.registry import ONNX, OPENVINO, format_of
from whorl.runtime.session import Session

PATIENCE = 60.0
"""Seconds an engine has to load and run the model where no --timeout is given."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_inputs(parser)
    add_limits(parser)
    parser.add_argument(
        "--against",
        default="onnxruntime",
        metavar="ENGINES",
        help=f"comma-separated: {', '.join(BACKENDS)}, or module:function as for conformance (default onnxruntime)",
    )
    add_tolerances(parser)
    bisection.add_arguments(parser)


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
    if arguments.bisect:
        return bisection.execute(arguments)
    refuse_options(arguments, ("--with", "--tolerance", "--repro"), "is for --bisect", "add --bisect")
    engines = engines_of(arguments.against)
    module = module_of(arguments)
    report = {}
    for engine in engines:
        run_module = module if _takes_ir(engine, arguments.model) else replace(module, states=[])
        inputs = inputs_of(arguments, run_module)
        with suggest_lengths(arguments, run_module, inputs):
            expected = Session(run_module, limits_of(arguments), arguments.backend, once=True).execute(None, inputs)
        answer = _answer(engine, arguments.model, inputs, arguments.timeout or PATIENCE)
        report[engine] = judge(answer, dict(zip(run_module.visible_outputs, expected, strict=True)), arguments)
    if arguments.json:
        print_document(report)
    else:
        print("\n".join(line for engine, judged in report.items() for line in _lines(engine, judged)))
    return int(any(judged["status"] != "equal" for judged in report.values()))


def _answer(engine: str, model: str, inputs: dict[str, Any], patience: float) -> Answer:
    """What an engine says; "unsupported" where the model has no form that it reads."""
    try:
        return ask(engine, question_of(engine, model, inputs), patience)
    except SaveError as error:
        return Answer("unsupported", str(error))


def question_of(engine: str, model: str, inputs: dict[str, Any]) -> Question:
    """What an engine is run_module: IR as it is where that is openvino, else ONNX. Errors: LoadError, SaveError."""
    return Question(_ir_bytes(model) if _takes_ir(engine, model) else _onnx_bytes(model), inputs)


def _takes_ir(engine: str, model: str) -> bool:
    """Whether an engine is given IR as it is; the ONNX form has states as inputs and outputs."""
    return engine == "openvino" and format_of(model) is OPENVINO


def _onnx_bytes(path: str) -> bytes:
    """A model file as one piece of ONNX, for engines that take bytes. Errors: LoadError, SaveError."""
    return bytes_in_one(path) if format_of(path) is ONNX else to_proto(load_module(path)).SerializeToString()


def _ir_bytes(path: str) -> bytes:
    """An `.xml` and its `.bin` in one piece: the text, a zero byte, the weights. Errors: LoadError."""
    weights = Path(path).with_suffix(".bin")
    try:
        return Path(path).read_bytes() + b"\0" + (weights.read_bytes() if weights.is_file() else b"")
    except OSError as error:
        raise LoadError(f"cannot read {path!r}: {error.strerror or error}") from None


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
    return [
        f"{engine}: {name}: {paint(problem, 'bad') if problem else paint('equal', 'good')}"
        for name, problem in judged["outputs"].items()
    ]
