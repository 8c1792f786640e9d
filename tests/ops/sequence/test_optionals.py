"""Optionals, and what is taken for one."""

import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dtypes import BOOL, FLOAT32
from whorl.ir.types import Known, OptionalType, SequenceType, TensorType
from whorl.ops.sequence.optionals import Optional, OptionalGetElement, OptionalHasElement

TENSOR = TensorType(FLOAT32, (2,))
TYPES = [TENSOR, SequenceType(TENSOR)]


@pytest.mark.parametrize("type", TYPES)
def test_optional_wraps_the_type_it_is_passed(type):
    assert Optional().infer(Known(type)) == OptionalType(type)
    assert Optional(type).infer() == OptionalType(type)
    assert Optional(type).run() is None


def test_optional_empty_without_type_is_refused():
    with pytest.raises(TypeRuleError, match="is empty and says no element type"):
        Optional().infer()


@pytest.mark.parametrize("type", TYPES)
def test_get_element_unwraps_and_lets_others_pass(type):
    assert OptionalGetElement().infer(Known(OptionalType(type))) == type
    assert OptionalGetElement().infer(Known(type)) == type
    value = np.zeros(2, np.float32)
    assert OptionalGetElement().run(value) is value


def test_get_element_of_nothing_is_refused():
    with pytest.raises(RunError) as caught:
        OptionalGetElement().run(None)
    assert str(caught.value) == "the optional is empty\n  fix: ask OptionalHasElement first"


@pytest.mark.parametrize(("value", "answer"), [(None, False), (np.zeros(0), True), ([], True)])
def test_has_element_tells_nothing_from_empty(value, answer):
    actual = OptionalHasElement().run(value)
    assert actual.shape == () and actual.dtype == np.bool_ and actual == answer
    assert OptionalHasElement().infer() == TensorType(BOOL, ())


def test_has_element_is_known_where_the_type_says_it():
    op = OptionalHasElement()
    assert op.infer_known(Known(TENSOR))[0].item() is True
    assert op.infer_known(None)[0].item() is False and op.infer_known()[0].item() is False
    assert op.infer_known(Known(OptionalType(TENSOR))) == (None,)
