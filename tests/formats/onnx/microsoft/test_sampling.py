"""Sampling, against onnxruntime, whose random numbers it draws."""

from __future__ import annotations

import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import configurations
from formats.onnx.microsoft.search_models import (
    assert_greedy_equal,
    gpt_decoder,
    integers,
    run_both,
    sampling_case,
    search_model,
    tokens,
)

import whorl
from whorl.errors import UnsupportedError


def test_tokens_are_drawn_as_by_onnxruntime():
    for rng in configurations():
        model, inputs, length = sampling_case(rng)
        assert_greedy_equal(*run_both(model, inputs), length)


def test_tokens_are_drawn_natively():
    model, inputs, length = sampling_case(np.random.default_rng(3))
    assert_greedy_equal(*run_both(model, inputs, "native"), length)


def test_seeds_draw_different_tokens():
    rng = np.random.default_rng(0)
    inputs = [tokens(rng, 3, 2), integers(20), integers(19), *[None] * 5, integers(1)]
    model = search_model(
        "Sampling", {"decoder": gpt_decoder(rng, 1)}, inputs, ["sequences"], temperature=9.0, top_p=1.0
    )
    first, second, again = (run_both(model, [*inputs[:8], integers(n)])[1][0].tolist() for n in (1, 2, 1))
    assert first == again != second


@pytest.mark.parametrize(
    ("more", "outputs", "message"),
    [
        ([], ["sequences"], "without a seed every run draws anew"),
        ([integers(1)], ["sequences"], r"input 7 \(presence_mask\) is not implemented"),
        ([None, integers(1)], ["sequences", "filtered"], "its second output is not implemented"),
    ],
)
def test_other_sampling_is_refused(more, outputs, message):
    rng = np.random.default_rng(0)
    inputs = [tokens(rng, 1, 2), integers(5), None, None, None, None, None, *more]
    with pytest.raises(UnsupportedError, match=message):
        whorl.load(search_model("Sampling", {"decoder": gpt_decoder(rng, 1)}, inputs, outputs))
