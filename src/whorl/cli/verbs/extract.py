"""Write the body of a loop or a branch as a model of its own, which any tool can run.

With --at, the whole model runs, and what the body got and gave in that iteration is written beside OUT as
test_data_set_0, which `whorl run OUT` compares.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from whorl.api.extracting import Extracted, extract, extract_at
from whorl.api.models import save
from whorl.cli.arguments import UsageError, add_inputs, add_limits, add_model, module_of, refuse_options
from whorl.cli.documents import print_document
from whorl.cli.inputs import inputs_of, suggest_lengths
from whorl.cli.running import run_module
from whorl.cli.test_data import DATA, write_data
from whorl.ir.graph import Module

RUN_OPTIONS = "--input", "--random", "--dim", "--max-iterations", "--timeout", "--max-memory", "--backend"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "--body",
        required=True,
        metavar="NAME",
        help="the path of a loop or branch as `whorl trace` has it, or its end",
    )
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the model to write, as .onnx")
    parser.add_argument(
        "--at",
        type=iterations,
        metavar="ITERATION",
        help="write what the body got and gave in an iteration, too: a number from 0 for each loop around, as 3 or 3,1",
    )
    add_inputs(parser)
    add_limits(parser)


def iterations(text: str) -> list[int]:
    """The iteration of each loop, outermost first."""
    numbers = text.split(",")
    if not all(number.strip().isdecimal() for number in numbers):
        raise argparse.ArgumentTypeError(f"{text!r} names no iteration, such as 3, or 3,1 in a loop in a loop")
    return [int(number) for number in numbers]


def execute(arguments: argparse.Namespace) -> int:
    module = module_of(arguments)
    if arguments.at is None:
        refuse_options(arguments, RUN_OPTIONS, "is for the run that --at makes", "add --at ITERATION")
        extracted = extract(module, arguments.body)
    else:
        extracted = _extract_at(module, arguments)
    save(extracted.module, arguments.output)
    folder = Path(arguments.output).parent / DATA
    if arguments.at is not None:
        write_data(folder, extracted)
    written = [arguments.output, *([str(folder)] if arguments.at is not None else [])]
    types = {value.name: str(value.type) for value in extracted.module.main.arguments}
    outputs = {name: str(type) for name, type in extracted.module.output_types().items()}
    if arguments.json:
        print_document({"written": written, "inputs": types, "outputs": outputs})
    else:
        lines = [f"input   {name}: {type}" for name, type in types.items()]
        lines += [f"output  {name}: {type}" for name, type in outputs.items()]
        print("\n".join([*lines, *(f"wrote {path}" for path in written)]))
    return 0


def _extract_at(module: Module, arguments: argparse.Namespace) -> Extracted:
    if not arguments.output.endswith(".onnx"):
        raise UsageError(f"--at writes data of ONNX, and {arguments.output!r} is no .onnx", fix="name OUT.onnx")
    inputs = inputs_of(arguments, module, fills=arguments.random is not None)
    with suggest_lengths(arguments, module, inputs):
        return extract_at(module, arguments.body, arguments.at, inputs, partial(run_module, arguments))
