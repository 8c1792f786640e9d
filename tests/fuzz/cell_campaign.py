"""A campaign: programs of cells from one seed, what they visited, and their faults, made small and written down."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from fuzz.cell_programs import Program, write
from fuzz.cell_runs import Fault, fault_of
from fuzz.cells import Cell, all_cells
from fuzz.minimise import minimise, to_text

CELLS_A_PROGRAM = 4
HOSTILE = 0.1
"""Programs that have a feed which ops may have to refuse."""
MOST_OF_A_KIND = 3
"""Faults that look alike of which a smaller program is looked for."""


@dataclass
class Campaign:
    """How often each cell was visited by a program that ran to its end, alike on all backends, and the faults."""

    seed: int
    folder: Path | None = None
    seconds: float = 30.0
    visits: Counter[Cell] = field(default_factory=Counter)
    programs: int = 0
    failing: int = 0
    """Programs all backends refuse to run to the end for some feed, alike."""
    faults: list[tuple[Fault, Program]] = field(default_factory=list)
    alike: Counter[str] = field(default_factory=Counter)

    def take(self, number: int) -> None:
        """Run one program."""
        program = program_at(self.seed, number)
        fault, expected = fault_of(program)
        self.programs += 1
        if fault is None:
            ended = [outcome.outputs is not None for outcome in expected]
            self.failing += not all(ended)
            self.visits.update(program.cells if any(ended) else ())
        else:
            self.keep(fault, program, number)

    def keep(self, fault: Fault, program: Program, number: int) -> None:
        """Remember a fault; of the first that look alike, make the program small and write it down."""
        look = f"{fault.kind} {fault.backend} " + (fault.text.strip().splitlines() or [""])[-1][:60]
        self.alike[look] += 1
        if self.alike[look] > MOST_OF_A_KIND:
            return
        small = minimise(program, fault, self.seconds)
        self.faults.append((fault_of(small)[0] or fault, small))
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{self.seed}-{number}.txt"
            path.write_text(f"{to_text(small)}\n# {' '.join(map(str, program.cells))}\n# {fault}\n", encoding="utf-8")

    def add(self, other: Campaign) -> None:
        """What another process found in its part of the programs."""
        self.visits.update(other.visits)
        self.alike.update(other.alike)
        self.faults += other.faults
        self.programs += other.programs
        self.failing += other.failing

    def counts(self) -> str:
        """The visits as JSON: by op, form, element type and position."""
        message = {f"{c.form} {c.dtype} {c.position}": n for c, n in sorted(self.visits.items(), key=str)}
        return json.dumps({"seed": self.seed, "programs": self.programs, "failing": self.failing, "visits": message})


def program_at(seed: int, number: int) -> Program:
    """One program of a campaign; together they go through all cells in a random order, again and again."""
    rng = np.random.default_rng([seed, number])
    count = len(all_cells())
    first = number * CELLS_A_PROGRAM
    chosen = [all_cells()[order(seed, n // count)[n % count]] for n in range(first, first + CELLS_A_PROGRAM)]
    return write(chosen, int(rng.integers(1 << 31)), bool(rng.random() < HOSTILE))


@cache
def order(seed: int, turn: int) -> list[int]:
    return np.random.default_rng([seed, 1 << 32, turn]).permutation(len(all_cells())).tolist()
