"""With `fast_math`, factors and summands go into weights, and sums of floats are regrouped."""

import pytest
from passes.programs import Case, check

OPTIONS = {"fast_math": True}

CASES = {
    "sums_of_floats_regroup": Case(
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <1.5>}
  %s: float32[2] = Sub(%x, %a)
  %r: float32[2] = Add(%s, %a)
  return r = %r
}""",
        """main(%x: float32[2]) {
  return r = %x
}""",
        OPTIONS,
    ),
    "factor_goes_into_a_matrix": Case(
        """main(%x: float32[3, 2]) {
  %w: float32[2, 2] = Constant() {value = float32[2, 2] <1.0 2.0 3.0 4.0>}
  %k: float32[] = Constant() {value = float32[] <2.0>}
  %p: float32[3, 2] = MatMul(%x, %w)
  %r: float32[3, 2] = Mul(%p, %k)
  return r = %r
}""",
        """main(%x: float32[3, 2]) {
  %r: float32[2, 2] = Constant "r" () {value = float32[2, 2] <2.0 4.0 6.0 8.0>}
  %r~1: float32[3, 2] = MatMul(%x, %r)
  return r = %r~1
}""",
        OPTIONS,
    ),
    "factor_before_a_matrix_goes_into_it": Case(
        """main(%x: float32[3, 2]) {
  %w: float32[2, 2] = Constant() {value = float32[2, 2] <1.0 2.0 3.0 4.0>}
  %k: float32[] = Constant() {value = float32[] <2.0>}
  %p: float32[3, 2] = Mul(%x, %k)
  %r: float32[3, 2] = MatMul(%p, %w)
  return r = %r
}""",
        """main(%x: float32[3, 2]) {
  %r: float32[2, 2] = Constant "r" () {value = float32[2, 2] <2.0 4.0 6.0 8.0>}
  %r~1: float32[3, 2] = MatMul(%x, %r)
  return r = %r~1
}""",
        OPTIONS,
    ),
    "matrices_join": Case(
        """main(%x: float32[3, 2]) {
  %w: float32[2, 2] = Constant() {value = float32[2, 2] <1.0 2.0 3.0 4.0>}
  %v: float32[2, 2] = Constant() {value = float32[2, 2] <1.0 1.0 0.0 2.0>}
  %p: float32[3, 2] = MatMul(%x, %w)
  %r: float32[3, 2] = MatMul(%p, %v)
  return r = %r
}""",
        """main(%x: float32[3, 2]) {
  %r: float32[2, 2] = Constant "r" () {value = float32[2, 2] <1.0 5.0 3.0 11.0>}
  %r~1: float32[3, 2] = MatMul(%x, %r)
  return r = %r~1
}""",
        OPTIONS,
    ),
    "factor_and_summand_go_into_a_gemm": Case(
        """main(%x: float32[3, 2]) {
  %w: float32[2, 2] = Constant() {value = float32[2, 2] <1.0 2.0 3.0 4.0>}
  %b: float32[2] = Constant() {value = float32[2] <1.0 -1.0>}
  %k: float32[2] = Constant() {value = float32[2] <2.0 4.0>}
  %p: float32[3, 2] = Gemm(%x, %w, %b) {beta = 2.0, transB = 1}
  %q: float32[3, 2] = Mul(%p, %k)
  %r: float32[3, 2] = Add(%q, %b)
  return r = %r
}""",
        """main(%x: float32[3, 2]) {
  %r: float32[2, 2] = Constant "r" () {value = float32[2, 2] <2.0 4.0 12.0 16.0>}
  %r~1: float32[2] = Constant "r" () {value = float32[2] <5.0 -9.0>}
  %r~2: float32[3, 2] = Gemm(%x, %r, %r~1) {transB = 1}
  return r = %r~2
}""",
        OPTIONS,
    ),
    "normalisation_goes_into_a_convolution": Case(
        """main(%x: float32[1, 1, 4]) {
  %w: float32[2, 1, 2] = Constant() {value = float32[2, 1, 2] <1.0 2.0 3.0 4.0>}
  %s: float32[2] = Constant() {value = float32[2] <2.0 3.0>}
  %b: float32[2] = Constant() {value = float32[2] <1.0 -1.0>}
  %v: float32[2] = Constant() {value = float32[2] <4.0 9.0>}
  %p: float32[1, 2, 3] = Conv(%x, %w)
  %r: float32[1, 2, 3] = BatchNormalization(%p, %s, %b, %b, %v) {epsilon = 0.0}
  return r = %r
}""",
        """main(%x: float32[1, 1, 4]) {
  %r: float32[2, 1, 2] = Constant "r" () {value = float32[2, 1, 2] <1.0 2.0 3.0 4.0>}
  %r~1: float32[2] = Constant "r" () {value = float32[2] <0.0 0.0>}
  %r~2: float32[1, 2, 3] = Conv(%x, %r, %r~1)
  return r = %r~2
}""",
        OPTIONS,
    ),
    "zeros_around_a_convolution_go_into_it": Case(
        """main(%x: float32[1, 1, 4]) {
  %w: float32[1, 1, 2] = Constant() {value = float32[1, 1, 2] <1.0 2.0>}
  %p: int64[6] = Constant() {value = int64[6] <0 0 1 0 0 2>}
  %a: float32[1, 1, 7] = Pad(%x, %p)
  %r: float32[1, 1, 6] = Conv(%a, %w)
  return r = %r
}""",
        """main(%x: float32[1, 1, 4]) {
  %w: float32[1, 1, 2] = Constant() {value = float32[1, 1, 2] <1.0 2.0>}
  %r: float32[1, 1, 6] = Conv(%x, %w) {pads = (1, 2)}
  return r = %r
}""",
        OPTIONS,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
