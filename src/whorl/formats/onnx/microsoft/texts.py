"""Text in tokens."""

from __future__ import annotations

from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import Formula, contributed
from whorl.formats.onnx.microsoft.products import picked
from whorl.ir.graph import Value


@contributed("Tokenizer")
def tokenizer(node: OnnxNode, f: Formula) -> Value:
    """An operator of its own, in `ops/text/tokens.py`, which no other operators express and no file can have again."""
    attributes = picked(node, "mark", "mincharnum", "pad_value", "separators", "tokenexp")
    return f("Tokenizer", node.required(0), **attributes)
