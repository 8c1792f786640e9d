"""String ops: shapes, empties and what the ONNX suite leaves open."""

import ml_oracle
import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dtypes import STRING
from whorl.ir.types import Known, TensorType
from whorl.ops.text.strings import RegexFullMatch, StringConcat, StringNormalizer, StringSplit

strings = ml_oracle.strings


def words(*shape):
    return Known(TensorType(STRING, shape))


def test_concat_broadcasts_and_keeps_scalars_arrays():
    x, y = strings("a", "b").reshape(2, 1), strings("x", "y", "é")
    ml_oracle.assert_same("StringConcat", {}, x, y)
    assert ml_oracle.result(StringConcat(), x[0, 0:1].reshape(()), strings("z")).tolist() == ["az"]
    assert ml_oracle.result(StringConcat(), x[:0], y).shape == (0, 3)
    both = ml_oracle.result(StringConcat(), strings("a").reshape(()), strings("b").reshape(()))
    assert isinstance(both, np.ndarray) and both.shape == () and both.item() == "ab"


def test_concat_numbers_are_refused():
    with pytest.raises(TypeRuleError, match="does not accept float32"):
        StringConcat().infer(Known(TensorType(np.dtype(np.float32))), Known(TensorType(np.dtype(np.float32))))


@pytest.mark.parametrize(("sensitive", "remaining"), [(0, ["b"]), (1, ["A", "b"])])
def test_normalizer_stop_words_follow_case_sensitivity(sensitive, remaining):
    op = StringNormalizer(stopwords=("a",), is_case_sensitive=sensitive)
    assert ml_oracle.result(op, strings("a", "A", "b")).tolist() == remaining


def test_normalizer_nothing_left_gives_one_empty_string():
    op = StringNormalizer(stopwords=("a",), case_change_action="UPPER")
    assert ml_oracle.result(op, strings("a", "A")).tolist() == [""]
    assert ml_oracle.result(op, strings("a").reshape(1, 1)).tolist() == [[""]]
    assert ml_oracle.result(StringNormalizer(), strings()).tolist() == [""]


def test_normalizer_two_rows_are_refused():
    with pytest.raises(TypeRuleError, match=r"input has shape \[2, 3\], expected \[C\] or \[1, C\]"):
        StringNormalizer().infer(words(2, 3))
    with pytest.raises(RunError, match=r"input has shape \[2, 1\], expected \[C\] or \[1, C\]"):
        StringNormalizer().run(strings("a", "b").reshape(2, 1))


TEXTS = strings("a b  c", "  lead", "trail  ", "", " ", "a,b,,c", ",", "é,ü", "a\tb\nc")


@pytest.mark.parametrize("limit", [{}, {"maxsplit": 1}, {"maxsplit": 2}])
@pytest.mark.parametrize("delimiter", [{}, {"delimiter": ""}, {"delimiter": ","}, {"delimiter": ",,"}])
def test_split_equals_onnx_reference(delimiter, limit):
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    attributes = delimiter | limit
    node = helper.make_node("StringSplit", ["x"], ["y", "z"], **attributes)
    cells, counts = ReferenceEvaluator(node).run(None, {"x": TEXTS.astype(np.str_)})
    ours = ml_oracle.result(StringSplit(**attributes), TEXTS)
    assert ours[0].tolist() == cells.tolist() and ours[1].tolist() == counts.tolist()


def test_split_empty_and_scalar():
    cells, counts = ml_oracle.result(StringSplit(), strings().reshape(2, 0))
    assert cells.shape == (2, 0, 0) and counts.shape == (2, 0)
    cells, counts = ml_oracle.result(StringSplit(delimiter="-"), strings("a-b").reshape(()))
    assert cells.tolist() == ["a", "b"] and counts.tolist() == 2 and counts.dtype == np.int64


def test_split_infers_a_new_last_axis():
    cells, counts = StringSplit().infer(words(dims.name("N"), 3))
    assert counts.shape == (dims.name("N"), 3) and cells.shape[:2] == counts.shape and len(cells.shape) == 3


def test_regex_full_match_keeps_the_shape():
    x = strings("a", "ab", "b", "").reshape(2, 2)
    assert ml_oracle.result(RegexFullMatch("a?b"), x).tolist() == [[False, True], [True, False]]
    assert ml_oracle.result(RegexFullMatch("a"), strings("a").reshape(())).shape == ()


def test_regex_that_is_not_re2_is_refused():
    with pytest.raises(TypeRuleError) as caught:
        RegexFullMatch(r"(a)\1").infer(words(3))
    assert str(caught.value) == r"pattern '(a)\\1': escape \1 is not RE2, or left out here"
