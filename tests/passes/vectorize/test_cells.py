"""Recurrent cells written as loops: an RNN, a GRU, an LSTM."""

import numpy as np
import pytest
from passes.bits import copied, interpreted
from passes.programs import read
from passes.vectorize.programs import kinds, reason, vectorized

BODY = """main(%x: float32[n, m, 3], %h: float32[m, 3], %r: float32[3, 3], %b: float32[3]) {{
  %l: float32[m, 3], %y: float32[n, m, 3] = Loop(_, _, %h, %x, %r, %b)
    {{carried = 1, scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[m, 3], %v: float32[m, 3], %r: float32[3, 3], %b: float32[3]) {{
    {update}
    return %g, %t, %t
  }}
  return l = %l, y = %y
}}"""
PRODUCT, GEMM = "%p: $ = MatMul(%s, %r)", "%p: $ = Gemm(%s, %r, %b) {transB = 1}"
RNG = np.random.default_rng(0)


def text(*lines: str) -> str:
    return BODY.format(update="\n    ".join(lines).replace("$", "float32[m, 3]"))


@pytest.mark.parametrize("activation", ["Tanh", "Relu", "Sigmoid"])
@pytest.mark.parametrize(
    "lines", [(PRODUCT, "%a: $ = Add(%v, %p)", "%z: $ = Add(%a, %b)"), (GEMM, "%z: $ = Add(%p, %v)")]
)
def test_activation_of_a_sum_with_a_product_is_an_rnn(lines, activation):
    program = text(*lines, f"%t: $ = {activation}(%z)")
    module, remaining = vectorized(program)
    assert not remaining and "RNN" in kinds(module) and "Loop" not in kinds(module)
    for count, batch in ((0, 2), (1, 1), (5, 3)):
        shapes = {"x": (count, batch, 3), "h": (batch, 3), "r": (3, 3), "b": (3,)}
        feeds = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        for expected, actual in zip(interpreted(copied(read(program)), feeds), interpreted(module, feeds), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "lines",
    [
        (PRODUCT, "%a: $ = Add(%s, %p)", "%t: $ = Tanh(%a)"),
        (PRODUCT, "%a: $ = Add(%p, %p)", "%t: $ = Tanh(%a)"),
        (PRODUCT, "%a: $ = Mul(%v, %p)", "%t: $ = Tanh(%a)"),
        (PRODUCT, "%a: $ = Add(%v, %p)", "%t: $ = Exp(%a)"),
    ],
)
def test_other_updates_have_no_closed_form(lines):
    assert reason(text(*lines)) == "carried value 's' has no closed form"


GATED = """main(%x: float32[n, m, 2], %h: float32[m, 3], %c: float32[m, 3], %w: float32[2, 12], %r: float32[3, 12]) {{
  %l: float32[m, 3], {more} %y: float32[n, m, 3] = Loop(_, _, %h, {c} %x, %w, %r)
    {{carried = {carried}, scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[m, 3], {k} %v: float32[m, 2], %w: float32[2, 12], %r: float32[3, 12]) {{
    %q: int64[4] = Constant() {{value = int64[4] <3 3 3 3>}}
    %one: float32[] = Constant() {{value = float32[] <1>}}
    {update}
    return %g, {results}, %t
  }}
  return l = %l, y = %y
}}"""
AFFINE = [
    "%p: float32[m, 12] = MatMul(%v, %w)",
    "%u: float32[m, 12] = MatMul(%s, %r)",
    "%a: float32[m, 12] = Add(%p, %u)",
    "%a1: $, %a2: $, %a3: $, %a4: $ = Split(%a, %q) {axis = 1, output_count = 4}",
    "%b1: $ = Sigmoid(%a1)",
    "%b2: $ = Sigmoid(%a2)",
    "%b4: $ = Sigmoid(%a4)",
]
MEMORY = [*AFFINE, "%b3: $ = Tanh(%a3)", "%d1: $ = Mul(%b2, %k)", "%d2: $ = Mul(%b3, %b1)", "%d: $ = Add(%d2, %d1)"]
MEMORY += ["%e: $ = Tanh(%d)", "%t: $ = Mul(%e, %b4)"]
GATES = [
    *AFFINE[:-1],
    "%p1: $, %p2: $, %p3: $, %p4: $ = Split(%p, %q) {axis = 1, output_count = 4}",
    "%u1: $, %u2: $, %u3: $, %u4: $ = Split(%u, %q) {axis = 1, output_count = 4}",
    "%f1: $ = Mul(%u3, %b2)",
    "%f2: $ = Add(%f1, %p3)",
    "%o: $ = Tanh(%f2)",
]
WAYS = {
    "from the old": ["%j: $ = Sub(%o, %s)", "%e: $ = Mul(%b1, %j)", "%t: $ = Add(%s, %e)"],
    "from the new": ["%j: $ = Sub(%s, %o)", "%e: $ = Mul(%b1, %j)", "%t: $ = Add(%o, %e)"],
    "of both": ["%j: $ = Sub(%one, %b1)", "%e: $ = Mul(%j, %o)", "%f: $ = Mul(%b1, %s)", "%t: $ = Add(%e, %f)"],
}


