"""RE2 patterns against onnxruntime (which uses RE2), and the promise of linear time."""

import random
import time

import ml_oracle
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnxruntime.capi.onnxruntime_pybind11_state import Fail

from whorl.ops.text.re2 import matcher
from whorl.ops.text.re2_syntax import PatternError

TEXTS = [
    "", "a", "b", "ab", "abab", "aab", "a\nb", "\n", "A", "aB", "é", "É", "ß", "ſ", "K", "σ", "ς", "5", "42",
    "a1_", " ", "a b", "a-b", "[a]", "a.b", "*", "{2}", "a{2}", "aa", "aaa", "xyz", "\\", "^", "$", "]", "-",
    "ab\n", "日本", "\t", "\x0b", "a@b.com", "_", "(", "a|b", "Q", "\x00", "·",
]  # fmt: skip
PATTERN_TEXT = r"""
    a a|b (a|b)* (?:ab)+ a?b a+?b a{2} a{1,2} a{2,} a{,2} {2} a{x} [ab] [^ab] [^ab]* [a-c]+ []a] [^]a] [a-] [-a]
    [a\-b] [\w-]+ [\d\s]+ [[:alpha:]]+ [[:^digit:]] [[:word:]]+ [[:space:]] [[:foo:]] [[:alpha] [a-\d] [b-a] [ ] ( )
    () (|a) a||b . (?s). .* (?s).* ^a$ ^^a a$b (?m)a$\n^b (?m)^.*$ \Aa\z a\Z \ba\b a\Bb \b \B \d+ \D \w+ \W \s \S+
    \pL+ \p{L} \p{Lu} \P{Lu} \p{^Lu} \PL \pN+ \p{Xx} \p{ \pé (?i)ab (?i)É (?i)k (?i)s (?i)[k-l] (?i)[^k] (?i)σ
    (?i)\W (?i:a)b (?i)a(?-i)b a(?i)b (?i (?z)a (?-)a (?)a (?is-m:A.) (?U)a+ (?P<n>a)b (?<n>a)b (?P<n (?P<n!>a)
    (?P=n) (a)\1 (?=a)a (?!b)a (?<=a)b (?>a) a++ a** a*? a*+ *a + ? | a|* (*) a{1001} a{2,1} (a{2}){2} \Qa.b\E \Q*
    \Qa\E+ \. a\.b \_ \- \8 \07 \7 \101 \x41 \x{e9} \x4 \x{110000} \xg0 \a \t \v \n \e \y \ \é [\b] [\n] [\x61]
    [\141] [\Q] (?:a(?:b(?:c)?)?)? (a*)* (a*)+b (?:^a)* a(?:$|b) (\W|^)[\w.\-]{0,25}@(b|c)\.com(\W|$) [日-本]+
    (?:(?i)a)B (a|b|)+ [^\n] [^\d] [^[:alpha:]]+ [\pL\d]+ [\PL] (?s:.) $^ [a a{ a} } x{2}{3} (?:x{2}){3} [a-z&&[b]]
    \0 \08 [0-9A-Fa-f]{2} - [--a] [+--] [a-b-c] \p{Any} \p{C}
"""
"""Patterns, valid and not."""
PATTERNS = ["", *PATTERN_TEXT.split()]


def by_onnxruntime(pattern, texts):
    """The answers of RE2, None where it refuses the pattern."""
    node = helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern)
    passed = helper.make_tensor_value_info("x", TensorProto.STRING, [None])
    expected = helper.make_tensor_value_info("y", TensorProto.BOOL, [None])
    graph = helper.make_graph([node], "case", [passed], [expected])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Fail as error:
        assert "Invalid regex pattern" in str(error)
        return None
    return session.run(None, {"x": ml_oracle.strings(*texts)})[0].tolist()


def by_whorl(pattern, texts):
    try:
        actual = matcher(pattern)
    except PatternError:
        return None
    return [actual.fullmatch(text) for text in texts]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_pattern_equals_re2(pattern):
    assert by_whorl(pattern, TEXTS) == by_onnxruntime(pattern, TEXTS)


def random_pattern(rng, depth=3):
    """A pattern over a, b, c in which nearly everything is valid."""
    pieces = ["a", "b", "[ab]", "[^a]", ".", "\\w", "^", "$", "\\b", "c"]
    if depth and rng.random() < 0.6:
        parts = [random_pattern(rng, depth - 1) for _ in range(rng.randint(1, 3))]
        body = rng.choice(["|", ""]).join(parts)
        return f"(?:{body}){rng.choice(['', '*', '+', '?', '{2}', '{0,2}', '*?'])}"
    return rng.choice(pieces) + rng.choice(["", "", "", "*", "+", "?"])


@pytest.mark.slow
def test_random_patterns_equal_re2():
    rng = random.Random(1)
    texts = ["".join(rng.choice("abc \n") for _ in range(rng.randint(0, 7))) for _ in range(60)]
    for _ in range(150):
        pattern = "".join(random_pattern(rng) for _ in range(2)).replace("^*", "^").replace("$*", "$")
        assert by_whorl(pattern, texts) == by_onnxruntime(pattern, texts), pattern


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|aa)+b", "(a+)+$b", "(?:a?){60}a{60}b", "(.*)(.*)(.*)(.*)(.*)[^a]"])
def test_patterns_that_explode_elsewhere_take_linear_time(pattern):
    started = time.process_time()
    assert not matcher(pattern).fullmatch("a" * 5000)
    assert time.process_time() - started < 5


@pytest.mark.slow
def test_remembered_steps_stay_bounded():
    actual = matcher("(?s).*x.{5}")
    rng = np.random.default_rng(0)
    for _ in range(50):
        actual.fullmatch("".join(map(chr, rng.integers(32, 0x3000, 1000))))
    assert len(actual.steps) <= 20_000


@pytest.mark.parametrize(
    ("pattern", "text", "start", "match"),
    [
        ("a|ab|abc", "xxabcd", 0, (2, 5)),
        ("bc|abcd|a", "abcd", 0, (0, 4)),
        ("abce|bc", "abcd", 0, (1, 3)),
        ("a+", "aabaa", 2, (3, 5)),
        ("^a", "aa", 1, None),
        ("\\ba", "ba a", 1, (3, 4)),
        ("a$", "aa", 0, (1, 2)),
        ("b*", "abb", 0, (0, 0)),
        ("b*", "abb", 1, (1, 3)),
        ("b*", "a", 1, (1, 1)),
        ("b", "a", 1, None),
    ],
)
def test_search_gives_the_longest_of_the_first_matches(pattern, text, start, match):
    assert matcher(pattern).search(text, start) == match


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|aa)+$b", "(a?){30}a{30}b"])
def test_search_for_patterns_that_explode_elsewhere_ends(pattern):
    assert matcher(pattern).search("a" * 1000, 0) is None


@pytest.mark.parametrize(
    ("pattern", "answer"), [("a*", True), ("a|b?", True), ("\\b", True), ("a|b", False), ("a{2}", False)]
)
def test_pattern_that_may_match_nothing(pattern, answer):
    assert matcher(pattern).may_match_nothing == answer
