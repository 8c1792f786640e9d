"""What runs a family: whorl and onnxruntime, one thread each, imported when they are needed."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

US, PEER = "whorl", "onnxruntime"
Run = Callable[[dict[str, np.ndarray]], Sequence[Any]]


@dataclass(frozen=True)
class Calls:
    """The calls of a family as `Family.export` wrote them."""

    labels: tuple[str, ...]
    feeds: tuple[dict[str, np.ndarray], ...]
    tolerance: float


def model_path(folder: Path) -> Path:
    return folder / "model.onnx"


def read_calls(folder: Path) -> Calls:
    settings = json.loads((folder / "calls.json").read_text())
    feeds: list[dict[str, np.ndarray]] = [{} for _ in settings["labels"]]
    with np.load(folder / "calls.npz") as arrays:
        for name in arrays.files:
            position, _, own = name.partition("/")
            feeds[int(position)][own] = arrays[name]
    return Calls(tuple(settings["labels"]), tuple(feeds), settings["tolerance"])


def load_whorl(path: Path, backend: str | None) -> Run:
    import whorl

    options = whorl.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.backend = backend
    session = whorl.InferenceSession(str(path), options)
    return lambda feeds: session.run(None, feeds)


def load_onnxruntime(path: Path, backend: str | None) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


ENGINES: dict[str, Callable[[Path, str | None], Run]] = {US: load_whorl, PEER: load_onnxruntime}


def peak_memory() -> int:
    """The most memory that this process had, in bytes; where the system tells it, since its program began."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
