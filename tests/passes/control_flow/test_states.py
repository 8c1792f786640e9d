"""What loops carry: values that never change, that are constant for a while, or that tell how often the loop runs."""

import pytest
from passes.programs import Case, check

CASES = {
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
    "iterations_before_the_state_varies_are_run": Case(
        """main(%x: float32[2]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %z: int64[] = Constant() {value = int64[] <0>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %l: int64[], %r: float32[2] = Loop(_, %t, %z, %o, %x) {carried = 2}
  body(%i: int64[], %g: bool[], %c: int64[], %s: float32[2], %k: float32[2]) {
    %three: int64[] = Constant() {value = int64[] <3>}
    %nine: int64[] = Constant() {value = int64[] <9>}
    %w: bool[] = Less(%i, %three)
    %u: float32[2] = If(%w, %s, %k)
    then_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Add(%a, %a)
      return %p
    }
    else_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Mul(%a, %b)
      return %p
    }
    %d: int64[] = Add(%c, %i)
    %go: bool[] = Less(%d, %nine)
    return %go, %d, %u
  }
  return r = %r, q = %l
}""",
        """main(%x: float32[2]) {
  %state: float32[2] = Constant "state" () {value = float32[2] <0.0 8.0>}
  %trips: int64[] = Constant "trips" () {value = int64[] <2>}
  %r: float32[2] = Loop(%trips, _, %state, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %k: float32[2]) {
    %p: float32[2] = Mul(%s, %k)
    return %g, %p
  }
  %l: int64[] = Constant "l" () {value = int64[] <10>}
  return r = %r, q = %l
}""",
    ),
    "loop_ends_before_it_needs_what_varies": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <3>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %r: float32[2] = Loop(%n, _, %o, %x) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[2]) {
    %three: int64[] = Constant() {value = int64[] <2>}
    %w: bool[] = LessOrEqual(%i, %three)
    return %g, %s
  }
  return r = %r
}""",
        """main(%x: float32[2]) {
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  return r = %o
}""",
    ),
    "condition_that_the_trip_count_decides": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <5>}
  %r: float32[2] = Loop(%n, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %five: int64[] = Constant() {value = int64[] <5>}
    %w: bool[] = Less(%i, %five)
    %u: float32[2] = If(%w, %s)
    then_branch(%a: float32[2]) {
      %p: float32[2] = Exp(%a)
      return %p
    }
    else_branch(%a: float32[2]) {
      %p: float32[2] = Neg(%a)
      return %p
    }
    return %g, %u
  }
  return r = %r
}""",
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <5>}
  %r: float32[2] = Loop(%n, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %p: float32[2] = Exp(%s)
    return %g, %p
  }
  return r = %r
}""",
    ),
    "condition_that_a_named_trip_count_decides": Case(
        """main(%x: float32[2], %y: float32[N]) {
  %h: int64[1] = Shape(%y)
  %n: int64[] = Squeeze(%h)
  %r: float32[2] = Loop(%n, _, %x, %n) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2], %five: int64[]) {
    %w: bool[] = Less(%i, %five)
    %u: float32[2] = If(%w, %s)
    then_branch(%a: float32[2]) {
      %p: float32[2] = Exp(%a)
      return %p
    }
    else_branch(%a: float32[2]) {
      %p: float32[2] = Neg(%a)
      return %p
    }
    return %g, %u
  }
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[N]) {
  %h: int64[1] {N} = Shape(%y)
  %n: int64[] {N} = Squeeze(%h)
  %r: float32[2] = Loop(%n, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %p: float32[2] = Exp(%s)
    return %g, %p
  }
  return r = %r
}""",
    ),
    "what_is_the_same_each_time_moves_out": Case(
        """main(%x: float32[2], %y: float32[2], %m: int64[]) {
  %r: float32[2] = Loop(%m, _, %x, %y) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[2]) {
    %e: float32[2] = Exp(%k)
    %t: float32[2] = Add(%s, %e)
    return %g, %t
  }
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2], %m: int64[]) {
  %e: float32[2] = Exp(%y)
  %r: float32[2] = Loop(%m, _, %x, %e) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %e: float32[2]) {
    %t: float32[2] = Add(%s, %e)
    return %g, %t
  }
  return r = %r
}""",
    ),
    "what_may_fail_stays_in_a_loop_that_may_not_run": Case(
        """main(%x: int32[2], %y: int32[2], %m: int64[]) {
  %r: int32[2] = Loop(%m, _, %x, %y) {carried = 1}
  body(%i: int64[], %g: bool[], %s: int32[2], %k: int32[2]) {
    %e: int32[2] = Div(%k, %k)
    %t: int32[2] = Add(%s, %e)
    return %g, %t
  }
  return r = %r
}""",
        """main(%x: int32[2], %y: int32[2], %m: int64[]) {
  %r: int32[2] = Loop(%m, _, %x, %y) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: int32[2], %k: int32[2]) {
    %e: int32[2] = Div(%k, %k)
    %t: int32[2] = Add(%s, %e)
    return %g, %t
  }
  return r = %r
}""",
    ),
    "what_is_carried_for_nobody_goes": Case(
        """main(%x: float32[2], %m: int64[], %y: float32[2]) {
  %z: int64[] = Constant() {value = int64[] <0>}
  %r: float32[2], %q: int64[], %p: float32[2], %o: float32[n, 2] = Loop(%m, _, %x, %z, %y)
    {carried = 3, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: int64[], %v: float32[2]) {
    %j: int64[] = Add(%k, %i)
    %t: float32[2] = Add(%s, %v)
    %w: float32[2] = Exp(%v)
    %e: float32[2] = Sqrt(%t)
    return %g, %t, %j, %w, %e
  }
  return r = %r
}""",
        """main(%x: float32[2], %m: int64[], %y: float32[2]) {
  %r: float32[2], %p: float32[2] = Loop(%m, _, %x, %y) {carried = 2}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %v: float32[2]) {
    %t: float32[2] = Add(%s, %v)
    %w: float32[2] = Exp(%v)
    return %g, %t, %w
  }
  return r = %r
}""",
    ),
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
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
