"""Convert a model: to another opset, or between ONNX, its text, OpenVINO IR and MLIR."""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec.structs import asdict

from whorl.api.models import load, save
from whorl.cli.arguments import add_model, add_output, load_options, save_options
from whorl.cli.documents import print_document
from whorl.ir.graph import Module


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    add_output(parser)


def execute(arguments: argparse.Namespace) -> int:
    options = save_options(arguments)
    model = load(arguments.model, load_options(arguments))
    save(model, arguments.output, **asdict(options))
    nodes = sum(1 for _ in model.nodes()) if isinstance(model, Module) else len(model.graph.nodes)
    size = Path(arguments.output).stat().st_size
    if arguments.json:
        print_document({"output": arguments.output, "bytes": size, "nodes": nodes})
    else:
        print(f"wrote {arguments.output}: {nodes} nodes, {size} bytes")
    return 0
