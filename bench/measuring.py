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

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
US = "whorl"


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


def use_one_thread() -> None:
    """Keep NumPy's libraries to one thread; takes effect if it is called before NumPy is imported."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process, on all its threads, that work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turns(candidates: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of what each candidate measures; all run once a round, so that a busy machine slows all alike."""
    found: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, measure in candidates.items():
            found[name].append(measure())
    return {name: statistics.median(values) for name, values in found.items()}


def report(question: str, measure: Callable[[], Sequence[Measurement]]) -> int:
    """Measure, print the answer to the question, and return the exit code: 1 where whorl misses a target."""
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    options = parser.parse_args()
    measurements = measure()
    if options.json:
        found = [asdict(m) | {"ratios": m.ratios, "misses": m.misses} for m in measurements]
        print(json.dumps({"question": question, "machine": machine(), "measurements": found}, indent=1))
    else:
        print(question, ", ".join(f"{key} {value}" for key, value in machine().items()), "", sep="\n")
        print("\n".join(line for m in measurements for line in _lines(m)))
    return int(any(m.misses for m in measurements))


def _lines(measurement: Measurement) -> list[str]:
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
