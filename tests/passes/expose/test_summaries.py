"""Summaries of tensors, computed by the model."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.passes.expose.adding import retype
from whorl.passes.expose.exposure import expose
from whorl.passes.expose.reading import read_records
from whorl.passes.expose.scopes import choose, scopes_of
from whorl.passes.expose.summaries import can_summarize, summarize

NEGATE = model("""main (float[n] x) => (float[n] y) {
    one = Constant<value = int64 {1}> ()
    [once] y = Loop (one, , x) <body = a (int64 i, bool k, float[n] s) => (bool h, float[n] t) {
        h = Identity(k)
        t = Neg(s)
    }>
}""")


@pytest.mark.parametrize(
    ("x", "summary"),
    [
        ([3, 4], [-4, -3, -3.5, 5, 0, 0]),
        ([np.nan, np.inf, -2, np.nan], [2, 2, 2, 2, 2, 1]),
        ([], [np.inf, -np.inf, np.nan, 0, 0, 0]),
    ],
)
def test_summary_is_of_finite_elements_and_counts_the_others(x: list[float], summary: list[float]) -> None:
    module = whorl.load(NEGATE)
    (chosen,) = choose(scopes_of(module), ["t"])
    assert can_summarize(chosen.value)
    exposed = expose(module, [summarize(chosen)])
    retype(module)
    run = whorl.InferenceSession(module).run(None, {"x": np.array(x, np.float32)})
    records = read_records(exposed[0], dict(zip(module.output_names, run, strict=True)))
    np.testing.assert_array_equal(records.values, [summary])
