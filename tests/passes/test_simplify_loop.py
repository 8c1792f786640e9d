"""Loops that constants decide."""

import pytest
from passes.programs import Case, check

CASES = {
    "loop_that_never_runs_is_its_initial_value": Case(
        """main(%x: float32[2], %y: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <0>}
  %r: float32[2] = Loop(%n, _, %x, %y) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[2]) {
    %t: float32[2] = Add(%s, %k)
    return %g, %t
  }
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2]) {
  return r = %x
}""",
    ),
    "loop_whose_condition_is_false_collects_nothing": Case(
        """main(%x: float32[2]) {
  %c: bool[] = Constant() {value = bool[] <False>}
  %r: float32[2], %q: float32[n, 2] = Loop(_, %c, %x) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %t: float32[2] = Exp(%s)
    return %g, %t, %t
  }
  return r = %r, q = %q
}""",
        """main(%x: float32[2]) {
  %q: float32[0, 2] = Constant "q" () {value = float32[0, 2] <>}
  return r = %x, q = %q
}""",
    ),
    "loop_that_runs_once_is_its_body": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <1>}
  %r: float32[2], %q: float32[2, 1] = Loop(%n, _, %x) {carried = 1, collected = (Collected(axis = 1),)}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %f: float32[] = Cast(%i) {to = float32}
    %t: float32[2] = Add(%s, %f)
    return %g, %t, %t
  }
  return r = %r, q = %q
}""",
        """main(%x: float32[2]) {
  %f: float32[] = Constant "f" () {value = float32[] <0.0>}
  %t: float32[2] = Add(%x, %f)
  %const: int64[1] = Constant "const" () {value = int64[1] <1>}
  %q: float32[2, 1] = Unsqueeze "q" (%t, %const)
  return r = %t, q = %q
}""",
    ),
    "loop_that_stops_after_its_first_iteration_is_its_body": Case(
        """main(%x: float32[2]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %r: float32[2] = Loop(_, %t, %x) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %t: float32[2] = Exp(%s)
    %z: int64[] = Constant() {value = int64[] <0>}
    %c: bool[] = Less(%i, %z)
    return %c, %t
  }
  return r = %r
}""",
        """main(%x: float32[2]) {
  %t: float32[2] = Exp(%x)
  return r = %t
}""",
    ),
    "scan_of_one_slice_is_its_body": Case(
        """main(%x: float32[2], %y: float32[2, 1]) {
  %r: float32[2], %q: float32[1, 2] = Loop(_, _, %x, %y)
    {carried = 1, scanned = (Scanned(axis = 1),), collected = (Collected(),), keep_shapes = True}
  body(%i: int64[], %g: bool[], %s: float32[2], %v: float32[2]) {
    %t: float32[2] = Add(%s, %v)
    return %g, %t, %s
  }
  return r = %r, q = %q
}""",
        """main(%x: float32[2], %y: float32[2, 1]) {
  %const: int64[] = Constant "const" () {value = int64[] <0>}
  %y~1: float32[2] = Gather "y" (%y, %const) {axis = 1}
  %t: float32[2] = Add(%x, %y~1)
  %const~1: int64[1] = Constant "const" () {value = int64[1] <0>}
  %q: float32[1, 2] = Unsqueeze "q" (%x, %const~1)
  return r = %t, q = %q
}""",
    ),
    "what_never_changes_is_captured": Case(
        """main(%x: float32[2], %y: float32[2], %m: int64[]) {
  %r: float32[2], %q: float32[2] = Loop(%m, _, %x, %y) {carried = 2}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[2]) {
    %t: float32[2] = Add(%s, %k)
    return %g, %t, %k
  }
  %u: float32[2] = Mul(%r, %q)
  return r = %u
}""",
        """main(%x: float32[2], %y: float32[2], %m: int64[]) {
  %r: float32[2] = Loop(%m, _, %x, %y) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %k: float32[2]) {
    %t: float32[2] = Add(%s, %k)
    return %g, %t
  }
  %u: float32[2] = Mul(%r, %y)
  return r = %u
}""",
    ),
    "constant_that_stays_itself_moves_into_the_body": Case(
        """main(%x: float32[2], %m: int64[]) {
  %y: float32[] = Constant() {value = float32[] <4.0>}
  %r: float32[2], %q: float32[] = Loop(%m, _, %x, %y) {carried = 2}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[]) {
    %o: float32[] = Sqrt(%k)
    %t: float32[2] = Add(%s, %o)
    %c: float32[] = Constant() {value = float32[] <4.0>}
    return %g, %t, %c
  }
  %u: float32[2] = Mul(%r, %q)
  return r = %u
}""",
        """main(%x: float32[2], %m: int64[]) {
  %y: float32[] = Constant() {value = float32[] <4.0>}
  %r: float32[2] = Loop(%m, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %o: float32[] = Constant "o" () {value = float32[] <2.0>}
    %t: float32[2] = Add(%s, %o)
    return %g, %t
  }
  %u: float32[2] = Mul(%r, %y)
  return r = %u
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
