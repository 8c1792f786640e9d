"""How a process starts: an engine loads a model and runs it once, `python -m whorl.cli.starting ENGINE FILE`.

The file holds a pickled Question. Prints JSON: seconds of CPU to import the engine, to load the model and to run it,
and the bytes by which the most memory of the process passes what it had when the engine was imported.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from contextlib import suppress
from pathlib import Path

from whorl.conformance.backends import load_backend


def main(engine: str, path: str) -> None:
    question = pickle.loads(Path(path).read_bytes())
    times = [time.process_time()]
    backend = load_backend(engine)
    before = _memory("VmRSS")
    times.append(time.process_time())
    run = backend.load(question.model)
    times.append(time.process_time())
    run(question.inputs)
    times.append(time.process_time())
    steps = zip(("import", "load", "first_run"), times, times[1:], strict=False)
    figures: dict[str, float] = {name: stop - start for name, start, stop in steps}
    peak = _memory("VmHWM")
    if before and peak:
        figures["memory"] = max(0, peak - before)
    print(json.dumps(figures))


def _memory(what: str) -> int:
    """Bytes of this process's memory, now or at most, as Linux tells; 0 elsewhere."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(what):
                return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
