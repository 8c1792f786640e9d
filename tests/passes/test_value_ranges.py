"""What value ranges decide."""

import pytest
from passes.programs import Case, check

CASES = {
    "lengths_are_not_negative": Case(
        """main(%x: float32[N]) {
  %s: int64[1] = Shape(%x)
  %z: int64[1] = Constant() {value = int64[1] <0>}
  %r: bool[1] = GreaterOrEqual(%s, %z)
  return r = %r
}""",
        """main(%x: float32[N]) {
  %r: bool[1] = Constant "r" () {value = bool[1] <True>}
  return r = %r
}""",
    ),
    "clip_within_its_limits": Case(
        """main(%x: int32[2]) {
  %a: int32[] = Constant() {value = int32[] <0>}
  %b: int32[] = Constant() {value = int32[] <9>}
  %c: int32[] = Constant() {value = int32[] <20>}
  %d: int32[] = Constant() {value = int32[] <-5>}
  %s: int32[2] = Clip(%x, %a, %b)
  %r: int32[2] = Clip(%s, %d, %c)
  return r = %r
}""",
        """main(%x: int32[2]) {
  %a: int32[] = Constant() {value = int32[] <0>}
  %b: int32[] = Constant() {value = int32[] <9>}
  %s: int32[2] = Clip(%x, %a, %b)
  return r = %s
}""",
    ),
    "relu_of_what_is_positive": Case(
        """main(%x: int32[2]) {
  %a: int32[] = Constant() {value = int32[] <3>}
  %m: int32[2] = Mod(%x, %a)
  %n: int32[2] = Abs(%m)
  %r: int32[2] = Relu(%n)
  return r = %r
}""",
        """main(%x: int32[2]) {
  %a: int32[] = Constant() {value = int32[] <3>}
  %m: int32[2] = Mod(%x, %a)
  return r = %m
}""",
    ),
    "relu_of_a_float_that_may_be_negative_zero_stays": Case(
        """main(%x: float32[2]) {
  %a: float32[2] = Sigmoid(%x)
  %r: float32[2] = Relu(%a)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %a: float32[2] = Sigmoid(%x)
  %r: float32[2] = Relu(%a)
  return r = %r
}""",
    ),
    "comparison_with_nan_is_not_decided": Case(
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <2.0>}
  %s: float32[2] = Tanh(%x)
  %r: bool[2] = Less(%s, %a)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <2.0>}
  %s: float32[2] = Tanh(%x)
  %r: bool[2] = Less(%s, %a)
  return r = %r
}""",
    ),
    "comparison_that_is_false_of_nan_too": Case(
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <2.0>}
  %s: float32[2] = Tanh(%x)
  %r: bool[2] = Greater(%s, %a)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %r: bool[2] = Constant "r" () {value = bool[2] <False False>}
  return r = %r
}""",
    ),
    "comparison_of_sums_that_may_wrap_is_not_decided": Case(
        """main(%x: int8[2]) {
  %a: int8[] = Constant() {value = int8[] <1>}
  %s: int8[2] = Abs(%x)
  %t: int8[2] = Add(%s, %a)
  %z: int8[] = Constant() {value = int8[] <0>}
  %r: bool[2] = Less(%t, %z)
  return r = %r
}""",
        """main(%x: int8[2]) {
  %a: int8[] = Constant() {value = int8[] <1>}
  %s: int8[2] = Abs(%x)
  %t: int8[2] = Add(%s, %a)
  %z: int8[] = Constant() {value = int8[] <0>}
  %r: bool[2] = Less(%t, %z)
  return r = %r
}""",
    ),
    "flags_as_numbers": Case(
        """main(%x: float32[2]) {
  %b: bool[2] = IsNaN(%x)
  %n: int32[2] = Cast(%b) {to = int32}
  %a: int32[] = Constant() {value = int32[] <2>}
  %r: bool[2] = Equal(%n, %a)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %r: bool[2] = Constant "r" () {value = bool[2] <False False>}
  return r = %r
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
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
