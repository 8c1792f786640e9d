"""Write a model for onnxruntime in which loops and branches are custom ops, and the library that has them.

OUT.onnx has the same inputs and outputs, OUT.whorl.so beside it registers the ops: any program with onnxruntime 1.17
or newer takes both, by `register_custom_ops_library`. What has no native form stays as it is, and why is told. With
--report each loop and branch is measured in onnxruntime, and stays as it is where it becomes no faster.
"""

from __future__ import annotations

import argparse
from typing import Any

from msgspec.structs import asdict

from whorl.api.embedding import Embedded, EmbeddedRegion, embed
from whorl.api.models import load_module
from whorl.api.regions import AS_IN_ONNXRUNTIME
from whorl.cli.arguments import add_inputs, refuse_options
from whorl.cli.documents import print_document
from whorl.cli.inputs import inputs_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the ONNX model to read")
    parser.add_argument("-o", "--output", required=True, metavar="OUT.onnx", help="the model to write")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="embed the loop or branch of this name alone; may be repeated",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="NAME",
        help="leave this loop or branch as it is; may be repeated",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="run the model in onnxruntime, which must be installed, tell what each loop or branch takes as it is and "
        "embedded, and embed what becomes faster; inputs that are not given are random",
    )
    parser.add_argument("--all", action="store_true", help="with --report, embed also what becomes no faster")
    add_inputs(parser)
    parser.add_argument(
        "--target",
        metavar="TRIPLE",
        help="another machine, such as aarch64-linux-gnu: OUT.whorl is then a folder of object files to link there",
    )
    parser.add_argument("--cpu", metavar="NAME", help="a CPU of LLVM's, such as x86-64-v3 (default: this machine's)")
    parser.add_argument(
        "--weights",
        choices=("library", "model"),
        default="library",
        help="where constants over a kilobyte lie that one region alone reads (default library, packed for their use)",
    )


def execute(arguments: argparse.Namespace) -> int:
    inputs = None
    if arguments.report:
        inputs = inputs_of(arguments, load_module(arguments.model, AS_IN_ONNXRUNTIME))
    else:
        refuse_options(arguments, ("--all", "--input", "--random", "--dim"), "is for what --report measures")
    made = embed(
        arguments.model,
        arguments.output,
        only=arguments.only,
        keep=arguments.keep,
        weights=arguments.weights,
        inputs=inputs,
        everything=arguments.all,
        target=arguments.target,
        cpu=arguments.cpu,
    )
    if arguments.json:
        print_document(_document(made))
        return 0
    count = sum(bool(region.op_type) for region in made.regions)
    lines = [
        f"wrote {made.model}: {count} of {len(made.regions)} loops and branches are in {made.library or 'no library'}"
    ]
    print("\n".join([*lines, *map(_line, made.regions), *_table(made)]))
    return 0


def _document(made: Embedded) -> dict[str, Any]:
    regions = [asdict(each) | {"measured": each.measured and asdict(each.measured)} for each in made.regions]
    return asdict(made) | {"regions": regions}


def _table(made: Embedded) -> list[str]:
    """What was measured: iterations in a run, and nanoseconds of a run."""
    rows = [("loop or branch", "iterations", "ns before", "ns after", "times")]
    for region in made.regions:
        if region.measured is not None:
            iterations, before, after = asdict(region.measured).values()
            count = "" if iterations is None else str(iterations)
            rows.append((region.title, count, f"{before:.0f}", f"{after:.0f}", f"{before / after:.3g}"))
    if len(rows) == 1:
        return []
    first, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(first), *(text.rjust(n) for text, n in zip(row[1:], others, strict=True))])
        for row in rows
    ]


def _line(region: EmbeddedRegion) -> str:
    if region.op_type:
        others = f" with {region.nodes - 1} more nodes" if region.nodes > 1 else ""
        return f"embedded  {region.title}{others} as {region.op_type}"
    return f"stays     {region.title}: {region.reason}"
