"""The subprocess that runs one engine: models come in by a pipe, answers go out, so a crash costs one case."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from whorl.conformance.backends import Backend, load_backend
from whorl.conformance.messages import READY, Answer, Question, Refusal, receive, send
from whorl.conformance.values import Value

MEMORY = 6 << 30
"""Bytes of data that a worker may hold, so that an engine that allocates for ever cannot take the machine down."""


def answer(backend: Backend, question: Question) -> Answer:
    """Load and run a model; whatever the engine raises becomes an answer."""
    runs: list[list[Value]] = []
    try:
        for _ in range(question.sessions):
            run = backend.load(question.model)
            runs += [list(run(question.inputs)) for _ in range(question.repeat)]
    except Exception as problem:  # an engine may raise anything, and all of it is a result
        status = "unsupported" if backend.lacks(problem) else "error"
        return Answer(status, f"{type(problem).__name__}: {problem}")
    return Answer("ran", runs=tuple(runs))


def main(name: str) -> None:
    """Serve questions from standard input until it closes; what an engine prints goes to standard error."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit_memory()
    try:
        backend = load_backend(name)
    except (ImportError, AttributeError, ValueError) as problem:
        missing = problem.name if isinstance(problem, ModuleNotFoundError) else None
        send(answers, Refusal(str(problem), missing or ""))
        return
    send(answers, READY)
    with suppress(EOFError):
        while isinstance(question := receive(questions), Question):
            send(answers, answer(backend, question))


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


if __name__ == "__main__":
    main(sys.argv[1])
