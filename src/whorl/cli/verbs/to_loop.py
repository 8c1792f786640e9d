"""Write the loop that repeats a model of one step over a recording.

What the step carries goes from one iteration to the next, what is scanned gives it a slice each time, and what is
collected is stacked. Other inputs are the same in all iterations. `to-step` undoes it.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path

from msgspec.structs import asdict

from whorl.api.models import save
from whorl.api.stepping import to_loop
from whorl.cli.arguments import UsageError, add_model, add_output, load_options, module_of, save_options
from whorl.cli.documents import print_document
from whorl.ir.graph import Module


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_output(parser)
    parser.add_argument(
        "--carry",
        action="append",
        default=[],
        metavar="INPUT:OUTPUT",
        help="an input, and the output that it is in the next iteration (without: the states of the model)",
    )
    parser.add_argument(
        "--scan",
        action="append",
        default=[],
        metavar="INPUT[=AXIS]",
        help="an input of which each iteration sees one slice, and the axis that it gets (default 0)",
    )
    parser.add_argument(
        "--collect",
        action="append",
        default=[],
        metavar="OUTPUT[=AXIS]",
        help="an output that is stacked along a new axis (default 0; without: all that are not carried)",
    )
    parser.add_argument(
        "--steps",
        default="steps",
        metavar="NAME",
        help="the name of the number of iterations, an input where nothing is scanned (default steps)",
    )


def execute(arguments: argparse.Namespace) -> int:
    options = save_options(arguments)
    step = module_of(arguments)
    inputs, outputs = [value.name for value in step.main.arguments], step.output_names
    module = to_loop(
        step,
        carry=carried_of(arguments.carry, step) if arguments.carry else None,
        scan=axes_of(arguments.scan, inputs),
        collect=axes_of(arguments.collect, outputs) if arguments.collect else None,
        steps=arguments.steps,
        options=load_options(arguments),
    )
    save(module, arguments.output, **asdict(options))
    return report(module, arguments, f"repeats the step {arguments.steps} times")


def report(module: Module, arguments: argparse.Namespace, what: str) -> int:
    """Say what was written; returns the exit code."""
    size, nodes = Path(arguments.output).stat().st_size, sum(1 for _ in module.nodes())
    inputs = {value.name: str(value.type) for value in module.main.arguments}
    outputs = {name: str(type) for name, type in module.output_types().items()}
    if arguments.json:
        states = {state.input: state.output for state in module.states}
        document = {"output": arguments.output, "bytes": size, "nodes": nodes}
        print_document(document | {"inputs": inputs, "outputs": outputs, "states": states})
        return 0
    rows = [f"input    {name}: {type}" for name, type in inputs.items()]
    rows += [f"output   {name}: {type}" for name, type in outputs.items()]
    rows += [f"state    {state.input} becomes {state.output}" for state in module.states]
    print("\n".join([*rows, f"wrote {arguments.output}: {nodes} nodes, {what}, {size} bytes"]))
    return 0


def carried_of(entries: list[str], module: Module) -> dict[str, str]:
    """The pairs of `INPUT:OUTPUT` options; names with colons are cut where both are names of the model."""
    inputs, outputs = {value.name for value in module.main.arguments}, set(module.output_names)
    carried: dict[str, str] = {}
    for entry in entries:
        cuts = [k for k, letter in enumerate(entry) if letter == ":"]
        known = [k for k in cuts if entry[:k] in inputs and entry[k + 1 :] in outputs]
        chosen = known or cuts
        if len(chosen) != 1:
            raise UsageError(f"--carry {entry!r} is not INPUT:OUTPUT", fix="write two names, such as state:stateN")
        carried[entry[: chosen[0]]] = entry[chosen[0] + 1 :]
    return carried


def axes_of(entries: list[str], known: Collection[str]) -> dict[str, int]:
    """The axes of `NAME` and `NAME=AXIS` options; a name of the model may contain the sign."""
    axes: dict[str, int] = {}
    for entry in entries:
        name, _, text = entry.rpartition("=")
        if entry in known or not name:
            axes[entry] = 0
        elif text.removeprefix("-").isdecimal():
            axes[name] = int(text)
        else:
            raise UsageError(f"{entry!r} names no axis", fix="write NAME, or NAME=AXIS, such as x=1")
    return axes
