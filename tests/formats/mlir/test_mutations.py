"""Text that was changed at random is read or refused, and never fails in another way."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import whorl
from whorl.formats.mlir.optimizing import TextOptions, optimize_text
from whorl.formats.mlir.parser import split_text
from whorl.formats.options import LoadOptions

PIECES = [
    piece for path in sorted(Path(__file__).parent.glob("cases/*.mlir")) for _, piece in split_text(path.read_text())
]
FRAGMENTS = (
    *("tensor<", "*x", "f32", "?", "dense<", "[", "]", "<", ">", "{", "}", "(", ")", "%0", "#1", "loc(", "none", "-"),
    *("0x", "1e9", "9" * 30, "04", '"', "onnx.If", "-> ", "^bb0", ":", "=", ",", "!onnx.Seq<", "i1", "complex<f32>"),
    *("V11", "sparse<", "\\", "\x00", "é", "// -----", "{-#", "tensor<9999999999999xi8>"),
)


def mutated(text: str, draw: random.Random) -> str:
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(text) + 1)
        end = min(len(text), start + draw.randint(1, 12))
        match draw.randrange(3):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:start] + draw.choice(FRAGMENTS) + text[start:]
            case _:
                text = text[:start] + text[start:end] * 2 + text[end:]
    return text


@pytest.mark.parametrize("seed", range(4))
def test_mutated_text_is_read_or_refused(seed: int) -> None:
    draw = random.Random(seed)
    options = TextOptions(("shape-inference", "constprop-onnx", "canonicalize"))
    refused = 0
    for _ in range(200):
        text = mutated(draw.choice(PIECES), draw)
        try:
            optimize_text(text, "mutated.mlir", options, LoadOptions())
        except whorl.LoadError as error:
            refused += 1
            assert "mutated.mlir" in str(error)
    assert refused > 60
