"""What goes through the pipe between the runner and a worker."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import IO

from msgspec import Struct

from whorl.conformance.values import Value

READY = "ready"
"""What a worker says once its engine is loaded; a Refusal where it is not."""


class Refusal(Struct, frozen=True):
    """Why an engine cannot be loaded; `missing` is the module that is not installed, if that is the reason."""

    reason: str
    missing: str = ""


class Question(Struct, frozen=True):
    """One case for the worker: how often to load the model, and how often to run each session."""

    model: bytes
    inputs: Mapping[str, Value]
    sessions: int = 1
    repeat: int = 1


class Answer(Struct, frozen=True):
    """What became of a question: `ran` with the outputs of each run, or `error` or `unsupported` and why."""

    status: str
    message: str = ""
    runs: tuple[list[Value], ...] = ()


def send(pipe: IO[bytes], message: object) -> None:
    """Write one message, with its length first."""
    data = pickle.dumps(message)
    pipe.write(len(data).to_bytes(8, "little") + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> object:
    """Read one message; EOFError where the other side is gone."""
    head = pipe.read(8)
    data = pipe.read(int.from_bytes(head, "little"))
    if len(head) < 8 or len(data) < int.from_bytes(head, "little"):
        raise EOFError
    return pickle.loads(data)
