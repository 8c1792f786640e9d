"""Lengths that decide branches: for which of them the first one is taken."""

import pytest
from passes.programs import read

from whorl.passes.unroll.decisions import Decision, decide_by_length

TEXT = """main(%x: float32[{dims}], %y: float32[2]) {{
  %s: int64[1] = Shape(%x) {{end = 1}}
  %k: int64[1] = Constant() {{value = int64[1] <{other}>}}
  %c: bool[1] = {op}(%s, %k)
  %r: float32[2] = If(%c, %y)
  then_branch(%a: float32[2]) {{
    return %a
  }}
  else_branch(%b: float32[2]) {{
    %e: float32[2] = Exp(%b)
    return %e
  }}
  return r = %r
}}"""


def decision(op, other, dims="n", names=("n",)):
    module = read(TEXT.format(op=op, other=other, dims=dims))
    return decide_by_length(module.main.nodes[-1], names)


@pytest.mark.parametrize(
    ("op", "other", "expected", "text", "example"),
    [
        ("Equal", 1, Decision("n", 1, 1), "n = 1", 1),
        ("Equal", 0, Decision("n", 0, 0), "n = 0", 0),
        ("Less", 5, Decision("n", 0, 4), "0 <= n <= 4", 1),
        ("Greater", 3, Decision("n", 4, None), "n >= 4", 4),
        ("Equal", -1, None, "None", None),
    ],
)
def test_lengths_of_the_first_branch(op, other, expected, text, example):
    actual = decision(op, other)
    assert actual == expected and str(actual) == text
    assert actual is None or actual.example == example


def test_names_that_no_input_has_decide_nothing_for_a_caller():
    assert decision("Equal", 1, names=("m",)) is None


def test_known_length_decides_by_itself():
    assert decision("Equal", 1, dims="7") is None
