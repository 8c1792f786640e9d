"""Sequences and optionals made of constants."""

import pytest
from passes.programs import Case, check

CASES = {
    "tensors_out_of_sequences_of_constants": Case(
        """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <1.0 2.0>}
  %i: int64[] = Constant() {value = int64[] <-1>}
  %s: seq(float32[2]) = SequenceConstruct(%a)
  %t: seq(float32[2]) = SequenceInsert(%s, %a)
  %e: float32[2] = SequenceAt(%t, %i)
  %n: int64[] = SequenceLength(%t)
  %r: float32[2] = Add(%x, %e)
  return r = %r, q = %n
}""",
        """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <1.0 2.0>}
  %n: int64[] = Constant "n" () {value = int64[] <2>}
  %r: float32[2] = Add(%x, %a)
  return r = %r, q = %n
}""",
    ),
    "optional_that_surely_holds_something": Case(
        """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <1.0 2.0>}
  %o: optional(float32[2]) = Optional(%a)
  %h: bool[] = OptionalHasElement(%o)
  %r: float32[2] = If(%h, %x, %a)
  then_branch(%u: float32[2], %v: float32[2]) {
    %w: float32[2] = Max(%u, %v)
    return %w
  }
  else_branch(%u: float32[2], %v: float32[2]) {
    return %u
  }
  return r = %r
}""",
        """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <1.0 2.0>}
  %w: float32[2] = Max(%x, %a)
  return r = %w
}""",
    ),
    "loop_that_collects_a_sequence_is_run": Case(
        """main(%x: float32[]) {
  %n: int64[] = Constant() {value = int64[] <3>}
  %e: seq(float32[*]) = SequenceEmpty()
  %s: seq(float32[*]) = Loop(%n, _, %e) {carried = 1}
  body(%i: int64[], %g: bool[], %q: seq(float32[*])) {
    %f: float32[] = Cast(%i) {to = float32}
    %p: seq(float32[*]) = SequenceInsert(%q, %f)
    return %g, %p
  }
  %c: float32[*] = ConcatFromSequence(%s) {axis = 0, new_axis = 1}
  %r: float32[*] = Add(%x, %c)
  return r = %r
}""",
        """main(%x: float32[]) {
  %c: float32[3] = Constant "c" () {value = float32[3] <0.0 1.0 2.0>}
  %r: float32[3] = Add(%x, %c)
  return r = %r
}""",
    ),
    "sequence_of_what_varies_stays": Case(
        """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <1.0 2.0>}
  %i: int64[] = Constant() {value = int64[] <0>}
  %s: seq(float32[2]) = SequenceConstruct(%a, %x)
  %r: float32[2] = SequenceAt(%s, %i)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <1.0 2.0>}
  %i: int64[] = Constant() {value = int64[] <0>}
  %s: seq(float32[2]) = SequenceConstruct(%a, %x)
  %r: float32[2] = SequenceAt(%s, %i)
  return r = %r
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
