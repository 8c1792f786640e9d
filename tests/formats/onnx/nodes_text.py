"""Nodes as ONNX text: what whorl writes for a program of an opset."""

from __future__ import annotations

import onnx
import pytest

import whorl.ops
from whorl.errors import SaveError
from whorl.formats.onnx.saving import to_proto
from whorl.ir.graph import Module
from whorl.ir.infer import Inference
from whorl.ir.parse import parse_module

assert whorl.ops, "parsing needs the ops"


def program(text: str) -> Module:
    """A program with the types and known elements that inference gives."""
    module = parse_module(text)
    Inference().region(module.main)
    return module


def written(text: str, opset: int) -> list[str]:
    """The nodes that a program is written as."""
    return [onnx.printer.to_text(node).strip() for node in to_proto(program(text), opset).graph.node]


def refused_to_write(text: str, opset: int) -> str:
    """The whole message with which a program is refused."""
    with pytest.raises(SaveError) as caught:
        to_proto(program(text), opset)
    return str(caught.value)
