"""Models that cannot be compiled run by the interpreter, which says why."""

import pytest
from mdf.models import model, node

from whorl.errors import UnsupportedError


def test_what_cannot_be_compiled_is_interpreted_and_says_why():
    grows = {"N": node({"x": {"default_initial_value": [1], "value": "numpy.concatenate((x, x))"}}, ("x",))}
    actual = model(grows)
    assert actual.explain().startswith("interpreted: after 8 evaluations still: N.x has the shape")
    assert actual.simulate(2, record=["N.x"]).state.done == 3
    with pytest.raises(UnsupportedError, match="evaluations still"):
        actual.module()
