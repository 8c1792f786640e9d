"""Short names for nodes: what has no effect adds none, and the rest is typed at once."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation import shaped

from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.ir.graph import Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.core.writer import Writer, is_fixed, sizes_of


@pytest.fixture
def graph() -> tuple[Region, Writer, Value]:
    region = Region()
    x = region.add_argument("x", TensorType(FLOAT32, (2, 1, 3)))
    return region, Writer(Builder(region, Inference())), x


def test_what_changes_nothing_adds_no_node(graph: tuple[Region, Writer, Value]) -> None:
    region, write, x = graph
    assert write.cast(x, FLOAT32) is x
    assert write.reshape(x, (2, 1, 3)) is x
    assert write.transpose(x, (0, 1, 2)) is x
    assert write.concat([x], 0) is x
    assert not region.nodes


def test_results_are_typed(graph: tuple[Region, Writer, Value]) -> None:
    _, write, x = graph
    assert write.cast(x, FLOAT64).type == TensorType(FLOAT64, (2, 1, 3))
    shapes = {
        (6,): write.reshape(x, (6,)),
        (3, 2, 1): write.transpose(x, (2, 0, 1)),
        (1, 2, 1, 3): write.unsqueeze(x, 0),
        (2, 3): write.squeeze(x),
        (2, 1, 2): write.slice(x, 2, 0, 3, 2),
        (2, 1, 6): write.concat([x, x], 2),
        (2, 2, 3): write.add(x, write.number(1, FLOAT32)) and write.concat([x, x], 1),
    }
    assert [sizes_of(value) for value in shapes.values()] == list(shapes)


def test_fixed_lengths_are_numbers_above_0() -> None:
    assert is_fixed(shaped(2, 3), None, shaped())
    assert not is_fixed(shaped(2), shaped(0))
    assert not is_fixed(shaped(*np.array(["N"])))
