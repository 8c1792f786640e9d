"""OpenVINO IR in the registry of formats."""

import numpy as np
import pytest
from formats.openvino.ir_text import ADD, COUNTING_WEIGHTS, counting

import whorl
from whorl.errors import LoadError
from whorl.formats.openvino.codec import load
from whorl.formats.options import LoadOptions
from whorl.passes.context import Context


@pytest.mark.parametrize("folding", [None, Context()])
def test_options_reach_the_reader(folding):
    x = np.array([1, -2], np.float32)
    assert whorl.run(load(ADD, LoadOptions(), folding), {"x": x, "y": x})["add2"].tolist() == [2, -4]
    module = load(counting(2), LoadOptions(weights=COUNTING_WEIGHTS), folding)
    assert whorl.run(module, {"parameter0": x})["loop1"].tolist() == [5, 2]
    with pytest.raises(LoadError, match="OV104"):
        load(counting(3), LoadOptions(weights=COUNTING_WEIGHTS, max_depth=2), folding)
    with pytest.raises(LoadError) as caught:
        load(ADD, LoadOptions(compat="gpu"), folding)
    assert str(caught.value) == "there is no compat 'gpu'\n  fix: use 'openvino-cpu', or leave it out"
