"""Which nodes of constants are computed, when, and what is reported of those that are not."""

import pytest
from passes.bits import optimized
from passes.programs import Case, check, read, report_of

from whorl.ir.constants import Constant

FOLD = {"only": ("fold_constants", "dce")}
CASES = {
    "scalar_empty_and_half_are_folded": Case(
        """main(%x: float16[]) {
  %h: float16[] = Constant() {value = float16[] <0.1>}
  %s: float16[] = Add(%h, %h)
  %e: float32[0] = Constant() {value = float32[0] <>}
  %n: float32[0] = Neg(%e)
  %a: int64[1] = Constant() {value = int64[1] <0>}
  %z: float32[] = ReduceSum(%n, %a) {keepdims = 0}
  %r: float16[] = Sub(%x, %s)
  return r = %r, n = %n, z = %z
}""",
        """main(%x: float16[]) {
  %s: float16[] = Constant "s" () {value = float16[] <0.2>}
  %n: float32[0] = Constant "n" () {value = float32[0] <>}
  %z: float32[] = Constant "z" () {value = float32[] <0.0>}
  %r: float16[] = Sub(%x, %s)
  return r = %r, n = %n, z = %z
}""",
        FOLD,
    ),
    "integers_wrap_as_at_run_time": Case(
        """main() {
  %a: int8[3] = Constant() {value = int8[3] <127 -128 100>}
  %b: int8[3] = Constant() {value = int8[3] <1 -1 100>}
  %s: int8[3] = Add(%a, %b)
  %p: int8[3] = Mul(%a, %b)
  %n: int8[3] = Neg(%a)
  return s = %s, p = %p, n = %n
}""",
        """main() {
  %s: int8[3] = Constant "s" () {value = int8[3] <-128 127 -56>}
  %p: int8[3] = Constant "p" () {value = int8[3] <127 -128 16>}
  %n: int8[3] = Constant "n" () {value = int8[3] <-127 -128 -100>}
  return s = %s, p = %p, n = %n
}""",
        FOLD,
    ),
    "bits_of_zeros_and_nan_are_kept": Case(
        """main() {
  %a: float32[3] = Constant() {value = float32[3] <-0.0 nan inf>}
  %z: float32[] = Constant() {value = float32[] <0.0>}
  %p: float32[3] = Mul(%a, %z)
  %m: float32[3] = Max(%a, %z)
  return p = %p, m = %m
}""",
        """main() {
  %p: float32[3] = Constant "p" () {value = float32[3] <-0.0 nan nan>}
  %m: float32[3] = Constant "m" () {value = float32[3] <0.0 nan inf>}
  return p = %p, m = %m
}""",
        FOLD,
    ),
    "each_output_of_several_is_a_constant": Case(
        """main(%x: float32[2]) {
  %a: float32[2, 2] = Constant() {value = float32[2, 2] <3 1 2 4>}
  %k: int64[1] = Constant() {value = int64[1] <1>}
  %v: float32[2, 1], %i: int64[2, 1] = TopK(%a, %k)
  %r: float32[2, 2] = Add(%v, %x)
  return r = %r, i = %i
}""",
        """main(%x: float32[2]) {
  %v: float32[2, 1] = Constant "v" () {value = float32[2, 1] <3.0 4.0>}
  %i: int64[2, 1] = Constant "i" () {value = int64[2, 1] <0 1>}
  %r: float32[2, 2] = Add(%v, %x)
  return r = %r, i = %i
}""",
        FOLD,
    ),
    "omitted_operand_is_no_obstacle": Case(
        """main(%x: float32[3]) {
  %a: float32[3] = Constant() {value = float32[3] <-2 0 9>}
  %h: float32[] = Constant() {value = float32[] <1>}
  %c: float32[3] = Clip(%a, _, %h)
  %r: float32[3] = Add(%x, %c)
  return r = %r
}""",
        """main(%x: float32[3]) {
  %c: float32[3] = Constant "c" () {value = float32[3] <-2.0 0.0 1.0>}
  %r: float32[3] = Add(%x, %c)
  return r = %r
}""",
        FOLD,
    ),
    "node_in_a_branch_that_fails_stays_there": Case(
        """main(%c: bool[], %x: int32[2]) {
  %r: int32[2] = If(%c, %x)
  then_branch(%a: int32[2]) {
    %o: int32[] = Constant() {value = int32[] <1>}
    %z: int32[] = Constant() {value = int32[] <0>}
    %q: int32[] = Div(%o, %z)
    %t: int32[2] = Add(%a, %q)
    return %t
  }
  else_branch(%a: int32[2]) {
    return %a
  }
  return r = %r
}""",
        """main(%c: bool[], %x: int32[2]) {
  %r: int32[2] = If(%c, %x)
  then_branch(%a: int32[2]) {
    %o: int32[] = Constant() {value = int32[] <1>}
    %z: int32[] = Constant() {value = int32[] <0>}
    %q: int32[] = Div(%o, %z)
    %t: int32[2] = Add(%a, %q)
    return %t
  }
  else_branch(%a: int32[2]) {
    return %a
  }
  return r = %r
}""",
        FOLD,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)


def test_failing_node_remains_and_the_report_says_why():
    text = """main() {
  %a: int32[2] = Constant() {value = int32[2] <1 2>}
  %z: int32[] = Constant() {value = int32[] <0>}
  %q: int32[2] = Div(%a, %z)
  return r = %q
}"""
    report = report_of(text)
    assert report.nodes_after == 1
    assert set(report.skipped) == {("Div", "fails: integer division by zero")}


def test_random_node_remains():
    text = """main() {
  %a: float32[2] = RandomNormal() {shape = (2)}
  return r = %a
}"""
    report = report_of(text)
    assert report.nodes_after == 1 and report.skipped["RandomNormal", "gives other values each time"]


EXPANDED = """main() {
  %a: float32[1] = Constant() {value = float32[1] <1>}
  %n: int64[2] = Constant() {value = int64[2] <3 5>}
  %e: float32[3, 5] = Expand(%a, %n)
  return r = %e
}"""


@pytest.mark.parametrize(("bound", "left"), [(None, 0), (3.0, 0), (2.9, 1)])
def test_expansion_bound_is_bytes_of_the_result_over_bytes_of_the_operands(bound, left):
    report = report_of(EXPANDED, expansion_bound=bound, only=("fold_constants",))
    assert report.nodes_after == left
    if left:
        assert report.skipped["Expand", "the result is larger than the expansion bound allows"]


def test_result_beyond_the_budget_is_not_computed():
    text = """main() {
  %a: int64[] = Constant() {value = int64[] <0>}
  %b: int64[] = Constant() {value = int64[] <1000000>}
  %c: int64[] = Constant() {value = int64[] <1>}
  %r: int64[1000000] = Range(%a, %b, %c)
  return r = %r
}"""
    report = report_of(text, memory_budget=1 << 20)
    assert report.nodes_after == 1 and report.skipped["Range", "the result is larger than the memory budget"]
    assert report_of(text).nodes_after == 0


def test_large_results_wait_until_they_are_read():
    text = """main() {
  %a: float32[] = Constant() {value = float32[] <2>}
  %n: int64[2] = Constant() {value = int64[2] <1000 1000>}
  %e: float32[1000, 1000] = Expand(%a, %n)
  %r: int64[] = Constant() {value = int64[] <7>}
  %f: float32[] = Cast(%r) {to = float32}
  %s: float32[1000, 1000] = Mul(%e, %f)
  return r = %s
}"""
    module = optimized(read(text))
    (node,) = [node for node in module.main.nodes if isinstance(node.op, Constant)]
    value = node.op.value  # type: ignore[union-attr]
    assert value.shape == (1000, 1000) and sum(value.numpy().strides) == 0 and (value.numpy() == 14).all()


def test_shape_of_a_known_tensor_is_a_constant():
    report = report_of("""main(%x: float32[2, 3]) {
  %s: int64[2] = Shape(%x)
  return r = %s
}""")
    assert report.nodes_after == 0


def test_product_of_lengths_wraps_in_its_element_type():
    report = report_of("""main(%x: float32[70000, 70000]) {
  %s: int64[2] = Shape(%x)
  %t: int32[2] = Cast(%s) {to = int32}
  %p: int32[] = ReduceProd(%t) {keepdims = 0}
  %q: int32[] = Constant() {value = int32[] <605032704>}
  %r: bool[] = Equal(%p, %q)
  return r = %r
}""")
    assert report.nodes_after == 0


def test_disabled_fold_and_spent_limit_leave_the_node():
    text = """main() {
  %a: float32[] = Constant() {value = float32[] <1>}
  %b: float32[] = Neg(%a)
  return b = %b
}"""
    assert report_of(text, disabled=frozenset({"fold_constants"})).nodes_after == 1
    assert report_of(text, limit=0).nodes_after == 1
    assert report_of(text).nodes_after == 0


def test_sequence_of_constants_remains_and_the_report_says_why():
    report = report_of("""main() {
  %a: float32[] = Constant() {value = float32[] <1>}
  %s: seq(float32[]) = SequenceConstruct(%a)
  %n: int64[] = SequenceLength(%s)
  return n = %n
}""")
    assert report.skipped["SequenceConstruct", "the result is no tensor"]
