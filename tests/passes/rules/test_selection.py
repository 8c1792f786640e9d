"""Pieces that are put together and taken apart, and ops on choices among constants."""

import pytest
from passes.programs import Case, check

CASES = {
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
    "nested_concat_along_another_axis_stays": Case(
        """main(%x: float32[1, 2], %y: float32[1, 2]) {
  %a: float32[2, 2] = Concat(%x, %y) {axis = 0}
  %r: float32[2, 4] = Concat(%a, %a) {axis = 1}
  return r = %r
}""",
        """main(%x: float32[1, 2], %y: float32[1, 2]) {
  %a: float32[2, 2] = Concat(%x, %y) {axis = 0}
  %r: float32[2, 4] = Concat(%a, %a) {axis = 1}
  return r = %r
}""",
    ),
    "nested_concat_that_is_read_twice_stays": Case(
        """main(%x: float32[1], %y: float32[2]) {
  %a: float32[3] = Concat(%x, %y) {axis = 0}
  %r: float32[4] = Concat(%a, %x) {axis = 0}
  %q: float32[3] = Neg(%a)
  return r = %r, q = %q
}""",
        """main(%x: float32[1], %y: float32[2]) {
  %a: float32[3] = Concat(%x, %y) {axis = 0}
  %r: float32[4] = Concat(%a, %x) {axis = 0}
  %q: float32[3] = Neg(%a)
  return r = %r, q = %q
}""",
    ),
    "pieces_that_are_all_empty": Case(
        """main(%x: float32[0, 3], %y: float32[0, 3]) {
  %r: float32[0, 3] = Concat(%x, %y) {axis = -2}
  return r = %r
}""",
        """main(%x: float32[0, 3], %y: float32[0, 3]) {
  return r = %x
}""",
    ),
    "empty_along_another_axis_counts": Case(
        """main(%x: float32[2, 0], %y: float32[3, 0]) {
  %r: float32[5, 0] = Concat(%x, %y) {axis = 0}
  return r = %r
}""",
        """main(%x: float32[2, 0], %y: float32[3, 0]) {
  %r: float32[5, 0] = Concat(%x, %y) {axis = 0}
  return r = %r
}""",
    ),
    "negative_index_into_joined_pieces": Case(
        """main(%x: float32[2, 2], %y: float32[2, 1]) {
  %i: int64[] = Constant() {value = int64[] <-1>}
  %j: int64[] = Constant() {value = int64[] <-2>}
  %a: float32[2, 3] = Concat(%x, %y) {axis = 1}
  %r: float32[2] = Gather(%a, %i) {axis = -1}
  %q: float32[2] = Gather(%a, %j) {axis = 1}
  return r = %r, q = %q
}""",
        """main(%x: float32[2, 2], %y: float32[2, 1]) {
  %r: int64[1] = Constant "r" () {value = int64[1] <1>}
  %r~1: float32[2] = Squeeze(%y, %r)
  %q: int64[] = Constant "q" () {value = int64[] <1>}
  %q~1: float32[2] = Gather(%x, %q) {axis = 1}
  return r = %r~1, q = %q~1
}""",
    ),
    "index_outside_of_joined_pieces_stays_to_fail": Case(
        """main(%x: float32[N], %y: float32[1]) {
  %i: int64[] = Constant() {value = int64[] <5>}
  %a: float32[2] = Concat(%y, %y) {axis = 0}
  %r: float32[] = Gather(%a, %i)
  return r = %r
}""",
        """main(%x: float32[N], %y: float32[1]) {
  %i: int64[] = Constant() {value = int64[] <5>}
  %a: float32[2] = Concat(%y, %y) {axis = 0}
  %r: float32[] = Gather(%a, %i)
  return r = %r
}""",
        {"only": ("simplify",)},
    ),
    "pieces_of_unknown_length_have_no_known_borders": Case(
        """main(%x: float32[N], %y: float32[2]) {
  %i: int64[] = Constant() {value = int64[] <0>}
  %a: float32[N+2] = Concat(%x, %y) {axis = 0}
  %r: float32[] = Gather(%a, %i)
  return r = %r
}""",
        """main(%x: float32[N], %y: float32[2]) {
  %i: int64[] = Constant() {value = int64[] <0>}
  %a: float32[N+2] = Concat(%x, %y) {axis = 0}
  %r: float32[] = Gather(%a, %i)
  return r = %r
}""",
    ),
    "slice_from_the_end_along_the_last_axis": Case(
        """main(%x: float32[2, 2], %y: float32[2, 3], %z: float32[2, 1]) {
  %s: int64[1] = Constant() {value = int64[1] <-4>}
  %e: int64[1] = Constant() {value = int64[1] <9223372036854775807>}
  %b: int64[1] = Constant() {value = int64[1] <-1>}
  %a: float32[2, 6] = Concat(%x, %y, %z) {axis = 1}
  %r: float32[2, 4] = Slice(%a, %s, %e, %b)
  return r = %r
}""",
        """main(%x: float32[2, 2], %y: float32[2, 3], %z: float32[2, 1]) {
  %r: float32[2, 4] = Concat(%y, %z) {axis = 1}
  return r = %r
}""",
    ),
    "slice_through_a_piece_with_steps_or_of_nothing_stays": Case(
        """main(%x: float32[2], %y: float32[3]) {
  %o: int64[1] = Constant() {value = int64[1] <1>}
  %two: int64[1] = Constant() {value = int64[1] <2>}
  %five: int64[1] = Constant() {value = int64[1] <5>}
  %z: int64[1] = Constant() {value = int64[1] <0>}
  %a: float32[5] = Concat(%x, %y) {axis = 0}
  %p: float32[4] = Slice(%a, %o, %five)
  %q: float32[2] = Slice(%a, %two, %five, %z, %two)
  %r: float32[0] = Slice(%a, %five, %two)
  return p = %p, q = %q, r = %r
}""",
        """main(%x: float32[2], %y: float32[3]) {
  %o: int64[1] = Constant() {value = int64[1] <1>}
  %two: int64[1] = Constant() {value = int64[1] <2>}
  %five: int64[1] = Constant() {value = int64[1] <5>}
  %z: int64[1] = Constant() {value = int64[1] <0>}
  %a: float32[5] = Concat(%x, %y) {axis = 0}
  %p: float32[4] = Slice(%a, %o, %five)
  %q: float32[2] = Slice(%a, %two, %five, %z, %two)
  %r: float32[0] = Slice(%a, %five, %two)
  return p = %p, q = %q, r = %r
}""",
    ),
    "parts_in_another_order_are_not_what_was_split": Case(
        """main(%x: float32[4]) {
  %a: float32[2], %b: float32[2] = Split(%x) {output_count = 2}
  %r: float32[4] = Concat(%b, %a) {axis = 0}
  return r = %r
}""",
        """main(%x: float32[4]) {
  %a: float32[2], %b: float32[2] = Split(%x) {output_count = 2}
  %r: float32[4] = Concat(%b, %a) {axis = 0}
  return r = %r
}""",
    ),
    "split_at_other_borders_stays": Case(
        """main(%x: float32[1], %y: float32[3]) {
  %a: float32[4] = Concat(%x, %y) {axis = 0}
  %b: float32[2], %c: float32[2] = Split(%a) {output_count = 2}
  return b = %b, c = %c
}""",
        """main(%x: float32[1], %y: float32[3]) {
  %a: float32[4] = Concat(%x, %y) {axis = 0}
  %b: float32[2], %c: float32[2] = Split(%a) {output_count = 2}
  return b = %b, c = %c
}""",
    ),
    "squeeze_of_the_axes_that_unsqueeze_made_in_any_writing": Case(
        """main(%x: float32[2]) {
  %a: int64[2] = Constant() {value = int64[2] <0 -1>}
  %b: int64[2] = Constant() {value = int64[2] <2 0>}
  %u: float32[1, 2, 1] = Unsqueeze(%x, %a)
  %r: float32[2] = Squeeze(%u, %b)
  return r = %r
}""",
        """main(%x: float32[2]) {
  return r = %x
}""",
        {"only": ("simplify", "dce"), "disabled": frozenset({"ReshapeOfReshape"})},
    ),
    "choice_among_constants_spreads_to_the_shape_of_the_other_constant": Case(
        """main(%c: bool[]) {
  %a: float32[1] = Constant() {value = float32[1] <1.0>}
  %b: float32[] = Constant() {value = float32[] <-0.0>}
  %k: float32[2] = Constant() {value = float32[2] <nan 2.0>}
  %w: float32[1] = Where(%c, %a, %b)
  %r: float32[2] = Mul(%w, %k)
  return r = %r
}""",
        """main(%c: bool[]) {
  %r: float32[2] = Constant "r" () {value = float32[2] <nan 2.0>}
  %r~1: float32[2] = Constant "r" () {value = float32[2] <nan -0.0>}
  %r~2: float32[2] = Where(%c, %r, %r~1)
  return r = %r~2
}""",
    ),
    "choice_from_a_table_that_two_ops_read_stays": Case(
        """main(%i: int64[N]) {
  %t: float32[3] = Constant() {value = float32[3] <1.0 2.0 3.0>}
  %b: float32[2] = Constant() {value = float32[2] <2.0 3.0>}
  %w: float32[N] = Gather(%t, %i)
  %r: float32[N] = Exp(%w)
  %s: float32[N] = Neg(%w)
  return r = %r, s = %s
}""",
        """main(%i: int64[N]) {
  %t: float32[3] = Constant() {value = float32[3] <1.0 2.0 3.0>}
  %w: float32[N] = Gather(%t, %i)
  %r: float32[N] = Exp(%w)
  %s: float32[N] = Neg(%w)
  return r = %r, s = %s
}""",
    ),
    "rows_of_a_table_and_a_vector_are_combined_after_the_choice": Case(
        """main(%i: int64[2]) {
  %t: float32[3, 2] = Constant() {value = float32[3, 2] <1.0 2.0 3.0 4.0 5.0 6.0>}
  %b: float32[2] = Constant() {value = float32[2] <2.0 3.0>}
  %w: float32[2, 2] = Gather(%t, %i)
  %r: float32[2, 2] = Mul(%w, %b)
  return r = %r
}""",
        """main(%i: int64[2]) {
  %t: float32[3, 2] = Constant() {value = float32[3, 2] <1.0 2.0 3.0 4.0 5.0 6.0>}
  %b: float32[2] = Constant() {value = float32[2] <2.0 3.0>}
  %w: float32[2, 2] = Gather(%t, %i)
  %r: float32[2, 2] = Mul(%w, %b)
  return r = %r
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
