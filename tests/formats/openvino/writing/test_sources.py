"""What layers read: output ports, and what sequences are stored as."""

import numpy as np
import pytest

from whorl.formats.openvino.saving import EXPORTERS
from whorl.formats.openvino.writing.net import FileState, NetWriter
from whorl.formats.openvino.writing.sources import Rows
from whorl.ir.types import TensorType

F32 = np.dtype(np.float32)


@pytest.fixture
def write() -> NetWriter:
    return NetWriter(FileState(EXPORTERS))


def test_rows_of_any_rank_have_elements_of_any_rank(write: NetWriter) -> None:
    _, source = write.parameter(TensorType(F32), "x")
    assert Rows(source).element.rank is None


@pytest.mark.parametrize(("shape", "element"), [((4, 2, 3), "float32[2, 3]"), ((4,), "float32[]")])
def test_element_of_rows_lacks_their_axis(write: NetWriter, shape: tuple[int, ...], element: str) -> None:
    _, source = write.parameter(TensorType(F32, shape), "x")
    assert str(Rows(source).element) == element
