"""One layer with its inputs and attributes looked up, and which function reads it."""

from collections.abc import Iterator

import numpy as np
import pytest

from whorl.errors import LoadError
from whorl.formats.openvino.reading.importer import IMPORTERS, Inputs, IrNode, find_importer, importer


def node(**attributes: str) -> IrNode:
    return IrNode("Gather", 8, "g", [], [], attributes=attributes)


@pytest.mark.parametrize(
    ("text", "method", "value"),
    [
        (" Valid ", "text", "valid"),
        ("-3", "integer", -3),
        ("1e-3", "number", 0.001),
        ("TRUE", "flag", True),
        ("0", "flag", False),
        ("1, -2,3", "integers", (1, -2, 3)),
        ("", "integers", ()),
        ("0.5,1", "numbers", (0.5, 1.0)),
        ("F16", "dtype", np.dtype(np.float16)),
    ],
)
def test_attribute_is_read_as_what_is_expected(text: str, method: str, value: object) -> None:
    layer = node(a=text)
    assert getattr(layer, method)("a") == value
    assert layer.used == {"a"}


@pytest.mark.parametrize(
    ("method", "default", "value"),
    [
        ("text", "X", "x"),
        ("integer", 3, 3),
        ("number", 0.1, 0.1),
        ("flag", True, True),
        ("integers", (1, 2), (1, 2)),
        ("integers", (), ()),
        ("numbers", (0.5,), (0.5,)),
        ("dtype", "i64", np.dtype(np.int64)),
    ],
)
def test_attribute_that_is_left_out_has_its_default_or_is_required(method: str, default: object, value: object) -> None:
    assert getattr(node(), method)("a", default) == value
    with pytest.raises(LoadError) as caught:
        getattr(node(), method)("a")
    assert str(caught.value) == "Gather 'g': lacks the attribute 'a'"


@pytest.mark.parametrize(
    ("text", "method", "message"),
    [
        ("1.5", "integer", "a is '1.5', expected a number"),
        ("x", "number", "a is 'x', expected a number"),
        ("1,,2", "integers", "a is '', expected a number"),
        ("yes", "flag", "a is 'yes'\n  fix: choose from true, false, 1, 0"),
    ],
)
def test_attribute_that_is_none_of_its_kind_is_refused(text: str, method: str, message: str) -> None:
    with pytest.raises(LoadError) as caught:
        getattr(node(a=text), method)("a")
    assert str(caught.value) == f"Gather 'g': {message}"


def test_input_that_is_missing_is_named() -> None:
    assert node().input(0) is None
    with pytest.raises(LoadError) as caught:
        node().required(2)
    assert str(caught.value) == "Gather 'g': has 0 inputs, input 2 is missing"


def test_inputs_know_how_many_were_looked_at() -> None:
    values: list = [object() for _ in range(4)]
    inputs = Inputs(values)
    assert inputs.seen == 0
    assert inputs[1] is values[1]
    assert inputs.seen == 2
    assert inputs[0] is values[0]
    assert inputs.seen == 2
    assert inputs[-1] is values[3]
    assert inputs.seen == 4
    again = Inputs(values)
    assert list(again) == values
    assert again.seen == 4


@pytest.fixture
def type() -> Iterator[str]:
    yield "LayerOfThisTest"
    IMPORTERS.pop("layerofthistest", None)


def test_newest_version_that_the_opset_has_is_read(type: str) -> None:
    def old(node, build): ...
    def new(node, build): ...

    importer(type, 8)(new)
    importer(type, 1, 3)(old)
    assert [find_importer(type.upper(), opset) for opset in (1, 2, 3, 7, 8, 16)] == [
        (1, old), (1, old), (3, old), (3, old), (8, new), (8, new),
    ]  # fmt: skip
    assert find_importer(type, 0) is None
    assert find_importer("Nothing", 1) is None
    with pytest.raises(TypeError, match="two functions read LayerOfThisTest"):
        importer(type, 3)(new)
