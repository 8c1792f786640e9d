"""Where trip counts come from: lengths and inputs that a caller can fix."""

import pytest
from passes.programs import read
from passes.unroll.programs import MOST

from whorl.passes.context import Context
from whorl.passes.unroll.control_flow import remedy_of, unroll_control_flow
from whorl.passes.unroll.remedy import Remedy

BODY = """  %r: float32[] = Loop({trip}, {condition}, %x) {{carried = 1}}
  body(%i: int64[], %g: bool[], %s: float32[]) {{
    %t: float32[] = Exp(%s)
    return %g, %t
  }}
  return r = %r
}}"""
ARGUMENTS = "%x: float32[], %n: int64[], %m: int32[1], %big: int64[3], %c: bool[], %z: float32[N, M], %f: float32[]"


def remedy(nodes: str, trip: str, condition: str = "_", arguments: str = ARGUMENTS) -> Remedy:
    module = read(f"main({arguments}) {{\n{nodes}\n{BODY.format(trip=trip, condition=condition)}")
    return remedy_of(module, unroll_control_flow(module, Context(module), MOST))


SUM = """%k: int64[1] = Cast(%m) {to = int64}
%t: int64[1] = Add(%k, %n)"""
LENGTH = """%s: int64[2] = Shape(%z)
%o: int64[] = Constant() {value = int64[] <1>}
%t: int64[] = Gather(%s, %o)"""
CASES = {
    "input": ("", "%n", {}, {"n": 8}),
    "input_of_rank_one": ("%k: int64[1] = Cast(%m) {to = int64}", "%k", {}, {"m": [8]}),
    "sum_of_two_inputs": (SUM, "%t", {}, {"n": 8, "m": [8]}),
    "truth_value": ("%t: int64[] = Cast(%c) {to = int64}", "%t", {}, {"c": True}),
    "length": (LENGTH, "%t", {"M": 8}, {}),
    "product_of_lengths": ("%t: int64[] = Size(%z)", "%t", {"M": 8, "N": 8}, {}),
    "length_and_input": ("%s: int64[] = Size(%z)\n%t: int64[] = Add(%s, %n)", "%t", {"M": 8, "N": 8}, {"n": 8}),
    "elements_of_a_tensor": ("%t: int64[] = ReduceSum(%big) {keepdims = 0}", "%t", {}, {}),
    "float": ("%t: int64[] = Cast(%f) {to = int64}", "%t", {}, {}),
    "draw": ("%d: float32[] = RandomUniformLike(%f)\n%t: int64[] = Cast(%d) {to = int64}", "%t", {}, {}),
    "length_that_a_run_computes": ("%w: int64[2, k] = NonZero(%z)\n%t: int64[] = Size(%w)", "%t", {}, {}),
}


@pytest.mark.parametrize(("nodes", "trip", "lengths", "inputs"), CASES.values(), ids=CASES)
def test_trip_count_is_traced_to_what_a_caller_can_fix(nodes, trip, lengths, inputs):
    result = remedy(nodes, trip)
    assert (result.lengths, result.inputs) == (lengths, inputs)


def test_loop_of_a_known_trip_count_above_the_limit_asks_for_iterations():
    result = remedy(f"%t: int64[] = Constant() {{value = int64[] <{MOST + 4}>}}", "%t")
    assert (result.iterations, result.lengths, result.inputs) == (MOST + 4, {}, {})


def test_trip_count_captured_from_outside_is_traced():
    module = read("""main(%n: int64[], %c: bool[], %x: float32[]) {
  %q: float32[] = If(%c, %n, %x)
  then_branch(%k: int64[], %y: float32[]) {
    %t: int64[] = Neg(%k)
    %r: float32[] = Loop(%t, _, %y) {carried = 1}
    body(%i: int64[], %g: bool[], %s: float32[]) {
      %t: float32[] = Exp(%s)
      return %g, %t
    }
    return %r
  }
  else_branch(%k: int64[], %y: float32[]) {
    return %y
  }
  return q = %q
}""")
    result = remedy_of(module, unroll_control_flow(module, Context(module), MOST))
    assert result.inputs == {"n": 8}


