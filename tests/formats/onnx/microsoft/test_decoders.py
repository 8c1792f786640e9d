"""Decoders behind encoders, in searches that equal onnxruntime's, and decoders that are refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from formats.onnx.microsoft.contributed_peer import configurations
from formats.onnx.microsoft.search_models import (
    Pair,
    assert_beams_equal,
    gpt_decoder,
    info,
    integers,
    run_both,
    search_model,
    t5_case,
    tokens,
    whisper_case,
)

import whorl
from whorl.errors import LoadError, UnsupportedError


@pytest.mark.parametrize("decodes", [True, False], ids=["encoder_decodes", "encoder_alone"])
def test_beam_search_behind_an_encoder_is_that_of_onnxruntime(decodes):
    for rng in configurations():
        model, inputs = t5_case(rng, decodes)
        assert_beams_equal(*run_both(model, inputs))


def test_beam_search_of_whisper_is_that_of_onnxruntime():
    for rng in configurations():
        model, inputs = whisper_case(rng)
        assert_beams_equal(*run_both(model, inputs))


def refused(graphs, **attributes):
    """The error of a search with such graphs."""
    rng = np.random.default_rng(0)
    inputs = [tokens(rng, 1, 2), integers(5), integers(0), integers(1), integers(1)]
    with pytest.raises((LoadError, UnsupportedError)) as caught:
        whorl.load(search_model("BeamSearch", graphs, inputs, ["sequences"], **attributes))
    return str(caught.value)


def test_decoder_with_a_shared_buffer_is_refused():
    decoder = gpt_decoder(np.random.default_rng(0), 1)
    decoder.input.append(info("past_sequence_length", onnx.TensorProto.INT32, [1]))
    assert refused({"decoder": decoder}) == (
        "BeamSearch 'node': input 'past_sequence_length' of its decoder is not implemented\n"
        "  fix: export it without a shared buffer"
    )


def test_decoder_without_the_number_of_heads_is_refused():
    decoder = gpt_decoder(np.random.default_rng(0), 1)
    decoder.input[3].type.tensor_type.shape.dim[2].dim_param = "heads"
    assert "input 'past_0' of its decoder is declared float32[2, b, heads, p, 4]" in refused({"decoder": decoder})


def test_encoder_without_a_first_token_is_refused():
    pair = Pair(np.random.default_rng(0), 1, is_whisper=False)
    graphs = {"encoder": pair.encoder(), "decoder": pair.decoder()}
    assert "sequences begin with no token" in refused(graphs, model_type=1)


def test_decoder_with_other_caches_is_refused():
    pair = Pair(np.random.default_rng(0), 1, is_whisper=False)
    graphs = {"encoder": pair.encoder(), "decoder": pair.decoder()}
    graphs["decoder"].input.append(info("past_sequence_length", onnx.TensorProto.INT32, [1]))
    assert "its decoder takes 7 inputs, 6 are implemented" in refused(graphs, model_type=1, decoder_start_token_id=2)


def test_decoder_of_other_inputs_names_them():
    """Tokens of a search are int32, which the graph must take."""
    decoder = gpt_decoder(np.random.default_rng(0), 1)
    decoder.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    assert "input 'input_ids' is declared int64[b, s] but receives int32" in refused({"decoder": decoder})


def test_decoder_reads_values_from_around_the_search():
    """Weights that several graphs read lie in the main graph."""
    rng = np.random.default_rng(5)
    decoder = gpt_decoder(rng, 1)
    inputs = [tokens(rng, 2, 2), integers(6), integers(0), integers(2), integers(1), np.ones(1, np.float32)]
    model = search_model("BeamSearch", {"decoder": decoder}, inputs, ["sequences", "sequences_scores", "scores"])
    inner = model.graph.node[0].attribute[0].g
    model.graph.initializer.extend(inner.initializer)
    del inner.initializer[:]
    assert_beams_equal(*run_both(model, inputs))
