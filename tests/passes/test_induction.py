"""Trip counts and final values that follow from induction variables."""

import pytest
from passes.programs import Case, check

CASES = {
    "trip_count_that_a_counter_decides": Case(
        """main(%x: float32[2]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %z: int64[] = Constant() {value = int64[] <0>}
  %l: int64[], %r: float32[2] = Loop(_, %t, %z, %x) {carried = 2}
  body(%i: int64[], %g: bool[], %c: int64[], %s: float32[2]) {
    %three: int64[] = Constant() {value = int64[] <3>}
    %d: int64[] = Add(%c, %three)
    %ten: int64[] = Constant() {value = int64[] <10>}
    %go: bool[] = Less(%d, %ten)
    %u: float32[2] = Abs(%s)
    %v: float32[2] = Sub(%u, %s)
    return %go, %d, %v
  }
  return r = %r, q = %l
}""",
        """main(%x: float32[2]) {
  %trips: int64[] = Constant "trips" () {value = int64[] <4>}
  %r: float32[2] = Loop(%trips, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %u: float32[2] = Abs(%s)
    %v: float32[2] = Sub(%u, %s)
    return %g, %v
  }
  %l: int64[] = Constant "l" () {value = int64[] <12>}
  return r = %r, q = %l
}""",
    ),
    "value_after_a_loop_is_known": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <6>}
  %z: int64[] = Constant() {value = int64[] <1>}
  %l: int64[], %r: float32[2] = Loop(%n, _, %z, %x) {carried = 2}
  body(%i: int64[], %g: bool[], %c: int64[], %s: float32[2]) {
    %d: int64[] = Add(%c, %c)
    %f: float32[] = Cast(%d) {to = float32}
    %u: float32[2] = Mul(%s, %f)
    return %g, %d, %u
  }
  return r = %r, q = %l
}""",
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <6>}
  %z: int64[] = Constant() {value = int64[] <1>}
  %l: int64[], %r: float32[2] = Loop(%n, _, %z, %x) {carried = 2}
  body(%i: int64[], %g: bool[] {True}, %c: int64[], %s: float32[2]) {
    %d: int64[] = Add(%c, %c)
    %f: float32[] = Cast(%d) {to = float32}
    %u: float32[2] = Mul(%s, %f)
    return %g, %d, %u
  }
  %l~1: int64[] = Constant "l" () {value = int64[] <64>}
  return r = %r, q = %l~1
}""",
    ),
    "counter_that_never_lets_the_loop_begin": Case(
        """main(%x: float32[2]) {
  %f: bool[] = Constant() {value = bool[] <False>}
  %z: int64[] = Constant() {value = int64[] <7>}
  %l: int64[], %r: float32[2] = Loop(_, %f, %z, %x) {carried = 2}
  body(%i: int64[], %g: bool[], %c: int64[], %s: float32[2]) {
    %u: float32[2] = Neg(%s)
    return %g, %c, %u
  }
  return r = %r, q = %l
}""",
        """main(%x: float32[2]) {
  %z: int64[] = Constant() {value = int64[] <7>}
  return r = %x, q = %z
}""",
    ),
    "trip_count_ends_before_the_counter_does": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <2>}
  %t: bool[] = Constant() {value = bool[] <True>}
  %z: int32[] = Constant() {value = int32[] <0>}
  %l: int32[], %r: float32[2] = Loop(%n, %t, %z, %x) {carried = 2}
  body(%i: int64[], %g: bool[], %c: int32[], %s: float32[2]) {
    %three: int32[] = Constant() {value = int32[] <3>}
    %d: int32[] = Add(%c, %three)
    %ten: int32[] = Constant() {value = int32[] <10>}
    %go: bool[] = Less(%d, %ten)
    %u: float32[2] = Neg(%s)
    return %go, %d, %u
  }
  return r = %r, q = %l
}""",
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <2>}
  %t: bool[] = Constant() {value = bool[] <True>}
  %r: float32[2] = Loop(%n, %t, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %go: bool[] = Constant "go" () {value = bool[] <True>}
    %u: float32[2] = Neg(%s)
    return %go, %u
  }
  %l: int32[] = Constant "l" () {value = int32[] <6>}
  return r = %r, q = %l
}""",
    ),
    "counter_of_floats_that_halves": Case(
        """main(%x: float32[2]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %z: float32[1] = Constant() {value = float32[1] <8.0>}
  %l: float32[1], %r: float32[2] = Loop(_, %t, %z, %x) {carried = 2}
  body(%i: int64[], %g: bool[], %c: float32[1], %s: float32[2]) {
    %half: float32[] = Constant() {value = float32[] <0.5>}
    %d: float32[1] = Mul(%c, %half)
    %go: bool[1] = Greater(%d, %half)
    %u: float32[2] = Add(%s, %d)
    return %go, %d, %u
  }
  return r = %r
}""",
        """main(%x: float32[2]) {
  %z: float32[1] = Constant() {value = float32[1] <8.0>}
  %trips: int64[] = Constant "trips" () {value = int64[] <4>}
  %l: float32[1], %r: float32[2] = Loop(%trips, _, %z, %x) {carried = 2}
  body(%i: int64[], %g: bool[] {True}, %c: float32[1], %s: float32[2]) {
    %half: float32[] = Constant() {value = float32[] <0.5>}
    %d: float32[1] = Mul(%c, %half)
    %u: float32[2] = Add(%s, %d)
    return %g, %d, %u
  }
  return r = %r
}""",
    ),
    "two_counters_that_feed_each_other": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <7>}
  %o: int64[] = Constant() {value = int64[] <1>}
  %z: int64[] = Constant() {value = int64[] <0>}
  %a: int64[], %b: int64[], %r: float32[2] = Loop(%n, _, %z, %o, %x) {carried = 3}
  body(%i: int64[], %g: bool[], %p: int64[], %q: int64[], %s: float32[2]) {
    %d: int64[] = Add(%p, %q)
    %u: float32[2] = Neg(%s)
    return %g, %q, %d, %u
  }
  return a = %a, b = %b, r = %r
}""",
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <7>}
  %r: float32[2] = Loop(%n, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %u: float32[2] = Neg(%s)
    return %g, %u
  }
  %a: int64[] = Constant "a" () {value = int64[] <13>}
  %b: int64[] = Constant "b" () {value = int64[] <21>}
  return a = %a, b = %b, r = %r
}""",
    ),
    "counter_that_reads_a_varying_value_stays": Case(
        """main(%x: float32[2], %y: int64[]) {
  %n: int64[] = Constant() {value = int64[] <7>}
  %z: int64[] = Constant() {value = int64[] <0>}
  %a: int64[], %r: float32[2] = Loop(%n, _, %z, %x, %y) {carried = 2}
  body(%i: int64[], %g: bool[], %p: int64[], %s: float32[2], %k: int64[]) {
    %d: int64[] = Add(%p, %k)
    %u: float32[2] = Neg(%s)
    return %g, %d, %u
  }
  return a = %a, r = %r
}""",
        """main(%x: float32[2], %y: int64[]) {
  %n: int64[] = Constant() {value = int64[] <7>}
  %z: int64[] = Constant() {value = int64[] <0>}
  %a: int64[], %r: float32[2] = Loop(%n, _, %z, %x, %y) {carried = 2}
  body(%i: int64[], %g: bool[] {True}, %p: int64[], %s: float32[2], %k: int64[]) {
    %d: int64[] = Add(%p, %k)
    %u: float32[2] = Neg(%s)
    return %g, %d, %u
  }
  return a = %a, r = %r
}""",
    ),
    "counter_ends_what_is_collected": Case(
        """main(%x: float32[2]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %z: int64[] = Constant() {value = int64[] <0>}
  %l: int64[], %r: float32[2], %q: float32[n, 2] = Loop(_, %t, %z, %x) {carried = 2, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %c: int64[], %s: float32[2]) {
    %one: int64[] = Constant() {value = int64[] <1>}
    %d: int64[] = Add(%c, %one)
    %three: int64[] = Constant() {value = int64[] <3>}
    %go: bool[] = Less(%d, %three)
    %u: float32[2] = Neg(%s)
    return %go, %d, %u, %u
  }
  return q = %q
}""",
        """main(%x: float32[2]) {
  %trips: int64[] = Constant "trips" () {value = int64[] <3>}
  %r: float32[2], %q: float32[3, 2] = Loop(%trips, _, %x) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %u: float32[2] = Neg(%s)
    return %g, %u, %u
  }
  return q = %q
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
