"""Transposes and reshapes that become one or none, and pieces that are put together and taken apart."""

import pytest
from passes.programs import Case, check

CASES = {
    "transposes_become_one": Case(
        """main(%x: float32[2, 3, 4]) {
  %a: float32[3, 4, 2] = Transpose(%x) {perm = (1, 2, 0)}
  %r: float32[4, 3, 2] = Transpose(%a) {perm = (1, 0, 2)}
  return r = %r
}""",
        """main(%x: float32[2, 3, 4]) {
  %r: float32[4, 3, 2] = Transpose(%x) {perm = (2, 1, 0)}
  return r = %r
}""",
    ),
    "transposes_that_undo_each_other": Case(
        """main(%x: float32[2, 3]) {
  %a: float32[3, 2] = Transpose(%x)
  %r: float32[2, 3] = Transpose(%a)
  return r = %r
}""",
        """main(%x: float32[2, 3]) {
  return r = %x
}""",
    ),
    "reshapes_become_one": Case(
        """main(%x: float32[2, 3, 4]) {
  %s: int64[1] = Constant() {value = int64[1] <-1>}
  %a: float32[24] = Reshape(%x, %s)
  %t: int64[2] = Constant() {value = int64[2] <6 4>}
  %r: float32[6, 4] = Reshape(%a, %t)
  return r = %r
}""",
        """main(%x: float32[2, 3, 4]) {
  %r: int64[2] = Constant "r" () {value = int64[2] <6 4>}
  %r~1: float32[6, 4] = Reshape(%x, %r)
  return r = %r~1
}""",
    ),
    "reshapes_that_undo_each_other": Case(
        """main(%x: float32[N, 3]) {
  %z: int64[1] = Constant() {value = int64[1] <0>}
  %a: float32[1, N, 3] = Unsqueeze(%x, %z)
  %r: float32[N, 3] = Squeeze(%a, %z)
  return r = %r
}""",
        """main(%x: float32[N, 3]) {
  return r = %x
}""",
    ),
    "transposes_meet_past_elementwise_ops": Case(
        """main(%x: float32[2, 3]) {
  %k: float32[] = Constant() {value = float32[] <2.0>}
  %a: float32[3, 2] = Transpose(%x)
  %b: float32[3, 2] = Exp(%a)
  %c: float32[3, 2] = Mul(%b, %k)
  %r: float32[2, 3] = Transpose(%c)
  return r = %r
}""",
        """main(%x: float32[2, 3]) {
  %k: float32[] = Constant() {value = float32[] <2.0>}
  %r: float32[2, 3] = Exp(%x)
  %r~1: float32[2, 3] = Mul(%r, %k)
  return r = %r~1
}""",
    ),
    "reshapes_meet_past_elementwise_ops": Case(
        """main(%x: float32[N, 3]) {
  %z: int64[1] = Constant() {value = int64[1] <0>}
  %a: float32[1, N, 3] = Unsqueeze(%x, %z)
  %b: float32[1, N, 3] = Relu(%a)
  %r: float32[N, 3] = Squeeze(%b, %z)
  return r = %r
}""",
        """main(%x: float32[N, 3]) {
  %r: float32[N, 3] = Relu(%x)
  return r = %r
}""",
    ),
    "target_of_a_reshape_becomes_constant": Case(
        """main(%x: float32[N, 3, 4]) {
  %s: int64[3] = Shape(%x)
  %z: int64[] = Constant() {value = int64[] <0>}
  %n: int64[] = Gather(%s, %z)
  %a: int64[1] = Constant() {value = int64[1] <0>}
  %u: int64[1] = Unsqueeze(%n, %a)
  %c: int64[1] = Constant() {value = int64[1] <12>}
  %t: int64[2] = Concat(%u, %c) {axis = 0}
  %r: float32[N, 12] = Reshape(%x, %t)
  return r = %r
}""",
        """main(%x: float32[N, 3, 4]) {
  %r: int64[2] = Constant "r" () {value = int64[2] <0 12>}
  %r~1: float32[N, 12] = Reshape(%x, %r)
  return r = %r~1
}""",
    ),
    "product_of_named_lengths_is_what_is_left": Case(
        """main(%x: float32[N, M, 4]) {
  %s: int64[3] = Shape(%x)
  %z: int64[] = Constant() {value = int64[] <0>}
  %o: int64[] = Constant() {value = int64[] <1>}
  %n: int64[] = Gather(%s, %z)
  %m: int64[] = Gather(%s, %o)
  %p: int64[] = Mul(%n, %m)
  %a: int64[1] = Constant() {value = int64[1] <0>}
  %u: int64[1] = Unsqueeze(%p, %a)
  %c: int64[1] = Constant() {value = int64[1] <4>}
  %t: int64[2] = Concat(%u, %c) {axis = 0}
  %r: float32[mul(M, N), 4] = Reshape(%x, %t)
  return r = %r
}""",
        """main(%x: float32[N, M, 4]) {
  %r: int64[2] = Constant "r" () {value = int64[2] <-1 4>}
  %r~1: float32[mul(M, N), 4] = Reshape(%x, %r)
  return r = %r~1
}""",
    ),
    "expand_to_a_known_shape": Case(
        """main(%x: float32[1, 3], %y: float32[2, 3]) {
  %s: int64[2] = Shape(%y)
  %r: float32[2, 3] = Expand(%x, %s)
  return r = %r
}""",
        """main(%x: float32[1, 3], %y: float32[2, 3]) {
  %s: int64[2] = Constant "s" () {value = int64[2] <2 3>}
  %r: float32[2, 3] = Expand(%x, %s)
  return r = %r
}""",
    ),
    "concats_become_one": Case(
        """main(%x: float32[1], %y: float32[2]) {
  %k: float32[1] = Constant() {value = float32[1] <7.0>}
  %e: float32[0] = Constant() {value = float32[0] <>}
  %a: float32[2] = Concat(%x, %k) {axis = 0}
  %r: float32[5] = Concat(%a, %e, %k, %y) {axis = -1}
  return r = %r
}""",
        """main(%x: float32[1], %y: float32[2]) {
  %r: float32[2] = Constant "r" () {value = float32[2] <7.0 7.0>}
  %r~1: float32[5] {?, 7.0, 7.0, ?, ?} = Concat(%x, %r, %y) {axis = 0}
  return r = %r~1
}""",
    ),
    "split_and_joined_again": Case(
        """main(%x: float32[4]) {
  %a: float32[2], %b: float32[2] = Split(%x) {output_count = 2}
  %r: float32[4] = Concat(%a, %b) {axis = 0}
  return r = %r
}""",
        """main(%x: float32[4]) {
  return r = %x
}""",
    ),
    "joined_and_split_again": Case(
        """main(%x: float32[2], %y: float32[2]) {
  %a: float32[4] = Concat(%x, %y) {axis = 0}
  %b: float32[2], %c: float32[2] = Split(%a) {output_count = 2}
  %r: float32[2] = Sub(%c, %b)
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2]) {
  %r: float32[2] = Sub(%y, %x)
  return r = %r
}""",
    ),
    "index_into_joined_pieces": Case(
        """main(%x: float32[2], %y: float32[3]) {
  %i: int64[] = Constant() {value = int64[] <3>}
  %a: float32[5] = Concat(%x, %y) {axis = 0}
  %r: float32[] = Gather(%a, %i)
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[3]) {
  %r: int64[] = Constant "r" () {value = int64[] <1>}
  %r~1: float32[] = Gather(%y, %r)
  return r = %r~1
}""",
    ),
    "slice_of_joined_pieces": Case(
        """main(%x: float32[2], %y: float32[3]) {
  %s: int64[1] = Constant() {value = int64[1] <2>}
  %e: int64[1] = Constant() {value = int64[1] <9>}
  %a: float32[5] = Concat(%x, %y) {axis = 0}
  %r: float32[3] = Slice(%a, %s, %e)
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[3]) {
  return r = %y
}""",
    ),
    "op_on_a_choice_of_constants": Case(
        """main(%c: bool[2]) {
  %a: float32[] = Constant() {value = float32[] <1.0>}
  %b: float32[] = Constant() {value = float32[] <2.0>}
  %w: float32[2] = Where(%c, %a, %b)
  %e: float32[2] = Exp(%w)
  %r: float32[2] = Add(%e, %b)
  return r = %r
}""",
        """main(%c: bool[2]) {
  %r: float32[] = Constant "r" () {value = float32[] <4.7182817>}
  %r~1: float32[] = Constant "r" () {value = float32[] <9.389055>}
  %r~2: float32[2] = Where(%c, %r, %r~1)
  return r = %r~2
}""",
    ),
    "op_on_a_table": Case(
        """main(%i: int64[N]) {
  %t: float32[3] = Constant() {value = float32[3] <1.0 2.0 3.0>}
  %b: float32[] = Constant() {value = float32[] <2.0>}
  %w: float32[N] = Gather(%t, %i)
  %r: float32[N] = Mul(%w, %b)
  return r = %r
}""",
        """main(%i: int64[N]) {
  %r: float32[3] = Constant "r" () {value = float32[3] <2.0 4.0 6.0>}
  %r~1: float32[N] = Gather(%r, %i)
  return r = %r~1
}""",
    ),
    "division_that_is_not_chosen_must_not_fail": Case(
        """main(%c: bool[2]) {
  %a: int32[] = Constant() {value = int32[] <0>}
  %b: int32[] = Constant() {value = int32[] <2>}
  %w: int32[2] = Where(%c, %a, %b)
  %r: int32[2] = Div(%b, %w)
  return r = %r
}""",
        """main(%c: bool[2]) {
  %a: int32[] = Constant() {value = int32[] <0>}
  %b: int32[] = Constant() {value = int32[] <2>}
  %w: int32[2] = Where(%c, %a, %b)
  %r: int32[2] = Div(%b, %w)
  return r = %r
}""",
    ),
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
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
