"""Losses and steps of training of many rows. The weights are powers of two, so that sums have the same bits."""

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op

SCORES = np.array([[-1, 2, 4], [0.5, 8, -2], [1, 1, 1], [2, 4, 8]], np.float32)
LABELS = np.array([0, 2, 1, 1])
WEIGHT = np.array([1, 2, 0.5], np.float32)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("more", ["", ", ignore_index = 1"])
@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
def test_loss_is_that_of_one_row(reduction, more, mapped):
    for dtype in (np.float32, np.float16):
        operands = [SCORES.astype(dtype), LABELS, WEIGHT.astype(dtype)]
        result = f"{np.dtype(dtype).name}[*]"
        op = f'{{{{reduction = "{reduction}"{more}}}}}'
        check_op(f"NegativeLogLikelihoodLoss({{0}}, {{1}}) {op}", operands[:2], mapped, result)
        check_op(f"NegativeLogLikelihoodLoss({{0}}, {{1}}, {{2}}) {op}", operands, [*mapped, False], result)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_scores_are_made_probabilities_row_by_row(reduction):
    scores = np.zeros((4, 2), np.float32)
    text = f'SoftmaxCrossEntropyLoss({{0}}, {{1}}) {{{{reduction = "{reduction}"}}}}'
    check_op(text, [scores, np.array([0, 1, 1, 0])], [True, True])


@pytest.mark.parametrize("mapped", [(True, True), (False, True)])
def test_steps_go_element_by_element(mapped):
    x = np.array([[1, -2], [0.5, 4]], np.float32)
    one, three = np.array(0.5, np.float32), np.array(3)
    check_op("Adagrad({0}, {1}, {2}, {3}, {4})", [one, three, x, x + 1, x * x], [False, False, *mapped, False])
