"""Does one thing with one file in a process of its own, within limits of time, memory and disk, and tells the outcome.

Started once for many files: it does everything with a right file of each format, so that what is needed is loaded, and
then forks for each line that it reads.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import whorl
from whorl.api.synthetic import synthetic_feeds

SECONDS, MEMORY, DISK = 5.0, 2 << 30, 1 << 30
"""What each may take: seconds of CPU on a certain machine, bytes resident beyond those before, bytes of any file."""
KNOWN_WORK = 0.08
"""The seconds of CPU that known work takes on the machine that SECONDS is of."""
PATIENCE = 240
"""Seconds by the clock after which a child is killed: the machine may be loaded."""


def load(path: Path) -> None:
    whorl.load(path)


def check(path: Path) -> None:
    whorl.check(path)


def optimize(path: Path) -> None:
    whorl.save(whorl.optimize(path), path.parent / "out.onnx")


def run(path: Path) -> None:
    model = whorl.load(path)
    if hasattr(model, "simulate"):
        model.simulate(steps=2, dt=None)
        return
    options = whorl.SessionOptions()
    options.timeout, options.max_memory = 2.0, 1 << 30
    session = whorl.InferenceSession(model, options)
    feeds = synthetic_feeds(model)
    for _ in range(2):
        session.run(None, feeds)


VERBS = {"load": load, "check": check, "optimize": optimize, "run": run}


def known_work() -> float:
    """The seconds of CPU that a fixed piece of work takes: objects made of text, sorted and gone through."""
    began = time.process_time()
    rows = [{"key": str(n), "values": [n, str(n).upper()]} for n in range(60_000)]
    assert len(sorted(rows, key=lambda row: row["key"])) == 60_000
    gc.collect()
    return time.process_time() - began


def slowness() -> float:
    """How many times longer known work takes now than on the machine that SECONDS is of, once at least."""
    return max(1.0, sum(known_work() for _ in range(5)) / 5 / KNOWN_WORK)


def outcome(verb: str, path: Path) -> dict[str, object]:
    """What a verb makes of a file: `right`, the name of an error of whorl's, or a traceback."""
    began = time.process_time()
    try:
        VERBS[verb](path)
        message = "right"
    except whorl.WhorlError as error:
        message = f"{type(error).__name__}: {error}"[:2000]
    except BaseException:
        message = "raw " + traceback.format_exc()[-1500:]
    seconds = time.process_time() - began
    if seconds > SECONDS / 2:
        # The CPU may be an old one, or shared: what took as long beside it is the measure.
        seconds /= slowness()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return {"said": message, "seconds": seconds, "memory": resident}


def serve_child(verb: str, path: Path, pipe: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK, DISK))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY * 4, MEMORY * 4))
    resource.setrlimit(resource.RLIMIT_CPU, (int(12 * SECONDS), int(12 * SECONDS)))
    signal.alarm(PATIENCE)
    before = sum(f.stat().st_blocks << 9 for f in path.parent.iterdir() if f.is_file() and not f.is_symlink())
    actual = outcome(verb, path)
    after = sum(f.stat().st_blocks << 9 for f in path.parent.iterdir() if f.is_file() and not f.is_symlink())
    os.write(pipe, json.dumps(actual | {"disk": after - before}).encode()[:60_000])
    os._exit(0)


def serve(verb: str, path: Path) -> dict[str, object]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        serve_child(verb, path, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        report = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not report:
        return {"said": f"ended with {status}", "seconds": 0.0, "memory": 0, "disk": 0}
    return json.loads(report)


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from hostile import onnx_files, text_files

    files = onnx_files.FILES | text_files.FILES
    for name in (name for name in files if name.endswith("/right")):
        with tempfile.TemporaryDirectory() as folder:
            path = files[name](Path(folder))
            for verb in VERBS.values():
                verb(path)
    for line in sys.stdin:
        with tempfile.TemporaryDirectory() as folder:
            try:
                path = files[line.strip()](Path(folder))
                actual = {verb: serve(verb, path) for verb in VERBS}
            except Exception:
                actual = {"write": {"said": "raw " + traceback.format_exc(), "seconds": 0.0, "memory": 0, "disk": 0}}
        print(json.dumps(actual), flush=True)


if __name__ == "__main__":
    main()
