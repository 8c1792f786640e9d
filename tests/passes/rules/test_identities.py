"""What changes nothing, and what gives the same whatever it is given."""

import pytest
from passes.programs import Case, check

CASES = {
    "integer_plus_zero": Case(
        """main(%x: int32[2]) {
  %z: int32[] = Constant() {value = int32[] <0>}
  %r: int32[2] = Add(%x, %z)
  return r = %r
}""",
        """main(%x: int32[2]) {
  return r = %x
}""",
    ),
    "float_plus_zero_may_lose_a_sign": Case(
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <0.0>}
  %r: float32[2] = Add(%x, %z)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <0.0>}
  %r: float32[2] = Add(%x, %z)
  return r = %r
}""",
    ),
    "float_plus_negative_zero": Case(
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <-0.0>}
  %r: float32[2] = Add(%x, %z)
  return r = %r
}""",
        """main(%x: float32[2]) {
  return r = %x
}""",
    ),
    "float_minus_zero": Case(
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <0.0>}
  %r: float32[2] = Sub(%x, %z)
  return r = %r
}""",
        """main(%x: float32[2]) {
  return r = %x
}""",
    ),
    "float_minus_negative_zero_may_lose_a_sign": Case(
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <-0.0>}
  %r: float32[2] = Sub(%x, %z)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <-0.0>}
  %r: float32[2] = Sub(%x, %z)
  return r = %r
}""",
    ),
    "factors_and_divisors_of_one": Case(
        """main(%x: float32[2]) {
  %z: float32[2] = Constant() {value = float32[2] <1.0 1.0>}
  %m: float32[2] = Mul(%z, %x)
  %d: float32[2] = Div(%m, %z)
  %r: float32[2] = Pow(%d, %z)
  return r = %r
}""",
        """main(%x: float32[2]) {
  return r = %x
}""",
    ),
    "factor_of_one_that_broadcasts_stays": Case(
        """main(%x: float32[2]) {
  %z: float32[3, 1] = Constant() {value = float32[3, 1] <1.0 1.0 1.0>}
  %r: float32[3, 2] = Mul(%x, %z)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %z: float32[3, 1] = Constant() {value = float32[3, 1] <1.0 1.0 1.0>}
  %r: float32[3, 2] = Mul(%x, %z)
  return r = %r
}""",
    ),
    "integer_times_zero": Case(
        """main(%x: int32[2]) {
  %z: int32[] = Constant() {value = int32[] <0>}
  %r: int32[2] = Mul(%x, %z)
  return r = %r
}""",
        """main(%x: int32[2]) {
  %r: int32[2] = Constant "r" () {value = int32[2] <0 0>}
  return r = %r
}""",
    ),
    "float_times_zero_stays": Case(
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <0.0>}
  %r: float32[2] = Mul(%x, %z)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %z: float32[] = Constant() {value = float32[] <0.0>}
  %r: float32[2] = Mul(%x, %z)
  return r = %r
}""",
    ),
    "truth_with_constants": Case(
        """main(%x: bool[2]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %f: bool[] = Constant() {value = bool[] <False>}
  %a: bool[2] = And(%x, %t)
  %b: bool[2] = Or(%a, %f)
  %c: bool[2] = Xor(%b, %t)
  %d: bool[2] = Xor(%c, %f)
  %r: bool[2] = Not(%d)
  return r = %r
}""",
        """main(%x: bool[2]) {
  return r = %x
}""",
    ),
    "truth_decided_by_a_constant": Case(
        """main(%x: bool[2]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %f: bool[] = Constant() {value = bool[] <False>}
  %a: bool[2] = And(%x, %f)
  %b: bool[2] = Or(%x, %t)
  %r: bool[2] = Xor(%a, %b)
  return r = %r
}""",
        """main(%x: bool[2]) {
  %r: bool[2] = Constant "r" () {value = bool[2] <True True>}
  return r = %r
}""",
    ),
    "bits_with_constants": Case(
        """main(%x: int16[2]) {
  %t: int16[] = Constant() {value = int16[] <-1>}
  %f: int16[] = Constant() {value = int16[] <0>}
  %a: int16[2] = BitwiseAnd(%x, %t)
  %b: int16[2] = BitwiseOr(%a, %f)
  %r: int16[2] = BitwiseXor(%b, %f)
  return r = %r
}""",
        """main(%x: int16[2]) {
  return r = %x
}""",
    ),
    "extremes_of_the_type": Case(
        """main(%x: int8[2], %y: float32[2]) {
  %t: int8[] = Constant() {value = int8[] <-128>}
  %f: float32[] = Constant() {value = float32[] <-inf>}
  %r: int8[2] = Max(%x, %t)
  %s: float32[2] = Max(%y, %f)
  return r = %r, q = %s
}""",
        """main(%x: int8[2], %y: float32[2]) {
  return r = %x, q = %y
}""",
    ),
    "operand_with_itself": Case(
        """main(%x: int8[2]) {
  %a: int8[2] = BitwiseAnd(%x, %x)
  %b: int8[2] = Max(%a, %a)
  %r: int8[2] = Sub(%b, %b)
  return r = %r
}""",
        """main(%x: int8[2]) {
  %r: int8[2] = Constant "r" () {value = int8[2] <0 0>}
  return r = %r
}""",
    ),
    "choice_that_is_made": Case(
        """main(%x: float32[2], %y: float32[2]) {
  %t: bool[2] = Constant() {value = bool[2] <True True>}
  %r: float32[2] = Where(%t, %x, %y)
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2]) {
  return r = %x
}""",
    ),
    "choice_between_equals": Case(
        """main(%c: bool[2], %x: float32[2]) {
  %r: float32[2] = Where(%c, %x, %x)
  return r = %r
}""",
        """main(%c: bool[2], %x: float32[2]) {
  return r = %x
}""",
    ),
    "casts_that_lose_nothing": Case(
        """main(%x: int8[2]) {
  %a: int32[2] = Cast(%x) {to = int32}
  %b: int64[2] = Cast(%a) {to = int64}
  %r: int64[2] = Cast(%b) {to = int64}
  return r = %r
}""",
        """main(%x: int8[2]) {
  %b: int64[2] = Cast(%x) {to = int64}
  return r = %b
}""",
    ),
    "cast_that_loses_stays": Case(
        """main(%x: float32[2]) {
  %a: float16[2] = Cast(%x) {to = float16}
  %r: float32[2] = Cast(%a) {to = float32}
  return r = %r
}""",
        """main(%x: float32[2]) {
  %a: float16[2] = Cast(%x) {to = float16}
  %r: float32[2] = Cast(%a) {to = float32}
  return r = %r
}""",
    ),
    "cast_like_needs_only_the_type": Case(
        """main(%x: int8[2], %y: float32[N]) {
  %r: float32[2] = CastLike(%x, %y)
  return r = %r
}""",
        """main(%x: int8[2], %y: float32[N]) {
  %r: float32[2] = Cast(%x) {to = float32}
  return r = %r
}""",
    ),
    "ops_that_move_nothing": Case(
        """main(%x: float32[2, 1]) {
  %p: int64[4] = Constant() {value = int64[4] <0 0 0 0>}
  %s: int64[2] = Constant() {value = int64[2] <2 1>}
  %z: int64[1] = Constant() {value = int64[1] <0>}
  %e: int64[1] = Constant() {value = int64[1] <9>}
  %o: int64[2] = Constant() {value = int64[2] <1 1>}
  %a: float32[2, 1] = Pad(%x, %p)
  %b: float32[2, 1] = Reshape(%a, %s)
  %c: float32[2, 1] = Expand(%b, %s)
  %d: float32[2, 1] = Tile(%c, %o)
  %f: float32[2, 1] = Slice(%d, %z, %e)
  %g: float32[2, 1] = Transpose(%f) {perm = (0, 1)}
  %h: float32[2, 1] = Concat(%g) {axis = 0}
  %i: float32[2, 1] = Clip(%h)
  %r: float32[2, 1] = Identity(%i)
  return r = %r
}""",
        """main(%x: float32[2, 1]) {
  return r = %x
}""",
    ),
    "slice_backwards_moves": Case(
        """main(%x: float32[2]) {
  %z: int64[1] = Constant() {value = int64[1] <-1>}
  %e: int64[1] = Constant() {value = int64[1] <-9>}
  %o: int64[1] = Constant() {value = int64[1] <0>}
  %r: float32[2] = Slice(%x, %z, %e, %o, %z)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %z: int64[1] = Constant() {value = int64[1] <-1>}
  %e: int64[1] = Constant() {value = int64[1] <-9>}
  %o: int64[1] = Constant() {value = int64[1] <0>}
  %r: float32[2] = Slice(%x, %z, %e, %o, %z)
  return r = %r
}""",
    ),
    "reduction_of_single_elements": Case(
        """main(%x: float32[2, 1], %y: int32[2, 1]) {
  %o: int64[1] = Constant() {value = int64[1] <1>}
  %r: float32[2, 1] = ReduceMax(%x, %o)
  %s: int32[2, 1] = ReduceSum(%y, %o)
  return r = %r, q = %s
}""",
        """main(%x: float32[2, 1], %y: int32[2, 1]) {
  return r = %x, q = %y
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
