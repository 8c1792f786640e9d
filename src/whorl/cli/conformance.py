"""Run the public control-flow conformance suite on an engine: whorl, onnxruntime, openvino, reference, or your own."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", default="whorl", metavar="NAME", help="an engine, or module:function of your own")


def execute(arguments: argparse.Namespace) -> int:
    return 0
