"""GreedySearch, BeamSearch and WhisperBeamSearch, against onnxruntime; what is refused of them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from formats.onnx.microsoft.contributed_peer import configurations
from formats.onnx.microsoft.search_models import (
    assert_beams_equal,
    assert_greedy_equal,
    gpt_beam_case,
    gpt_decoder,
    greedy_case,
    integers,
    run_both,
    search_model,
    t5_case,
    tokens,
    whisper_case,
)

import whorl
from whorl.errors import LoadError, UnsupportedError


def test_greedy_search_of_a_decoder_is_that_of_onnxruntime():
    for rng in configurations():
        model, inputs, length = greedy_case(rng)
        assert_greedy_equal(*run_both(model, inputs), length)


@pytest.mark.parametrize(
    "case", [gpt_beam_case, whisper_case, lambda rng: t5_case(rng, True)], ids=["gpt", "whisper", "t5"]
)
def test_beam_searches_run_natively(case):
    model, inputs = case(np.random.default_rng(3))
    assert_beams_equal(*run_both(model, inputs, "native"))


def test_greedy_search_runs_natively():
    model, inputs, length = greedy_case(np.random.default_rng(3))
    assert_greedy_equal(*run_both(model, inputs, "native"), length)


def test_searches_are_loops_of_plain_onnx_when_written(tmp_path):
    """Models that onnxruntime cannot search any more are written for all others."""
    model, inputs = gpt_beam_case(np.random.default_rng(3))
    path = tmp_path / "plain.onnx"
    whorl.save(whorl.load(model), path)
    written = onnx.load(path)
    assert "Loop" in {node.op_type for node in written.graph.node}
    assert {entry.domain for entry in written.opset_import} == {""}
    theirs, _ = run_both(model, inputs)
    feeds = {"input_ids" if k == 0 else f"x{k}": x for k, x in enumerate(inputs) if x is not None}
    assert whorl.run(path, feeds)["sequences"].tolist() == theirs[0].tolist()


# ---- what is refused -----------------------------------------------------------------------------------------------


def beam_model(rng, graphs=None, more=(), outputs=("sequences",), **attributes):
    inputs = [tokens(rng, 1, 2), integers(5), integers(0), integers(1), integers(1), None, None, None, None, None]
    graphs = {"decoder": gpt_decoder(rng, 1)} if graphs is None else graphs
    return search_model("BeamSearch", graphs, [*inputs, *more], outputs, **attributes)


def test_greedy_search_behind_an_encoder_is_refused():
    rng = np.random.default_rng(0)
    graphs, inputs = {"decoder": gpt_decoder(rng, 1)}, [tokens(rng, 1, 2), integers(5)]
    model = search_model("GreedySearch", graphs, inputs, ["sequences"], model_type=1)
    with pytest.raises(UnsupportedError) as caught:
        whorl.load(model)
    assert str(caught.value) == (
        "GreedySearch 'node': onnxruntime has it for decoders alone\n  fix: set model_type to 0"
    )


def test_processor_of_logits_is_refused():
    with pytest.raises(UnsupportedError, match="a processor of logits is not implemented"):
        whorl.load(beam_model(np.random.default_rng(0), more=[None, integers(1)]))


def test_other_size_of_the_vocabulary_is_refused():
    with pytest.raises(UnsupportedError, match="attribute 'vocab_size' is 7, its decoder scores 11 tokens"):
        whorl.load(beam_model(np.random.default_rng(0), vocab_size=7))


def test_model_without_an_encoder_is_refused():
    with pytest.raises(LoadError, match="lacks the graph attribute 'encoder'"):
        whorl.load(beam_model(np.random.default_rng(0), model_type=1, decoder_start_token_id=2))


def test_longest_length_below_that_of_the_prompts_fails():
    rng = np.random.default_rng(0)
    model = search_model(
        "GreedySearch", {"decoder": gpt_decoder(rng, 1)}, [tokens(rng, 1, 3), integers(2)], ["sequences"]
    )
    with pytest.raises(whorl.RunError, match="Expand"):
        whorl.run(model, {"input_ids": tokens(rng, 1, 3), "x1": integers(2)})
