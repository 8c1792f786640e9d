"""Beams of a decoder alone, against onnxruntime, and how the best ended sequences are chosen."""

from __future__ import annotations

import numpy as np
from formats.onnx.microsoft.contributed_peer import configurations
from formats.onnx.microsoft.search_models import assert_beams_equal, gpt_beam_case, run_both

from whorl.formats.onnx.microsoft.beams import Best
from whorl.formats.onnx.microsoft.formula import Formula
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.runtime.session import Session


def test_beam_search_of_a_decoder_is_that_of_onnxruntime():
    for rng in configurations():
        model, inputs = gpt_beam_case(rng)
        assert_beams_equal(*run_both(model, inputs))


def best_of(counts, scores, is_new, others):
    """Scores and counts of the best of earlier and other sequences, whose tokens are their numbers."""
    region = Region("main")
    build = Builder(region, Inference())
    arrays = [np.array(scores, np.float32), np.array(counts), np.array(is_new), np.array(others, np.float32)]
    constants = [build.constant(x) for x in arrays]
    old, new = (np.arange(k, k + arrays[0].size, dtype=np.int32).reshape(*arrays[0].shape, 1) for k in (0, 100))
    best = Best(constants[0], build.constant(old), constants[1])
    best = best.with_more(Formula(build, ""), constants[2], constants[3], build.constant(new))
    region.results = [best.scores, best.sequences, best.counts]
    scores, sequences, counts = Session(
        Module(region, ["scores", "sequences", "counts"]), backend="interpreter"
    ).execute(None, {})
    return scores.tolist(), sequences[..., 0].tolist(), counts.tolist()


def test_best_are_the_highest_scores_and_the_earlier_of_equals():
    assert best_of([2], [[3, 1]], [[True, True]], [[1, 2]]) == ([[3, 2]], [[0, 101]], [2])
    assert best_of([2], [[3, 1]], [[True, False]], [[1, 2]]) == ([[3, 1]], [[0, 1]], [2])


def test_best_of_less_than_all_beams_keep_scores_of_minus_infinity():
    assert best_of([0], [[0, 0]], [[False, True]], [[5, -np.inf]])[::2] == ([[-np.inf, 0]], [1])
