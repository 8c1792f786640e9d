"""Constants that meet through sums, products and their like."""

import pytest
from passes.programs import Case, check

CASES = {
    "sum_of_integers_regroups": Case(
        """main(%x: int32[3]) {
  %a: int32[] = Constant() {value = int32[] <5>}
  %b: int32[3] = Constant() {value = int32[3] <1 2 3>}
  %s: int32[3] = Add(%a, %x)
  %r: int32[3] = Add(%s, %b)
  return r = %r
}""",
        """main(%x: int32[3]) {
  %r: int32[3] = Constant "r" () {value = int32[3] <6 7 8>}
  %r~1: int32[3] = Add(%x, %r)
  return r = %r~1
}""",
    ),
    "sum_of_integers_wraps": Case(
        """main(%x: int8[2]) {
  %a: int8[] = Constant() {value = int8[] <100>}
  %s: int8[2] = Add(%x, %a)
  %r: int8[2] = Add(%s, %a)
  return r = %r
}""",
        """main(%x: int8[2]) {
  %r: int8[] = Constant "r" () {value = int8[] <-56>}
  %r~1: int8[2] = Add(%x, %r)
  return r = %r~1
}""",
    ),
    "sum_of_floats_stays_as_written": Case(
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <1e30>}
  %b: float32[] = Constant() {value = float32[] <-1e30>}
  %s: float32[2] = Add(%x, %a)
  %r: float32[2] = Add(%s, %b)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <1e+30>}
  %b: float32[] = Constant() {value = float32[] <-1e+30>}
  %s: float32[2] = Add(%x, %a)
  %r: float32[2] = Add(%s, %b)
  return r = %r
}""",
    ),
    "constants_of_two_sums_meet": Case(
        """main(%x: int64[3], %y: int64[3]) {
  %a: int64[] = Constant() {value = int64[] <5>}
  %s: int64[3] = Add(%x, %a)
  %t: int64[3] = Add(%y, %a)
  %r: int64[3] = Add(%s, %t)
  return r = %r
}""",
        """main(%x: int64[3], %y: int64[3]) {
  %r: int64[3] = Add(%x, %y)
  %r~1: int64[] = Constant "r" () {value = int64[] <10>}
  %r~2: int64[3] = Add(%r, %r~1)
  return r = %r~2
}""",
    ),
    "constant_moves_past_another_operand": Case(
        """main(%x: int64[3], %y: int64[3]) {
  %a: int64[] = Constant() {value = int64[] <5>}
  %s: int64[3] = Add(%x, %a)
  %t: int64[3] = Add(%s, %y)
  %r: int64[3] = Add(%t, %a)
  return r = %r
}""",
        """main(%x: int64[3], %y: int64[3]) {
  %t: int64[3] = Add(%x, %y)
  %r: int64[] = Constant "r" () {value = int64[] <10>}
  %r~1: int64[3] = Add(%t, %r)
  return r = %r~1
}""",
    ),
    "sum_that_is_read_twice_stays": Case(
        """main(%x: int64[3]) {
  %a: int64[] = Constant() {value = int64[] <5>}
  %s: int64[3] = Add(%x, %a)
  %r: int64[3] = Add(%s, %a)
  %q: int64[3] = Mul(%s, %r)
  return r = %q
}""",
        """main(%x: int64[3]) {
  %a: int64[] = Constant() {value = int64[] <5>}
  %s: int64[3] = Add(%x, %a)
  %r: int64[3] = Add(%s, %a)
  %q: int64[3] = Mul(%s, %r)
  return r = %q
}""",
    ),
    "differences_are_sums_of_integers": Case(
        """main(%x: int32[2]) {
  %a: int32[] = Constant() {value = int32[] <5>}
  %b: int32[] = Constant() {value = int32[] <7>}
  %s: int32[2] = Sub(%a, %x)
  %t: int32[2] = Sub(%s, %b)
  %r: int32[2] = Sub(%b, %t)
  return r = %r
}""",
        """main(%x: int32[2]) {
  %r: int32[] = Constant "r" () {value = int32[] <9>}
  %r~1: int32[2] = Add(%x, %r)
  return r = %r~1
}""",
    ),
    "differences_of_unsigned_integers_wrap": Case(
        """main(%x: uint8[2]) {
  %a: uint8[] = Constant() {value = uint8[] <5>}
  %s: uint8[2] = Sub(%x, %a)
  %r: uint8[2] = Sub(%s, %a)
  return r = %r
}""",
        """main(%x: uint8[2]) {
  %r: uint8[] = Constant "r" () {value = uint8[] <246>}
  %r~1: uint8[2] = Add(%x, %r)
  return r = %r~1
}""",
    ),
    "affine_chain_of_integers_is_one": Case(
        """main(%x: int32[2]) {
  %a: int32[] = Constant() {value = int32[] <3>}
  %b: int32[] = Constant() {value = int32[] <7>}
  %s: int32[2] = Mul(%x, %a)
  %t: int32[2] = Add(%s, %b)
  %u: int32[2] = Mul(%t, %a)
  %r: int32[2] = Sub(%u, %b)
  return r = %r
}""",
        """main(%x: int32[2]) {
  %u: int32[] = Constant "u" () {value = int32[] <9>}
  %u~1: int32[2] = Mul(%x, %u)
  %r: int32[] = Constant "r" () {value = int32[] <14>}
  %r~1: int32[2] = Add(%u~1, %r)
  return r = %r~1
}""",
    ),
    "bits_regroup": Case(
        """main(%x: uint8[2]) {
  %a: uint8[] = Constant() {value = uint8[] <15>}
  %b: uint8[] = Constant() {value = uint8[] <60>}
  %s: uint8[2] = BitwiseAnd(%a, %x)
  %t: uint8[2] = BitwiseAnd(%s, %b)
  %u: uint8[2] = BitwiseXor(%t, %a)
  %r: uint8[2] = BitwiseXor(%u, %b)
  return r = %r
}""",
        """main(%x: uint8[2]) {
  %t: uint8[] = Constant "t" () {value = uint8[] <12>}
  %t~1: uint8[2] = BitwiseAnd(%x, %t)
  %r: uint8[] = Constant "r" () {value = uint8[] <51>}
  %r~1: uint8[2] = BitwiseXor(%t~1, %r)
  return r = %r~1
}""",
    ),
    "truth_regroups": Case(
        """main(%x: bool[2]) {
  %a: bool[2] = Constant() {value = bool[2] <True False>}
  %b: bool[2] = Constant() {value = bool[2] <True True>}
  %s: bool[2] = Or(%a, %x)
  %r: bool[2] = Or(%s, %b)
  return r = %r
}""",
        """main(%x: bool[2]) {
  %r: bool[2] = Constant "r" () {value = bool[2] <True True>}
  return r = %r
}""",
    ),
    "extremes_of_floats_regroup": Case(
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <1.5>}
  %b: float32[] = Constant() {value = float32[] <2.5>}
  %s: float32[2] = Max(%x, %a)
  %r: float32[2] = Max(%s, %b)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %r: float32[] = Constant "r" () {value = float32[] <2.5>}
  %r~1: float32[2] = Max(%x, %r)
  return r = %r~1
}""",
    ),
    "extremes_with_a_zero_stay": Case(
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <0.0>}
  %b: float32[] = Constant() {value = float32[] <-0.0>}
  %s: float32[2] = Max(%x, %a)
  %r: float32[2] = Max(%s, %b)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <0.0>}
  %b: float32[] = Constant() {value = float32[] <-0.0>}
  %s: float32[2] = Max(%x, %a)
  %r: float32[2] = Max(%s, %b)
  return r = %r
}""",
    ),
    "negations_vanish_in_sums": Case(
        """main(%x: float32[2], %y: float32[2]) {
  %n: float32[2] = Neg(%x)
  %s: float32[2] = Add(%n, %y)
  %m: float32[2] = Neg(%y)
  %r: float32[2] = Sub(%s, %m)
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2]) {
  %s: float32[2] = Sub(%y, %x)
  %r: float32[2] = Add(%s, %y)
  return r = %r
}""",
    ),
    "negation_goes_into_a_factor": Case(
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <3.0>}
  %n: float32[2] = Neg(%x)
  %r: float32[2] = Mul(%n, %a)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %r: float32[] = Constant "r" () {value = float32[] <-3.0>}
  %r~1: float32[2] = Mul(%x, %r)
  return r = %r~1
}""",
    ),
    "negation_of_a_float_difference_stays": Case(
        """main(%x: float32[2], %y: float32[2]) {
  %n: float32[2] = Sub(%x, %y)
  %r: float32[2] = Neg(%n)
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2]) {
  %n: float32[2] = Sub(%x, %y)
  %r: float32[2] = Neg(%n)
  return r = %r
}""",
    ),
    "division_by_a_power_of_two_is_a_product": Case(
        """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <4.0 -0.5>}
  %r: float32[2] = Div(%x, %a)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %r: float32[2] = Constant "r" () {value = float32[2] <0.25 -2.0>}
  %r~1: float32[2] = Mul(%x, %r)
  return r = %r~1
}""",
    ),
    "division_by_another_number_stays": Case(
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <3.0>}
  %r: float32[2] = Div(%x, %a)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <3.0>}
  %r: float32[2] = Div(%x, %a)
  return r = %r
}""",
    ),
    "integer_divisions_join": Case(
        """main(%x: int32[2]) {
  %a: int32[] = Constant() {value = int32[] <3>}
  %b: int32[] = Constant() {value = int32[] <4>}
  %s: int32[2] = Div(%x, %a)
  %r: int32[2] = Div(%s, %b)
  return r = %r
}""",
        """main(%x: int32[2]) {
  %r: int32[] = Constant "r" () {value = int32[] <12>}
  %r~1: int32[2] = Div(%x, %r)
  return r = %r~1
}""",
    ),
    "integer_divisions_that_overflow_stay": Case(
        """main(%x: int8[2]) {
  %a: int8[] = Constant() {value = int8[] <100>}
  %s: int8[2] = Div(%x, %a)
  %r: int8[2] = Div(%s, %a)
  return r = %r
}""",
        """main(%x: int8[2]) {
  %r: int8[2] = Constant "r" () {value = int8[2] <0 0>}
  return r = %r
}""",
    ),
    "rounding_twice_is_rounding_once": Case(
        """main(%x: float32[2]) {
  %a: float32[2] = Round(%x)
  %b: float32[2] = Round(%a)
  %c: float32[2] = Abs(%b)
  %r: float32[2] = Abs(%c)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %b: float32[2] = Round(%x)
  %r: float32[2] = Abs(%b)
  return r = %r
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
