"""Ifs on one condition, and what both branches compute alike."""

import numpy as np
import pytest
from passes.bits import assert_same_bits, interpreted, optimized
from passes.programs import Case, check, read

from whorl.ops.control.flow import If

CASES = {
    "two_on_one_condition_become_one": Case(
        """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %p: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %t: float32[2] = Exp(%a)
    return %t
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Neg(%a)
    return %e
  }
  %n: float32[2] = Sin(%y)
  %q: float32[2] = If(%c, %p, %n)
  then_branch(%a: float32[2], %b: float32[2]) {
    %t: float32[2] = Add(%a, %b)
    return %t
  }
  else_branch(%a: float32[2], %b: float32[2]) {
    %e: float32[2] = Sub(%a, %b)
    return %e
  }
  return p = %p, q = %q
}""",
        """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %n: float32[2] = Sin(%y)
  %p: float32[2], %q: float32[2] = If(%c, %x, %n)
  then_branch(%x: float32[2], %n: float32[2]) {
    %t: float32[2] = Exp(%x)
    %t~1: float32[2] = Add(%t, %n)
    return %t, %t~1
  }
  else_branch(%x: float32[2], %n: float32[2]) {
    %e: float32[2] = Neg(%x)
    %e~1: float32[2] = Sub(%e, %n)
    return %e, %e~1
  }
  return p = %p, q = %q
}""",
    ),
    "what_the_first_gives_is_read_between_them": Case(
        """main(%c: bool[], %x: float32[2]) {
  %p: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %t: float32[2] = Exp(%a)
    return %t
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Neg(%a)
    return %e
  }
  %n: float32[2] = Sin(%p)
  %q: float32[2] = If(%c, %n)
  then_branch(%a: float32[2]) {
    return %a
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Cos(%a)
    return %e
  }
  return q = %q
}""",
        """main(%c: bool[], %x: float32[2]) {
  %p: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %t: float32[2] = Exp(%a)
    return %t
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Neg(%a)
    return %e
  }
  %n: float32[2] = Sin(%p)
  %q: float32[2] = If(%c, %n)
  then_branch(%a: float32[2]) {
    return %a
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Cos(%a)
    return %e
  }
  return q = %q
}""",
    ),
    "what_both_branches_compute_goes_before": Case(
        """main(%c: bool[], %x: float32[2]) {
  %p: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %k: float32[] = Constant() {value = float32[] <3.0>}
    %s: float32[2] = Mul(%a, %k)
    %t: float32[2] = Exp(%s)
    return %t
  }
  else_branch(%b: float32[2]) {
    %k: float32[] = Constant() {value = float32[] <3.0>}
    %s: float32[2] = Mul(%b, %k)
    %e: float32[2] = Cos(%s)
    return %e
  }
  return p = %p
}""",
        """main(%c: bool[], %x: float32[2]) {
  %k: float32[] = Constant "k" () {value = float32[] <3.0>}
  %s: float32[2] = Mul(%x, %k)
  %p: float32[2] = If(%c, %s)
  then_branch(%s: float32[2]) {
    %t: float32[2] = Exp(%s)
    return %t
  }
  else_branch(%s: float32[2]) {
    %e: float32[2] = Cos(%s)
    return %e
  }
  return p = %p
}""",
    ),
    "draws_and_other_attributes_stay": Case(
        """main(%c: bool[], %x: float32[2, 3]) {
  %p: float32[3, 2] = If(%c, %x)
  then_branch(%a: float32[2, 3]) {
    %s: float32[2, 3] = Softmax(%a) {axis = 0}
    %t: float32[3, 2] = Transpose(%s)
    return %t
  }
  else_branch(%a: float32[2, 3]) {
    %s: float32[2, 3] = Softmax(%a) {axis = 1}
    %t: float32[3, 2] = Transpose(%s)
    return %t
  }
  return p = %p
}""",
        """main(%c: bool[], %x: float32[2, 3]) {
  %p: float32[3, 2] = If(%c, %x)
  then_branch(%a: float32[2, 3]) {
    %s: float32[2, 3] = Softmax(%a) {axis = 0}
    %t: float32[3, 2] = Transpose(%s)
    return %t
  }
  else_branch(%a: float32[2, 3]) {
    %s: float32[2, 3] = Softmax(%a) {axis = 1}
    %t: float32[3, 2] = Transpose(%s)
    return %t
  }
  return p = %p
}""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_program_becomes(name):
    check(CASES[name])


def test_branches_that_merge_inside_branches_that_merge():
    text = """main(%c: bool[], %d: bool[], %x: float32[2], %y: float32[2]) {
  %p: float32[2], %o: float32[2] = If(%c, %d, %x, %y)
  then_branch(%e: bool[], %a: float32[2], %b: float32[2]) {
    %q: float32[2] = If(%e, %a)
    then_branch(%f: float32[2]) {
      %g: float32[2] = Exp(%f)
      return %g
    }
    else_branch(%f: float32[2]) {
      return %f
    }
    %r: float32[2] = If(%e, %b)
    then_branch(%f: float32[2]) {
      return %f
    }
    else_branch(%f: float32[2]) {
      %g: float32[2] = Neg(%f)
      return %g
    }
    return %q, %r
  }
  else_branch(%e: bool[], %a: float32[2], %b: float32[2]) {
    return %a, %b
  }
  %s: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %h: float32[2] = Tanh(%a)
    return %h
  }
  else_branch(%a: float32[2]) {
    return %a
  }
  return p = %p, o = %o, s = %s
}"""
    module = read(text)
    after = optimized(module, only=("simplify_control_flow",))
    assert sum(isinstance(node.op, If) for node in after.nodes()) == 2
    for c, d in ((True, True), (True, False), (False, True)):
        x = np.arange(2, dtype=np.float32)
        feeds = {"c": np.array(c), "d": np.array(d), "x": x, "y": x + 1}
        assert_same_bits(interpreted(module, feeds), interpreted(after, feeds))
