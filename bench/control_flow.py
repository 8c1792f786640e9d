"""How close do loops in whorl come to hand-written C, and how far ahead of other engines are they?

Workloads W1 to W9: numbers, tensors, nests, recurrent networks, decoders, branches. Results are compared with whorl's
interpreter first. All engines that are installed, and C where there is a compiler, run in turns on one thread; what
counts is the median of the CPU time of this process for an iteration. Peers are given their inputs in advance and may
keep their outputs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from measuring import US, Measurement, cpu, in_turns, lines, machine, repeated, use_one_thread

use_one_thread()

import numpy as np
from loops import nests, networks, scalars, tensors
from loops.engines import ENGINES, PEERS, arrays, is_present
from loops.workload import Make, Workload

ROUNDS = 7
MEGABYTE = 1 << 20


def workloads(chosen: Sequence[str]) -> dict[str, Make]:
    """The workloads whose names hold one of the words, or all."""
    actual = dict(pair for part in (scalars, tensors, nests, networks) for pair in part.workloads())
    return {name: make for name, make in actual.items() if not chosen or any(word in name for word in chosen)}


def measured(load: Workload, rounds: int, peers: Sequence[str]) -> dict[str, Any]:
    """The medians of all engines that run a workload rightly, and why the others do not."""
    expected = arrays(ENGINES["interpreter"](load)())
    runs: dict[str, Callable[[], list[Any]]] = {}
    refused: dict[str, str] = {}
    first = 0.0
    for name in (US, *peers):
        try:
            run = ENGINES[name](load)
            took = cpu(run)
            check(arrays(run()), expected, load, name)
        except KeyError:
            refused[name] = "not written"
            continue
        except Exception as error:
            if name == US:
                raise
            refused[name] = str(error).strip().split("\n")[0][:100] or type(error).__name__
            continue
        runs[name] = run
        first = took if name == US else first
    seconds = in_turns({name: repeated(partial(cpu, run)) for name, run in runs.items()}, rounds)
    each = {name: 1e6 * value / load.iterations for name, value in seconds.items()}
    targets = [each[name] * factor for name, factor in load.limits.items() if name in each]
    actual = Measurement(load.name, "us", each, min(targets, default=None))
    return {"measurement": actual, "refused": refused, "first": first}


def check(actual: Sequence[np.ndarray], expected: Sequence[np.ndarray], load: Workload, engine: str) -> None:
    """Refuse an engine whose results are others than the interpreter's; C and jax may give fewer outputs."""
    for ours, theirs in zip(expected, actual, strict=False):
        if ours.dtype == object or ours.dtype.kind in "ib":
            if np.mean(theirs.reshape(ours.shape) != ours) > load.astray:
                raise ValueError(f"{engine} gives other results")
        else:
            tolerance = load.tolerance * max(1.0, float(np.abs(ours).max(initial=0)))
            np.testing.assert_allclose(theirs.reshape(ours.shape), ours, atol=tolerance, rtol=load.tolerance)


# ---- memory --------------------------------------------------------------------------------------------------


def peak_of_run(name: str, engine: str) -> dict[str, float]:
    """Megabytes that the first run, and a later one, take at most above a session that has not run yet.

    Another model runs before, so that an engine's own libraries, a compiler among them, are there already.
    """
    ENGINES[engine](scalars.newton(1000))()
    run = ENGINES[engine](workloads([name])[name]())
    before = _resident("VmRSS")
    peaks = []
    for _ in range(2):
        Path("/proc/self/clear_refs").write_text("5")
        run()
        peaks.append(max(0, _resident("VmHWM") - before) / MEGABYTE)
    return {"first": peaks[0], "later": peaks[1]}


def _resident(what: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    return 0


def peaks(name: str, engines: Sequence[str]) -> dict[str, Any]:
    """The memory of runs, each engine in a process of its own; nothing where the system does not tell.

    whorl's code comes from its cache, as from the second process on.
    """
    actual = {}
    for engine in engines:
        command = [sys.executable, str(Path(__file__)), name, "--peak", engine]
        if engine == US:
            subprocess.run(command, capture_output=True, check=False)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            actual[engine] = json.loads(done.stdout)
    return actual


# ---- the report ----------------------------------------------------------------------------------------------


def shown(result: dict[str, Any]) -> list[str]:
    text = lines(result["measurement"])
    text.append(f"  first run {1e3 * result['first']:.0f} ms, compilation included")
    text += [f"  {engine}: {why}" for engine, why in result["refused"].items()]
    for engine, peak in result.get("memory", {}).items():
        text.append(f"  {engine}: a run takes {peak['first']:.1f} MB at most when first, {peak['later']:.1f} MB later")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("workloads", nargs="*", help="words that names of workloads hold, such as W2 or viterbi")
    parser.add_argument("--json", metavar="FILE", help="write one JSON document, too")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--peers", default=",".join(PEERS), help="engines to compare with")
    parser.add_argument("--memory", action="store_true", help="measure the memory of runs, in processes of their own")
    parser.add_argument("--list", action="store_true", help="only name the workloads")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print(json.dumps(peak_of_run(options.workloads[0], options.peak)))
        return 0
    chosen = workloads(options.workloads)
    if options.list or not chosen:
        print("\n".join(chosen or workloads([])))
        return int(not chosen)
    peers = [name for name in options.peers.split(",") if name and is_present(name)]
    print(parser.description, ", ".join(f"{key} {value}" for key, value in machine().items()), "", sep="\n")
    if not os.environ.get("WHORL_CORPUS"):
        print("W9 is left out: WHORL_CORPUS names no folder with models", file=sys.stderr)
    results = []
    for name, make in chosen.items():
        result = measured(make(), options.rounds, peers)
        if options.memory:
            result["memory"] = peaks(name, [US, *(p for p in peers if p in ("onnxruntime", "openvino"))])
        results.append(result)
        print("\n".join(shown(result)), flush=True)
    if options.json:
        document = {"question": parser.description, "machine": machine(), "measurements": [*map(as_json, results)]}
        Path(options.json).write_text(json.dumps(document, indent=1))
    return int(any(result["measurement"].misses for result in results))


def as_json(result: dict[str, Any]) -> dict[str, Any]:
    return result["measurement"].as_json() | {k: v for k, v in result.items() if k != "measurement"}


if __name__ == "__main__":
    sys.exit(main())
