"""Convert a model: to another opset, or between ONNX, its text, OpenVINO IR and MLIR."""

from __future__ import annotations

import argparse
from pathlib import Path

from whorl.api.models import save
from whorl.cli.arguments import add_model, count, module_of
from whorl.cli.documents import print_document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument("output", metavar="OUT", help="the file to write: .onnx, .onnxtxt, .mlir or .xml")
    parser.add_argument(
        "--opset", type=count, metavar="N", help="the ai.onnx version to write (default: the model's own)"
    )
    parser.add_argument("--compress-to-fp16", action="store_true", help="keep float32 weights of .xml as float16")


def execute(arguments: argparse.Namespace) -> int:
    module = module_of(arguments)
    save(module, arguments.output, opset=arguments.opset, compress_to_fp16=arguments.compress_to_fp16)
    size, nodes = Path(arguments.output).stat().st_size, sum(1 for _ in module.nodes())
    if arguments.json:
        print_document({"output": arguments.output, "bytes": size, "nodes": nodes})
    else:
        print(f"wrote {arguments.output}: {nodes} nodes, {size} bytes")
    return 0
