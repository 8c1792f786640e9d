"""Small constants that regions capture, and what a condition is in its branches, move into the regions."""

import pytest
from passes.programs import Case, check

ROW = "0.0 " * 64 + "1.0"
CASES = {
    "constants_move_into_branches": Case(
        """main(%c: bool[], %x: float32[2]) {
  %k: float32[] = Constant() {value = float32[] <4.0>}
  %r: float32[2] = If(%c, %k, %x)
  then_branch(%d: float32[], %a: float32[2]) {
    %s: float32[] = Sqrt(%d)
    %w: float32[2] = Mul(%s, %a)
    return %w
  }
  else_branch(%d: float32[], %a: float32[2]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  return r = %r
}""",
        """main(%c: bool[], %x: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %s: float32[] = Constant "s" () {value = float32[] <2.0>}
    %w: float32[2] = Mul(%a, %s)
    return %w
  }
  else_branch(%a: float32[2]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  return r = %r
}""",
    ),
    "condition_is_known_in_its_branches": Case(
        """main(%c: bool[], %x: float32[2]) {
  %r: float32[2] = If(%c, %c, %x)
  then_branch(%d: bool[], %a: float32[2]) {
    %n: float32[2] = Neg(%a)
    %w: float32[2] = Where(%d, %a, %n)
    return %w
  }
  else_branch(%d: bool[], %a: float32[2]) {
    %n: float32[2] = Neg(%a)
    %w: float32[2] = Where(%d, %a, %n)
    return %w
  }
  return r = %r
}""",
        """main(%c: bool[], %x: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    return %a
  }
  else_branch(%a: float32[2]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  return r = %r
}""",
    ),
    "large_matrix_stays_outside": Case(
        """main(%c: bool[], %x: float32[65]) {
  %k: float32[1, 65] = Constant() {value = float32[1, 65] <ROW>}
  %v: int64[2] = Constant() {value = int64[2] <1 65>}
  %r: float32[1, 65] = If(%c, %k, %x, %v)
  then_branch(%d: float32[1, 65], %a: float32[65], %s: int64[2]) {
    %w: float32[1, 65] = Mul(%d, %a)
    return %w
  }
  else_branch(%d: float32[1, 65], %a: float32[65], %s: int64[2]) {
    %n: float32[1, 65] = Reshape(%a, %s)
    return %n
  }
  return r = %r
}""".replace("ROW", ROW),
        """main(%c: bool[], %x: float32[65]) {
  %k: float32[1, 65] = Constant() {value = float32[1, 65] <ROW>}
  %r: float32[1, 65] = If(%c, %k, %x)
  then_branch(%d: float32[1, 65], %a: float32[65]) {
    %w: float32[1, 65] = Mul(%d, %a)
    return %w
  }
  else_branch(%d: float32[1, 65], %a: float32[65]) {
    %n: int64[2] = Constant "n" () {value = int64[2] <1 65>}
    %n~1: float32[1, 65] = Reshape(%a, %n)
    return %n~1
  }
  return r = %r
}""".replace("ROW", ROW),
    ),
    "constant_moves_into_a_body_and_on_into_its_branches": Case(
        """main(%c: bool[], %x: float32[2], %n: int64[]) {
  %k: float32[] = Constant() {value = float32[] <4.0>}
  %r: float32[2] = Loop(%n, _, %x, %c, %k) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2], %d: bool[], %e: float32[]) {
    %u: float32[2] = If(%d, %s, %e)
    then_branch(%a: float32[2], %b: float32[]) {
      %w: float32[2] = Mul(%a, %b)
      return %w
    }
    else_branch(%a: float32[2], %b: float32[]) {
      %w: float32[2] = Sub(%a, %b)
      return %w
    }
    return %g, %u
  }
  return r = %r
}""",
        """main(%c: bool[], %x: float32[2], %n: int64[]) {
  %r: float32[2] = Loop(%n, _, %x, %c) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %d: bool[]) {
    %u: float32[2] = If(%d, %s)
    then_branch(%a: float32[2]) {
      %b: float32[] = Constant() {value = float32[] <4.0>}
      %w: float32[2] = Mul(%a, %b)
      return %w
    }
    else_branch(%a: float32[2]) {
      %b: float32[] = Constant() {value = float32[] <4.0>}
      %w: float32[2] = Sub(%a, %b)
      return %w
    }
    return %g, %u
  }
  return r = %r
}""",
        {"disabled": frozenset({"unswitch"})},
    ),
    "condition_of_rank_one_is_known_with_its_shape": Case(
        """main(%c: bool[1], %x: float32[2]) {
  %r: float32[2] = If(%c, %c, %x)
  then_branch(%d: bool[1], %a: float32[2]) {
    %f: float32[1] = Cast(%d) {to = float32}
    %w: float32[2] = Mul(%a, %f)
    %v: float32[2] = Sub(%w, %f)
    return %v
  }
  else_branch(%d: bool[1], %a: float32[2]) {
    %f: float32[1] = Cast(%d) {to = float32}
    %w: float32[2] = Sub(%a, %f)
    return %w
  }
  return r = %r
}""",
        """main(%c: bool[1], %x: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %f: float32[1] = Constant "f" () {value = float32[1] <1.0>}
    %v: float32[2] = Sub(%a, %f)
    return %v
  }
  else_branch(%a: float32[2]) {
    return %a
  }
  return r = %r
}""",
    ),
    "constant_captured_twice_and_one_that_no_branch_reads": Case(
        """main(%c: bool[], %x: float32[2]) {
  %k: float32[] = Constant() {value = float32[] <4.0>}
  %u: float32[] = Constant() {value = float32[] <5.0>}
  %r: float32[2] = If(%c, %k, %x, %k, %u)
  then_branch(%d: float32[], %a: float32[2], %e: float32[], %f: float32[]) {
    %w: float32[2] = Mul(%a, %d)
    %v: float32[2] = Sub(%w, %e)
    return %v
  }
  else_branch(%d: float32[], %a: float32[2], %e: float32[], %f: float32[]) {
    return %a
  }
  return r = %r
}""",
        """main(%c: bool[], %x: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %d: float32[] = Constant() {value = float32[] <4.0>}
    %w: float32[2] = Mul(%a, %d)
    %v: float32[2] = Sub(%w, %d)
    return %v
  }
  else_branch(%a: float32[2]) {
    return %a
  }
  return r = %r
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
