"""Tokens of strings: shapes, and what is left out and filled up."""

import ml_oracle
import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import INT64, STRING
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.text.tokens import Tokenizer

SPACED = Tokenizer(separators=(" ",))


def test_tokens_are_what_separators_leave():
    texts = ml_oracle.strings("one two", "", "three")
    assert Tokenizer(separators=(" ",), pad_value="-", mark=1).run(texts).tolist() == [
        ["\x02", "one", "two", "\x03"],
        ["\x02", "\x03", "-", "-"],
        ["\x02", "three", "\x03", "-"],
    ]


def test_separators_act_one_after_the_other():
    texts = ml_oracle.strings("a,b c,de")
    assert Tokenizer(separators=(",", " ")).run(texts).tolist() == [["a", "b", "c", "de"]]
    assert Tokenizer(separators=(",", " "), mincharnum=2).run(texts).tolist() == [["de"]]
    assert Tokenizer(separators=("^a", ",b")).run(texts).tolist() == [[" c,de"]]


def test_match_that_is_too_short_is_searched_again_from_its_second_character():
    texts = ml_oracle.strings("ab12abc", "1")
    assert Tokenizer(tokenexp="[a-z]+", mincharnum=3).run(texts).tolist() == [["abc"], [""]]
    assert Tokenizer(tokenexp="[a-z]*").run(texts).tolist() == [["ab", "abc"], ["", ""]]


def test_length_of_the_last_axis_is_not_known():
    assert SPACED.infer(Known(TensorType(STRING, (2, 3)))).shape == (2, 3, UNKNOWN)
    assert SPACED.infer(Known(TensorType(STRING, (2, 0)))).shape == (2, 0)
    assert SPACED.infer(Known(TensorType(STRING, (dims.name("N"),)))).shape == UNRANKED
    assert SPACED.run(np.empty((2, 0), STRING)).shape == (2, 0)


def test_other_types_and_shapes_are_refused():
    with pytest.raises(TypeRuleError, match="does not accept int64, expected string"):
        SPACED.infer(Known(TensorType(INT64, (2,))))
    with pytest.raises(TypeRuleError, match=r"input has shape \[1, 1, 1\], expected \[C\] or \[N, C\]"):
        SPACED.infer(Known(TensorType(STRING, (1, 1, 1))))
    with pytest.raises(RunError, match=r"input has shape \[\], expected \[C\] or \[N, C\]"):
        SPACED.run(ml_oracle.strings("a").reshape(()))
