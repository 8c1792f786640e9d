"""The syntax of RE2 patterns: what is refused, and with which words."""

import pytest

from whorl.ops.text.re2 import matcher
from whorl.ops.text.re2_syntax import Assertion, Chars, Choice, Parser, PatternError, Repeat, Sequence


def parse(pattern):
    return Parser(pattern).parse()


def test_script_classes_are_refused_with_their_name():
    with pytest.raises(PatternError, match="Unicode class 'Greek' is not known here"):
        matcher("\\p{Greek}")


def test_single_bytes_are_refused():
    with pytest.raises(PatternError, match=r"escape \\C is not RE2, or left out here"):
        matcher("\\C")


def test_huge_repetition_is_refused():
    with pytest.raises(PatternError, match="needs more than 100000 states"):
        matcher("((a{1000}){1000})")


REFUSED = [
    ("a)", "unexpected ) at 1"),
    ("(a", "missing )"),
    ("(?P<n", "missing > after"),
    ("(?P<n!>a)", "bad group name 'n!'"),
    ("(?=a)", "(?= is not RE2"),
    ("(?-)a", "(?- sets no flag"),
    ("a**", "two repetitions in a row before 3"),
    ("*a", "nothing to repeat before *"),
    ("a{2,1}", "bad repetition {2,1}"),
    ("a{1001}", "bad repetition {1001}"),
    ("[a", "missing ]"),
    ("[[:foo:]]", "[:foo:] is not a class"),
    ("[b-a]", "bad range b-a"),
    (r"\p{Xx}", "Unicode class 'Xx' is not known here"),
    (r"\x{110000}", "bad character number '110000'"),
    (r"\8", r"escape \8 is not RE2, or left out here"),
    ("(" * 101 + ")" * 101, "nested deeper than 100"),
    ("\\", "missing"),
]


@pytest.mark.parametrize(("pattern", "message"), REFUSED, ids=[pattern[:10] for pattern, _ in REFUSED])
def test_pattern_that_is_none_says_why(pattern, message):
    with pytest.raises(PatternError) as raised:
        parse(pattern)
    assert message in str(raised.value)


def shape(tree):
    """A tree in brackets: how its parts hang together."""
    match tree:
        case Chars():
            return "c"
        case Assertion(kind=kind):
            return f"<{kind}>"
        case Sequence(parts=parts):
            return "".join(map(shape, parts))
        case Choice(parts=parts):
            return f"({'|'.join(map(shape, parts))})"
        case Repeat(part=part, least=least, most=most):
            return f"{shape(part)}{{{least},{'' if most is None else most}}}"


@pytest.mark.parametrize(
    ("pattern", "tree"),
    [
        ("ab", "cc"),
        ("", ""),
        ("a|b|", "(c|c|)"),
        ("(a)(?:b)", "cc"),
        ("a*", "c{0,}"),
        ("a+?", "c{1,}"),
        ("a?", "c{0,1}"),
        ("a{2}", "c{2,2}"),
        ("a{2,}", "c{2,}"),
        ("a{x}", "cccc"),
        ("^a$", "<begin>c<end>"),
        ("(?m)^a$", "<line_begin>c<line_end>"),
        (r"\ba\B", "<boundary>c<inside>"),
        (r"\Q*(\E", "cc"),
        ("[]a]", "c"),
    ],
)
def test_pattern_is_a_tree(pattern, tree):
    assert shape(parse(pattern)) == tree


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        (".", "a\u00e9", "\n"),
        ("(?s).", "a\n", ""),
        (r"\d", "059", "a\u0661"),
        (r"\w", "aZ_9", "\u00e9-"),
        (r"\s", " \t\n", "\x0ba"),
        ("[^a-c]", "dA\n", "abc"),
        ("(?i)[a-c]", "aC", "dD"),
        ("(?i)k", "kK\u212a", "l"),
        (r"\pL", "a\u00e9", "1"),
        (r"\P{Lu}", "a1", "A"),
        ("[[:^digit:]]", "a", "1"),
        (r"[\]\-]", "]-", "a"),
    ],
)
def test_set_has_its_characters(pattern, inside, outside):
    tree = parse(pattern)
    while isinstance(tree, Sequence):
        (tree,) = tree.parts
    assert isinstance(tree, Chars)
    assert all(map(tree.accepts, inside)) and not any(map(tree.accepts, outside))
