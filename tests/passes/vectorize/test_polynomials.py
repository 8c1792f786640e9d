"""Sums of products, however they are written."""

import pytest
from passes.programs import read

from whorl.passes.vectorize.polynomials import polynomial_of, product

TEXT = """main(%h: float32[], %n: float32[], %z: float32[]) {{
  %one: float32[] = Constant() {{value = float32[] <1>}}
  {lines}
  return r = %r
}}"""
SAME = {
    "of both": ["%a: $ = Sub(%one, %z)", "%b: $ = Mul(%a, %n)", "%c: $ = Mul(%z, %h)", "%r: $ = Add(%b, %c)"],
    "from the new": ["%a: $ = Sub(%h, %n)", "%b: $ = Mul(%a, %z)", "%r: $ = Add(%n, %b)"],
    "by the negative": ["%a: $ = Neg(%n)", "%b: $ = Add(%h, %a)", "%c: $ = Mul(%z, %b)", "%r: $ = Add(%c, %n)"],
}


def polynomial(lines):
    module = read(TEXT.format(lines="\n  ".join(lines)).replace("$", "float32[]"))
    return module.main.arguments, polynomial_of(module.main.results[0])


@pytest.mark.parametrize("name", SAME)
def test_ways_to_write_a_mean_are_one_polynomial(name):
    (h, n, z), products = polynomial(SAME[name])
    assert products == {(n,): 1.0, product(z, n): -1.0, product(z, h): 1.0}


def test_function_of_a_value_is_taken_whole():
    _, products = polynomial(["%a: $ = Exp(%h)", "%r: $ = Mul(%a, %a)"])
    assert products is not None and [len(factors) for factors in products] == [2]


def test_what_is_subtracted_from_itself_has_no_products():
    assert polynomial(["%r: $ = Sub(%h, %h)"])[1] == {}


def test_sum_of_many_products_is_none():
    lines = ["%a0: $ = Add(%h, %n)", *(f"%a{k + 1}: $ = Mul(%a{k}, %a{k})" for k in range(4)), "%r: $ = Add(%a4, %z)"]
    assert polynomial(lines)[1] is None
