"""Two ways of an evaluation as an If: cells that either way changes are chosen by the condition."""

import numpy as np
import pytest

from whorl.errors import UnsupportedError
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.mdf.compile.branches import branch, skip
from whorl.mdf.compile.scope import Scope
from whorl.mdf.compile.tracer import Tracer
from whorl.mdf.model import Graph
from whorl.mdf.variables import PARAMETER, Cell, State
from whorl.runtime.session import Session

X = Cell("N", PARAMETER, "x")


def traced(before, then):
    """A tracer after a branch that may set X, and its condition."""
    scope = Scope(Region("main"), Inference())
    condition = scope.argument("c", TensorType(BOOL, ()))
    tracer = Tracer(Graph("g"), scope, State(before))

    def set_x(inside):
        inside.state[X] = then

    branch(tracer, condition, set_x, skip)
    return tracer


@pytest.mark.parametrize(("condition", "expected"), [(True, 5.0), (False, 2.0)])
def test_condition_chooses_what_a_cell_has(condition, expected):
    tracer = traced({X: 2.0}, 5.0)
    region = tracer.scope.region
    region.results = [tracer.scope.value(tracer.state[X])]
    result = Session(Module(region, ["x"]), backend="interpreter").execute(None, {"c": np.array(condition)})
    assert result[0] == expected


def test_ways_that_agree_leave_no_branch():
    tracer = traced({X: 2.0}, 2.0)
    assert not tracer.scope.region.nodes and tracer.state[X] == 2.0


@pytest.mark.parametrize(
    ("before", "then", "message"),
    [({}, 1.0, "N.x has a value in some evaluations only"), ({X: 1.0}, np.ones(2), "in some evaluations and")],
)
def test_ways_of_two_shapes_are_not_compiled(before, then, message):
    with pytest.raises(UnsupportedError, match=message):
        traced(before, then)
