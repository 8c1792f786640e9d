"""Results of large constants that are computed as they are read: element by element, and as views."""

from __future__ import annotations

import numpy as np

from whorl.ir.elements.base import Leaf
from whorl.ops.core.lazy import lazy_map, lazy_view
from whorl.ops.elementwise.arithmetic import Add, Clip
from whorl.ops.elementwise.comparison import Equal
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Transpose

X = np.arange(20_000, dtype=np.float32).reshape(100, 200)


def test_elementwise_result_broadcasts_and_equals_run() -> None:
    row = np.arange(200, dtype=np.float32)
    lazy = lazy_map(Add(), Leaf(X), Leaf(row))
    assert lazy is not None
    np.testing.assert_array_equal(lazy[0].numpy(), X + row, strict=True)


def test_omitted_input_remains_omitted() -> None:
    lazy = lazy_map(Clip(), Leaf(X), None, Leaf(np.array(7, np.float32)))
    assert lazy is not None
    np.testing.assert_array_equal(lazy[0].numpy(), np.minimum(X, 7))


def test_texts_are_not_deferred() -> None:
    texts = Leaf(np.array(["a", "b"], object))
    assert lazy_map(Equal(), texts, texts) is None


def test_view_shares_the_elements_of_its_source() -> None:
    lazy = lazy_view(Transpose((1, 0)), Leaf(X))
    assert lazy is not None
    np.testing.assert_array_equal(lazy[0].numpy(), X.T)


def test_result_that_is_no_view_is_not_deferred() -> None:
    assert lazy_view(MatMul(), Leaf(X), Leaf(X.T.copy())) is None
