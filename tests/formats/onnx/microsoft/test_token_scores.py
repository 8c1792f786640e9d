"""What changes the scores of the next token, one rule at a time."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.formats.onnx.microsoft.formula import Formula
from whorl.formats.onnx.microsoft.token_scores import LOWEST, ScoreRules
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.runtime.session import Session

SCORES = np.array([[1, -2, 3, -4, 5], [1, 2, 3, 4, 5]], np.float32)
SEQUENCES = np.array([[1, 2, 1], [0, 4, 0]], np.int32)
LOW = np.float32(LOWEST)


def changed(iteration=0, ngram=0, **rules):
    """The scores as rules change them."""
    region = Region("main")
    build = Builder(region, Inference())
    names = ("penalty", "mask", "prefix_mask", "least", "temperature")
    values = {name: build.constant(rules[name]) if name in rules else None for name in names}
    made = ScoreRules(0, ngram, **values, rows=build.int64(0, 1))
    scores, sequences, number = (build.constant(x) for x in (SCORES, SEQUENCES, np.array(iteration)))
    region.results = [made.apply(Formula(build, ""), scores, sequences, number)]
    return Session(Module(region, ["y"]), backend="interpreter").execute(None, {})[0].tolist()


def test_scores_without_rules_stay():
    assert changed() == SCORES.tolist()


def test_penalty_lowers_tokens_of_the_sequence():
    assert changed(penalty=np.array([2], np.float32)) == [[1, -4, 1.5, -4, 5], [0.5, 2, 3, 4, 2.5]]


def test_mask_forbids_tokens_of_the_vocabulary():
    assert changed(mask=np.array([1, 0, 1, 1, 1], np.int32)) == [[1, LOW, 3, -4, 5], [1, LOW, 3, 4, 5]]


@pytest.mark.parametrize("iteration", [0, 1])
def test_mask_of_rows_forbids_tokens_of_the_first_step(iteration):
    mask = np.array([[1, 1, 1, 1, 1], [0, 1, 1, 1, 1]], np.int32)
    assert changed(iteration, prefix_mask=mask)[1] == [1 if iteration else LOW, 2, 3, 4, 5]


@pytest.mark.parametrize("least", [3, 4])
def test_least_length_forbids_the_end(least):
    assert changed(least=np.array([least], np.int32))[0] == [1 if least == 3 else LOW, -2, 3, -4, 5]


def test_runs_of_tokens_do_not_repeat():
    assert changed(ngram=2) == [[1, -2, LOW, -4, 5], [1, 2, 3, 4, LOW]]
    assert changed(ngram=4) == SCORES.tolist()


def test_temperature_divides():
    assert changed(temperature=np.array([2], np.float32))[1] == [0.5, 1, 1.5, 2, 2.5]
