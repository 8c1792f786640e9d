"""Many damaged files in a process of their own, which is watched: `python -m fuzz.campaign --count 100000 --seed 1`.

Run from `tests`. Prints figures by format, and each fault once with the number that makes its file again:
`--only NUMBER` does so. Exit code 1 where there were faults.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import re
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.damaged import FORMATS, GOOD, SECONDS, Source, outcome

SILENCE = 40.0
"""Seconds of wall time without an answer after which the process is ended."""
MEMORY = 3 << 30
BETWEEN_REPORTS = 60.0
_FOREGROUND = multiprocessing.get_context("fork")


class Hang(BaseException):
    """A file that takes too much CPU time, raised where the time ran out."""


@dataclass
class Figures:
    """What became of the files: numbers by format and outcome, and the numbers of files by fault."""

    seed: int
    began: float = field(default_factory=time.time)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: dict[str, list[int]] = field(default_factory=dict)

    def add(self, number: int, format: str, actual: str) -> bool:
        """Count a file; whether it is a new fault."""
        self.counts[format, actual if actual in GOOD else "fault"] += 1
        if actual in GOOD:
            return False
        numbers = self.faults.setdefault(f"{format}: {signature(actual)}", [])
        numbers.append(number)
        return len(numbers) == 1

    def text(self) -> str:
        """A line a format, and a line a fault."""
        lines = [f"seed {self.seed}: {self.counts.total()} files in {time.time() - self.began:.0f} s"]
        for each in FORMATS:
            numbers = {actual: self.counts[each, actual] for actual in (*GOOD, "fault")}
            lines.append(f"  {each}: {sum(numbers.values())} files, {numbers}")
        lines += [f"  {len(n)} x {fault} (numbers {n[:4]})" for fault, n in sorted(self.faults.items())]
        return "\n".join(lines)


def signature(actual: str) -> str:
    """A fault without what differs from file to file."""
    return re.sub(r"0x[0-9a-f]+|\d+\.\d+ s|(?<=: ).*'.*'", "*", actual)[:200]


def run(source: Source, numbers: range, tell: Callable[[str], None] = print) -> Figures:
    """Load the damaged files of these numbers, in processes that are replaced when they end or do not answer."""
    for each in source.formats:
        if each != "cache":
            getattr(source, each)
    figures = Figures(source.seed)
    start = numbers.start
    report = time.monotonic()
    while start < numbers.stop:
        for number, actual in _answers(source, range(start, numbers.stop)):
            if figures.add(number, source.formats[number % len(source.formats)], actual):
                tell(f"number {number}: {source.formats[number % len(source.formats)]}: {actual}")
            start = number + 1
            if time.monotonic() - report > BETWEEN_REPORTS:
                report = time.monotonic()
                tell(figures.text())
    return figures


def _answers(source: Source, numbers: range) -> Iterator[tuple[int, str]]:
    """Numbers and what became of them, until the last or one that ends the process."""
    ours, theirs = _FOREGROUND.Pipe(duplex=False)
    worker = _FOREGROUND.Process(target=_work, args=(source, numbers, theirs), daemon=True)
    worker.start()
    theirs.close()
    number = numbers.start
    try:
        while number < numbers.stop:
            if not ours.poll(SILENCE):
                yield number, f"no answer in {SILENCE:.0f} s"
                return
            for number, actual in ours.recv():
                yield number, actual
            number += 1
    except EOFError:
        worker.join()
        yield number, f"the process ended with {worker.exitcode}"
    finally:
        worker.kill()
        worker.join()


def _work(source: Source, numbers: range, connection: Any) -> None:
    limit_process()
    warnings.simplefilter("ignore")
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    with tempfile.TemporaryDirectory() as position:
        folder = Path(position, "files")
        folder.mkdir()
        os.chdir(folder)
        tempfile.tempdir = str(folder)
        os.environ["WHORL_CACHE"] = ""
        for number in numbers:
            connection.send([(number, watched(source, number, folder))])


def watched(source: Source, number: int, folder: Path) -> str:
    """What becomes of a file, which has three times its CPU time before it is stopped."""
    damaged = source.file(number)
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, 3 * SECONDS)
    try:
        return outcome(damaged, folder)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _stop(*_: Any) -> None:
    raise Hang(f"more than {3 * SECONDS:.0f} s")


def limit_memory(most: int) -> None:
    """Bound what this process maps from now on: its parent may have mapped much before."""
    statm = Path("/proc/self/statm")
    mapped = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
    resource.setrlimit(resource.RLIMIT_AS, (mapped + most, mapped + most))


def limit_process() -> None:
    """Bound the memory that is still to come, and make a crash silent and final."""
    limit_memory(MEMORY)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--formats", nargs="+", default=FORMATS, choices=FORMATS)
    parser.add_argument("--every", type=int, default=1, help="damage every so many-th of the models only")
    parser.add_argument("--only", type=int, help="write the file of one number here and say what becomes of it")
    arguments = parser.parse_args()
    source = Source(arguments.seed, arguments.every, arguments.formats)
    if arguments.only is not None:
        for name, data in source.file(arguments.only).files.items():
            Path(name).write_bytes(data)
            print(name, len(data), "bytes")
        numbers = range(arguments.only, arguments.only + 1)
    else:
        numbers = range(arguments.start, arguments.start + arguments.count)
    print(f"seed {arguments.seed}", flush=True)
    figures = run(source, numbers, lambda text: print(text, flush=True))
    print(figures.text())
    return bool(figures.faults)


if __name__ == "__main__":
    sys.exit(main())
