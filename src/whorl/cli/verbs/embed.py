"""Write a model for onnxruntime in which loops and branches are custom ops, and the library that has them.

OUT.onnx has the same inputs and outputs, OUT.whorl.so beside it registers the ops: any program with onnxruntime 1.17
or newer takes both, by `register_custom_ops_library`. What has no native form stays as it is, and why is told.
"""

from __future__ import annotations

import argparse

from msgspec.structs import asdict

from whorl.api.embedding import EmbeddedRegion, embed
from whorl.cli.documents import print_document


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
        "--weights",
        choices=("library", "model"),
        default="library",
        help="where constants over a kilobyte lie that one region alone reads (default library, packed for their use)",
    )


def execute(arguments: argparse.Namespace) -> int:
    made = embed(arguments.model, arguments.output, only=arguments.only, keep=arguments.keep, weights=arguments.weights)
    if arguments.json:
        print_document(asdict(made) | {"regions": [asdict(region) for region in made.regions]})
        return 0
    count = sum(bool(region.op_type) for region in made.regions)
    lines = [
        f"wrote {made.model}: {count} of {len(made.regions)} loops and branches are in {made.library or 'no library'}"
    ]
    print("\n".join([*lines, *map(_line, made.regions)]))
    return 0


def _line(region: EmbeddedRegion) -> str:
    if region.op_type:
        others = f" with {region.nodes - 1} more nodes" if region.nodes > 1 else ""
        return f"embedded  {region.title}{others} as {region.op_type}"
    return f"stays     {region.title}: {region.reason}"
