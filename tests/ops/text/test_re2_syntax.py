"""The syntax of RE2 patterns: what is refused, and with which words."""

import pytest

from whorl.ops.text.re2 import matcher
from whorl.ops.text.re2_syntax import PatternError


def test_script_classes_are_refused_with_their_name():
    with pytest.raises(PatternError, match="Unicode class 'Greek' is not known here"):
        matcher("\\p{Greek}")


def test_single_bytes_are_refused():
    with pytest.raises(PatternError, match=r"escape \\C is not RE2, or left out here"):
        matcher("\\C")


def test_huge_repetition_is_refused():
    with pytest.raises(PatternError, match="needs more than 100000 states"):
        matcher("((a{1000}){1000})")
