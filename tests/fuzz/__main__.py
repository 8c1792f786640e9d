"""Runs a campaign: `python -m fuzz PROGRAMS [SEED] [--folder FAULTS] [--counts FILE]`, with tests on PYTHONPATH."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("WHORL_DEBUG", "poison,strict")

from fuzz.campaign import Campaign, programs
from fuzz.cells import all_cells


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("programs", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=int(time.time()))
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--counts", type=Path)
    parser.add_argument("--seconds", type=float, default=30.0, help="to make one failing program smaller")
    said = parser.parse_args()
    campaign = Campaign(said.seed, said.folder, said.seconds)
    print(f"seed {said.seed}, faults go to {said.folder}", flush=True)
    began = time.monotonic()
    for program in programs(said.seed, said.programs):
        before = sum(campaign.alike.values())
        campaign.take(program)
        if sum(campaign.alike.values()) > before:
            print(f"program {campaign.programs}: {list(campaign.alike)[-1]}", flush=True)
        if campaign.programs % 500 == 0:
            print(f"{campaign.programs} programs, {time.monotonic() - began:.0f} s", flush=True)
    if said.counts is not None:
        said.counts.write_text(campaign.counts(), encoding="utf-8")
    for look, count in campaign.alike.most_common():
        print(f"{count} x {look}")
    print(
        f"{campaign.programs} programs, {campaign.failing} refused alike, {sum(campaign.alike.values())} faults, "
        f"{len(campaign.visits)} of {len(all_cells())} cells, {time.monotonic() - began:.0f} s"
    )
    return bool(campaign.alike)


if __name__ == "__main__":
    sys.exit(main())
