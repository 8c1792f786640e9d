"""What do many input shapes cost, in first runs and in steady ones, beside onnxruntime?

Families of models whose inputs come in many shapes: Mamba blocks, a decoder whose cache is fed from outside, a graph
like Phi's, attention, recurrent operators, nearest neighbours, what follows a detector. For each, in new processes: all
results are compared with onnxruntime's, then each shape is timed on both in turns, once all came by; then loading and
one run of each shape, the import of the engine included, by whorl with an empty code cache, by whorl with a filled one,
and by onnxruntime. Seconds are CPU of the process, one thread each.
`python bench/shapes.py mamba-8 decoder --quick --json FILE`
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from measuring import machine, use_one_thread, with_bytecode

use_one_thread()

from shapes_models.engines import PEER, US
from shapes_models.families import FAMILIES
from shapes_models.family import Family

ROUNDS, QUICK_ROUNDS, TRIES = 7, 3, 3
COLD_MORE, WARM_TIMES, WARM_MORE = 0.6, 1.2, 0.1
"""What first runs may take beside onnxruntime's, with an empty cache and with a filled one."""
SCRIPTS = Path(__file__).parent / "shapes_models"
MB = 1 << 20


@dataclass(frozen=True)
class First:
    """Loading and one run of each call in a new process, in seconds of CPU: in all, and in parts; peak memory."""

    total: float
    load: float
    calls: tuple[float, ...]
    memory: int


@dataclass(frozen=True)
class Steady:
    """A call's median seconds on both engines."""

    label: str
    us: float
    peer: float

    @property
    def ratio(self) -> float:
        return self.us / self.peer


@dataclass(frozen=True)
class Answer:
    """What was measured of one family."""

    family: Family
    cold: First
    warm: First
    peer: First
    steady: tuple[Steady, ...]

    @property
    def mean(self) -> float:
        return math.exp(statistics.fmean(math.log(each.ratio) for each in self.steady))

    @property
    def memory(self) -> float:
        return max(self.cold.memory, self.warm.memory) / self.peer.memory

    @property
    def lost(self) -> list[Steady]:
        return [each for each in self.steady if each.ratio > self.family.at_most]

    @property
    def misses(self) -> list[str]:
        """The targets that whorl misses."""
        checks = {
            "cold": self.cold.total > self.peer.total + COLD_MORE,
            "warm": self.warm.total > WARM_TIMES * self.peer.total + WARM_MORE,
            "memory": self.memory > self.family.memory,
            "steady": bool(self.lost),
        }
        return [name for name, missed in checks.items() if missed]

    def as_json(self) -> dict[str, object]:
        first = {"cold": asdict(self.cold), "warm": asdict(self.warm), PEER: asdict(self.peer)}
        steady = [asdict(each) | {"ratio": each.ratio} for each in self.steady]
        means = {"mean": self.mean, "memory": self.memory, "misses": self.misses}
        return {"family": self.family.name, "first": first, "steady": steady, **means}


