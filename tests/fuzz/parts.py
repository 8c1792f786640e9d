"""Parts of a campaign in processes of their own, so that a program that ends its process costs one program."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
from multiprocessing.connection import Connection
from pathlib import Path

from fuzz.cell_campaign import Campaign

PART = 250
"""Programs of one process."""
OPTIMISED = 4
"""One part in so many is optimised by LLVM: that takes most of the time and finds least."""


class Part:
    """A process that runs some of the programs. It says the number of each before it begins, and its findings last."""

    def __init__(self, campaign: Campaign, numbers: range) -> None:
        self.campaign, self.numbers, self.at = campaign, numbers, numbers.start
        self.lost = False
        context = multiprocessing.get_context("spawn")
        self.pipe, end = context.Pipe()
        self.process = context.Process(
            target=work, args=(campaign.seed, campaign.folder, campaign.seconds, numbers, end)
        )
        self.process.start()
        end.close()

    def hear(self) -> bool:
        """Take one message; whether it was the last."""
        try:
            message = self.pipe.recv()
        except EOFError:
            self.process.join()
            self.lost = True
            look = f"the process ended with {self.process.exitcode}"
            print(f"program {self.at}: {look}", flush=True)
            self.campaign.alike[look] += 1
            self.campaign.programs += 1
            return True
        if isinstance(message, int):
            self.at = message
            return False
        if isinstance(message, str):
            print(message, flush=True)
            return False
        self.campaign.add(message)
        self.process.join()
        return True

    def rest(self) -> list[range]:
        """Programs that were lost with the process, but for the one that ended it."""
        parts = [range(self.numbers.start, self.at), range(self.at + 1, self.numbers.stop)] if self.lost else []
        return [numbers for numbers in parts if numbers]


def work(seed: int, folder: Path, seconds: float, numbers: range, pipe: Connection) -> None:
    """Run some of the programs of a campaign."""
    faulthandler.enable()
    if numbers.start // PART % OPTIMISED:
        os.environ["WHORL_DEBUG"] = os.environ.get("WHORL_DEBUG", "") + ",unoptimised"
    part = Campaign(seed, folder, seconds)
    for number in numbers:
        pipe.send(number)
        before = part.alike.total()
        part.take(number)
        if part.alike.total() > before:
            pipe.send(f"program {number}: {list(part.alike)[-1]}")
    pipe.send(part)
