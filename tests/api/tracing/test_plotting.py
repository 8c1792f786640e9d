"""Traces as pictures: a panel for each value, lines for few elements, a map for many."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import ROLLOUT, model
from traced_models import NESTED, X

import whorl

pytest.importorskip("matplotlib", reason="matplotlib draws the plots")
FEEDS = {"n": np.array(4), "x": X}
ROLLED = {"count": np.array(3), "table": np.arange(12, dtype=np.float32)}
WORDS = model(
    "words (string[n] x, int64 count) => (string[n] y) {"
    " yes = Constant <value: tensor = bool {1}> ()"
    " y = Loop <body = step (int64 i, bool go, string[n] s) => (bool more, string[n] next)"
    " { more = Identity (go) next = Identity (s) }> (count, yes, x) }"
)


def test_scalar_is_a_line_over_its_iterations() -> None:
    (panel,) = whorl.trace(ROLLOUT, ROLLED).plot("sum_out").axes
    assert (panel.get_title(loc="left"), panel.get_xlabel()) == ("rollout/sum_out", "iteration")
    assert panel.lines[0].get_xydata().tolist() == [[0, 0], [1, 1], [2, 3]]


def test_values_of_inner_loops_are_lines_over_their_records() -> None:
    upper, lower = whorl.trace(NESTED, FEEDS).plot("outer/t", "outer/inner/u").axes
    assert (len(upper.lines), upper.get_xlabel()) == (3, "iteration")
    assert (len(lower.lines), len(lower.lines[0].get_xdata()), lower.get_xlabel()) == (3, 6, "record")


def test_growing_value_is_a_map_with_empty_ends() -> None:
    panel, bar = whorl.trace(NESTED, FEEDS).plot("longer").axes
    pixels = panel.images[0].get_array()
    assert pixels.shape == (15, 4) and np.ma.getmaskarray(pixels).sum(0).tolist() == [9, 6, 3, 0]
    assert bar.get_ylabel() == ""


def test_everything_is_drawn_where_no_value_is_named(tmp_path) -> None:
    trace = whorl.trace(ROLLOUT, ROLLED)
    figure = trace.plot()
    assert len(figure.axes) == len(trace)
    figure.savefig(tmp_path / "trace.svg")
    assert (tmp_path / "trace.svg").stat().st_size > 1000


def test_texts_are_refused() -> None:
    trace = whorl.trace(WORDS, {"x": np.array(["a"]), "count": np.array(2)})
    with pytest.raises(whorl.UnsupportedError) as failure:
        trace.plot("next")
    assert str(failure.value) == "'y/next' has values that are not real numbers\n  fix: plot others"
