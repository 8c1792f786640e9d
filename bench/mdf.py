"""How close do MDF models in whorl come to hand-written C, and how far ahead of modeci_mdf are they?

Records are compared first, over the first evaluations. What counts is the median of the CPU time of this process for a
step, the records as arrays included.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from measuring import US, Measurement, cpu, in_turns, lines, machine, repeated, use_one_thread

use_one_thread()

import numpy as np
from mdf_models.engines import ROUNDED, Records, compiler, has_modeci, in_c, in_modeci, in_whorl, without_debug_strings
from mdf_models.models import CASES, Case

ROUNDS, LONG = 7, 0.06
"""Turns, and seconds that a measurement takes: the caches must hold an engine's own records, not those of another."""
OVER_C, OVER_MODECI = 1.5, 1e-4
"""What a step may take at most, of what C takes and, for one cell, of what modeci_mdf takes."""
NATIVE = {"C": ROUNDED, "C, fused": ()}
EULER = "euler"
"""The integrator that modeci_mdf has."""
REFERENCE, QUIET = "modeci_mdf", "without strings"
CALLS, COMPARED, TOLERANCE = 10, 300, 1e-9


def measured(case: Case, folder: Path, rounds: int) -> dict[str, Any]:
    path = case.write(folder)
    run = in_whorl(case, path)
    first = cpu(run)
    again = cpu(lambda: in_whorl(case, path)())
    records = run()
    runs = {US: repeated(partial(cpu, run), LONG)}
    equal = {}
    if compiler():
        for name, flags in NATIVE.items():
            in_native = in_c(case, flags)
            equal[name] = difference(in_native(), {name: rows[1:] for name, rows in records.items()})
            runs[name] = repeated(partial(cpu, in_native), LONG)
    seconds = {name: value / case.steps for name, value in in_turns(runs, rounds).items()}
    if has_modeci() and case.integrator == EULER:
        times, actual = reference(case, path)
        equal[REFERENCE] = difference(actual, {name: rows[1:] for name, rows in records.items()})
        seconds |= times
    each = {name: 1e9 * value for name, value in seconds.items()}
    targets = [each[name] * limit for name, limit in limits(case).items() if name in each]
    actual = Measurement(case.name, "ns", each, min(targets, default=None))
    return {"measurement": actual, "first": first, "again": again, "equal": equal}


def limits(case: Case) -> dict[str, float]:
    has_reference = case.is_scalar and case.integrator == EULER
    return {"C": OVER_C} | ({REFERENCE: OVER_MODECI} if has_reference else {})


def reference(case: Case, path: Path) -> tuple[dict[str, float], Records]:
    """Seconds a step, and the records of the first steps."""
    evaluate, records = in_modeci(case, path, CALLS)
    shipped = min(cpu(evaluate) for _ in range(2)) / CALLS
    with without_debug_strings():
        quiet = min(cpu(evaluate) for _ in range(3)) / CALLS
    return {REFERENCE: shipped, QUIET: quiet}, records()


def difference(theirs: Records, ours: Records) -> float:
    """The largest difference in the first steps, beside the largest number: later, rounding may have moved a spike.

    Errors: ValueError where it is too large to be one of rounding.
    """
    worst = 0.0
    for name, rows in theirs.items():
        early = rows[:COMPARED]
        mine = ours[name][: len(early)].reshape(early.shape)
        worst = max(worst, float(np.max(np.abs(mine - early)) / np.max(np.abs(early), initial=1e-9)))
    if not worst <= TOLERANCE:
        raise ValueError(f"records differ by {worst:.2g}")
    return worst


def shown(result: dict[str, Any]) -> list[str]:
    text = lines(result["measurement"])
    text.append(f"  first run {1e3 * result['first']:.0f} ms, in another session {1e3 * result['again']:.0f} ms")
    text += [f"  records of {name} differ by {value:.2g} at most" for name, value in result["equal"].items()]
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", help=f"of {', '.join(CASES)}; all where none is named")
    parser.add_argument("--json", metavar="FILE", help="write one JSON document, too")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    print(parser.description, ", ".join(f"{key} {value}" for key, value in machine().items()), "", sep="\n")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models or CASES:
            results.append(measured(CASES[name](), Path(folder), options.rounds))
            print("\n".join(shown(results[-1])), flush=True)
    if options.json:
        actual = [{**result, "measurement": result["measurement"].as_json()} for result in results]
        Path(options.json).write_text(json.dumps({"machine": machine(), "measurements": actual}, indent=1))
    return int(any(result["measurement"].misses for result in results))


if __name__ == "__main__":
    sys.exit(main())
