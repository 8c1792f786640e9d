"""Loops as ops on all of their iterations: what is carried has a closed form, what is collected are rows."""

import numpy as np
import pytest
from passes.programs import read
from passes.vectorize.programs import check, kinds, reason

from whorl.passes.context import Context, PassOptions
from whorl.passes.vectorize.control_flow import vectorize_control_flow

LENGTHS = (0, 1, 2, 7)


def rows(*shape, dtype=np.float32, seed=0):
    draw = np.random.default_rng([seed, *shape])
    values = draw.normal(size=shape) * 8
    if dtype is bool:
        return values > 0
    return values.astype(dtype)


MAP = """main(%x: float32[{shape}], %w: float32[3]) {{
  %r: float32[{stacked}], %l: float32[3] = Loop(_, _, %x, %w)
    {{last = {last}, scanned = (Scanned({scanned}),), collected = (Collected({collected}),)}}
  body(%i: int64[], %g: bool[], %v: float32[{slice}], %c: float32[3]) {{
    %f: float32[] = Cast(%i) {{to = float32}}
    %a: float32[{slice}] = Mul(%v, %c)
    %b: float32[{slice}] = Add(%a, %f)
    return %g{lasts}, %b
  }}
  return r = %r{outputs}
}}"""


@pytest.mark.parametrize(
    ("shape", "scanned", "collected", "slice", "stacked"),
    [
        ("n, 3", "", "", "3", "n, 3"),
        ("3, n", "axis = 1", "axis = -1", "3", "3, n"),
        ("3, n", "axis = -1, reverse = True", "axis = 1, reverse = True", "3", "3, n"),
        ("n, 2, 3", "", "axis = 1", "2, 3", "2, n, 3"),
        ("n, 3", "reverse = True", "stack = False", "3", "3*n"),
        ("n, 3", "keep_axis = True", "stack = False, reverse = True", "1, 3", "n, 3"),
        ("2, n, 3", "axis = 1", "stack = False, axis = 0", "2, 3", "2*n, 3"),
    ],
)
@pytest.mark.parametrize("length", LENGTHS)
def test_map_gives_the_same_whichever_way_it_cuts_and_joins(shape, scanned, collected, slice, stacked, length):
    text = MAP.format(
        shape=shape, scanned=scanned, collected=collected, slice=slice, stacked=stacked, last=0, lasts="", outputs=""
    ).replace(", %l: float32[3]", "")
    x = rows(*(length if n == "n" else int(n) for n in shape.split(", ")))
    check(text, {"x": x, "w": rows(3)})


def test_parts_of_several_rows_are_rows_of_parts():
    text = """main(%x: float32[6, 3]) {
      %r: float32[6, 3] = Loop(_, _, %x) {scanned = (Scanned(keep_axis = True, part = 2, reverse = True),),
        collected = (Collected(stack = False),)}
      body(%i: int64[], %g: bool[], %v: float32[2, 3]) {
        %b: float32[2, 3] = Softmax(%v) {axis = 0}
        return %g, %b
      }
      return r = %r
    }"""
    check(text, {"x": rows(6, 3)})


def test_trip_count_of_the_run_cuts_what_is_scanned():
    text = """main(%x: float32[n, 3], %trip: int32[], %begin: bool[]) {
      %r: float32[m, 3] = Loop(%trip, %begin, %x) {scanned = (Scanned(),), collected = (Collected(),)}
      body(%i: int64[], %g: bool[], %v: float32[3]) {
        %b: float32[3] = Exp(%v)
        return %g, %b
      }
      return r = %r
    }"""
    check(text, *({"x": rows(4, 3), "trip": np.int32(n), "begin": b} for n in (-1, 0, 2, 9) for b in (True, False)))


CARRIED = """main(%x: {dtype}[n{shape}], %h: {dtype}[{first}], %c: bool[n]) {{
  %r: {dtype}[{first}], %q: {dtype}[n{rest}], %p: {dtype}[n{rest}] = Loop(_, _, %h, %x, %c)
    {{carried = 1, scanned = (Scanned(), Scanned()), collected = (Collected(), Collected())}}
  body(%i: int64[], %g: bool[], %s: {dtype}[{first}], %v: {dtype}[{slice}], %m: bool[]) {{
    {update}
    return %g, %t, %t, %s
  }}
  return r = %r, q = %q, p = %p
}}"""
"""What it carries, before and after each iteration and at the end."""


