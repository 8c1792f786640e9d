"""Remove loops and branches from a model, for runtimes that have none.

A loop whose iterations are independent, or carry sums, extremes, last values and tensors that grow, becomes ops on all
iterations at once, for any trip count and any lengths. Other loops are unrolled, each If becomes both of its branches
and a selection. What cannot be removed is named with the reason, and nothing is written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec.structs import asdict

from whorl.api.delooping import MAX_ITERATIONS, deloop
from whorl.api.models import save
from whorl.cli.arguments import add_model, add_output, count, dims_of, load_options, module_of, save_options, seconds
from whorl.cli.documents import print_document
from whorl.cli.inputs import read_inputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_output(parser)
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="seconds allowed to delooping")
    parser.add_argument(
        "--max-iterations",
        type=count,
        default=MAX_ITERATIONS,
        metavar="N",
        help=f"copies of a body that may be made (default {MAX_ITERATIONS})",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="keep the bits of squared distances, which a matrix product rounds otherwise",
    )
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=SIZE", help="fix the length of a named dim of the inputs"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="fix the value of an input, such as a trip count; written as for `whorl run`",
    )


def execute(arguments: argparse.Namespace) -> int:
    options = save_options(arguments)
    inputs = read_inputs(arguments.input, module_of(arguments)) if arguments.input else {}
    module = deloop(
        arguments.model,
        inputs=inputs,
        max_iterations=arguments.max_iterations,
        dims=dims_of(arguments.dim),
        exact=arguments.exact,
        timeout=arguments.timeout,
        options=load_options(arguments),
    )
    save(module, arguments.output, **asdict(options))
    size, nodes = Path(arguments.output).stat().st_size, sum(1 for _ in module.nodes())
    if arguments.json:
        print_document({"output": arguments.output, "bytes": size, "nodes": nodes})
    else:
        print(f"wrote {arguments.output}: {nodes} nodes, no loop and no branch, {size} bytes")
    return 0
