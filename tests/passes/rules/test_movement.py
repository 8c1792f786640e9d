"""Transposes and reshapes that become one or none."""

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
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
