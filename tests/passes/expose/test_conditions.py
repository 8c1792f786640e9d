"""Conditions on values of a body, written as expressions."""

from __future__ import annotations

import numpy as np
import pytest
from traced_models import NESTED, X

import whorl

FEEDS = {"n": np.array(5), "x": X}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s > 100", lambda s: s > 100),
        ("abs(s) >= 2 and not isinf(s)", lambda s: (abs(s) >= 2) & ~np.isinf(s)),
        ("0 < s < 1", lambda s: (s > 0) & (s < 1)),
        ("max(s) - min(s) != 1.5", lambda s: s.max() - s.min() != 1.5),
        ("isnan(s) or -s * 2 + 1 == 0", lambda s: np.isnan(s) | (-s * 2 + 1 == 0)),
        ("sum(s) / 3 == mean(s)", lambda s: s.sum(dtype=float) / 3 == s.mean(dtype=float)),
        ("all(s > 1) or any(s < -1)", lambda s: (s > 1).all() | (s < -1).any()),
        ("'outer/s' > 100", lambda s: s > 100),
        ("k and s > 100", lambda s: s > 100),
    ],
)
def test_condition_chooses_iterations(text: str, expected) -> None:
    everything = whorl.trace(NESTED, FEEDS, values="outer/s").records("outer/s").values
    iterations = [k for k, s in enumerate(everything) if np.any(expected(s.astype(float)))]
    assert whorl.trace(NESTED, FEEDS, values="outer/s", when=text).records("s").iterations[:, 0].tolist() == iterations


FIX = "\n  fix: write a comparison such as 'abs(h) > 1e6' or 'isnan(h)'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s >", f"the condition 's >' is not an expression{FIX}"),
        ("1 > 0", f"the condition '1 > 0' reads no value{FIX}"),
        ("s + 1", f"the condition 's + 1' is a number{FIX}"),
        ("s ** 2 > 1", f"the condition 's ** 2 > 1' has 's ** 2', which it may not{FIX}"),
        ("s in t", f"the condition 's in t' has a comparison by In{FIX}"),
        ("s and t", f"the condition 's and t' has 's' where a truth value is expected{FIX}"),
        ("-(s > 1) > 0", f"the condition '-(s > 1) > 0' has 's > 1' where a number is expected{FIX}"),
        ("q > 1 and w > 1", f"the condition 'q > 1 and w > 1' has 'q' where a number is expected{FIX}"),
        (
            "w > r",
            "the condition 'w > r' reads values of 'outer/inner/choice/else_branch' and of "
            f"'outer/inner/choice/then_branch', which never meet{FIX}",
        ),
        (
            "nothing > 1",
            "the condition 'nothing > 1' reads 'nothing', which no body has\n  fix: `whorl trace` lists the values",
        ),
        (
            "'?' > 1 and k",
            "the condition \"'?' > 1 and k\" reads '?', which may be 'outer/i', 'outer/k', "
            "'outer/s', 'outer/h', 'outer/t', 'outer/inner/j', "
            "'outer/inner/p', 'outer/inner/u', 'outer/inner/q', 'outer/inner/v', "
            "'outer/inner/choice/then_branch/w', 'outer/inner/choice/else_branch/d', 'outer/inner/choice/else_branch/r'"
            "\n  fix: write one of these paths",
        ),
    ],
)
def test_condition_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(whorl.RunError) as caught:
        whorl.trace(NESTED, FEEDS, when=text)
    assert str(caught.value) == message
