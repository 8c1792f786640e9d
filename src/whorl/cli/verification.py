"""Whether two models give the same, on random inputs of several lengths, here and in engines that are installed."""

from __future__ import annotations

import functools
import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from whorl.api.differences import difference
from whorl.api.synthetic import synthetic_feeds
from whorl.cli.timing import in_turns
from whorl.conformance.backends import load_backend
from whorl.conformance.messages import Question
from whorl.conformance.runner import Worker, WorkerLost
from whorl.errors import RunError, WhorlError
from whorl.formats.onnx.saving import to_proto
from whorl.ir.graph import Module
from whorl.ir.infer import names_of
from whorl.passes.targets.costs import EXPECTED
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session

LENGTHS = (1, 0, 2, 5)
"""What all open dims are at once; then each has a length of its own."""
SECONDS = 20.0
"""After so long no further lengths are tried."""
TOLERANCE = 1e-4
"""How far floats may lie apart, of themselves and of 1: engines sum in orders of their own."""
ENGINES = ("onnxruntime", "openvino")
ROUNDS = 7
"""Turns in which two models are timed."""


class Verdict(Struct, frozen=True):
    """Which engines gave the same at which lengths, why others did not run it, or the first difference."""

    lengths: list[dict[str, int]]
    engines: list[str]
    notes: list[str]
    difference: str = ""


def verify(before: Module, after: Module, fixed: Mapping[str, Any]) -> Verdict:
    """Compare what a module gives with what another one, which takes fewer inputs, gives; `fixed` are the others.

    Lengths that the first one refuses count for nothing.
    """
    deadline, tried = time.monotonic() + SECONDS, list[dict[str, int]]()
    engines = _Engines(before, after)
    try:
        for number, lengths in enumerate(_lengths(after)):
            if time.monotonic() > deadline:
                break
            feeds = synthetic_feeds(after, number, lengths)
            expected = _run(before, feeds | dict(fixed))
            if isinstance(expected, str):
                continue
            tried.append(lengths)
            actual = _run(after, feeds)
            text = (
                f"fails: {actual}" if isinstance(actual, str) else _difference(after.visible_outputs, expected, actual)
            )
            text = f"whorl: {text}" if text else engines.difference(expected, feeds, fixed)
            if text:
                shown = ", ".join(f"{name} = {length}" for name, length in lengths.items())
                return Verdict(tried, engines.names, engines.notes, f"at {shown or 'its lengths'}: {text}")
    finally:
        engines.close()
    return Verdict(tried, ["whorl", *engines.names], engines.notes)


def _difference(names: Sequence[str], expected: list[Any], actual: list[Any]) -> str:
    """What differs between two lists of outputs, with the name of the output."""
    for name, ours, theirs in zip(names, expected, actual, strict=True):
        if text := difference(ours, theirs, TOLERANCE, TOLERANCE):
            return f"output {name!r}: {text}"
    return ""


def _lengths(module: Module) -> Iterator[dict[str, int]]:
    names = sorted(names_of(module.main.arguments))
    if not names:
        yield {}
        return
    yield from (dict.fromkeys(names, length) for length in LENGTHS)
    yield {name: 3 + k for k, name in enumerate(names)}


def _run(module: Module, feeds: Mapping[str, Any]) -> list[Any] | str:
    """The outputs; the message where it fails."""
    try:
        return list(Session(module, Limits(timeout=SECONDS), "interpreter", once=True).execute(None, dict(feeds)))
    except WhorlError as error:
        return error.message


class Times(Struct, frozen=True):
    """Median CPU seconds of a run in onnxruntime on one thread, at lengths of open dims."""

    before: float
    after: float
    lengths: dict[str, int]


def compare_times(before: Module, after: Module, fixed: Mapping[str, Any], expected: Mapping[str, int]) -> Times | None:
    """What two models take in onnxruntime, at expected lengths; None where it does not run both at them."""
    lengths = {name: expected.get(name, EXPECTED) for name in sorted(names_of(after.main.arguments))}
    feeds = synthetic_feeds(after, 0, lengths)
    pairs = {"before": (before, feeds | dict(fixed)), "after": (after, feeds)}
    runs: dict[str, Callable[[], object]] = {}
    try:
        worker = Worker("onnxruntime")
    except (WorkerLost, RunError):
        return None
    try:
        for name, (module, values) in pairs.items():
            model = to_proto(module).SerializeToString()
            if worker.ask(Question(model, values), SECONDS).status != "ran":
                return None
            runs[name] = functools.partial(load_backend("onnxruntime").load(model), values)
    except WorkerLost:
        return None
    finally:
        worker.close()
    return Times(**in_turns(runs, ROUNDS), lengths=lengths)


class _Engines:
    """Engines in processes of their own, which run the second model, and the first one where they differ.

    What they give otherwise for both is their reading of the model, and no difference.
    """

    def __init__(self, before: Module, after: Module) -> None:
        self.workers: dict[str, Worker] = {}
        self.notes: list[str] = []
        self.ran: set[str] = set()
        self.outputs = after.visible_outputs
        try:
            self.before, self.after = (to_proto(module).SerializeToString() for module in (before, after))
        except (WhorlError, ValueError) as error:
            self.notes.append(f"no engine was asked: {_first_line(error)}")
            return
        for name in ENGINES:
            if importlib.util.find_spec(name) is not None:
                try:
                    self.workers[name] = Worker(name)
                except (WorkerLost, RunError) as problem:
                    self.notes.append(f"{name} does not start: {_first_line(problem)}")

    @property
    def names(self) -> list[str]:
        """Those that ran it."""
        return [name for name in ENGINES if name in self.ran]

    def difference(self, expected: list[Any], feeds: Mapping[str, Any], fixed: Mapping[str, Any]) -> str:
        """What an engine gives other than expected; that one fails is a note."""
        for name in list(self.workers):
            actual = self._ask(name, self.after, feeds)
            if isinstance(actual, str):
                self._note(f"{name} does not run it at every length: {actual}")
            elif text := _difference(self.outputs, expected, actual):
                own = self._ask(name, self.before, {**feeds, **fixed})
                if not isinstance(own, str) and not _difference(self.outputs, expected, own):
                    return f"{name}: {text}"
                self._note(f"{name} gives something else for the model with its loops, too: {text}")
            else:
                self.ran.add(name)
        return ""

    def _ask(self, name: str, model: bytes, feeds: Mapping[str, Any]) -> list[Any] | str:
        """The outputs of an engine; the message where it fails."""
        if name not in self.workers:
            return "it died"
        try:
            answer = self.workers[name].ask(Question(model, feeds), SECONDS)
        except WorkerLost as lost:
            self.workers.pop(name).close()
            return _first_line(lost.message)
        return answer.runs[0] if answer.status == "ran" else _first_line(answer.message)

    def _note(self, note: str) -> None:
        """Keep the first note of an engine."""
        if not any(known.partition(" ")[0] == note.partition(" ")[0] for known in self.notes):
            self.notes.append(note)

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()


def _first_line(problem: object) -> str:
    return str(problem).strip().partition("\n")[0][:200]
