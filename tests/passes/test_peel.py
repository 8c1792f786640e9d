"""Loops of which some or all iterations are run at compile time."""

import pytest
from passes.programs import Case, check, report_of

from whorl.passes import peel

CASES = {
    "iterations_before_the_state_varies_are_run": Case(
        """main(%x: float32[2]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %z: int64[] = Constant() {value = int64[] <0>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %l: int64[], %r: float32[2] = Loop(_, %t, %z, %o, %x) {carried = 2}
  body(%i: int64[], %g: bool[], %c: int64[], %s: float32[2], %k: float32[2]) {
    %three: int64[] = Constant() {value = int64[] <3>}
    %nine: int64[] = Constant() {value = int64[] <9>}
    %w: bool[] = Less(%i, %three)
    %u: float32[2] = If(%w, %s, %k)
    then_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Add(%a, %a)
      return %p
    }
    else_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Mul(%a, %b)
      return %p
    }
    %d: int64[] = Add(%c, %i)
    %go: bool[] = Less(%d, %nine)
    return %go, %d, %u
  }
  return r = %r, q = %l
}""",
        """main(%x: float32[2]) {
  %state: float32[2] = Constant "state" () {value = float32[2] <0.0 8.0>}
  %trips: int64[] = Constant "trips" () {value = int64[] <2>}
  %r: float32[2] = Loop(%trips, _, %state, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %k: float32[2]) {
    %p: float32[2] = Mul(%s, %k)
    return %g, %p
  }
  %l: int64[] = Constant "l" () {value = int64[] <10>}
  return r = %r, q = %l
}""",
    ),
    "loop_ends_before_it_needs_what_varies": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <3>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %r: float32[2] = Loop(%n, _, %o, %x) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[2]) {
    %three: int64[] = Constant() {value = int64[] <2>}
    %w: bool[] = LessOrEqual(%i, %three)
    return %g, %s
  }
  return r = %r
}""",
        """main(%x: float32[2]) {
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  return r = %o
}""",
    ),
    "loop_on_constants_is_run": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <10>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %l: float32[2], %q: float32[10, 2] = Loop(%n, _, %o) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %f: float32[] = Cast(%i) {to = float32}
    %t: float32[2] = Add(%s, %f)
    return %g, %t, %t
  }
  %m: float32[2] = Add(%l, %x)
  %z: int64[1] = Constant() {value = int64[1] <0>}
  %v: float32[2] = ReduceSum(%q, %z) {keepdims = 0}
  %r: float32[2] = Mul(%m, %v)
  return r = %r
}""",
        """main(%x: float32[2]) {
  %l: float32[2] = Constant "l" () {value = float32[2] <45.0 46.0>}
  %m: float32[2] = Add(%x, %l)
  %v: float32[2] = Constant "v" () {value = float32[2] <165.0 175.0>}
  %r: float32[2] = Mul(%m, %v)
  return r = %r
}""",
    ),
    "scan_on_constants_is_run": Case(
        """main(%x: float32[]) {
  %o: int32[] = Constant() {value = int32[] <0>}
  %d: int32[4] = Constant() {value = int32[4] <1 2 3 4>}
  %l: int32[], %r: int32[4] = Loop(_, _, %o, %d)
    {carried = 1, scanned = (Scanned(reverse = True),), collected = (Collected(reverse = True),)}
  body(%i: int64[], %g: bool[], %s: int32[], %v: int32[]) {
    %t: int32[] = Add(%s, %v)
    return %g, %t, %t
  }
  return r = %r, q = %l
}""",
        """main(%x: float32[]) {
  %l: int32[] = Constant "l" () {value = int32[] <10>}
  %r: int32[4] = Constant "r" () {value = int32[4] <10 9 7 4>}
  return r = %r, q = %l
}""",
    ),
    "loop_that_fails_stays": Case(
        """main(%x: float32[]) {
  %n: int64[] = Constant() {value = int64[] <3>}
  %o: int32[] = Constant() {value = int32[] <6>}
  %r: int32[] = Loop(%n, _, %o) {carried = 1}
  body(%i: int64[], %g: bool[], %s: int32[]) {
    %j: int32[] = Cast(%i) {to = int32}
    %t: int32[] = Div(%s, %j)
    return %g, %t
  }
  return r = %r
}""",
        """main(%x: float32[]) {
  %n: int64[] = Constant() {value = int64[] <3>}
  %o: int32[] = Constant() {value = int32[] <6>}
  %r: int32[] = Loop(%n, _, %o) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: int32[]) {
    %j: int32[] = Cast(%i) {to = int32}
    %t: int32[] = Div(%s, %j)
    return %g, %t
  }
  return r = %r
}""",
    ),
    "peeled_loop_keeps_its_last_value_and_its_counter": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <5>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %r: float32[2], %l: float32[] = Loop(%n, _, %o, %x) {carried = 1, last = 1}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[2]) {
    %two: int64[] = Constant() {value = int64[] <2>}
    %w: bool[] = Less(%i, %two)
    %f: float32[] = Cast(%i) {to = float32}
    %u: float32[2] = If(%w, %s, %k)
    then_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Add(%a, %a)
      return %p
    }
    else_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Mul(%a, %b)
      return %p
    }
    %v: float32[2] = Add(%u, %f)
    return %g, %v, %f
  }
  return r = %r, l = %l
}""",
        """main(%x: float32[2]) {
  %trips: int64[] = Constant "trips" () {value = int64[] <3>}
  %state: float32[2] = Constant "state" () {value = float32[2] <1.0 5.0>}
  %r: float32[2], %l: float32[] = Loop(%trips, _, %state, %x) {carried = 1, last = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %k: float32[2]) {
    %const: int64[] = Constant "const" () {value = int64[] <2>}
    %i~1: int64[] = Add "i" (%i, %const)
    %f: float32[] = Cast(%i~1) {to = float32}
    %p: float32[2] = Mul(%s, %k)
    %v: float32[2] = Add(%p, %f)
    return %g, %v, %f
  }
  return r = %r, l = %l
}""",
    ),
    "loop_that_collects_is_not_cut_in_two": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <3>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %r: float32[2], %q: float32[n, 2] = Loop(%n, _, %o, %x) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[2]) {
    %two: int64[] = Constant() {value = int64[] <2>}
    %w: bool[] = Less(%i, %two)
    %u: float32[2] = If(%w, %s, %k)
    then_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Add(%a, %a)
      return %p
    }
    else_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Mul(%a, %b)
      return %p
    }
    return %g, %u, %s
  }
  return r = %r, q = %q
}""",
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <3>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %r: float32[2], %q: float32[3, 2] = Loop(%n, _, %o, %x) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %k: float32[2]) {
    %two: int64[] = Constant() {value = int64[] <2>}
    %w: bool[] = Less(%i, %two)
    %u: float32[2] = If(%w, %s, %k)
    then_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Add(%a, %a)
      return %p
    }
    else_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Mul(%a, %b)
      return %p
    }
    return %g, %u, %s
  }
  return r = %r, q = %q
}""",
    ),
    "loop_that_gives_a_short_sequence": Case(
        """main(%x: int64[]) {
  %n: int64[] = Constant() {value = int64[] <2>}
  %e: seq(float32[]) = SequenceEmpty()
  %s: seq(float32[]) = Loop(%n, _, %e) {carried = 1}
  body(%i: int64[], %g: bool[], %s: seq(float32[])) {
    %f: float32[] = Cast(%i) {to = float32}
    %t: seq(float32[]) = SequenceInsert(%s, %f)
    return %g, %t
  }
  %r: float32[] = SequenceAt(%s, %x)
  return r = %r
}""",
        """main(%x: int64[]) {
  %s: float32[] = Constant "s" () {value = float32[] <0.0>}
  %s~1: float32[] = Constant "s" () {value = float32[] <1.0>}
  %s~2: seq(float32[]) = SequenceConstruct "s" (%s, %s~1)
  %r: float32[] = SequenceAt(%s~2, %x)
  return r = %r
}""",
        {"disabled": frozenset({"simplify"})},
    ),
    "negative_trip_count_is_none": Case(
        """main() {
  %n: int64[1] = Constant() {value = int64[1] <-3>}
  %o: int32[] = Constant() {value = int32[] <6>}
  %r: int32[], %q: int32[k] = Loop(%n, _, %o) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: int32[]) {
    %t: int32[] = Add(%s, %s)
    return %g, %t, %t
  }
  return r = %r, q = %q
}""",
        """main() {
  %o: int32[] = Constant() {value = int32[] <6>}
  %q: int32[0] = Constant "q" () {value = int32[0] <>}
  return r = %o, q = %q
}""",
        {"disabled": frozenset({"remove_zero_trip_loop"})},
    ),
    "loop_that_draws_is_not_run": Case(
        """main() {
  %n: int64[] = Constant() {value = int64[] <2>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %r: float32[2] = Loop(%n, _, %o) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %z: float32[2] = RandomNormalLike(%s) {scale = 0.0}
    return %g, %z
  }
  return r = %r
}""",
        """main() {
  %n: int64[] = Constant() {value = int64[] <2>}
  %o: float32[2] = Constant() {value = float32[2] <0.0 1.0>}
  %r: float32[2] = Loop(%n, _, %o) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %z: float32[2] = RandomNormalLike(%s) {scale = 0.0}
    return %g, %z
  }
  return r = %r
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)


LARGE = """main(%x: float32[4, 4]) {
  %n: int64[] = Constant() {value = int64[] <200>}
  %z: float32[4, 4] = Constant() {value = float32[4, 4] <0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15>}
  %r: float32[4, 4], %q: float32[n, 4, 4] = Loop(%n, _, %z) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[4, 4]) {
    %f: float32[] = Cast(%i) {to = float32}
    %t: float32[4, 4] = Add(%s, %f)
    return %g, %t, %t
  }
  return r = %r, q = %q
}"""


def test_loop_that_gives_more_than_it_takes_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peel, "LARGEST_RESULT", 1000)
    report = report_of(LARGE)
    assert report.skipped["Loop", "is smaller as a loop"] and not report.edits["evaluate_loop"]
