"""Loops as copies of their bodies: how many, under which predicates, and what they collect."""

import numpy as np
import pytest
from passes.programs import Case
from passes.unroll.programs import check_results, check_unrolled, reason, unrolled

CASES = {
    "known_trip_count_is_a_chain": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <2>}
  %r: float32[2] = Loop(%n, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %t: float32[2] = Neg(%s)
    return %g, %t
  }
  return r = %r
}""",
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <2>}
  %iteration: int64[] = Constant "iteration" () {value = int64[] <0>}
  %keep_going: bool[] = Constant "keep_going" () {value = bool[] <True>}
  %t: float32[2] = Neg(%x)
  %iteration~1: int64[] = Constant "iteration" () {value = int64[] <1>}
  %keep_going~1: bool[] = Constant "keep_going" () {value = bool[] <True>}
  %t~1: float32[2] = Neg(%t)
  return r = %t~1
}""",
    ),
    "no_iteration_gives_the_initial_value_and_collects_nothing": Case(
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <0>}
  %r: float32[2], %q: float32[2, k] = Loop(%n, _, %x) {carried = 1, collected = (Collected(axis = -1),)}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %t: float32[2] = Neg(%s)
    return %g, %t, %s
  }
  return r = %r, q = %q
}""",
        """main(%x: float32[2]) {
  %n: int64[] = Constant() {value = int64[] <0>}
  %q: float32[2, 0] = Constant "q" () {value = float32[2, 0] <>}
  return r = %x, q = %q
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check_unrolled(case)


SCAN = """main(%x: float32[{shape}], %h: float32[{element}]) {{
  %r: float32[{element}], %l: float32[{element}], %q: float32[{stacked}] = Loop(_, _, %h, %x)
    {{carried = 1, last = 1, scanned = (Scanned({scanned}),), collected = (Collected({collected}),)}}
  body(%i: int64[], %g: bool[], %s: float32[{element}], %v: float32[{element}]) {{
    %f: float32[] = Cast(%i) {{to = float32}}
    %a: float32[{element}] = Sub(%s, %v)
    %b: float32[{element}] = Add(%a, %f)
    return %g, %b, %v, %b
  }}
  return r = %r, l = %l, q = %q
}}"""


@pytest.mark.parametrize(
    ("shape", "scanned", "collected", "stacked"),
    [
        ("3, 2", "", "", "3, 2"),
        ("1, 2", "", "", "1, 2"),
        ("2, 3", "axis = -1", "axis = -1", "2, 3"),
        ("2, 3", "axis = 1, reverse = True", "axis = 1", "2, 3"),
        ("3, 2", "", "reverse = True", "3, 2"),
        ("3, 2", "reverse = True", "stack = False, part = 2", "6"),
        ("6", "keep_axis = True, part = 2", "stack = False, reverse = True", "6"),
        ("6", "keep_axis = True, part = 2, reverse = True, axis = -1", "axis = 1", "2, 3"),
    ],
)
def test_scan_gives_the_same_whichever_way_it_cuts_and_joins(shape, scanned, collected, stacked):
    lengths = [int(n) for n in shape.split(",")]
    x = np.arange(np.prod(lengths), dtype=np.float32).reshape(lengths)
    text = SCAN.format(shape=shape, element="2", scanned=scanned, collected=collected, stacked=stacked)
    check_results(text, {"x": x, "h": np.array([-0.0, np.nan], np.float32)})


EARLY = """main(%x: int32[{rank}], %limit: int32[{rank}], %n: int64[{trip}], %on: bool[{go}]) {{
  %most: int64[] = Constant() {{value = int64[] <4>}}
  %m: int64[{trip}] = Min(%n, %most)
  %r: int32[{rank}], %q: int32[k, {rows}] = Loop({operands}, %x, %limit)
    {{carried = 1, collected = (Collected({collected}),)}}
  body(%i: int64[{trip}], %g: bool[{go}], %s: int32[{rank}], %l: int32[{rank}]) {{
    %t: int32[{rank}] = Add(%s, %s)
    %d: bool[{rank}] = Less(%t, %l)
    return %d, %t, %s
  }}
  return r = %r, q = %q
}}""".replace("k, {rows}", "{stacked}")


@pytest.mark.parametrize("reverse", ["", "reverse = True"])
@pytest.mark.parametrize("rank", ["", "1"])
def test_loop_that_ends_early_gives_what_it_gave(rank, reverse):
    text = EARLY.format(
        rank=rank, trip=rank, go=rank, operands="%most, %on", collected=reverse, stacked="k" if not rank else "k, 1"
    )
    shape = (1,) * bool(rank)
    feeds = [
        {"x": np.full(shape, x, np.int32), "limit": np.full(shape, limit, np.int32)}
        | {"n": np.full(shape, 3), "on": np.full(shape, on)}
        for x, limit in ((1, 0), (1, 4), (1, 100), (-1, 0))
        for on in (True, False)
    ]
    check_results(text, *feeds)


BOUNDED = """main(%x: float32[2], %n: int64[]) {
  %l: int64[] = Constant() {value = int64[] <0>}
  %h: int64[] = Constant() {value = int64[] <3>}
  %m: int64[] = Clip(%n, %l, %h)
  %t: bool[] = Constant() {value = bool[] <True>}
  %y: float32[3, 2] = Constant() {value = float32[3, 2] <1 2 3 4 5 6>}
  %r: float32[2], %q: float32[k, 2] = Loop(%m, _, %x, %y)
    {carried = 1, scanned = (Scanned(),), collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2], %v: float32[2]) {
    %a: float32[2] = Add(%s, %v)
    return %g, %a, %a
  }
  return r = %r, q = %q
}"""


@pytest.mark.parametrize("n", [-1, 0, 1, 2, 3, 9])
def test_trip_count_of_the_run_within_the_slices_selects_the_iterations(n):
    check_results(BOUNDED, {"x": np.array([1, -0.0], np.float32), "n": n})


LOOP = """main(%x: float32[2], %n: int64[], %c: bool[]) {
  %most: int64[] = Constant() {value = int64[] <9>}
  %r: float32[2] = Loop(OPERANDS, %x) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    BODY
    return CONDITION, %t
  }
  return r = %r
}"""


def loop(operands: str, body: str = "%t: float32[2] = Neg(%s)", condition: str = "%g") -> str:
    return LOOP.replace("OPERANDS", operands).replace("BODY", body).replace("CONDITION", condition)


LESS = """%t: float32[2] = Neg(%s)
    %m: float32[] = ReduceMax(%t) {keepdims = 0}
    %k: float32[] = Constant() {value = float32[] <3>}
    %d: bool[] = Less(%m, %k)"""


@pytest.mark.parametrize(
    ("text", "most", "why"),
    [
        (loop("%n, _"), 16, "the number of its iterations is known only when it runs"),
        (loop("_, %c", LESS, "%d"), 16, "the number of its iterations is known only when it runs"),
        (loop("%most, _"), 8, "it may run 9 times, more than 8"),
        (
            loop("%most, %c", "%t: float32[2] = RandomNormalLike(%s)", "%g"),
            16,
            "RandomNormalLike 't' is random, and would draw where it did not",
        ),
    ],
    ids=["trip count", "condition", "most", "random"],
)
def test_loop_that_cannot_be_copied_says_why(text, most, why):
    assert reason(text, most) == why


def test_last_value_of_a_loop_that_may_not_run_remains():
    text = loop("%most, %c", LESS, "%d").replace("{carried = 1}", "{carried = 0, last = 1}").replace(", %x)", ", %x)")
    assert reason(text) == "it may never run, and then there is no last value"
    never = loop("%most, _").replace("<9>", "<0>").replace("{carried = 1}", "{carried = 0, last = 1}")
    assert reason(never) == "it never runs, so there is no last value"


def test_state_that_changes_its_shape_under_a_predicate_remains():
    grow = LESS.replace("float32[2] = Neg(%s)", "float32[a] = Concat(%s, %s) {axis = 0}")
    assert reason(loop("%most, %c", grow, "%d").replace("%s: float32[2]", "%s: float32[b]")).startswith(
        "carried value 0 is float32["
    )


def test_predicates_of_a_loop_that_surely_begins_are_needed_from_the_second_on():
    text = loop("%most, %t", LESS, "%d").replace("<9>}", "<2>}\n  %t: bool[] = Constant() {value = bool[] <True>}")
    module, remaining = unrolled(text)
    assert not remaining
    assert [node.op.name for node in module.main.nodes].count("Where") == 1
    check_results(text, *({"x": np.array(x, np.float32), "n": 0, "c": True} for x in ([1, 2], [-4, 2], [-1, -2])))


def test_copies_that_are_more_than_a_program_may_have_are_not_made(monkeypatch):
    monkeypatch.setattr("whorl.passes.unroll.control_flow.MAX_NODES", 10)
    assert reason(loop("%most, _")) == "9 copies of its body are more nodes than a program may have"
