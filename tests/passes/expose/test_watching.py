"""The node that shows values: once for each number, with copies."""

from __future__ import annotations

import numpy as np

from whorl.passes.expose.watching import Watch


def test_number_that_comes_again_shows_nothing() -> None:
    actual: list[tuple[list[int], list[float]]] = []
    op = Watch(1, lambda at, values: actual.append((list(at), [float(x) for x in values])), [0])
    for number, iteration in ((0, 5), (1, 6), (0, 5), (1, 6), (2, 7)):
        result = op.run(np.array(number), np.array([iteration]), np.array(0.5))
        assert int(result) == number + 1
    assert actual == [([5], [0.5]), ([6], [0.5]), ([7], [0.5])]


def test_shown_values_are_copies() -> None:
    actual: list[np.ndarray] = []
    value = np.zeros(2)
    Watch(0, lambda at, values: actual.extend(values), [0]).run(np.array(0), value)
    value[:] = 1
    assert actual[0].tolist() == [0, 0]
