"""Nodes on constants, run once for all programs of a model."""

from __future__ import annotations

import numpy as np

from whorl.ir.constants import as_array
from whorl.ir.graph import Node, Value
from whorl.ir.types import TensorType
from whorl.lowering.deferred import DeferredArray
from whorl.lowering.folding import Folded
from whorl.lowering.products import InPanels
from whorl.ops.elementwise.arithmetic import Neg

F32 = np.dtype(np.float32)
MATRIX = np.arange(32, dtype=np.float32).reshape(2, 16)


def node(op: Neg | InPanels, shape: tuple[int, ...]) -> Node:
    """A node of one result, which nobody reads."""
    made = Node(op, [None])
    made.outputs = [Value("y", TensorType(F32, shape), made, 0)]
    return made


def test_equal_ops_on_the_same_array_run_once():
    folded = Folded()
    (first,) = folded.run(node(Neg(), (2, 16)), [MATRIX])
    (second,) = folded.run(node(Neg(), (2, 16)), [MATRIX])
    (other,) = folded.run(node(Neg(), (2, 16)), [MATRIX.copy()])
    assert second is first and other is not first
    np.testing.assert_array_equal(as_array(first), -MATRIX)


def test_matrix_is_laid_out_when_its_panels_are_read():
    (panels,) = Folded().run(node(InPanels(16), (1, 2, 16)), [MATRIX])
    assert isinstance(panels, DeferredArray) and panels.shape == (1, 2, 16)
    np.testing.assert_array_equal(panels.numpy()[0], MATRIX)


def test_stacked_panels_lie_in_the_stack_alone():
    folded = Folded()
    parts = [folded.run(node(InPanels(16), (1, 2, 16)), [MATRIX + k])[0] for k in range(3)]
    stack = folded.stack(parts)
    assert folded.stack(parts) is stack and stack.shape == (3, 1, 2, 16)
    whole = as_array(stack)
    for k, part in enumerate(parts):
        np.testing.assert_array_equal(whole[k, 0], MATRIX + k)
        assert np.shares_memory(as_array(part), whole)
