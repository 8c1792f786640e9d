"""What the benchmarks share: timing in turns, medians, and one report as text or as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
US = "whorl"
LEAST = 0.01
"""Seconds that a measurement of something short takes."""


@dataclass(frozen=True)
class Measurement:
    """One thing measured on every engine: the median of each, and the most that whorl may need."""

    what: str
    unit: str
    medians: Mapping[str, float]
    target: float | None = None

    @property
    def ratios(self) -> dict[str, float]:
        """whorl's median over each peer's: below 1 whorl is the faster one."""
        return {name: self.medians[US] / value for name, value in self.medians.items() if name != US and value}

    @property
    def misses(self) -> bool:
        return self.target is not None and self.medians[US] > self.target

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"ratios": self.ratios, "misses": self.misses}


def use_one_thread() -> None:
    """Keep NumPy's libraries to one thread; takes effect if it is called before NumPy is imported."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))


def with_bytecode(folder: Path) -> dict[str, str]:
    """An environment for new processes that keeps bytecode in this folder, as if all packages were installed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environment | {"PYTHONPYCACHEPREFIX": str(folder)}


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process, on all its threads, that work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def repeated(measure: Callable[[], float], seconds: float = LEAST) -> Callable[[], float]:
    """The mean of so many measurements that they take about these seconds: short work is measured warm.

    One more comes before all others, in which a program may be made for who goes on to run it.
    """
    counts: list[int] = []

    def mean() -> float:
        if not counts:
            measure()
            counts.append(max(1, int(seconds / max(measure(), 1e-6))))
        return sum(measure() for _ in range(counts[0])) / counts[0]

    return mean


def in_turns(candidates: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of what each candidate measures; all run once a round, so that a busy machine slows all alike."""
    actual: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, measure in candidates.items():
            actual[name].append(measure())
    return {name: statistics.median(values) for name, values in actual.items()}


def report(question: str, measure: Callable[[], Sequence[Measurement]]) -> int:
    """Measure, print the answer to the question, and return the exit code: 1 where whorl misses a target."""
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    options = parser.parse_args()
    measurements = measure()
    if options.json:
        actual = [m.as_json() for m in measurements]
        print(json.dumps({"question": question, "machine": machine(), "measurements": actual}, indent=1))
    else:
        print(question, ", ".join(f"{key} {value}" for key, value in machine().items()), "", sep="\n")
        print("\n".join(line for m in measurements for line in lines(m)))
    return int(any(m.misses for m in measurements))


def lines(measurement: Measurement) -> list[str]:
    """What a measurement says, an engine a line."""
    unit, target = measurement.unit, measurement.target
    verdict = "" if target is None else f"   target {target:g} {unit}: {'MISSED' if measurement.misses else 'met'}"
    lines = [measurement.what]
    for name, value in measurement.medians.items():
        versus = (
            f"   whorl needs {measurement.ratios[name]:.3g} times as much" if name in measurement.ratios else verdict
        )
        lines.append(f"  {name:<14}{value:>10.4g} {unit}{versus}")
    return lines


def machine() -> dict[str, str | int | None]:
    """What the numbers were measured on."""
    packages = ("numpy", "onnx", "onnxruntime")
    versions = {name: metadata.version(name) for name in packages if _is_installed(name)}
    return {"cores": os.cpu_count(), "machine": platform.machine(), "python": sys.version.split()[0], **versions}


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