def gated(lines: list[str], is_memory: bool = False) -> str:
    names = {"more": "", "c": "", "k": "", "carried": 1, "results": "%t"}
    if is_memory:
        names = {"more": "%lc: $,", "c": "%c,", "k": "%k: $,", "carried": 2, "results": "%t, %d"}
    return GATED.format(update="\n    ".join(lines), **names).replace("$", "float32[m, 3]")


def check_layer(program: str, kind: str) -> None:
    module, remaining = vectorized(program)
    assert not remaining and kind in kinds(module) and "Loop" not in kinds(module)
    for count, batch in ((0, 2), (2, 0), (1, 1), (5, 3)):
        shapes = {"x": (count, batch, 2), "h": (batch, 3), "c": (batch, 3), "w": (2, 12), "r": (3, 12)}
        feeds = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        for expected, actual in zip(interpreted(copied(read(program)), feeds), interpreted(module, feeds), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def test_gates_of_a_memory_are_an_lstm():
    check_layer(gated(MEMORY, is_memory=True), "LSTM")


@pytest.mark.parametrize("way", WAYS)
def test_update_towards_what_is_new_is_a_gru_however_it_is_written(way):
    check_layer(gated([*GATES, *WAYS[way]]), "GRU")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%b1: $ = Sigmoid(%a1)", "%b1: $ = Tanh(%a1)"),
        ("%f2: $ = Add(%f1, %p3)", "%f3: $ = Add(%f1, %p3)\n%f2: $ = Add(%f3, %u1)"),
        ("%a: float32[m, 12] = Add(%p, %u)", "%a: float32[m, 12] = Mul(%p, %u)"),
        ("%j: $ = Sub(%o, %s)", "%j: $ = Add(%o, %s)"),
    ],
)
def test_cells_that_are_none_of_these_stay(old, new):
    lines = [new if line == old else line for line in [*GATES, *WAYS["from the old"]]]
    assert new in lines
    assert reason(gated(lines)) == "carried value 's' has no closed form"


def test_memory_with_other_readers_has_no_closed_form():
    program = gated(MEMORY, is_memory=True).replace("%d, %t\n", "%d, %d\n")
    assert "return %g, %t, %d, %d" in program
    assert reason(program) == "carried value 's' has no closed form"


def test_wide_gates_that_add_something_else_stay():
    lines = [*GATES, *WAYS["from the old"]]
    program = gated(lines).replace(
        "%p: float32[m, 12] = MatMul(%v, %w)", "%n: float32[m, 12] = MatMul(%v, %w)\n%p: float32[m, 12] = Exp(%n)"
    )
    check_layer(program, "GRU")
    wide = (
        program.replace("3]", "90]").replace("<3 3 3 3>", "<90 90 90 90>").replace("12]", "360]").replace("[3,", "[90,")
    )
    text = "carried value 's' has no closed form: its 3 gates of 90 add more than products of one value"
    assert reason(wide) == text
