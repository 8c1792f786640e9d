"""Closed forms in as many steps as a length has binary digits: extremes so far, and linear recurrences.

After a step of `k`, each row has what the 2k rows up to it come to, or all that there are. The steps go up to the
largest length that there may be: each is a few ops on all rows, so that few iterations take longer than in a loop.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whorl.ir.dtypes import INT64
from whorl.ir.graph import Op, Value
from whorl.ops.elementwise.arithmetic import Add, Max, Mul, Sub
from whorl.ops.elementwise.comparison import GreaterOrEqual, Where
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.passes.vectorize.batched import lengths_of
from whorl.passes.vectorize.stacks import Stacks

STEPS = 31
"""Steps for rows whose number only the run knows."""


def extremes_so_far(stacks: Stacks, rows: Value, op: Op) -> Value:
    """What a Max or Min comes to of each row and all before it."""
    for before, _ in _steps(stacks, rows):
        earlier = stacks.build.add(Gather(0), rows, before, name=rows.name)
        rows = stacks.build.add(op, rows, earlier, name=rows.name)
    return rows


def linear_so_far(stacks: Stacks, factors: Value, terms: Value) -> Value:
    """h[j] = factors[j] * h[j - 1] + terms[j], with h[0] = terms[0].

    Sums and products are regrouped: products of factors beyond the largest number are infinite.
    """
    build = stacks.build
    for before, reaches in _steps(stacks, terms):
        old_factors, old_terms = (build.add(Gather(0), x, before, name=x.name) for x in (factors, terms))
        longer = build.add(Add(), build.add(Mul(), factors, old_terms), terms, name=terms.name)
        terms = build.add(Where(), reaches, longer, terms, name=terms.name)
        factors = build.add(Where(), reaches, build.add(Mul(), factors, old_factors), factors, name=factors.name)
    return terms


def _steps(stacks: Stacks, rows: Value) -> Iterator[tuple[Value, Value]]:
    """For each step the row that lies so far before each row, 0 where none does, and which rows one does for."""
    build, shape = stacks.build, lengths_of(rows)
    count = shape[0]
    zero, one = (build.constant(np.array(number, INT64)) for number in (0, 1))
    length = build.add(Reshape(), build.add(Shape(0, 1), rows, name="rows"), build.int64(), name="rows")
    numbers = build.add(Range(), zero, length, one, name="row")
    ranks = build.int64(-1, *[1] * (len(shape) - 1))
    for step in range((count - 1).bit_length() if isinstance(count, int) else STEPS):
        distance = build.constant(np.array(1 << step, INT64))
        before = build.add(Max(), build.add(Sub(), numbers, distance, name="before"), zero, name="before")
        reaches = build.add(GreaterOrEqual(), numbers, distance, name="reaches")
        yield before, build.add(Reshape(), reaches, ranks, name="reaches")
