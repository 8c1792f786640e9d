"""Load a family's model with one engine and run each call once: `first_runs.py FOLDER ENGINE [BACKEND]`, a process.

Prints as JSON what the process had used before it began, what loading and each call took, all in seconds of CPU, and
its peak memory. Whoever starts the process adds what it used until its end, so that work in the background counts.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import use_one_thread

use_one_thread()

from shapes_models.engines import ENGINES, model_path, peak_memory, read_calls


def measure(folder: Path, engine: str, backend: str | None) -> dict[str, object]:
    calls, empty = read_calls(folder), peak_memory()
    before = time.process_time()
    run = ENGINES[engine](model_path(folder), backend)
    loaded, each = time.process_time(), []
    for feeds in calls.feeds:
        start = time.process_time()
        run(feeds)
        each.append(time.process_time() - start)
    return {"before": before, "load": loaded - before, "calls": each, "memory": peak_memory(), "empty": empty}


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)))
