"""`whorl compare --bisect`: the two sides, and the first difference as text, as a document and as a model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from msgspec import to_builtins
from msgspec.structs import replace

from whorl.api.extracting import Extracted
from whorl.api.models import load_module, save
from whorl.api.tracing.bisecting import Side, bisect, isolate_first
from whorl.api.tracing.differing import DEFAULTS, Difference, Tolerances
from whorl.api.tracing.first import First, first_output
from whorl.api.tracing.recording import copy_module
from whorl.cli.arguments import UsageError, module_of
from whorl.cli.documents import plain, print_document
from whorl.cli.inputs import inputs_of
from whorl.cli.progress import shows_progress, status_line
from whorl.cli.running import run_module
from whorl.cli.test_data import DATA, write_data
from whorl.conformance.backends import BACKENDS
from whorl.conformance.messages import Question
from whorl.conformance.runner import Worker, WorkerLost
from whorl.errors import RunError
from whorl.formats.onnx.files import bytes_in_one
from whorl.formats.onnx.saving import to_proto
from whorl.formats.registry import ONNX, format_of
from whorl.ir.graph import Module

FORM = "only the file as it is differs: as whorl writes the model, with the same meaning, all values are equal"
PATIENCE = 60.0
"""Seconds an engine has for one run where no --timeout is given."""
SHOWN = 8
"""Elements of an operand that are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bisect",
        action="store_true",
        help="find the first value that differs, in which iteration of which loops, and the node that makes it",
    )
    parser.add_argument(
        "--with",
        metavar="OTHER",
        help="what --bisect compares with: an engine as for --against, or another model, which whorl runs and whose "
        "values are called as those of MODEL",
    )
    parser.add_argument(
        "--tolerance",
        action="append",
        default=[],
        metavar="TYPE=RTOL[:ATOL]",
        help="for --bisect: how far values of an element type may lie apart, as float32=1e-5:1e-7. Repeatable",
    )
    parser.add_argument(
        "--repro", metavar="FOLDER", help="for --bisect: write the node that differs as a model, with its inputs"
    )


def tolerances_of(entries: list[str]) -> Tolerances:
    """The tolerances with those of the options. Errors: UsageError."""
    tolerances = dict(DEFAULTS)
    for entry in entries:
        name, _, numbers = entry.partition("=")
        try:
            rtol, atol = ([float(number) for number in numbers.split(":")] + [0.0])[:2]
        except ValueError:
            raise UsageError(f"--tolerance {entry!r} has no numbers", fix="write TYPE=RTOL or TYPE=RTOL:ATOL") from None
        tolerances[name] = rtol, atol
    return tolerances


def execute(arguments: argparse.Namespace) -> int:
    """Find and report the first difference; the exit code is 1 where there is one."""
    module = module_of(arguments)
    inputs = inputs_of(arguments, module)
    tolerances = tolerances_of(arguments.tolerance)
    with _their_side(arguments, module) as theirs:
        ours = Side(module, partial(run_module, arguments))
        steps = ["searching"]
        with status_line(shows_progress(arguments), lambda: steps[-1]):
            first = bisect(ours, theirs, inputs, tolerances, steps.append)
            if first is None and theirs.module is module and format_of(arguments.model) is ONNX:
                with Engine(_other(arguments), arguments.timeout or PATIENCE) as engine:
                    first = first_in_file(bytes_in_one(arguments.model), ours, engine, inputs, tolerances)
        repro = isolate_first(ours, first, inputs) if first is not None and arguments.repro else None
    written = "" if repro is None else _write_repro(repro, Path(arguments.repro))
    if arguments.json:
        document = {"first": None if first is None else document_of(first)}
        print_document(document | ({"repro": written} if written else {}))
    else:
        print("\n".join([*lines_of(first), *([f"wrote {written}"] if written else [])]))
    return int(first is not None)


def _other(arguments: argparse.Namespace) -> str:
    return getattr(arguments, "with") or arguments.against


@contextmanager
def _their_side(arguments: argparse.Namespace, module: Module) -> Iterator[Side]:
    other = _other(arguments)
    if other not in BACKENDS and ":" not in other:
        if not Path(other).exists():
            raise UsageError(f"--with {other!r} is neither a file nor an engine", fix=f"engines: {', '.join(BACKENDS)}")
        yield Side(load_module(other), partial(run_module, arguments))
        return
    with Engine(other, arguments.timeout or PATIENCE) as engine:
        yield Side(module, engine.run)


