"""What models are estimated to take: more iterations, rows and ops take longer, and constants nothing."""

import pytest
from msgspec.structs import replace
from passes.programs import read

from whorl.passes.targets.costs import EARLY, EXPECTED, Costs
from whorl.passes.targets.targets import ONNXRUNTIME, WHORL, Prices

ONES = Prices(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)
"""A microsecond for each thing that is done, whatever its size."""

LOOP = """main(%x: float32[n, 3], %k: int64[]) {{
  %s: float32[3] = Constant() {{value = float32[3] <0 0 0>}}
  %r: float32[3] = Loop({trip}, {condition}, %s{scanned}) {{carried = 1{how}}}
  body(%i: int64[], %g: bool[], %t: float32[3]{slice}) {{
    %u: float32[3] = Neg(%t)
    %v: float32[3] = Exp(%u)
    {answer}
    return {goes}, %v
  }}
  return r = %r
}}"""
SCAN = {
    "trip": "_",
    "condition": "_",
    "scanned": ", %x",
    "how": ", scanned = (Scanned(),)",
    "slice": ", %w: float32[3]",
    "answer": "",
    "goes": "%g",
}
COUNT = SCAN | {"trip": "%k", "scanned": "", "how": "", "slice": ""}


def model(text: str, prices: Prices = ONES, **lengths: int) -> float:
    return Costs(prices, lengths).model(read(text).main)


@pytest.mark.parametrize(("lengths", "trips"), [({}, EXPECTED), ({"n": 3}, 3), ({"n": 0}, 0)])
def test_loop_takes_its_iterations_by_the_length_that_is_expected(lengths, trips):
    assert model(LOOP.format(**SCAN), **lengths) == 1 + 1 + trips * 3


def test_loop_of_a_trip_count_that_only_the_run_knows_takes_what_is_expected():
    assert model(LOOP.format(**COUNT)) == 1 + 1 + EXPECTED * 3


def test_loop_that_its_body_ends_is_expected_to_end_early():
    ends = COUNT | {
        "condition": "%b",
        "answer": "%z: int64[] = Constant() {value = int64[] <9>}\n    %h: bool[] = Less(%i, %z)",
        "goes": "%h",
    }
    text = LOOP.format(**ends).replace("  %s:", "  %b: bool[] = Constant() {value = bool[] <True>}\n  %s:", 1)
    assert model(text) == 1 + 1 + EARLY * 4


def test_branch_takes_the_mean_of_both():
    text = """main(%c: bool[], %x: float32[3]) {
      %r: float32[3] = If(%c, %x)
      then_branch(%a: float32[3]) {
        %y: float32[3] = Neg(%a)
        %z: float32[3] = Exp(%y)
        return %z
      }
      else_branch(%a: float32[3]) {
        return %a
      }
      return r = %r
    }"""
    assert model(text) == 1 + 1 + (2 + 0) / 2


def test_what_is_small_may_be_cheaper():
    prices = replace(ONES, lengths=0.5, scalar=0.25, inner_branch=0.125)
    lengths = "main(%x: float32[n, 3]) {\n  %s: int64[2] = Shape(%x)\n  return s = %s\n}"
    assert model(lengths, prices) == 1 + 0.5
    answer = """%z: float32[] = ReduceSum(%v) {keepdims = 0}
    %b: bool[] = Cast(%z) {to = bool}
    %q: float32[3] = If(%b, %v)
    then_branch(%a: float32[3]) { return %a }
    else_branch(%a: float32[3]) {
      %e: float32[3] = Neg(%a)
      return %e
    }"""
    text = LOOP.format(**SCAN | {"answer": answer}).replace("return %g, %v", "return %g, %q")
    assert model(text, prices, n=1) == 1 + 1 + 1 + 2 + 2 * 0.25 + 0.125 + 0.5


def test_what_constants_decide_takes_nothing():
    text = """main(%x: float32[3]) {
      %k: float32[3] = Constant() {value = float32[3] <1 2 3>}
      %j: float32[3] = Neg(%k)
      %y: float32[3] = Add(%x, %k)
      return y = %y, j = %j
    }"""
    assert model(text) == 1 + 1


PRODUCT = """main(%x: float32[n, 64], %w: float32[64, m]) {
  %y: float32[n, m] = MatMul(%x, %w)
  return y = %y
}"""
GRU = """main(%x: float32[n, b, 8], %w: float32[1, 24, 8], %r: float32[1, 24, 8]) {
  %y: float32[n, 1, b, 8], %h: float32[1, b, 8] = GRU(%x, %w, %r) {hidden_size = 8}
  return y = %y
}"""


@pytest.mark.parametrize("prices", [ONNXRUNTIME, WHORL])
@pytest.mark.parametrize("text", [PRODUCT, GRU, LOOP.format(**SCAN)])
def test_more_rows_take_longer(text, prices):
    few, many = model(text, prices, n=10, m=10, b=1), model(text, prices, n=1000, m=10, b=1)
    assert few > prices.run and many > 2 * few - prices.run - prices.layer


def test_body_is_dear_in_onnxruntime_and_cheap_in_native_code():
    text = LOOP.format(**SCAN)
    assert model(text, ONNXRUNTIME, n=1000) > 20 * model(text, WHORL, n=1000)
