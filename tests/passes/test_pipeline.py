"""The driver of the passes: the order, the options, the report, and the passes that only tidy up."""

import numpy as np
import pytest
from passes.bits import copied, optimized
from passes.programs import Case, check, read

import whorl
from whorl.ir.constants import Constant
from whorl.ir.elements.base import Elements
from whorl.ir.text import print_module
from whorl.passes.context import Context, PassOptions
from whorl.passes.pipeline import PASSES, optimize
from whorl.passes.report import Report

SUMS = """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <1 2>}
  %b: float32[2] = Neg(%a)
  %c: float32[2] = Exp(%b)
  %d: float32[2] = Sub(%x, %c)
  return r = %d
}"""


def report_of(text: str, **options) -> Report:
    return optimize(read(text), PassOptions(verify=True, **options))


def test_report_counts_invocations_and_elements_by_helper():
    report = report_of(SUMS)
    assert (report.nodes_before, report.nodes_after) == (3, 1)
    assert report.constprop_lines() == [
        "constprop report (cumulative), entries, 2 total invocations, 4 input elements",
        "  ElementwiseUnary: 2 invocations, 4 input elements",
    ]
    assert report.as_dict()["folded"] == {"ElementwiseUnary": {"invocations": 2, "elements": 4}}


@pytest.mark.parametrize(("limit", "left"), [(0, 3), (1, 2), (2, 1), (None, 1)])
def test_limit_stops_after_so_many_edits(limit, left):
    assert report_of(SUMS, limit=limit).nodes_after == left


def test_only_and_disabled_choose_passes_and_ops():
    assert [run.name for run in report_of(SUMS, only=("dce",)).runs] == ["dce"]
    assert "fold_constants" not in {run.name for run in report_of(SUMS, disabled=frozenset(["fold_constants"])).runs}
    report = report_of(SUMS, disabled=frozenset(["Exp"]), only=("fold_constants",))
    assert report.nodes_after == 2 and report.skipped["Exp", "disabled"]


def test_pass_that_does_not_exist_is_refused():
    with pytest.raises(whorl.WhorlError) as caught:
        report_of(SUMS, only=("fold",))
    names = ", ".join(each.__name__ for each in PASSES)
    assert str(caught.value) == f"there is no pass 'fold'\n  fix: choose from {names}"


def test_failing_node_stays_and_the_report_says_why():
    text = """main() {
  %a: int32[2] = Constant() {value = int32[2] <1 2>}
  %z: int32[] = Constant() {value = int32[] <0>}
  %q: int32[2] = Div(%a, %z)
  return r = %q
}"""
    report = report_of(text)
    assert report.nodes_after == 1
    assert set(report.skipped) == {("Div", "fails: integer division by zero")}


def test_random_node_stays():
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
def test_expansion_bound_is_bytes_of_the_result_over_those_of_the_operands(bound, left):
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


def test_equal_nodes_and_constants_are_merged_but_not_zeros_of_other_sign():
    check(
        Case(
            """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <0 3>}
  %b: float32[2] = Constant() {value = float32[2] <0 3>}
  %c: float32[2] = Constant() {value = float32[2] <-0.0 3>}
  %p: float32[2] = Mod(%x, %a) {fmod = 1}
  %q: float32[2] = Mod(%x, %b) {fmod = 1}
  %r: float32[2] = Mod(%x, %c) {fmod = 1}
  return p = %p, q = %q, r = %r
}""",
            """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <0.0 3.0>}
  %c: float32[2] = Constant() {value = float32[2] <-0.0 3.0>}
  %p: float32[2] = Mod(%x, %a) {fmod = 1}
  %r: float32[2] = Mod(%x, %c) {fmod = 1}
  return p = %p, q = %p, r = %r
}""",
            {"only": ("cse", "dce")},
        )
    )


def test_attributes_that_compare_equal_but_print_otherwise_are_not_merged():
    module = optimized(
        read("""main(%x: float32[2]) {
  %a: float32[2] = LeakyRelu(%x) {alpha = 0.0}
  %b: float32[2] = LeakyRelu(%x) {alpha = -0.0}
  return a = %a, b = %b
}"""),
        only=("cse",),
    )
    assert len(module.main.nodes) == 2


def test_dead_nodes_and_captured_values_nobody_reads_are_removed():
    check(
        Case(
            """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %d: float32[2] = Exp(%y)
  %r: float32[2] = If(%c, %x, %d)
  then_branch(%a: float32[2], %b: float32[2]) {
    %n: float32[2] = Neg(%a)
    %u: float32[2] = Abs(%b)
    return %n
  }
  else_branch(%a: float32[2], %b: float32[2]) {
    return %a
  }
  return r = %r
}""",
            """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  else_branch(%a: float32[2]) {
    return %a
  }
  return r = %r
}""",
            {"only": ("dce",)},
        )
    )


def test_context_begun_while_reading_is_gone_on_with():
    module, context = copied(read(SUMS)), Context(None, PassOptions(limit=1))
    context.may_edit("fold_constants")
    assert optimize(module, context=context) is context.report
    assert context.edits == 1 and "Neg" in print_module(module)


def test_elements_are_pickled_as_arrays():
    module = read(SUMS)
    node = next(node for node in module.main.nodes if isinstance(node.op, Constant))
    assert not isinstance(node.op.value, Elements)  # type: ignore[union-attr]
    assert np.array_equal(copied(module).main.nodes[0].op.run(), [1, 2])