def first_in_file(
    model: bytes, ours: Side, engine: Engine, inputs: Mapping[str, Any], tolerances: Tolerances
) -> First | None:
    """The first output that differs where an engine reads a file in ONNX as it is, not as whorl writes it."""
    try:
        answers = engine.ask(model, inputs)
    except RunError as error:
        return First("", [], "", "", note=f"{FORM}: {error}")
    expected = ours.run(copy_module(ours.module), inputs)
    first = first_output(ours.module, expected, answers, tolerances)
    return first and replace(first, note=first.note + FORM)


class Engine:
    """An engine in a process of its own, which begins anew where it was lost."""

    def __init__(self, name: str, patience: float) -> None:
        self.name, self.patience = name, patience
        self.worker: Worker | None = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, module: Module, inputs: Mapping[str, Any]) -> list[Any]:
        """All outputs. Errors: RunError where there are none."""
        return self.ask(to_proto(module, is_verbatim=True).SerializeToString(), inputs)

    def ask(self, model: bytes, inputs: Mapping[str, Any]) -> list[Any]:
        """All outputs of a model in ONNX. Errors: RunError where there are none."""
        question = Question(model, inputs)
        try:
            self.worker = self.worker or Worker(self.name)
            answer = self.worker.ask(question, self.patience)
        except WorkerLost as lost:
            self.close()
            raise RunError(f"{self.name}: {lost.status}: {lost.message}") from None
        if answer.status != "ran":
            raise RunError(f"{self.name}: {answer.status}: {answer.message}")
        return answer.runs[0]

    def close(self) -> None:
        """End the process."""
        if self.worker is not None:
            self.worker.close()
        self.worker = None


def document_of(first: First) -> dict[str, Any]:
    """The first difference as JSON has it."""
    difference = first.difference
    numbers = {"max_abs": None, "max_rel": None, "ulp": None, "ours": None, "theirs": None, "index": None}
    if difference is not None:
        numbers = {name: _plain(getattr(difference, name)) for name in numbers}
    return {
        "output": first.output,
        "loops": [{"name": name, "iteration": iteration} for name, iteration in first.loops],
        "node": first.node,
        "value": first.value,
        **numbers,
        "text": "" if difference is None else difference.text,
        "reordering": None if first.reordering is None else to_builtins(first.reordering),
        "note": first.note,
        "operands": [
            {"name": each.name, "ours": _plain(each.ours), "theirs": _plain(each.theirs)} for each in first.operands
        ],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return plain(np.asarray(value))["value"]
    return plain(value)


def lines_of(first: First | None) -> list[str]:
    """The first difference as text."""
    if first is None:
        return ["no value differs"]
    lines = [f"output    {first.output}"]
    lines += [f"loop      {name}: iteration {iteration}" for name, iteration in first.loops]
    lines += [f"node      {first.node}"] if first.node else []
    lines += [f"value     {first.value}"] if first.value else []
    if first.difference is not None:
        lines.append(f"differs   {first.difference.text}")
        lines += _distances(first.difference)
    if (order := first.reordering) is not None:
        verdict = "within" if order.explains else "beyond"
        lines.append(f"sums      {verdict} what another order of {order.terms} terms can do, {order.bound:.3g} here")
    if first.note:
        lines.append(f"note      {first.note}")
    for each in first.operands:
        lines.append(f"operand   {each.name}: {_brief(each.ours)} here, {_brief(each.theirs)} there")
    return lines


def _distances(difference: Difference) -> list[str]:
    named = ("abs", difference.max_abs), ("rel", difference.max_rel)
    numbers = [f"{name} {number:.3g}" for name, number in named if number is not None]
    numbers += [] if difference.ulp is None else [f"ulp {difference.ulp}"]
    return [f"at most   {', '.join(numbers)}"] if numbers else []


def _brief(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return "nothing" if value is None else f"{len(value)} items"
    flat = value.reshape(-1)
    return f"[{' '.join(map(str, flat[:SHOWN]))}{' ...' if flat.size > SHOWN else ''}]"


def _write_repro(repro: Extracted, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    save(repro.module, path)
    write_data(folder / DATA, repro)
    return str(path)
