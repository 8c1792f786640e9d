"""Loops that constants decide."""

import pytest
from passes.programs import Case, check, read

from whorl.passes import peel as partial
from whorl.passes.context import PassOptions
from whorl.passes.pipeline import optimize

CASES = {
    "loop_that_never_runs_is_its_initial_value": Case(
        """main(%x: float32[2], %y: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <0>}
  %r: float32[2] = Loop(%n, _, %x, %y) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[2]) {
    %t: float32[2] = Add(%s, %k)
    return %g, %t
  }
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2]) {
  return r = %x
}""",
    ),
    "loop_whose_condition_is_false_collects_nothing": Case(
        """main(%x: float32[2]) {
  %c: bool[] = Constant() {value = bool[] <False>}
  %r: float32[2], %q: float32[n, 2] = Loop(_, %c, %x) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %t: float32[2] = Exp(%s)
    return %g, %t, %t
  }
  return r = %r, q = %q
}""",
        """main(%x: float32[2]) {
  %q: float32[0, 2] = Constant "q" () {value = float32[0, 2] <>}
  return r = %x, q = %q
}""",
    ),
    "loop_that_runs_once_is_its_body": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <1>}
  %r: float32[2], %q: float32[2, 1] = Loop(%n, _, %x) {carried = 1, collected = (Collected(axis = 1),)}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %f: float32[] = Cast(%i) {to = float32}
    %t: float32[2] = Add(%s, %f)
    return %g, %t, %t
  }
  return r = %r, q = %q
}""",
        """main(%x: float32[2]) {
  %f: float32[] = Constant "f" () {value = float32[] <0.0>}
  %t: float32[2] = Add(%x, %f)
  %const: int64[1] = Constant "const" () {value = int64[1] <1>}
  %q: float32[2, 1] = Unsqueeze "q" (%t, %const)
  return r = %t, q = %q
}""",
    ),
    "loop_that_stops_after_its_first_iteration_is_its_body": Case(
        """main(%x: float32[2]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %r: float32[2] = Loop(_, %t, %x) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %t: float32[2] = Exp(%s)
    %z: int64[] = Constant() {value = int64[] <0>}
    %c: bool[] = Less(%i, %z)
    return %c, %t
  }
  return r = %r
}""",
        """main(%x: float32[2]) {
  %t: float32[2] = Exp(%x)
  return r = %t
}""",
    ),
    "scan_of_one_slice_is_its_body": Case(
        """main(%x: float32[2], %y: float32[2, 1]) {
  %r: float32[2], %q: float32[1, 2] = Loop(_, _, %x, %y)
    {carried = 1, scanned = (Scanned(axis = 1),), collected = (Collected(),), keep_shapes = True}
  body(%i: int64[], %g: bool[], %s: float32[2], %v: float32[2]) {
    %t: float32[2] = Add(%s, %v)
    return %g, %t, %s
  }
  return r = %r, q = %q
}""",
        """main(%x: float32[2], %y: float32[2, 1]) {
  %const: int64[] = Constant "const" () {value = int64[] <0>}
  %y~1: float32[2] = Gather "y" (%y, %const) {axis = 1}
  %t: float32[2] = Add(%x, %y~1)
  %const~1: int64[1] = Constant "const" () {value = int64[1] <0>}
  %q: float32[1, 2] = Unsqueeze "q" (%x, %const~1)
  return r = %t, q = %q
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
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)


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
    report = optimize(read(LARGE.format(trips=200)), PassOptions(**options))
    assert report.skipped["Loop", reason] and not report.edits["evaluate_loop"]


def test_loop_that_gives_more_than_it_takes_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial, "LARGEST_RESULT", 1000)
    report = optimize(read(LARGE.format(trips=200)))
    assert report.skipped["Loop", "is smaller as a loop"] and not report.edits["evaluate_loop"]
