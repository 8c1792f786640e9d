"""What `--json` prints: values in JSON that every reader takes."""

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from whorl.cli.documents import plain, print_document


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            np.array([[1.5, np.nan], [np.inf, -np.inf]]),
            {"type": "float64[2, 2]", "value": [[1.5, "nan"], ["inf", "-inf"]]},
        ),
        (np.array(0.1, np.float32), {"type": "float32[]", "value": float(np.float32(0.1))}),
        (np.array([1 - 2j], np.complex64), {"type": "complex64[1]", "value": [[1.0, -2.0]]}),
        (np.array([2**64 - 1], np.uint64), {"type": "uint64[1]", "value": [2**64 - 1]}),
        (np.array([-8], ml_dtypes.int4), {"type": "int4[1]", "value": [-8]}),
        (np.array([0.5], ml_dtypes.bfloat16), {"type": "bfloat16[1]", "value": [0.5]}),
        (np.array([True]), {"type": "bool[1]", "value": [True]}),
        (np.array(["é"], object), {"type": "string[1]", "value": ["é"]}),
        (np.zeros((0, 2), np.int8), {"type": "int8[0, 2]", "value": []}),
        (None, None),
        ({1: np.nan, 2: 0.5}, {"map": [[1, "nan"], [2, 0.5]]}),
    ],
    ids=str,
)
def test_value_is_plain(value: Any, expected: Any) -> None:
    assert plain(value) == expected
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == expected


def test_sequences_are_lists() -> None:
    assert plain([np.array(1), [None]]) == [{"type": "int64[]", "value": 1}, [None]]


def test_document_is_one_value_that_json_has(capsys: pytest.CaptureFixture[str]) -> None:
    print_document({"a": [1]})
    assert json.loads(capsys.readouterr().out) == {"a": [1]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_document(float("nan"))
