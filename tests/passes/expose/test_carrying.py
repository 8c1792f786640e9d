"""Values carried through loops and branches: counts of iterations and of elements."""

from __future__ import annotations

import numpy as np
import pytest
from traced_models import NESTED, X

import whorl
from whorl.ir.verify import verify
from whorl.passes.expose.adding import add_output, retype
from whorl.passes.expose.carrying import count_elements, count_iterations
from whorl.passes.expose.scopes import choose, scopes_of


@pytest.mark.parametrize(("path", "elements"), [("longer", 42), ("inner/u", 18), ("then_branch/w", 3), ("outer/i", 4)])
def test_elements_of_all_iterations_are_counted(path: str, elements: int) -> None:
    module = whorl.load(NESTED)
    name = add_output(module, count_elements(module, choose(scopes_of(module), [path])[0]))
    retype(module)
    verify(module)
    assert whorl.InferenceSession(module).run([name], {"n": np.array(4), "x": X}) == [elements]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_iterations_are_counted(count: int) -> None:
    module = whorl.load(NESTED)
    name = add_output(module, count_iterations(scopes_of(module)[1]))
    retype(module)
    assert whorl.InferenceSession(module).run([name], {"n": np.array(count), "x": X}) == [count]
