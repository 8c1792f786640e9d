"""How much memory and time does constant propagation need, and how many nodes does it leave?

Each tool optimises each model in a process of its own; what counts is its CPU time and its memory over that of the
imported tool. The optimised models are run beside the original ones: whorl's must give the same bits. Written files go
to a temporary folder of some 4 GiB; with WHORL_BENCH_LARGE=1, of 20 GiB, since a model with 6 GiB of weights is added.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from constants import models
from constants.tools import TOOLS
from measuring import US, Measurement, report

import whorl

MIB = 1 << 20
ROUNDS = 3
TIMEOUT = 600
FOLDED = ("a1", "a2", "a3")
"""The models with large constants."""
ANONYMOUS_TARGET = 32.0
LARGE_TARGET = 900.0
PEERS = [name for name in TOOLS if name != US and importlib.util.find_spec(name)]
CPU_SHARES = {"a1": 1.0, "a2": 1.0, "b": 0.25, "d_static": 1.0, "d_dynamic": 1.0}
"""The part of the best peer's CPU time that whorl may need."""


def optimized(tool: str, source: Path) -> dict[str, Any] | None:
    """What a tool needed for a model, and where it put the result; None where it fails."""
    target = source.parent / tool / "out.onnx"
    target.parent.mkdir(exist_ok=True)
    command = [sys.executable, str(Path(__file__).parent / "constants" / "tools.py"), tool, str(source), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode:
        print(f"{tool} fails: {done.stderr.splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1]) | {"target": target}


def best(tool: str, source: Path) -> dict[str, Any] | None:
    """The least that a tool needed in some rounds."""
    actual = [figures for _ in range(ROUNDS) if (figures := optimized(tool, source)) is not None]
    if not actual:
        return None
    least = {key: min(figures[key] for figures in actual) for key in ("seconds", "peak", "resident", "anonymous")}
    return least | {"target": actual[0]["target"]}


def nodes_of(path: Path) -> int:
    """The nodes of a model and its subgraphs that are no constants."""

    def count(graph: onnx.GraphProto) -> int:
        inner = (a.g for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH)
        return sum(node.op_type != "Constant" for node in graph.node) + sum(map(count, inner))

    return count(onnx.load(path, load_external_data=False).graph)


def outputs_of(path: Path) -> dict[str, np.ndarray]:
    """What the interpreter computes of a model, for inputs that are the same each time."""
    random, options = np.random.default_rng(1), whorl.SessionOptions()
    options.backend = "interpreter"
    session = whorl.InferenceSession(path, options)
    feeds = {
        each.name: random.standard_normal([d if isinstance(d, int) else 3 for d in each.shape]).astype(np.float32)
        for each in session.get_inputs()
    }
    return dict(zip((each.name for each in session.get_outputs()), session.run(None, feeds), strict=True))


def check(name: str, figures: dict[str, dict[str, Any]], source: Path) -> None:
    """Stop where an optimised model computes something else."""
    expected = outputs_of(source)
    for tool, actual in figures.items():
        for key, array in outputs_of(actual["target"]).items():
            same = array.tobytes() == expected[key].tobytes() if tool == US else np.allclose(array, expected[key], 1e-3)
            if not same:
                raise SystemExit(f"{name}: output {key!r} of what {tool} made differs")


def measured(name: str, folder: Path) -> list[Measurement]:
    """All that is measured on one model."""
    source = models.write(name, folder)
    figures = {tool: actual for tool in (US, *PEERS) if (actual := best(tool, source)) is not None}
    check(name, figures, source)
    actual = [_compared(f"{name}: CPU", "s", figures, lambda f: f["seconds"], CPU_SHARES.get(name))]
    if name in FOLDED:
        actual.append(_compared(f"{name}: peak memory", "MiB", figures, lambda f: f["peak"] / MIB, 1 / 3))
        anonymous = {tool: f["anonymous"] / MIB for tool, f in figures.items()}
        actual.append(Measurement(f"{name}: anonymous memory", "MiB", anonymous, ANONYMOUS_TARGET))
    return [*actual, _compared(f"{name}: left", "nodes", figures, lambda f: nodes_of(f["target"]), 1.0)]


def _compared(
    what: str, unit: str, figures: dict[str, Any], value: Callable[[dict[str, Any]], float], share: float | None
) -> Measurement:
    """A figure of every tool; the target is a share of the best peer's."""
    values = {tool: float(value(actual)) for tool, actual in figures.items()}
    peers = [number for tool, number in values.items() if tool != US]
    return Measurement(what, unit, values, None if share is None or not peers else share * min(peers))


def large(folder: Path) -> list[Measurement]:
    """A model with 6 GiB of weights."""
    source = models.write_large(folder / "large")
    figures = optimized(US, source)
    assert figures is not None
    length = models.LARGE_SIDE
    for i, tensor in enumerate(onnx.load(figures["target"], load_external_data=False).graph.initializer):
        entries = {entry.key: entry.value for entry in tensor.external_data}
        data = figures["target"].parent / entries["location"]
        weight = np.memmap(data, np.float16, "r", int(entries["offset"]), (length, length))
        for position in (0, 12345, length * 5000 + 77, length * length - 1):
            assert weight[position % length, position // length] == i + 1 + position % 7
    return [Measurement("6 GiB of weights: resident", "MiB", {US: figures["resident"] / MIB}, LARGE_TARGET)]


def measure() -> Sequence[Measurement]:
    with tempfile.TemporaryDirectory(prefix="whorl-constprop-") as name:
        folder = Path(name)
        actual = [each for model in models.MODELS for each in measured(model, folder)]
        return actual + (large(folder) if os.environ.get("WHORL_BENCH_LARGE") else [])


if __name__ == "__main__":
    sys.exit(report(__doc__, measure))
