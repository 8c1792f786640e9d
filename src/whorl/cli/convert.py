"""Convert a model: to another opset, or between ONNX, its text, OpenVINO IR and MLIR."""

from __future__ import annotations

import argparse
from pathlib import Path

from whorl.api.models import is_mdf, load_mdf, save
from whorl.cli.arguments import UsageError, add_model, count, module_of
from whorl.cli.documents import print_document
from whorl.formats.mdf.model import MdfModel
from whorl.ir.graph import Module


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "output", metavar="OUT", help="the file to write: .onnx, .onnxtxt, .mlir, .xml, or MDF's .json or .yaml"
    )
    parser.add_argument(
        "--opset", type=count, metavar="N", help="the ai.onnx version to write (default: the model's own)"
    )
    parser.add_argument(
        "--precision",
        choices=("float64", "float32"),
        help="what functions of ONNX in an MDF model compute in; onnxruntime has kernels for some, as Conv, in float32 "
        "only (default float64)",
    )
    parser.add_argument("--compress-to-fp16", action="store_true", help="keep float32 weights of .xml as float16")


def _load(arguments: argparse.Namespace) -> Module | MdfModel:
    if is_mdf(arguments.model):
        return load_mdf(arguments.model, arguments.precision or "float64")
    if arguments.precision is not None:
        raise UsageError("--precision is for MDF models", fix="leave it out: other models say their element types")
    return module_of(arguments)


def execute(arguments: argparse.Namespace) -> int:
    model = _load(arguments)
    save(model, arguments.output, opset=arguments.opset, compress_to_fp16=arguments.compress_to_fp16)
    nodes = len(model.graph.nodes) if isinstance(model, MdfModel) else sum(1 for _ in model.nodes())
    size = Path(arguments.output).stat().st_size
    if arguments.json:
        print_document({"output": arguments.output, "bytes": size, "nodes": nodes})
    else:
        print(f"wrote {arguments.output}: {nodes} nodes, {size} bytes")
    return 0
