"""The smallest program that still has a fault, and programs as text that can be kept as regressions."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import ModelProto, printer
from onnx.parser import ParseError, parse_model

from fuzz.cell_programs import Feeds, Program
from fuzz.cell_runs import Fault, fault_of
from fuzz.forms import Slack
from fuzz.reductions import reductions
from whorl.ir.dtypes import BY_NAME, name_of

RULE = "\n----\n"
SECONDS = 60.0


def minimise(program: Program, fault: Fault, seconds: float = SECONDS) -> Program:
    """A smaller program with a fault of the same kind on the same backend."""
    backends = (fault.backend,) if fault.backend in ("native", "auto") else ("native",)

    def is_bad(candidate: Program) -> bool:
        try:
            actual, _ = fault_of(candidate, backends)
        except (ValueError, IndexError, KeyError):
            return False
        return actual is not None and actual.kind == fault.kind

    return shrink(program, is_bad, time.monotonic() + seconds)


def shrink(program: Program, is_bad: Callable[[Program], bool], until: float) -> Program:
    """Take the first reduction that is still bad, until there is none."""
    while True:
        for candidate in reductions(program):
            if time.monotonic() > until:
                return program
            if is_bad(candidate):
                program = candidate
                break
        else:
            return program


def to_text(program: Program) -> str:
    """The model in ONNX text, then the slack of its outputs, then the feeds of each run, in JSON.

    A model that cannot be read back from its text is there as bytes too.
    """
    names = [v.name for v in program.model.graph.output]
    slack = {name: [s.ulps, s.units] for name, s in program.slack.items() if name in names and s != Slack()}
    head: dict[str, Any] = {"seed": program.seed % 2, "slack": slack}
    text = printer.to_text(program.model)
    if not _is_readable(text):
        head["model"] = base64.b64encode(program.data).decode()
    return text + RULE + "\n".join([json.dumps(head), *(feeds_text(feeds) for feeds in program.runs)]) + "\n"


def _is_readable(text: str) -> bool:
    """Whether ONNX's parser takes back what its printer wrote; constants of narrow types it does not."""
    try:
        parse_model(text)
    except ParseError:
        return False
    return True


def feeds_text(feeds: Feeds) -> str:
    message = {}
    for name, array in feeds.items():
        own = np.float64 if "float" in array.dtype.name else np.int64
        wide = array if array.dtype.kind in "biu" else array.astype(own)
        message[name] = [name_of(array.dtype), list(array.shape), wide.ravel().tolist()]
    return json.dumps(message)


def from_text(text: str) -> Program:
    model, _, rest = text.partition(RULE)
    first, *runs = [line for line in rest.splitlines() if line.startswith("{")]
    head = json.loads(first)
    parsed = ModelProto.FromString(base64.b64decode(head["model"])) if "model" in head else parse_model(model)
    names = [v.name for v in parsed.graph.output]
    slack = {name: Slack(*head["slack"].get(name, (0, 0))) for name in names}
    return Program(parsed, [feeds_of(line) for line in runs], slack, seed=head["seed"])


def feeds_of(line: str) -> Feeds:
    message = json.loads(line)
    return {k: array_of(BY_NAME[dtype], shape, values) for k, (dtype, shape, values) in message.items()}


def array_of(dtype: np.dtype, shape: list[int], values: list) -> np.ndarray:
    direct = np.array(values, dtype if dtype.kind in "biuf" else np.float64)
    return direct.astype(dtype).reshape(shape)
