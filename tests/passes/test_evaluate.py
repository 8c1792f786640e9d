"""Running regions at compile time: what is known, what is not, and the budget."""

from typing import Any

import numpy as np
import pytest
from passes.programs import read, report_of

from whorl.ir.graph import Module, Node
from whorl.ops.control.flow import Loop
from whorl.passes.evaluate import UNRESOLVED, Budget, Evaluator, LoopRun, Stopped, known_value

BUDGET = (1000, 10.0, 1 << 20)


def evaluated(module: Module, *arguments: Any) -> list[Any]:
    return Evaluator(Budget(*BUDGET)).region(module.main, arguments)


def stopped(module: Module, *arguments: Any, budget: tuple[int, float, int] = BUDGET) -> str:
    with pytest.raises(Stopped) as caught:
        Evaluator(Budget(*budget)).region(module.main, arguments)
    return str(caught.value)


BRANCHES = read("""main(%c: bool[], %x: float32[], %y: float32[]) {
  %r: float32[], %q: float32[] = If(%c, %x, %y)
  then_branch(%a: float32[], %b: float32[]) {
    %n: float32[] = Neg(%a)
    return %n, %b
  }
  else_branch(%a: float32[], %b: float32[]) {
    %n: float32[] = Neg(%b)
    return %n, %a
  }
  return r = %r, q = %q
}""")
TRUE, FALSE = np.array(True), np.array(False)
ONE = np.array(1, np.float32)


def test_branch_that_is_taken_is_evaluated_even_if_the_other_reads_what_is_unknown():
    assert evaluated(BRANCHES, TRUE, ONE, UNRESOLVED) == [-1, UNRESOLVED]
    assert evaluated(BRANCHES, FALSE, ONE, UNRESOLVED) == [UNRESOLVED, 1]


def test_unknown_condition_leaves_all_outputs_unknown():
    assert evaluated(BRANCHES, UNRESOLVED, ONE, ONE) == [UNRESOLVED, UNRESOLVED]
    assert repr(UNRESOLVED) == "unresolved"


def test_condition_of_two_elements_stops():
    assert stopped(BRANCHES, np.array([True, True]), ONE, ONE) == (
        "If 'r' fails: the condition has shape [2], expected one element"
    )


def test_what_a_result_does_not_need_is_not_run():
    module = read("""main(%x: int32[]) {
  %z: int32[] = Constant() {value = int32[] <0>}
  %d: int32[] = Div(%x, %z)
  %n: int32[] = Neg(%x)
  return n = %n
}""")
    assert evaluated(module, np.array(3, np.int32)) == [-3]


def test_node_that_fails_stops_with_its_name():
    module = read("""main(%x: int32[], %z: int32[]) {
  %d: int32[] = Div "quotient" (%x, %z)
  return d = %d
}""")
    assert stopped(module, np.array(3, np.int32), np.array(0, np.int32)) == (
        "Div 'quotient' fails: integer division by zero"
    )


def test_draws_are_unknown():
    module = read("""main(%x: float32[2]) {
  %d: float32[2] = RandomNormalLike(%x)
  return d = %d, x = %x
}""")
    drawn, x = evaluated(module, np.zeros(2, np.float32))
    assert drawn is UNRESOLVED and x.tolist() == [0, 0]


def test_result_beyond_the_bytes_is_not_computed():
    module = read("""main(%x: float32[1], %s: int64[1]) {
  %d: float32[n] = Expand(%x, %s)
  return d = %d
}""")
    assert stopped(module, np.zeros(1, np.float32), np.array([1 << 40])) == "more bytes than may be held"


LOOP = """main(%n: int64[], %c: bool[], %x: int64[], %y: int64[]) {
  %r: int64[], %q: int64[k] = Loop(%n, %c, %x, %y) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: int64[], %b: int64[]) {
    %t: int64[] = Add(%s, %i)
    %go: bool[] = Less(%t, %b)
    return %go, %t, %s
  }
  return r = %r, q = %q
}"""


def loop_run(n: Any, condition: Any, x: Any, y: Any, text: str = LOOP) -> LoopRun:
    (node,) = (node for node in read(text).main.nodes if isinstance(node.op, Loop))
    inputs = [None if each is None else each if each is UNRESOLVED else np.array(each) for each in (n, condition, x, y)]
    return LoopRun(node, inputs, Evaluator(Budget(*BUDGET)))


