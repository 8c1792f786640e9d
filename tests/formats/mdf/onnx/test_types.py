"""Types of inputs and outputs in the metadata of a graph."""

import pytest
from formats.mdf.onnx.test_modules import changed

from whorl.errors import LoadError


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ([], "graph 'net': metadata onnx_types is no object\n  fix: write an entry for each id"),
        (
            {"x": {"dtype": "float3"}},
            "input 'x' of graph 'net' has the type {'dtype': 'float3'}\n"
            '  fix: write {"dtype": "float32", "shape": ["N", 3]}',
        ),
        (
            {"x": {"dtype": "float32", "shape": [-1]}},
            "input 'x' of graph 'net' has the shape [-1]\n  fix: a length is a number, a name or null",
        ),
        (
            {"x": {"sequence": {"dtype": "float32", "shape": 3}}},
            "input 'x' of graph 'net' has the shape 3\n  fix: a length is a number, a name or null",
        ),
    ],
)
def test_types_that_mean_nothing_are_refused(types, message, tmp_path):
    model = changed(tmp_path, lambda graph: graph["metadata"].update(onnx_types=types))
    with pytest.raises(LoadError) as raised:
        model.module()
    assert str(raised.value) == message
