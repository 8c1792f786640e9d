"""Running a program of cells: on the interpreter, which is the oracle, and on the other backends run after run."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import whorl
from fuzz.cell_programs import Feeds, Program
from fuzz.forms import Slack
from fuzz.likeness import difference
from whorl.ir.graph import Module
from whorl.runtime.compiled.background import compile_in_background

BACKENDS = ("native", "auto", "prepared")
REPEATS = 3
TIMEOUT = 20.0


@dataclass(frozen=True)
class Fault:
    """What went wrong: a `kind` that stays the same while a program is made smaller, and the details."""

    kind: str
    backend: str
    text: str
    run: int = -1

    def __str__(self) -> str:
        return f"{self.kind} on {self.backend}, run {self.run}: {self.text}"


@dataclass(frozen=True)
class Outcome:
    """The outputs of a run, or the kind of its error."""

    outputs: tuple[Any, ...] | None
    error: str = ""
    text: str = ""

    @property
    def is_raw(self) -> bool:
        """Whether the run ended in something that is no error of whorl's."""
        return self.error.startswith("raw ")


def session(data: bytes | Module, backend: str, omitted: str = "specification") -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.backend, options.timeout, options.condition_when_omitted = backend, TIMEOUT, omitted
    return whorl.InferenceSession(data, options)


def prepared(program: Program) -> whorl.InferenceSession:
    """A session on what another one has compiled for the program's first feeds, or all of them, and put on disk."""
    first = whorl.InferenceSession(program.data)
    for feeds in program.runs[: 1 + program.seed % len(program.runs)]:
        run(first, feeds)
    return whorl.InferenceSession(program.data)


def run(session: whorl.InferenceSession, feeds: Feeds) -> Outcome:
    """One run, whatever becomes of it."""
    try:
        return Outcome(tuple(session.run(None, feeds)))
    except whorl.WhorlError as error:
        return Outcome(None, type(error).__name__, str(error))
    except Exception as error:  # a fault, whatever it is: it is reported with its traceback
        return Outcome(None, f"raw {type(error).__name__}", "".join(traceback.format_exception(error)))


def order_of(program: Program) -> list[int]:
    """Which feeds each run takes: every one three times, in turns or one after the other."""
    count = len(program.runs)
    turns = [n for _ in range(REPEATS) for n in range(count)]
    return turns if program.seed % 2 else sorted(turns)


def fault_of(program: Program, backends: Sequence[str] = BACKENDS) -> tuple[Fault | None, list[Outcome]]:
    """The first fault of a program, and what the oracle makes of each of its feeds."""
    try:
        oracle = session(program.data, "interpreter")
        expected = [run(oracle, feeds) for feeds in program.runs]
    except whorl.WhorlError as error:
        return Fault(f"refused {type(error).__name__}", "load", str(error)), []
    except Exception as error:  # as in `run`
        return Fault(f"raw {type(error).__name__}", "load", "".join(traceback.format_exception(error))), []
    raw = next((n for n, outcome in enumerate(expected) if outcome.is_raw), None)
    if raw is not None:
        return Fault(expected[raw].error, "interpreter", expected[raw].text, raw), expected
    for backend in backends:
        if fault := compare(program, backend, expected):
            return fault, expected
    return None, expected


def compare(program: Program, backend: str, expected: list[Outcome]) -> Fault | None:
    """The first difference of nine runs in one session. Some results are kept, and must stay as they were.

    For some programs "auto" has compiled all that it was asked for before the next run begins.
    """
    tested, remaining = prepared(program) if backend == "prepared" else session(program.data, backend), []
    for step, n in enumerate(order_of(program)):
        feeds = {name: array.copy() for name, array in program.runs[n].items()}
        if backend == "auto" and step and program.seed % 4 == 0:
            compile_in_background(bool).result()
        actual = run(tested, feeds)
        fault = judge(program, backend, expected[n], actual, step)
        if fault and expected[n].outputs is None:
            fault = judge(program, backend, without_dead_code(program, n), actual, step)
        if fault:
            return fault
        if any(a.tobytes() != feeds[name].tobytes() for name, a in program.runs[n].items()):
            return Fault("feeds changed", backend, "a run changed its feeds", step)
        if step % 2 == program.seed % 2 and expected[n].outputs is not None:
            remaining.append((step, expected[n], actual))
    for step, before, actual in remaining:
        if fault := judge(program, backend, before, actual, step):
            return Fault("result changed later", backend, fault.text, step)
    return None


def without_dead_code(program: Program, n: int) -> Outcome:
    """What the oracle makes of feeds where nodes that no output needs are not run: no backend has to run them."""
    lean = whorl.optimize(program.data, only=["dce"])
    return run(session(lean, "interpreter"), program.runs[n])


def judge(program: Program, backend: str, expected: Outcome, actual: Outcome, step: int) -> Fault | None:
    if actual.is_raw:
        return Fault(actual.error, backend, actual.text, step)
    if actual.outputs is None or expected.outputs is None:
        if actual.error == expected.error:
            return None
        pair = f"{actual.error or 'values'} instead of {expected.error or 'values'}"
        return Fault(pair, backend, actual.text or expected.text, step)
    names = [v.name for v in program.model.graph.output]
    for name, e, f in zip(names, expected.outputs, actual.outputs, strict=True):
        if text := difference(e, f, program.slack.get(name, Slack())):
            return Fault("values differ", backend, f"output {name}: {text}", step)
    return None
