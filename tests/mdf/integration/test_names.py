"""The names of integrators."""

from typing import get_args

from whorl.formats import options
from whorl.mdf.integration.names import Integrator
from whorl.mdf.integration.steps import FORMS


def test_every_integrator_has_one_definition():
    assert get_args(options.Integrator) == get_args(Integrator)
    assert {*FORMS, "euler", "adaptive"} == {*get_args(Integrator)}
