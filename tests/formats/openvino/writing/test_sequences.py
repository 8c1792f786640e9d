"""Sequences as the rows of one tensor."""

import numpy as np
import pytest

from whorl.errors import SaveError
from whorl.formats.openvino.saving import EXPORTERS
from whorl.formats.openvino.writing.net import FileState, NetWriter
from whorl.formats.openvino.writing.sequences import rows_of, same_shape
from whorl.formats.openvino.writing.sources import Items
from whorl.ir.dims import UNKNOWN, name
from whorl.ir.types import TensorType

F32 = np.dtype(np.float32)
FIX = "\n  fix: OpenVINO has only tensors: use elements of one fixed shape"


@pytest.fixture
def write() -> NetWriter:
    return NetWriter(FileState(EXPORTERS))


def items(write: NetWriter, *shapes: tuple) -> Items:
    return Items(tuple(write.parameter(TensorType(F32, shape), "x")[1] for shape in shapes))


def test_items_are_stacked(write: NetWriter) -> None:
    rows = rows_of(items(write, (2,), (2,)), write)
    assert str(rows.source.type) == "float32[2, 2]"
    assert str(rows.element) == "float32[2]"
    assert [layer.type for layer in write.net.layers] == ["Const", "Unsqueeze", "Const", "Unsqueeze", "Concat"]
    assert rows_of(rows, write) is rows


def test_no_items_have_the_shape_of_what_they_would_be(write: NetWriter) -> None:
    rows = rows_of(Items(()), write, TensorType(F32, (2, 3)))
    assert str(rows.source.type) == "float32[0, 2, 3]"


@pytest.mark.parametrize("element", [None, TensorType(F32), TensorType(F32, (2, UNKNOWN))], ids=str)
def test_no_items_of_an_unknown_shape_are_refused(write: NetWriter, element: TensorType | None) -> None:
    with pytest.raises(SaveError) as caught:
        rows_of(Items(()), write, element)
    assert str(caught.value) == f"an empty sequence has elements of a shape that nothing tells{FIX}"


def test_items_of_several_shapes_are_refused(write: NetWriter) -> None:
    with pytest.raises(SaveError) as caught:
        rows_of(items(write, (2,), (3,)), write)
    assert str(caught.value) == f"a sequence holds float32[2] and float32[3]{FIX}"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ((2, name("N")), (2, name("N")), True),
        ((name("N"),), (name("M"),), False),
        ((2,), (2, 1), False),
        ((), (), True),
    ],
)
def test_shapes_are_the_same_where_that_is_proved(a: tuple, b: tuple, same: bool) -> None:
    assert same_shape(TensorType(F32, a), TensorType(F32, b)) == same
    assert not same_shape(TensorType(F32), TensorType(F32))