def test_trip_count_that_an_iteration_of_the_outer_loop_makes_has_no_remedy():
    module = read("""main(%n: int64[], %x: float32[]) {
  %two: int64[] = Constant() {value = int64[] <2>}
  %m: int64[], %q: float32[] = Loop(%two, _, %n, %x) {carried = 2}
  body(%i: int64[], %g: bool[], %k: int64[], %y: float32[]) {
    %r: float32[] = Loop(%k, _, %y) {carried = 1}
    body(%j: int64[], %h: bool[], %s: float32[]) {
      %t: float32[] = Exp(%s)
      return %h, %t
    }
    %l: int64[] = Add(%k, %i)
    return %g, %l, %r
  }
  return q = %q
}""")
    result = remedy_of(module, unroll_control_flow(module, Context(module), MOST))
    assert not result.inputs and not result.lengths


def test_values_that_are_read_twice_each_are_gone_through_once():
    """Forty sums of a value with itself: there are a million million ways from the trip count to the input."""
    nodes = "\n".join(f"%n{k + 1}: int64[] = Add(%n{k}, %n{k})" for k in range(40))
    assert remedy(nodes, "%n40", arguments="%x: float32[], %n0: int64[]").inputs == {"n0": 8}


def test_chain_of_thousands_of_nodes_is_followed_to_its_input():
    nodes = "\n".join(f"%n{k + 1}: int64[] = Neg(%n{k})" for k in range(3000))
    assert remedy(nodes, "%n3000", arguments="%x: float32[], %n0: int64[]").inputs == {"n0": 8}


def test_lengths_that_keep_a_branch_from_failing_are_named():
    module = read("""main(%c: bool[], %x: float32[N], %y: float32[M]) {
  %r: float32[] = If(%c, %x, %y)
  then_branch(%a: float32[N], %b: float32[M]) {
    %p: float32[] = MatMul(%a, %b)
    return %p
  }
  else_branch(%a: float32[N], %b: float32[M]) {
    %p: float32[] = ReduceSum(%a) {keepdims = 0}
    return %p
  }
  return r = %r
}""")
    result = remedy_of(module, unroll_control_flow(module, Context(module), MOST))
    assert result.lengths == {"M": 8, "N": 8} and not result.inputs


BRANCH = """main(%x: float32[n], %k: int64[2, 1], %c: bool[], %d: int64[4]) {
  %s: int64[1] = Shape(%x)
  %one: int64[1] = Constant() {value = int64[1] <1>}
  %e: bool[1] = Equal(%s, %one)
  %f: int64[] = ReduceSum(%d) {keepdims = 0}
  %g: bool[] = Cast(%f) {to = bool}
  %y: float32[*] = If(CONDITION, %x, %k)
  then_branch(%a: float32[n], %i: int64[2, 1]) {
    %p: float32[2, 1] = Gather(%a, %i)
    return %p
  }
  else_branch(%b: float32[n], %i: int64[2, 1]) {
    %q: float32[n] = Exp(%b)
    return %q
  }
  return y = %y
}"""


@pytest.mark.parametrize(
    ("condition", "lengths", "inputs", "decisions"),
    [
        ("%e", {"n": 1}, {}, {"If 'y'": "n = 1"}),
        ("%c", {}, {"c": True}, {}),
        ("%g", {}, {}, {}),
    ],
)
def test_branch_is_traced_to_what_decides_it(condition, lengths, inputs, decisions):
    module = read(BRANCH.replace("CONDITION", condition))
    result = remedy_of(module, unroll_control_flow(module, Context(module), MOST))
    assert (result.lengths, result.inputs, result.decisions) == (lengths, inputs, decisions)
