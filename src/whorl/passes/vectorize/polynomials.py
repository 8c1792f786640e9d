"""Sums of products: what an update comes to in the values that it is made of, however it is written.

`(1 - z) * n + z * h`, `n + z * (h - n)` and `h + (1 - z) * (n - h)` are one polynomial.
"""

from __future__ import annotations

from whorl.ir.graph import Value
from whorl.ops.elementwise.arithmetic import Add, Mul, Neg, Sub
from whorl.passes.rules.conditions import elements as elements_of
from whorl.passes.rules.pattern import maker

Product = tuple[Value, ...]
Polynomial = dict[Product, float]
"""A factor for each product of values; these are in the order of their identities."""
LARGEST = 8
"""Products in a sum, beyond which none is looked for."""


def polynomial_of(value: Value) -> Polynomial | None:
    """A value by those that sums and products make it of; None for more than a few products."""
    elements = elements_of(value)
    if elements is not None and elements.size == 1:
        return {(): float(elements.item())}
    node = maker(value)
    if node is None or not isinstance(node.op, Add | Sub | Mul | Neg):
        return {(value,): 1.0}
    parts = [polynomial_of(x) for x in node.inputs if x is not None]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    match node.op:
        case Neg():
            result = _sum({}, known[0], -1)
        case Mul():
            result = _product(*known)
        case _:
            result = _sum(known[0], known[1], -1 if isinstance(node.op, Sub) else 1)
    return result if len(result) <= LARGEST else None


def product(*factors: Value) -> Product:
    """A product of values, which are in the same order in each that has them."""
    return tuple(sorted(factors, key=id))


def _sum(a: Polynomial, b: Polynomial, factor: float) -> Polynomial:
    total = dict(a)
    for factors, number in b.items():
        total[factors] = total.get(factors, 0.0) + factor * number
    return {factors: number for factors, number in total.items() if number}


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for first, number in a.items():
        for second, other in b.items():
            total = _sum(total, {product(*first, *second): 1.0}, number * other)
    return total
