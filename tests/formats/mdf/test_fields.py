"""Fields of files, checked one by one."""

import pytest
from formats.mdf.test_files import data, node

from whorl.formats.mdf.reading import model_of


@pytest.mark.parametrize(
    ("written", "shape"), [("(1,)", (1,)), ("(2, 3)", (2, 3)), ([4], (4,)), ("()", ()), ([], ()), (["batch", 3], None)]
)
def test_shapes_are_lists_or_texts(written, shape):
    model = model_of(data({"A": node(input_ports={"x": {"shape": written}})}))
    assert model.graphs["g"].nodes["A"].input_ports["x"].shape == shape
