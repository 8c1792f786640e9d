"""Convert a model: to another opset, or between ONNX, its text, OpenVINO IR and MLIR."""

from __future__ import annotations

import argparse
from pathlib import Path

from whorl.api.models import load, save
from whorl.cli.arguments import add_model, count, load_options
from whorl.cli.documents import print_document
from whorl.ir.graph import Module


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "output", metavar="OUT", help="the file to write: .onnx, .onnxtxt, .mlir, .xml, or MDF's .json or .yaml"
    )
    parser.add_argument(
        "--opset", type=count, metavar="N", help="the ai.onnx version to write (default: the model's own)"
    )
    parser.add_argument("--compress-to-fp16", action="store_true", help="keep float32 weights of .xml as float16")


def execute(arguments: argparse.Namespace) -> int:
    model = load(arguments.model, load_options(arguments))
    save(model, arguments.output, opset=arguments.opset, compress_to_fp16=arguments.compress_to_fp16)
    nodes = sum(1 for _ in model.nodes()) if isinstance(model, Module) else len(model.graph.nodes)
    size = Path(arguments.output).stat().st_size
    if arguments.json:
        print_document({"output": arguments.output, "bytes": size, "nodes": nodes})
    else:
        print(f"wrote {arguments.output}: {nodes} nodes, {size} bytes")
    return 0
