"""Nodes of registered operators, without what was registered."""

import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir.definitions import DEFINITIONS, Definition
from whorl.ir.types import Known, TensorType
from whorl.ops.core.custom import CustomOp, ImpureCustomOp

FACT = Known(TensorType(np.dtype(np.float32), (2,)))


def test_operator_that_is_not_registered_is_an_error():
    with pytest.raises(RunError) as caught:
        CustomOp("Odd", "my.ops").run(np.ones(2, np.float32))
    assert str(caught.value) == "my.ops.Odd is not registered\n  fix: call whorl.register_op first"


def test_infer_with_fewer_types_than_outputs_is_an_error(monkeypatch):
    definition = Definition("my.ops", "Odd", lambda x: x, lambda x: x, None, True)
    monkeypatch.setitem(DEFINITIONS, ("my.ops", "Odd"), definition)
    with pytest.raises(TypeRuleError) as caught:
        CustomOp("Odd", "my.ops", output_count=2).infer(FACT)
    assert str(caught.value) == (
        "infer of my.ops.Odd gives 1 types for 2 outputs\n  fix: return a type for each output"
    )


def test_impure_operator_is_impure():
    assert CustomOp("Odd", "my.ops").pure and not ImpureCustomOp("Odd", "my.ops").pure
