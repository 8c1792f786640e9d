"""What is read of the parts of a tensor is read of the tensor."""

import pytest
from passes.programs import Case, check

CASES = {
    "number_of_rows": Case(
        """main(%x: float32[N, 3]) {
  %c: seq(float32[3]) = SplitToSequence(%x) {keepdims = 0}
  %r: int64[] = SequenceLength(%c)
  return r = %r
}""",
        """main(%x: float32[N, 3]) {
  %r: int64[1] {N} = Shape(%x) {end = 1}
  %r~1: int64[1] = Constant "r" () {value = int64[1] <0>}
  %r~2: int64[] {N} = Squeeze(%r, %r~1)
  return r = %r~2
}""",
    ),
    "number_of_parts_counts_the_shorter_one": Case(
        """main(%x: float32[3, N]) {
  %s: int64[] = Constant() {value = int64[] <2>}
  %c: seq(float32[3, m]) = SplitToSequence(%x, %s) {axis = -1}
  %r: int64[] = SequenceLength(%c)
  return r = %r
}""",
        """main(%x: float32[3, N]) {
  %r: int64[1] {N} = Shape(%x) {start = 1, end = 2}
  %r~1: int64[1] = Constant "r" () {value = int64[1] <0>}
  %r~2: int64[] {N} = Squeeze(%r, %r~1)
  %r~3: int64[] = Constant "r" () {value = int64[] <1>}
  %r~4: int64[] {N+1} = Add(%r~2, %r~3)
  %r~5: int64[] = Constant "r" () {value = int64[] <2>}
  %r~6: int64[] {floor(N+1, 2)} = Div(%r~4, %r~5)
  return r = %r~6
}""",
    ),
    "row_that_lacks_the_axis": Case(
        """main(%x: float32[3, N], %k: int64[]) {
  %c: seq(float32[3]) = SplitToSequence(%x) {axis = 1, keepdims = 0}
  %r: float32[3] = SequenceAt(%c, %k)
  return r = %r
}""",
        """main(%x: float32[3, N], %k: int64[]) {
  %r: float32[3] = Gather(%x, %k) {axis = 1}
  return r = %r
}""",
    ),
    "row_that_has_the_axis": Case(
        """main(%x: float32[N, 3], %k: int64[]) {
  %c: seq(float32[1, 3]) = SplitToSequence(%x)
  %r: float32[1, 3] = SequenceAt(%c, %k)
  return r = %r
}""",
        """main(%x: float32[N, 3], %k: int64[]) {
  %r: float32[3] = Gather(%x, %k)
  %r~1: int64[1] = Constant "r" () {value = int64[1] <0>}
  %r~2: float32[1, 3] = Unsqueeze(%r, %r~1)
  return r = %r~2
}""",
    ),
    "parts_joined_again": Case(
        """main(%x: float32[3, N]) {
  %s: int64[] = Constant() {value = int64[] <2>}
  %c: seq(float32[3, m]) = SplitToSequence(%x, %s) {axis = -1}
  %r: float32[3, k] = ConcatFromSequence(%c) {axis = 1}
  return r = %r
}""",
        """main(%x: float32[3, N]) {
  return r = %x
}""",
    ),
    "rows_stacked_on_another_axis": Case(
        """main(%x: float32[N, 3, 4]) {
  %c: seq(float32[3, 4]) = SplitToSequence(%x) {keepdims = 0}
  %r: float32[3, 4, k] = ConcatFromSequence(%c) {axis = -1, new_axis = 1}
  return r = %r
}""",
        """main(%x: float32[N, 3, 4]) {
  %r: float32[3, 4, N] = Transpose(%x) {perm = (1, 2, 0)}
  return r = %r
}""",
    ),
    "errors_that_are_to_stay_keep_the_sequence": Case(
        """main(%x: float32[3, N], %k: int64[]) {
  %c: seq(float32[3]) = SplitToSequence(%x) {axis = 1, keepdims = 0}
  %r: float32[3] = SequenceAt(%c, %k)
  return r = %r
}""",
        """main(%x: float32[3, N], %k: int64[]) {
  %c: seq(float32[3]) = SplitToSequence(%x) {axis = 1, keepdims = 0}
  %r: float32[3] = SequenceAt(%c, %k)
  return r = %r
}""",
        {"keep_errors": True},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
