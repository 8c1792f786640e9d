"""Compare all results of a family, then time each call on both engines in turns: `steady.py FOLDER ROUNDS [BACKEND]`.

Both engines first run all calls, twice, so that each call is timed after every other shape came by. Prints as JSON the
median seconds of CPU of each call and engine; fails where a result differs, before or after the calls were timed.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import cpu, in_turns, repeated, use_one_thread

use_one_thread()

import numpy as np

from shapes_models.engines import ENGINES, PEER, US, Calls, Run, model_path, read_calls


def assert_equal(runs: dict[str, Run], calls: Calls) -> None:
    """Every result is the peer's, but for the tolerance: a part of the largest element, and of each."""
    for label, feeds in zip(calls.labels, calls.feeds, strict=True):
        for k, (own, expected) in enumerate(zip(runs[US](feeds), runs[PEER](feeds), strict=True)):
            largest = float(np.abs(expected).max(initial=0))
            np.testing.assert_allclose(
                own, expected, calls.tolerance, calls.tolerance * largest, err_msg=f"{label}, output {k}"
            )


def wait_for_background(longest: float = 60.0) -> None:
    """Until other threads of this process rest: what they compile is no part of a steady call."""
    end = time.monotonic() + longest
    while time.monotonic() < end and cpu(partial(time.sleep, 0.2)) > 0.01:
        pass


def measure(folder: Path, rounds: int, backend: str | None) -> list[dict[str, float]]:
    calls = read_calls(folder)
    runs = {name: load(model_path(folder), backend) for name, load in ENGINES.items()}
    assert_equal(runs, calls)
    assert_equal(runs, calls)
    wait_for_background()
    steady = [
        in_turns({name: repeated(partial(cpu, partial(run, feeds))) for name, run in runs.items()}, rounds)
        for feeds in calls.feeds
    ]
    assert_equal(runs, calls)
    return steady


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)))