def run_process(script: str, folder: Path, *arguments: str, cache: Path) -> tuple[str, float]:
    """What a new process prints, and its seconds of CPU until its end."""
    environment = with_bytecode(folder / "bytecode") | {"WHORL_CACHE": str(cache)}
    command = [sys.executable, str(SCRIPTS / script), str(folder), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{script} {' '.join(arguments)} ended with {process.returncode}")
    return printed, usage.ru_utime + usage.ru_stime


def first_runs(folder: Path, engine: str, backend: Sequence[str], cache: Path) -> First:
    printed, total = run_process("first_runs.py", folder, engine, *backend, cache=cache)
    parts = json.loads(printed)
    return First(total - parts["before"], parts["load"], tuple(parts["calls"]), parts["memory"])


def median_of(tries: Sequence[First]) -> First:
    """The one whose total is the median."""
    return sorted(tries, key=lambda each: each.total)[len(tries) // 2]


def measure(family: Family, rounds: int, tries: int, backend: Sequence[str]) -> Answer:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        family.export(folder)
        printed, _ = run_process("steady.py", folder, str(rounds), *backend, cache=folder / "steady")
        steady = [
            Steady(call.label, each[US], each[PEER])
            for call, each in zip(family.calls, json.loads(printed), strict=True)
        ]
        cold, warm, peer = [], [], []
        for k in range(tries):
            cold.append(first_runs(folder, US, backend, folder / f"cache{k}"))
            warm.append(first_runs(folder, US, backend, folder / f"cache{k}"))
            peer.append(first_runs(folder, PEER, (), folder / f"cache{k}"))
    return Answer(family, median_of(cold), median_of(warm), median_of(peer), tuple(steady))


def table(answers: Sequence[Answer]) -> Iterator[str]:
    """First runs, then steady ones, a family a line; then the shapes that whorl loses."""
    yield "loading and one run of each shape, seconds of CPU; peak memory in MB"
    yield f"  {'family':<11}{'shapes':>7}{'cold':>8}{'warm':>8}{'peer':>8}{'cold':>8}{'warm':>8}{'MB':>7}{'peer':>7}"
    for a in answers:
        ratios = f"{a.cold.total / a.peer.total:>7.1f}x{a.warm.total / a.peer.total:>7.1f}x"
        times = f"{a.cold.total:>8.2f}{a.warm.total:>8.2f}{a.peer.total:>8.2f}"
        memory = f"{max(a.cold.memory, a.warm.memory) / MB:>7.0f}{a.peer.memory / MB:>7.0f}"
        missed = [name for name in a.misses if name != "steady"]
        yield f"  {a.family.name:<11}{len(a.steady):>7}{times}{ratios}{memory}{_verdict(missed)}"
    yield f"steady: whorl's time over {PEER}'s"
    yield f"  {'family':<11}{'shapes':>7}{'mean':>8}{'best':>8}{'worst':>8}   {'worst at':<18}{'may be':>7}{'lost':>6}"
    for a in answers:
        best, worst = min(a.steady, key=_ratio), max(a.steady, key=_ratio)
        figures = f"{a.mean:>8.3f}{best.ratio:>8.3f}{worst.ratio:>8.3f}   {worst.label:<18}{a.family.at_most:>7}"
        yield f"  {a.family.name:<11}{len(a.steady):>7}{figures}{len(a.lost):>6}"
    every = [each for a in answers for each in a.steady]
    mean = math.exp(statistics.fmean(math.log(each.ratio) for each in every))
    yield f"  all {len(every)} shapes: geometric mean {mean:.3f}, {sum(len(a.lost) for a in answers)} lost"
    for a in answers:
        if a.lost:
            worst_first = sorted(a.lost, key=_ratio, reverse=True)
            yield f"  {a.family.name} loses " + ", ".join(f"{each.label} ({each.ratio:.2f})" for each in worst_first)


def _ratio(each: Steady) -> float:
    return each.ratio


def _verdict(missed: Sequence[str]) -> str:
    return f"   missed: {', '.join(missed)}" if missed else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"all without any: {', '.join(FAMILIES)}")
    parser.add_argument("--quick", action="store_true", help="five shapes of each family, fewer rounds")
    parser.add_argument("--reverse", action="store_true", help="the shapes in the opposite order")
    parser.add_argument("--backend", help="whorl's; its own choice without it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured into a file")
    options = parser.parse_args()
    unknown = sorted(set(options.families) - set(FAMILIES))
    if unknown:
        parser.error(f"no family {', '.join(unknown)}; choose from {', '.join(FAMILIES)}")
    rounds, tries = (QUICK_ROUNDS, 1) if options.quick else (ROUNDS, TRIES)
    backend = [options.backend] if options.backend else []
    answers = []
    for name in options.families or FAMILIES:
        family = FAMILIES[name]()
        family = family.quick() if options.quick else family
        family = replace(family, calls=family.calls[::-1]) if options.reverse else family
        print(f"measuring {name}", file=sys.stderr)
        answers.append(measure(family, rounds, tries, backend))
    print(f"{PEER} beside whorl: " + ", ".join(f"{key} {value}" for key, value in machine().items()))
    print("\n".join(table(answers)))
    if options.json:
        document = {"machine": machine(), "families": [answer.as_json() for answer in answers]}
        options.json.write_text(json.dumps(document, indent=1))
    return int(any(answer.misses for answer in answers))


if __name__ == "__main__":
    sys.exit(main())
