"""If nodes whose condition is known."""

import pytest
from passes.programs import Case, check

CASES = {
    "constant_condition_takes_its_branch": Case(
        """main(%x: float32[2], %y: float32[2]) {
  %c: bool[] = Constant() {value = bool[] <True>}
  %r: float32[2] = If(%c, %x, %y)
  then_branch(%a: float32[2], %b: float32[2]) {
    %t: float32[2] = Add(%a, %b)
    return %t
  }
  else_branch(%a: float32[2], %b: float32[2]) {
    %e: float32[2] = Neg(%a)
    return %e
  }
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2]) {
  %t: float32[2] = Add(%x, %y)
  return r = %t
}""",
    ),
    "condition_follows_from_lengths": Case(
        """main(%x: float32[2], %y: float32[2], %z: float32[N]) {
  %n: int64[1] = Shape(%z)
  %m: int64[1] = Constant() {value = int64[1] <-1>}
  %c: bool[1] = Less(%n, %m)
  %r: float32[2] = If(%c, %x, %y)
  then_branch(%a: float32[2], %b: float32[2]) {
    %t: float32[2] = Add(%a, %b)
    return %t
  }
  else_branch(%a: float32[2], %b: float32[2]) {
    %e: float32[2] = Neg(%a)
    return %e
  }
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2], %z: float32[N]) {
  %e: float32[2] = Neg(%x)
  return r = %e
}""",
    ),
    "condition_follows_from_a_range": Case(
        """main(%x: float32[2], %y: float32[2], %n: int64[]) {
  %z: int64[] = Constant() {value = int64[] <0>}
  %t: int64[] = Constant() {value = int64[] <10>}
  %k: int64[] = Clip(%n, %z, %t)
  %h: int64[] = Constant() {value = int64[] <11>}
  %c: bool[] = Less(%k, %h)
  %r: float32[2] = If(%c, %x, %y)
  then_branch(%a: float32[2], %b: float32[2]) {
    %t: float32[2] = Add(%a, %b)
    return %t
  }
  else_branch(%a: float32[2], %b: float32[2]) {
    %e: float32[2] = Neg(%a)
    return %e
  }
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2], %n: int64[]) {
  %t: float32[2] = Add(%x, %y)
  return r = %t
}""",
    ),
    "branches_that_give_the_same": Case(
        """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %r: float32[2], %q: float32[] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %k: float32[] = Constant() {value = float32[] <1.0>}
    return %a, %k
  }
  else_branch(%a: float32[2]) {
    %k: float32[] = Constant() {value = float32[] <1.0>}
    return %a, %k
  }
  return r = %r, q = %q
}""",
        """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %q: float32[] = Constant "q" () {value = float32[] <1.0>}
  return r = %x, q = %q
}""",
    ),
    "one_output_that_branches_give_alike": Case(
        """main(%c: bool[], %x: float32[2]) {
  %r: float32[2], %q: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %n: float32[2] = Neg(%a)
    return %n, %a
  }
  else_branch(%a: float32[2]) {
    %n: float32[2] = Sqrt(%a)
    return %n, %a
  }
  return r = %r, q = %q
}""",
        """main(%c: bool[], %x: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  else_branch(%a: float32[2]) {
    %n: float32[2] = Sqrt(%a)
    return %n
  }
  return r = %r, q = %x
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
