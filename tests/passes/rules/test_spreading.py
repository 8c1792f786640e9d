"""Constants that meet past a movement, and operands that need not be spread out."""

import pytest
from passes.programs import Case, check

CASES = {
    "constants_of_integers_meet_past_a_movement": Case(
        """main(%x: int32[2, 3]) {
  %a: int32[] = Constant() {value = int32[] <5>}
  %b: int32[2] = Constant() {value = int32[2] <1 2>}
  %s: int32[2, 3] = Add(%x, %a)
  %t: int32[3, 2] = Transpose(%s)
  %r: int32[3, 2] = Add(%t, %b)
  return r = %r
}""",
        """main(%x: int32[2, 3]) {
  %r: int32[3, 2] = Transpose(%x)
  %r~1: int32[2] = Constant "r" () {value = int32[2] <6 7>}
  %r~2: int32[3, 2] = Add(%r, %r~1)
  return r = %r~2
}""",
    ),
    "matrices_of_bits_meet_past_a_movement": Case(
        """main(%x: uint8[2, 2]) {
  %a: uint8[2, 2] = Constant() {value = uint8[2, 2] <1 2 3 4>}
  %s: uint8[2, 2] = BitwiseXor(%x, %a)
  %t: uint8[2, 2] = Transpose(%s)
  %r: uint8[2, 2] = BitwiseXor(%t, %a)
  return r = %r
}""",
        """main(%x: uint8[2, 2]) {
  %r: uint8[2, 2] = Transpose(%x)
  %r~1: uint8[2, 2] = Constant "r" () {value = uint8[2, 2] <0 1 1 0>}
  %r~2: uint8[2, 2] = BitwiseXor(%r, %r~1)
  return r = %r~2
}""",
    ),
    "zeros_like_an_operand_need_no_shape": Case(
        """main(%x: float32[N, 3]) {
  %s: int64[2] = Shape(%x)
  %z: float32[N, 3] = ConstantOfShape(%s)
  %r: float32[N, 3] = Sub(%x, %z)
  return r = %r
}""",
        """main(%x: float32[N, 3]) {
  return r = %x
}""",
    ),
    "operand_is_not_expanded_to_the_other": Case(
        """main(%x: float32[N, 3], %y: float32[3]) {
  %s: int64[2] = Shape(%x)
  %z: float32[N, 3] = Expand(%y, %s)
  %r: float32[N, 3] = Mul(%x, %z)
  return r = %r
}""",
        """main(%x: float32[N, 3], %y: float32[3]) {
  %r: float32[N, 3] = Mul(%x, %y)
  return r = %r
}""",
    ),
    "expanded_operand_that_gives_the_shape_stays": Case(
        """main(%x: float32[1, 3], %y: float32[3], %s: int64[2]) {
  %z: float32[a, b] = Expand(%y, %s)
  %r: float32[a, b] = Mul(%x, %z)
  return r = %r
}""",
        """main(%x: float32[1, 3], %y: float32[3], %s: int64[2]) {
  %z: float32[z.0, 3] = Expand(%y, %s)
  %r: float32[z.0, 3] = Mul(%x, %z)
  return r = %r
}""",
    ),
    "constants_of_floats_meet_only_with_fast_math": Case(
        """main(%x: float32[2, 3]) {
  %a: float32[] = Constant() {value = float32[] <5.0>}
  %b: float32[2] = Constant() {value = float32[2] <1.0 2.0>}
  %s: float32[2, 3] = Add(%x, %a)
  %t: float32[3, 2] = Transpose(%s)
  %r: float32[3, 2] = Add(%t, %b)
  return r = %r
}""",
        """main(%x: float32[2, 3]) {
  %a: float32[] = Constant() {value = float32[] <5.0>}
  %b: float32[2] = Constant() {value = float32[2] <1.0 2.0>}
  %s: float32[2, 3] = Add(%x, %a)
  %t: float32[3, 2] = Transpose(%s)
  %r: float32[3, 2] = Add(%t, %b)
  return r = %r
}""",
    ),
    "constants_of_floats_meet_with_fast_math": Case(
        """main(%x: float32[2, 3]) {
  %a: float32[] = Constant() {value = float32[] <5.0>}
  %b: float32[2] = Constant() {value = float32[2] <1.0 2.0>}
  %s: float32[2, 3] = Mul(%x, %a)
  %t: float32[3, 2] = Transpose(%s)
  %r: float32[3, 2] = Mul(%t, %b)
  return r = %r
}""",
        """main(%x: float32[2, 3]) {
  %r: float32[3, 2] = Transpose(%x)
  %r~1: float32[2] = Constant "r" () {value = float32[2] <5.0 10.0>}
  %r~2: float32[3, 2] = Mul(%r, %r~1)
  return r = %r~2
}""",
        {"fast_math": True},
    ),
    "vector_that_the_movement_does_not_know_stays": Case(
        """main(%x: int32[2, 3]) {
  %a: int32[3] = Constant() {value = int32[3] <5 6 7>}
  %b: int32[2] = Constant() {value = int32[2] <1 2>}
  %s: int32[2, 3] = Add(%x, %a)
  %t: int32[3, 2] = Transpose(%s)
  %r: int32[3, 2] = Add(%t, %b)
  return r = %r
}""",
        """main(%x: int32[2, 3]) {
  %a: int32[3] = Constant() {value = int32[3] <5 6 7>}
  %b: int32[2] = Constant() {value = int32[2] <1 2>}
  %s: int32[2, 3] = Add(%x, %a)
  %t: int32[3, 2] = Transpose(%s)
  %r: int32[3, 2] = Add(%t, %b)
  return r = %r
}""",
    ),
    "constant_that_widens_before_the_movement_stays": Case(
        """main(%x: int32[3]) {
  %a: int32[1, 1] = Constant() {value = int32[1, 1] <5>}
  %s: int32[1, 3] = Add(%x, %a)
  %t: int32[3, 1] = Transpose(%s)
  %r: int32[3, 1] = Add(%t, %a)
  return r = %r
}""",
        """main(%x: int32[3]) {
  %a: int32[1, 1] = Constant() {value = int32[1, 1] <5>}
  %s: int32[1, 3] = Add(%x, %a)
  %t: int32[3, 1] = Transpose(%s)
  %r: int32[3, 1] = Add(%t, %a)
  return r = %r
}""",
    ),
    "sum_that_is_read_elsewhere_stays_before_the_movement": Case(
        """main(%x: int32[2, 3]) {
  %a: int32[] = Constant() {value = int32[] <5>}
  %s: int32[2, 3] = Add(%x, %a)
  %t: int32[3, 2] = Transpose(%s)
  %r: int32[3, 2] = Add(%t, %a)
  return r = %r, s = %s
}""",
        """main(%x: int32[2, 3]) {
  %a: int32[] = Constant() {value = int32[] <5>}
  %s: int32[2, 3] = Add(%x, %a)
  %t: int32[3, 2] = Transpose(%s)
  %r: int32[3, 2] = Add(%t, %a)
  return r = %r, s = %s
}""",
    ),
    "constants_meet_past_an_index_from_the_end": Case(
        """main(%x: int64[2, 3]) {
  %i: int64[] = Constant() {value = int64[] <-1>}
  %k: int64[] = Constant() {value = int64[] <3>}
  %a: int64[2, 3] = Constant() {value = int64[2, 3] <1 2 3 4 5 6>}
  %s: int64[2, 3] = Mul(%x, %a)
  %t: int64[2] = Gather(%s, %i) {axis = 1}
  %r: int64[2] = Mul(%t, %k)
  return r = %r
}""",
        """main(%x: int64[2, 3]) {
  %i: int64[] = Constant() {value = int64[] <-1>}
  %r: int64[2] = Gather(%x, %i) {axis = 1}
  %r~1: int64[2] = Constant "r" () {value = int64[2] <9 18>}
  %r~2: int64[2] = Mul(%r, %r~1)
  return r = %r~2
}""",
    ),
    "choice_needs_no_spread_branches": Case(
        """main(%x: float32[N, 3], %c: bool[N, 3]) {
  %s: int64[2] = Shape(%x)
  %k: float32[] = Constant() {value = float32[] <-inf>}
  %z: float32[N, 3] = Expand(%k, %s)
  %r: float32[N, 3] = Where(%c, %x, %z)
  return r = %r
}""",
        """main(%x: float32[N, 3], %c: bool[N, 3]) {
  %k: float32[] = Constant() {value = float32[] <-inf>}
  %r: float32[N, 3] = Where(%c, %x, %k)
  return r = %r
}""",
    ),
    "filling_that_alone_gives_an_axis_stays": Case(
        """main(%x: float32[N, 1]) {
  %s: int64[2] = Constant() {value = int64[2] <1 3>}
  %z: float32[1, 3] = ConstantOfShape(%s)
  %r: float32[N, 3] = Max(%x, %z)
  return r = %r, y = %y
}""".replace("  %y: float32[1, 3] = Expand(%x, %s)\n", "").replace(", y = %y", ""),
        """main(%x: float32[N, 1]) {
  %s: int64[2] = Constant() {value = int64[2] <1 3>}
  %z: float32[1, 3] {0.0, 0.0, 0.0} = ConstantOfShape(%s)
  %r: float32[N, 3] = Max(%x, %z)
  return r = %r
}""",
        {"disabled": frozenset({"fold_constants"})},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
