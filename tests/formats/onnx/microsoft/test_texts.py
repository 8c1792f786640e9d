"""Tokens of strings: equal to onnxruntime."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from formats.onnx.microsoft.contributed_peer import chance, configurations, model_of

import whorl

CHARACTERS = "ab c-1,é日\n."
SEPARATORS = [
    " ",
    "-",
    ",+",
    "[0-9]",
    "a",
    "a+b",
    "é|日",
    "\\s+",
    "c$",
    "^a",
    "ab|a",
    "\\bb",
    "[^a-z]",
    "\\.",
    "(?i)B",
    "bc|b|c ",
]
EXPRESSIONS = [
    ".",
    "\\w+",
    "[a-c]+",
    "[^ ]+",
    "a|ab|abc",
    "\\pL",
    "a*",
    "(ab)*c?",
    "^a.",
    "b$",
    ".b?",
    "\\d|",
    "日",
    "\\bc\\b",
]
"""Separators and expressions, the latter also such as match the empty text."""


def strings(rng: np.random.Generator, *shape: int) -> np.ndarray:
    x = np.empty(shape, object)
    x.flat = ["".join(rng.choice(list(CHARACTERS), rng.integers(0, 12))) for _ in range(x.size)]
    return x


def both(x: np.ndarray, **attributes: object) -> tuple[np.ndarray, np.ndarray]:
    """What whorl and onnxruntime give."""
    made = model_of("Tokenizer", [x], **attributes)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return whorl.run(made, {"x0": x})["y0"], session.run(None, {"x0": x})[0]


def compare(x: np.ndarray, **attributes: object) -> None:
    actual, expected = both(x, **attributes)
    assert actual.shape == expected.shape and actual.tolist() == expected.tolist()


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, dict[str, object]]:
    shape = rng.integers(1, 5, rng.integers(1, 3))
    common = {"mark": int(rng.integers(0, 2)), "pad_value": str(rng.choice(["", "<pad>", "é"]))}
    return strings(rng, *shape), common | {"mincharnum": int(rng.integers(1, 4))}


def test_tokens_between_separators_equal_onnxruntime():
    for rng in configurations(60):
        x, attributes = drawn(rng)
        compare(x, **attributes, separators=rng.choice(SEPARATORS, rng.integers(1, 4)).tolist())


def test_tokens_by_an_expression_equal_onnxruntime():
    for rng in configurations(60):
        x, attributes = drawn(rng)
        compare(x, **attributes, tokenexp=str(rng.choice(EXPRESSIONS[1:])))


def test_characters_equal_onnxruntime():
    for rng in configurations():
        x, attributes = drawn(rng)
        kind = {"separators": [""]} if chance(rng) else {"tokenexp": "."}
        compare(x, **attributes | {"mincharnum": 1}, **kind)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (0, 0)], ids=str)
def test_no_strings_equal_onnxruntime(shape):
    compare(np.empty(shape, object), mark=1, pad_value="x", mincharnum=1, separators=[" "])


@pytest.mark.parametrize("kind", [{"separators": [""]}, {"separators": ["a"]}, {"tokenexp": "b"}], ids=str)
def test_strings_without_tokens_have_no_marks(kind):
    compare(
        np.array(["" if kind == {"separators": [""]} else "a", ""], object), mark=1, pad_value="x", mincharnum=1, **kind
    )


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"mincharnum": 0, "separators": [" "]}, "mincharnum is 0, expected 1 or more"),
        ({"mincharnum": 2, "separators": [""]}, "mincharnum is 2, but tokens are single characters"),
        ({"mincharnum": 1}, "has neither separators nor a tokenexp"),
        ({"mincharnum": 1, "tokenexp": "(?=a)"}, r"pattern '(?=a)': (?= is not RE2"),
        (
            {"mincharnum": 1, "separators": [" ", "a*"]},
            "separator 'a*' also matches the empty text, so what it separates is not defined",
        ),
    ],
)
def test_attributes_that_give_no_tokens_are_refused(attributes, message):
    made = model_of("Tokenizer", [np.array(["a b"], object)], mark=0, pad_value="", **attributes)
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(made)
    assert caught.value.message == message


def test_model_with_tokens_cannot_be_written(tmp_path):
    made = model_of("Tokenizer", [np.array(["a b"], object)], mark=0, pad_value="", mincharnum=1, separators=[" "])
    with pytest.raises(whorl.SaveError, match="is an operation that ONNX does not have"):
        whorl.save(whorl.load(made), tmp_path / "model.onnx")
