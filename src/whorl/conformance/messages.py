"""What goes through the pipe between the runner and a worker."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from whorl.conformance.values import Value


@dataclass(frozen=True)
class Question:
    """One case for the worker: how often to load the model, and how often to run each session."""

    model: bytes
    inputs: Mapping[str, Value]
    sessions: int = 1
    repeat: int = 1


@dataclass(frozen=True)
class Answer:
    """What became of a question: `ran` with the outputs of every run, `error` or `unsupported` with the engine's text."""

    status: str
    message: str = ""
    runs: tuple[list[Value], ...] = ()


def send(pipe: BinaryIO, message: object) -> None:
    """Write one message, with its length first."""
    data = pickle.dumps(message)
    pipe.write(len(data).to_bytes(8, "little") + data)
    pipe.flush()


def receive(pipe: BinaryIO) -> object:
    """Read one message; EOFError where the other side is gone."""
    head = pipe.read(8)
    data = pipe.read(int.from_bytes(head, "little"))
    if len(head) < 8 or len(data) < int.from_bytes(head, "little"):
        raise EOFError
    return pickle.loads(data)
