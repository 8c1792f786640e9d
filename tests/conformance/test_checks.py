"""Checks of outputs that are drawn at random."""

import numpy as np
import pytest

from whorl.conformance.checks import make_check

ROWS = np.arange(10.0).reshape(5, 2)
DIFFER = {"kind": "rows differ", "count": 5}


@pytest.mark.parametrize(
    ("row", "runs", "text"),
    [
        (DIFFER, [[ROWS]], ""),
        (DIFFER, [[ROWS[:4]]], "the 5 rows are not different draws"),
        (DIFFER, [[np.zeros((5, 2))]], "the 5 rows are not different draws"),
        (DIFFER | {"low": 0, "high": 9}, [[ROWS]], ""),
        (DIFFER | {"low": 0, "high": 8}, [[ROWS]], "a draw is outside [0, 8]"),
        (DIFFER | {"low": 0}, [[np.where(ROWS == 3, np.nan, ROWS)]], "a draw is outside [0, inf]"),
        ({"kind": "rows equal", "count": 5}, [[np.ones((5, 2))]], ""),
        ({"kind": "rows equal", "count": 5}, [[ROWS]], "one draw before the loop has several values"),
        ({"kind": "rows equal", "count": 4}, [[np.ones((5, 2))]], "one draw before the loop has several values"),
        ({"kind": "outputs differ"}, [[ROWS, ROWS + 1]], ""),
        ({"kind": "outputs differ"}, [[ROWS, ROWS]], "two nodes drew the same"),
        ({"kind": "sessions agree"}, [[ROWS], [ROWS]], ""),
        ({"kind": "sessions agree"}, [[ROWS], [ROWS + 1]], "two sessions with one seed differ"),
        ({"kind": "type", "element_type": "double", "shape": [5, 2]}, [[ROWS]], ""),
        ({"kind": "type", "element_type": "float", "shape": [5, 2]}, [[ROWS]], "not float [5, 2]"),
    ],
)
def test_check_describes_what_is_wrong(row, runs, text):
    assert make_check(row)(runs) == text


def test_unknown_check_is_an_error():
    with pytest.raises(KeyError, match="rows shine"):
        make_check({"kind": "rows shine"})
