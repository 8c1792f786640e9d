"""Runs a campaign: `python -m fuzz PROGRAMS [SEED] [--folder FAULTS] [--counts FILE]`, with tests on PYTHONPATH."""

from __future__ import annotations

import argparse
import os
import sys
import time
from multiprocessing.connection import wait
from pathlib import Path

os.environ.setdefault("WHORL_DEBUG", "poison,strict")

from fuzz.cell_campaign import Campaign
from fuzz.cells import all_cells
from fuzz.parts import PART, Part


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("programs", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=int(time.time()))
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--counts", type=Path)
    parser.add_argument("--seconds", type=float, default=30.0, help="to make one failing program smaller")
    message = parser.parse_args()
    campaign = Campaign(message.seed, message.folder, message.seconds)
    print(f"seed {message.seed}, faults go to {message.folder}", flush=True)
    began = time.monotonic()
    last = message.first + message.programs
    left = [range(n, min(n + PART, last)) for n in range(message.first, last, PART)][::-1]
    running: list[Part] = []
    while left or running:
        while left and len(running) < message.workers:
            running.append(Part(campaign, left.pop()))
        wait([part.pipe for part in running])
        for part in [part for part in running if part.pipe.poll()]:
            if part.hear():
                running.remove(part)
                left += part.rest()
                print(f"{campaign.programs} programs, {time.monotonic() - began:.0f} s", flush=True)
                if message.counts is not None:
                    message.counts.write_text(campaign.counts(), encoding="utf-8")
    for look, count in campaign.alike.most_common():
        print(f"{count} x {look}")
    print(
        f"{campaign.programs} programs, {campaign.failing} refused alike, {sum(campaign.alike.values())} faults, "
        f"{len(campaign.visits)} of {len(all_cells())} cells, {time.monotonic() - began:.0f} s"
    )
    return bool(campaign.alike)


if __name__ == "__main__":
    sys.exit(main())
