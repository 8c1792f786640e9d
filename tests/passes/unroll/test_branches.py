"""Branches as both computations and a selection."""

import numpy as np
import pytest
from passes.programs import Case
from passes.unroll.programs import check_results, check_unrolled, reason

CASES = {
    "both_branches_and_a_selection": Case(
        """main(%c: bool[], %x: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Exp(%a)
    return %e
  }
  return r = %r
}""",
        """main(%c: bool[], %x: float32[2]) {
  %n: float32[2] = Neg(%x)
  %e: float32[2] = Exp(%x)
  %r: float32[2] = Where "r" (%c, %n, %e)
  return r = %r
}""",
    ),
    "value_that_both_give_needs_no_selection": Case(
        """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %r: float32[2], %q: float32[2] = If(%c, %x, %y)
  then_branch(%a: float32[2], %b: float32[2]) {
    return %a, %b
  }
  else_branch(%a: float32[2], %b: float32[2]) {
    return %b, %b
  }
  return r = %r, q = %q
}""",
        """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %r: float32[2] = Where "r" (%c, %x, %y)
  return r = %r, q = %y
}""",
    ),
    "condition_of_rank_one_becomes_a_scalar": Case(
        """main(%c: bool[1], %x: float32[]) {
  %r: float32[] = If(%c, %x)
  then_branch(%a: float32[]) {
    %n: float32[] = Neg(%a)
    return %n
  }
  else_branch(%a: float32[]) {
    return %a
  }
  return r = %r
}""",
        """main(%c: bool[1], %x: float32[]) {
  %n: float32[] = Neg(%x)
  %const: int64[0] = Constant "const" () {value = int64[0] <>}
  %c~1: bool[] = Reshape "c" (%c, %const)
  %r: float32[] = Where "r" (%c~1, %n, %x)
  return r = %r
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check_unrolled(case)


NESTED = """main(%c: bool[], %d: bool[1, 1], %x: {type}) {{
  %r: {type} = If(%c, %d, %x)
  then_branch(%e: bool[1, 1], %a: {type}) {{
    %s: {type} = If(%e, %a)
    then_branch(%b: {type}) {{
      return %b
    }}
    else_branch(%b: {type}) {{
      %n: {type} = {op}(%b)
      return %n
    }}
    return %s
  }}
  else_branch(%e: bool[1, 1], %a: {type}) {{
    %n: {type} = {op}(%a)
    %m: {type} = {op}(%n)
    return %m
  }}
  return r = %r
}}"""


@pytest.mark.parametrize(
    ("type", "op", "x"),
    [
        ("float32[3]", "Neg", np.array([0, np.nan, np.inf], np.float32)),
        ("float16[0]", "Neg", np.zeros(0, np.float16)),
        ("int8[]", "Neg", np.int8(-128)),
        ("bool[2]", "Not", np.array([True, False])),
        ("uint64[1]", "BitwiseNot", np.array([1 << 63], np.uint64)),
        ("string[2]", "Identity", np.array(["a", "b"], object)),
        ("float32[N]", "Neg", np.ones(4, np.float32)),
    ],
)
def test_branch_in_a_branch_keeps_every_bit(type, op, x):
    choices = [{"c": c, "d": np.array([[d]]), "x": x} for c in (True, False) for d in (True, False)]
    check_results(NESTED.format(type=type, op=op), *choices)


SHAPES = """main(%c: bool[], %x: float32[2], %y: float32[3]) {
  %r: float32[m] = If(%c, %x, %y)
  then_branch(%a: float32[2], %b: float32[3]) {
    return %a
  }
  else_branch(%a: float32[2], %b: float32[3]) {
    return %b
  }
  return r = %r
}"""


def test_outputs_that_differ_along_one_axis_are_a_part_of_both_in_a_row():
    x, y = np.array([1, 2], np.float32), np.array([-0.0, np.nan, 5], np.float32)
    check_results(SHAPES, *({"c": np.array(c), "x": x, "y": y} for c in (True, False)))
    wide = SHAPES.replace("bool[]", "bool[1]").replace("32[2]", "32[2, N]").replace("32[3]", "32[2, M]")
    wide = wide.replace("32[m]", "32[2, m]")
    for lengths in ((0, 2), (1, 0), (3, 3)):
        x, y = (np.arange(2 * n, dtype=np.float32).reshape(2, n) for n in lengths)
        check_results(wide, *({"c": np.array([c]), "x": x, "y": y} for c in (True, False)))


@pytest.mark.parametrize(
    ("x", "y"),
    [("float32[2]", "float32[2, 1]"), ("float32[N, 2]", "float32[M, 3]"), ("float32[N]", "float32[]")],
)
def test_outputs_that_differ_in_more_cannot_be_selected(x, y):
    text = SHAPES.replace("float32[2]", x).replace("float32[3]", y).replace("float32[m]", "float32[*]")
    assert reason(text) == f"output 0 is {x} or {y}"


def test_outputs_of_two_lengths_by_a_condition_on_lengths_cannot_be_selected():
    lengths = """%s: int64[1] = Shape(%x)
  %k: int64[1] = Constant() {value = int64[1] <3>}
  %d: bool[1] = Greater(%s, %k)
  %r"""
    text = SHAPES.replace("%r", lengths, 1).replace("If(%c", "If(%d").replace("float32[2]", "float32[N]")
    assert reason(text) == "output 0 is float32[N] or float32[3]"
