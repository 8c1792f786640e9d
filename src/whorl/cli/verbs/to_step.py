"""Write the model of one step of a loop, for runs that see their input piece by piece.

What the loop carries becomes inputs and outputs, what it scans one slice of it, what it collects one element. `to-loop`
undoes it.
"""

from __future__ import annotations

import argparse

from msgspec.structs import asdict

from whorl.api.models import save
from whorl.api.stepping import to_step
from whorl.cli.arguments import add_model, add_output, load_options, save_options
from whorl.cli.verbs.to_loop import report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_output(parser)


def execute(arguments: argparse.Namespace) -> int:
    options = save_options(arguments)
    module = to_step(arguments.model, options=load_options(arguments))
    save(module, arguments.output, **asdict(options))
    return report(module, arguments, "one step")
