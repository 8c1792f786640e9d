"""The rules together: floats keep their bits, and one walk simplifies what rules make for each other."""

import pytest
from passes.programs import Case, check, report_of

from whorl.passes.rules import arithmetic, distances, identities, movement, selection, sequences, spreading, weights
from whorl.passes.simplify import RULES

CASES = {
    "sum_with_a_zero_of_floats_stays": Case(
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <0.0>}
  %a: float32[2] = Add(%x, %z)
  %b: float32[2] = Mul(%a, %z)
  return b = %b
}""",
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <0.0>}
  %a: float32[2] = Add(%x, %z)
  %b: float32[2] = Mul(%a, %z)
  return b = %b
}""",
    ),
    "zeros_of_integers_go": Case(
        """main(%x: int32[2]) {
  %z: int32[] = Constant() {value = int32[] <0>}
  %a: int32[2] = Add(%x, %z)
  %b: int32[2] = Mul(%a, %z)
  %c: int32[2] = Sub(%a, %b)
  return c = %c
}""",
        """main(%x: int32[2]) {
  return c = %x
}""",
    ),
    "rule_inside_a_body": Case(
        """main(%n: int64[], %x: float32[2]) {
  %r: float32[2] = Loop(%n, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %a: float32[2] = Neg(%s)
    %b: float32[2] = Neg(%a)
    %c: float32[2] = Exp(%b)
    return %g, %c
  }
  return r = %r
}""",
        """main(%n: int64[], %x: float32[2]) {
  %r: float32[2] = Loop(%n, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %c: float32[2] = Exp(%s)
    return %g, %c
  }
  return r = %r
}""",
        {"only": ("simplify", "dce")},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)


def test_every_rule_of_every_file_is_applied():
    files = (arithmetic, distances, identities, movement, selection, sequences, spreading, weights)
    assert {rule.name for rule in RULES} == {rule.name for file in files for rule in file.RULES}


def test_disabled_rule_is_not_applied():
    text = """main(%x: float32[2]) {
  %a: float32[2] = Abs(%x)
  %b: float32[2] = Abs(%a)
  return b = %b
}"""
    (name,) = (name for name in report_of(text, only=("simplify",)).edits if name != "dce")
    assert not report_of(text, only=("simplify",), disabled=frozenset({name})).edits
