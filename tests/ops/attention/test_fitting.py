"""Attention whose lengths have names of their own: native where they fit, and an error that says which do not."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model

import whorl

APART = """main (float[a, 2, s, 4] q, float[b, 2, t, 4] k, float[c, 2, u, 4] v, float[x, y] mask)
  => (float[d, 2, l, 4] o) {
  o = Attention (q, k, v, mask)
}"""
PAST = """main (float[a, s, 8] q, float[b, t, 8] k, float[c, u, 8] v,
  float[d, 2, p, 4] pk, float[e, 2, r, 4] pv)
  => (float[f, g, h] o, float[i, 2, j, 4] keys, float[w, 2, z, 4] values) {
  o, keys, values = Attention <q_num_heads = 2, kv_num_heads = 2, is_causal = 1> (q, k, v, , pk, pv)
}"""


def sessions(text: str) -> list[whorl.InferenceSession]:
    result = []
    for backend in ("interpreter", "native"):
        options = whorl.SessionOptions()
        options.backend = backend
        result.append(whorl.InferenceSession(model(text, opset=23), options))
    return result


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def feeds(queries: int, keys: int, mask: tuple[int, int], batch: int = 2) -> dict[str, np.ndarray]:
    return {
        "q": numbers(batch, 2, queries, 4),
        "k": numbers(batch, 2, keys, 4),
        "v": numbers(batch, 2, keys, 4),
        "mask": numbers(*mask),
    }


@pytest.mark.parametrize("batch", [2, 1, 3])
def test_lengths_that_fit_run_natively(batch: int) -> None:
    interpreted, native = sessions(APART)
    for queries, keys in ((5, 7), (4, 4), (1, 6), (6, 1), (1, 1), (9, 3)):
        chosen = feeds(queries, keys, (queries, keys), batch)
        np.testing.assert_allclose(native.run(None, chosen)[0], interpreted.run(None, chosen)[0], 1e-5, 1e-6)
    assert not any(verdict.calls for verdict in native.explain())


def test_keys_of_earlier_calls_have_lengths_of_their_own() -> None:
    interpreted, native = sessions(PAST)
    for new, past in ((2, 5), (1, 6), (3, 1), (1, 1), (2, 3)):
        rows = {name: numbers(2, new, 8) for name in "qkv"}
        chosen = rows | {name: numbers(2, 2, past, 4) for name in ("pk", "pv")}
        for actual, expected in zip(native.run(None, chosen), interpreted.run(None, chosen), strict=True):
            np.testing.assert_allclose(actual, expected, 1e-5, 1e-6)
    assert not any(verdict.calls for verdict in native.explain())


@pytest.mark.parametrize("mask", [(1, 7), (5, 1), (1, 1), (5, 4)])
def test_masks_for_all_or_for_the_first_keys_are_what_the_interpreter_says(mask: tuple[int, int]) -> None:
    interpreted, native = sessions(APART)
    native.run(None, feeds(5, 7, (5, 7)))
    results = []
    for used in (interpreted, native):
        try:
            results.append(used.run(None, feeds(5, 7, mask))[0])
        except whorl.RunError as error:
            results.append(error.message)
    expected, actual = results
    if isinstance(expected, str):
        assert actual == expected
    else:
        np.testing.assert_allclose(actual, expected, 1e-5, 1e-6)


def test_lengths_that_do_not_fit_are_the_interpreter_s_error() -> None:
    interpreted, native = sessions(APART)
    native.run(None, feeds(5, 7, (5, 7)))
    wrong = feeds(5, 7, (5, 7)) | {"v": numbers(2, 2, 6, 4)}
    with pytest.raises(whorl.RunError) as expected:
        interpreted.run(None, wrong)
    with pytest.raises(whorl.RunError) as actual:
        native.run(None, wrong)
    assert actual.value.message == expected.value.message
    right = feeds(5, 7, (5, 7))
    np.testing.assert_allclose(native.run(None, right)[0], interpreted.run(None, right)[0], 1e-5, 1e-6)
