"""Which models a session may recognise in a later process."""

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto
from onnx_text import model

from whorl.api.model_bytes import may_have_weights_beside, recognisable_bytes

NEGATED = model("main (float[n] x) => (float[n] y) { y = Neg(x) }").SerializeToString()


def test_binary_onnx_is_recognised_by_path_and_by_bytes(tmp_path: Path) -> None:
    path = tmp_path / "model.ONNX"
    path.write_bytes(NEGATED)
    assert recognisable_bytes(path) == recognisable_bytes(str(path)) == recognisable_bytes(NEGATED) == NEGATED


@pytest.mark.parametrize("source", [b"", b"<net/>", "absent.onnx", ".", 5, None])
def test_nothing_else_is(source: object) -> None:
    assert recognisable_bytes(source) is None


def test_text_is_not(tmp_path: Path) -> None:
    path = tmp_path / "model.onnxtxt"
    path.write_bytes(NEGATED)
    assert recognisable_bytes(path) is None


def test_model_with_weights_in_another_file_is_no_single_file() -> None:
    proto = onnx.load_from_string(NEGATED)
    tensor = proto.graph.initializer.add(name="w", dims=[2], data_type=TensorProto.FLOAT)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    assert may_have_weights_beside(proto.SerializeToString())
    assert not may_have_weights_beside(NEGATED)
