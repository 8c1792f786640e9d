"""Recurrent ops of many rows; the input has one element, and the weights are small integers."""

import numpy as np
import pytest
from passes.vectorize.programs import reason
from passes.vectorize.rules.ops import check_op, program

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("layout", [0, 1])
def test_rows_are_sequences_of_the_batch(op, layout):
    x = np.arange(6, dtype=np.float32).reshape((2, 3, 1) if layout else (3, 2, 1))
    w = np.ones((1, GATES[op], 1), np.float32)
    state = np.zeros((2, 1, 1) if layout else (1, 2, 1), np.float32)
    lengths = np.array([3, 1], np.int32)
    operands = [x, w, w * 2, lengths, state]
    text = f"{op}({{0}}, {{1}}, {{2}}, _, {{3}}, {{4}}) {{{{hidden_size = 1, layout = {layout}}}}}"
    check_op(text, operands, [True, False, False, True, False])
    check_op(text, operands, [False, False, False, False, True])


def test_weights_of_rows_are_the_reason():
    types = ["float32[3, 2, 1]", "float32[1, 1, 1]", "float32[1, 1, 1]"]
    text = program("RNN({0}, {1}, {2}) {{hidden_size = 1}}", types, "float32[*]", [True, True, False], {})
    assert reason(text) == "RNN 'y': operand 1 differs by row"