@pytest.mark.parametrize(
    ("n", "condition", "result", "collected"),
    [(3, None, 4, [1, 1, 2]), (None, True, 7, [1, 1, 2, 4]), (0, True, 1, []), (5, False, 1, []), (-2, None, 1, [])],
)
def test_loop_of_known_values_gives_what_a_run_gives(n, condition, result, collected):
    r, q = loop_run(n, condition, 1, 5).to_end()
    assert r == result and q.tolist() == collected and q.dtype == np.int64


def test_loop_with_a_condition_that_becomes_unknown_is_unknown():
    run = loop_run(None, True, 1, UNRESOLVED)
    assert run.to_end() == [UNRESOLVED, UNRESOLVED] and run.iteration.index == 0


def test_loop_without_a_condition_does_not_need_the_answer_of_its_body():
    r, q = loop_run(3, None, 1, UNRESOLVED).to_end()
    assert r == 4 and q.tolist() == [1, 1, 2]


@pytest.mark.parametrize(("n", "condition"), [(UNRESOLVED, None), (2, UNRESOLVED)])
def test_loop_of_unknown_length_is_unknown(n, condition):
    assert loop_run(n, condition, 1, 2).to_end() == [UNRESOLVED, UNRESOLVED]


def test_loop_without_iterations_that_gives_a_last_value_stops():
    text = LOOP.replace("carried = 1, collected = (Collected(),)", "carried = 1, last = 1").replace(
        "int64[k]", "int64[]"
    )
    with pytest.raises(Stopped, match="no iteration runs, so there is no last value"):
        loop_run(0, None, 1, 2, text).to_end()


def test_no_iterations_that_collect_an_unknown_length_stop():
    module = read("""main(%n: int64[], %x: float32[N]) {
  %r: float32[N], %q: float32[k, N] = Loop(%n, _, %x) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[N]) {
    %t: float32[N] = Neg(%s)
    return %g, %t, %t
  }
  return r = %r, q = %q
}""")
    assert stopped(module, np.array(0), np.zeros(2, np.float32)) == (
        "the shape of what no iteration collects is known only at run time"
    )


def test_known_value_of_a_sequence_is_made_of_its_items():
    module = read("""main(%x: float32[]) {
  %a: float32[] = Constant() {value = float32[] <1>}
  %s: seq(float32[]) = SequenceConstruct(%a, %a)
  %t: seq(float32[]) = SequenceInsert(%s, %x)
  return s = %s, t = %t, a = %a, x = %x
}""")
    s, t, a, x = module.main.results
    assert [each.tolist() for each in known_value(s)] == [1, 1] and known_value(a) == 1
    assert known_value(t) is UNRESOLVED and known_value(x) is UNRESOLVED and known_value(None) is None


def test_known_value_goes_through_no_more_nodes_than_its_depth():
    module = read("""main() {
  %a: float32[] = Constant() {value = float32[] <1>}
  %e: seq(float32[]) = SequenceConstruct(%a)
  %s: seq(float32[]) = SequenceInsert(%e, %a)
  return s = %s
}""")
    (s,) = module.main.results
    assert isinstance(s.owner, Node)
    assert known_value(s, 0) is UNRESOLVED and len(known_value(s, 2)) == 2


LARGE = """main(%x: float32[4, 4]) {{
  %n: int64[] = Constant() {{value = int64[] <{trips}>}}
  %z: float32[4, 4] = Constant() {{value = float32[4, 4] <0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15>}}
  %r: float32[4, 4], %q: float32[n, 4, 4] = Loop(%n, _, %z) {{carried = 1, collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[4, 4]) {{
    %f: float32[] = Cast(%i) {{to = float32}}
    %t: float32[4, 4] = Add(%s, %f)
    return %g, %t, %t
  }}
  return r = %r, q = %q
}}"""


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_iterations": 10}, "more iterations than may be evaluated"),
        ({"max_seconds": 0.0}, "more time than may be taken"),
        ({"max_bytes": 100}, "more bytes than may be held"),
    ],
)
def test_evaluation_keeps_to_its_budget(options: dict, reason: str) -> None:
    report = report_of(LARGE.format(trips=200), **options)
    assert report.skipped["Loop", reason] and not report.edits["evaluate_loop"]