def carried(update, dtype="float32", first="3", slice="3"):
    dims = [f", {dim}" if dim else "" for dim in (slice, first)]
    text = CARRIED.format(dtype=dtype, first=first, slice=slice, update=update, shape=dims[0], rest=dims[1])
    return text.replace("%t: [", f"%t: {dtype}[").replace("$", f"{dtype}[{first}]")


def feeds(dtype, first, slice):
    shapes = [tuple(int(n) for n in text.split(",") if n) for text in (slice, first)]
    for n in LENGTHS:
        yield {"x": rows(n, *shapes[0], dtype=dtype), "h": rows(*shapes[1], dtype=dtype), "c": rows(n, dtype=bool)}


SUMS = {
    "a sum": "%t: $ = Add(%s, %v)",
    "a sum, the other way round": "%t: $ = Add(%v, %s)",
    "a difference": "%t: $ = Sub(%s, %v)",
    "a sum of some": "%a: $ = Add(%s, %v)\n %t: $ = Where(%m, %a, %s)",
    "a sum of the others": "%a: $ = Sub(%s, %v)\n %t: $ = Where(%m, %s, %a)",
    "the one before": "%t: $ = Identity(%v)",
    "the last of some": "%t: $ = Where(%m, %v, %s)",
}


@pytest.mark.parametrize("update", SUMS.values(), ids=SUMS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_what_is_carried_has_its_bits_before_and_after_each_iteration(update, dtype):
    check(carried(update, dtype), *feeds(np.dtype(dtype), "3", "3"))


def test_term_that_is_smaller_than_the_sum_is_broadcast():
    check(carried("%t: $ = Add(%s, %v)", slice=""), *feeds(np.float32, "3", ""))


@pytest.mark.parametrize("op", ["And", "Or"])
def test_conjunctions_and_disjunctions_count_what_decides_them(op):
    check(carried(f"%t: $ = {op}(%s, %v)", "bool"), *feeds(bool, "3", "3"))


FINAL = """main(%x: {dtype}[n, 3], %h: {dtype}[3], %c: bool[n]) {{
  %r: {dtype}[3] = Loop(_, _, %h, %x, %c) {{carried = 1, scanned = (Scanned(), Scanned())}}
  body(%i: int64[], %g: bool[], %s: {dtype}[3], %v: {dtype}[3], %m: bool[]) {{
    {update}
    return %g, %t
  }}
  return r = %r
}}"""


@pytest.mark.parametrize("op", ["Max", "Min", "Mul", "Add"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
@pytest.mark.parametrize("some", [False, True])
def test_final_value_of_an_op_without_an_order_is_a_reduction(op, dtype, some):
    if dtype == "float32" and op == "Mul":
        pytest.skip("products of floats have an order")
    update = f"%t: {dtype}[3] = {op}(%s, %v)"
    if some:
        update = f"%a: {dtype}[3] = {op}(%s, %v)\n %t: {dtype}[3] = Where(%m, %a, %s)"
    module = check(FINAL.format(dtype=dtype, update=update), *feeds(np.dtype(dtype), "3", "3"))
    assert (dtype == "float32" and op == "Add") is ("CumSum" in kinds(module))


def test_floats_are_summed_in_another_order_only_where_that_is_allowed():
    text = FINAL.format(dtype="float32", update="%t: float32[3] = Add(%s, %v)")
    assert "ReduceSum" in kinds(check(text, fast_math=True))


def test_closed_form_of_one_carried_value_gives_terms_for_the_next():
    check(
        """main(%x: float32[n], %k: int64[]) {
      %a: int64[], %b: float32[], %r: float32[n] = Loop(_, _, %k, %z, %x)
        {carried = 2, scanned = (Scanned(),), collected = (Collected(),)}
      body(%i: int64[], %g: bool[], %s: int64[], %t: float32[], %v: float32[]) {
        %two: int64[] = Constant() {value = int64[] <2>}
        %u: int64[] = Add(%s, %two)
        %f: float32[] = Cast(%s) {to = float32}
        %w: float32[] = Mul(%f, %v)
        %y: float32[] = Add(%t, %w)
        return %g, %u, %y, %y
      }
      return a = %a, b = %b, r = %r
    }""".replace("%a: int64[], %b", "%z: float32[] = Constant() {value = float32[] <0.5>}\n  %a: int64[], %b", 1),
        *({"x": rows(n), "k": np.int64(3)} for n in LENGTHS),
    )


@pytest.mark.parametrize("order", ["%s, %v", "%v, %s"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_tensor_that_grows_is_one_concatenation(order, axis):
    shapes = ("a, 3", "2, a") if axis else ("a, 3", "a, 3")
    outer = "h0, 3" if axis == 0 else "2, h1"
    text = f"""main(%x: float32[n, 2, 3], %h: float32[2, 3]) {{
      %r: float32[{shapes[axis != 0]}] = Loop(_, _, %h, %x) {{carried = 1, scanned = (Scanned(),)}}
      body(%i: int64[], %g: bool[], %s: float32[{outer}], %v: float32[2, 3]) {{
        %t: float32[{outer}] = Concat({order}) {{axis = {axis}}}
        return %g, %t
      }}
      return r = %r
    }}"""
    check(text, *({"x": rows(n, 2, 3), "h": rows(2, 3)} for n in LENGTHS))


def test_loop_inside_a_map_gets_rows_and_then_goes_too():
    text = """main(%x: float32[n, m, 3]) {
      %r: float32[n, 3] = Loop(_, _, %x) {scanned = (Scanned(),), collected = (Collected(),)}
      body(%i: int64[], %g: bool[], %v: float32[m, 3]) {
        %z: float32[3] = Constant() {value = float32[3] <0 1 2>}
        %q: float32[3] = Loop(_, _, %z, %v) {carried = 1, scanned = (Scanned(),)}
        body(%j: int64[], %o: bool[], %s: float32[3], %u: float32[3]) {
          %t: float32[3] = Add(%s, %u)
          return %o, %t
        }
        return %g, %q
      }
      return r = %r
    }"""
    check(text, *({"x": rows(n, m, 3)} for n in LENGTHS for m in (0, 1, 4)))


def test_branch_that_rows_take_differently_becomes_a_selection():
    text = """main(%x: float32[n, 3]) {
      %r: float32[n, 3] = Loop(_, _, %x) {scanned = (Scanned(),), collected = (Collected(),)}
      body(%i: int64[], %g: bool[], %v: float32[3]) {
        %top: float32[] = ReduceMax(%v) {keepdims = 0}
        %z: float32[] = Constant() {value = float32[] <0>}
        %c: bool[] = Greater(%top, %z)
        %q: float32[3] = If(%c, %v)
        then(%a: float32[3]) {
          %b: float32[3] = Exp(%a)
          return %b
        }
        else(%a: float32[3]) {
          %b: float32[3] = Neg(%a)
          return %b
        }
        return %g, %q
      }
      return r = %r
    }"""
    check(text, *({"x": rows(n, 3) - 4} for n in LENGTHS))


REMAINS = {
    "a recurrence": ("%a: $ = Mul(%s, %v)\n %t: $ = Tanh(%a)", "carried value 's' has no closed form"),
    "a random node": (
        "%t: $ = RandomNormalLike(%v)",
        "RandomNormalLike 't' is random, and would draw for all rows at once",
    ),
}


@pytest.mark.parametrize(("update", "why"), REMAINS.values(), ids=REMAINS)
def test_what_has_no_closed_form_remains_with_its_reason(update, why):
    assert reason(carried(update)) == why


def test_loop_that_its_body_may_end_remains():
    text = """main(%x: float32[], %n: int64[], %yes: bool[]) {
      %r: float32[] = Loop(%n, %yes, %x) {carried = 1}
      body(%i: int64[], %g: bool[], %s: float32[]) {
        %t: float32[] = Add(%s, %s)
        %o: bool[] = Less(%t, %t)
        return %o, %t
      }
      return r = %r
    }"""
    assert reason(text) == "its body may end it: carried value 's' has no closed form"


@pytest.mark.parametrize(("rows", "goes"), [("0", False), ("N", False), ("2", True)])
def test_what_may_fail_is_not_computed_for_a_loop_without_iterations(rows, goes):
    module = read(f"""main(%x: float32[M], %y: float32[{rows}]) {{
  %r: float32[{rows}] = Loop(_, _, %y, %x) {{scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[], %a: float32[M]) {{
    %k: int64[] = Constant() {{value = int64[] <0>}}
    %f: float32[] = Gather(%a, %k)
    %e: float32[] = Add(%f, %s)
    return %g, %e
  }}
  return r = %r
}}""")
    reasons = vectorize_control_flow(module, Context(module, PassOptions()))
    text = "it may never run: Gather 'f' may fail on values that it does not see now"
    assert list(reasons.values()) == ([] if goes else [text])


@pytest.mark.parametrize(
    ("rows", "columns", "goes"),
    [("0", "0", False), ("N", "0", False), ("0", "3", True), ("N", "M", False), ("N", "M + 3", True), ("8", "M", True)],
)
def test_what_fails_by_the_lengths_of_a_row_is_not_computed_for_no_rows(rows, columns, goes):
    module = read(f"""main(%x: float32[{rows}, {columns}]) {{
  %r: float32[{rows}] = Loop(_, _, %x) {{scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %v: float32[{columns}]) {{
    %k: int64[] = Constant() {{value = int64[] <2>}}
    %f: float32[] = Gather(%v, %k)
    return %g, %f
  }}
  return r = %r
}}""")
    reasons = vectorize_control_flow(module, Context(module, PassOptions()))
    text = "it may never run: Gather 'f' may fail on values that it does not see now"
    assert list(reasons.values()) == ([] if goes else [text])


@pytest.mark.parametrize(("rows", "goes"), [("0", False), ("N", False), ("1 + N", True)])
def test_inner_loop_that_refuses_lengths_is_not_computed_for_no_rows(rows, goes):
    module = read(f"""main(%x: float32[{rows}, M], %k: float32[3]) {{
  %r: float32[{rows}] = Loop(_, _, %x, %k) {{scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %v: float32[M], %k: float32[3]) {{
    %zero: float32[] = Constant() {{value = float32[] <0>}}
    %s: float32[] = Loop(_, _, %zero, %v, %k) {{carried = 1, scanned = (Scanned(), Scanned())}}
    body(%j: int64[], %h: bool[], %t: float32[], %a: float32[], %b: float32[]) {{
      %c: float32[] = Sin(%t)
      %d: float32[] = Add(%c, %a)
      %e: float32[] = Add(%d, %b)
      return %h, %e
    }}
    return %g, %s
  }}
  return r = %r
}}""")
    reasons = vectorize_control_flow(module, Context(module, PassOptions()))
    outer = [reason for where, reason in reasons.items() if "'r'" in where and "'s'" not in where]
    assert outer == ([] if goes else ["it may never run, and Loop 's' may fail then"])


SHARED = """main(%x: float32[{rows}, 4], %k: {dtype}) {{
  %r: {result} = Loop(_, _, %x, %k) {{scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %v: float32[4], %k: {dtype}) {{
    %f: {piece} = {op}
    return %g, %f
  }}
  return r = %r
}}"""
BY_INDEX = {"dtype": "int64[]", "op": "Gather(%v, %k)", "result": "float32[{rows}]", "piece": "float32[]"}
BY_LENGTH = {
    "dtype": "float32[M, 3]",
    "op": "MatMul(%v, %k)",
    "result": "float32[{rows}, 3]",
    "piece": "float32[3]",
}


@pytest.mark.parametrize("how", [BY_INDEX, BY_LENGTH])
@pytest.mark.parametrize(("rows", "goes"), [("N", False), ("1 + N", True)])
def test_what_fails_by_what_iterations_share_is_not_computed_for_no_rows(how, rows, goes):
    text = SHARED.replace("{result}", how["result"]).format(rows=rows, **how)
    module = read(text)
    reasons = vectorize_control_flow(module, Context(module, PassOptions()))
    op = how["op"].partition("(")[0]
    why = f"it may never run: {op} 'f' may fail on values that it does not see now"
    assert list(reasons.values()) == ([] if goes else [why])


def test_optional_that_each_iteration_makes_keeps_the_loop():
    text = """main(%n: int64[], %o: optional(int64[])) {
      %r: optional(int64[]) = Loop(%n, _, %o) {carried = 1}
      body(%i: int64[], %g: bool[], %s: optional(int64[])) {
        %t: optional(int64[]) = Optional(%i)
        return %g, %t
      }
      return r = %r
    }"""
    assert reason(text) == "Optional 't': an optional has no axis for rows"


INNER = """main(%n: int64[], %x: float32[{0}], %y: float32[{1}]) {{
  %r: float32[k, m] = Loop(%n, _, %x, %y) {{collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %a: float32[{0}], %b: float32[{1}]) {{
    %w: float32[m] = Loop(_, _, %a, %b) {{scanned = (Scanned(), Scanned()), collected = (Collected(),)}}
    inner(%j: int64[], %h: bool[], %c: float32[], %d: float32[]) {{
      %e: float32[] = Add(%c, %d)
      return %h, %e
    }}
    return %g, %w
  }}
  return r = %r
}}"""


@pytest.mark.parametrize(("first", "second", "remains"), [("0", "1", True), ("N", "M", True), ("M", "M", False)])
def test_loop_whose_slices_may_not_fit_is_not_computed_for_a_loop_without_iterations(first, second, remains):
    module = read(INNER.format(first, second))
    reasons = vectorize_control_flow(module, Context(module, PassOptions()))
    text = "it may never run, and Loop 'w' may fail then"
    assert (text in reasons.values()) is remains
