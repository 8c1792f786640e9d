"""Which models a session may recognise in a later process."""

import os
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto
from onnx_text import model

from whorl.api import model_bytes
from whorl.api.model_bytes import recognise

NEGATED = model("main (float[n] x) => (float[n] y) { y = Neg(x) }").SerializeToString()


def with_weights(*locations: str | bytes) -> bytes:
    proto = onnx.load_from_string(NEGATED)
    for number, location in enumerate(locations):
        tensor = proto.graph.initializer.add(name=f"w{number}", dims=[2], data_type=TensorProto.FLOAT)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
    return proto.SerializeToString()


def test_binary_onnx_is_recognised_by_path_and_by_bytes(tmp_path: Path) -> None:
    path = tmp_path / "model.ONNX"
    path.write_bytes(NEGATED)
    for source in (path, str(path), NEGATED):
        recognised = recognise(source)
        assert recognised is not None and recognised.data == NEGATED and recognised.is_whole


@pytest.mark.parametrize("source", [b"", b"<net/>", "absent.onnx", "zero\0.onnx", ".", 5, None])
def test_nothing_else_is(source: object) -> None:
    assert recognise(source) is None


def test_text_is_not(tmp_path: Path) -> None:
    path = tmp_path / "model.onnxtxt"
    path.write_bytes(NEGATED)
    assert recognise(path) is None


@pytest.mark.parametrize("name", ["weights.bin", "w" * 200, "gewichte-ß"])
def test_model_with_weights_beside_it_is_recognised_by_all_its_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(with_weights(name, name, "other.bin"))
    for each in (name, "other.bin"):
        (tmp_path / each).write_bytes(bytes(8))
    recognised = recognise(path)
    assert recognised is not None and not recognised.is_whole and not recognised.has_changed()
    assert sorted(map(os.path.basename, recognised.files)) == sorted([name, "model.onnx", "other.bin"])
    os.utime(tmp_path / name, (1, 1))
    assert recognised.has_changed()
    (tmp_path / name).unlink()
    assert recognised.has_changed()


def test_model_whose_weights_are_missing_or_in_no_folder_is_not(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(with_weights("weights.bin"))
    assert recognise(path) is None
    assert recognise(path.read_bytes()) is None


def test_names_of_files_that_are_written_otherwise_are_not_guessed(tmp_path: Path) -> None:
    """Protobuf may have the parts of an entry in any order."""
    data = with_weights("weights.bin")
    (tmp_path / "weights.bin").write_bytes(bytes(8))
    key, value = b"\n\x08location", b"\x12\x0bweights.bin"
    assert key + value in data
    path = tmp_path / "model.onnx"
    path.write_bytes(data.replace(key + value, value + key))
    assert onnx.load(path, load_external_data=False).graph.initializer[0].external_data[0].value == "weights.bin"
    assert recognise(path) is None


def test_large_tensors_are_not_searched_for_names_of_files(tmp_path: Path) -> None:
    name = b"\n\x08location\x12\x0bweights.bin"
    proto = onnx.load_from_string(with_weights())
    proto.graph.initializer.add(name="w", dims=[1 << 16], data_type=TensorProto.UINT8, raw_data=name.ljust(1 << 16))
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    recognised = recognise(path)
    assert recognised is not None and recognised.is_whole and recognised.data == path.read_bytes()
    proto.doc_string = name.decode("latin-1")
    path.write_bytes(proto.SerializeToString())
    assert recognise(path) is None


def test_large_model_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_bytes, "LARGEST", len(NEGATED) - 1)
    path = tmp_path / "model.onnx"
    path.write_bytes(NEGATED)
    assert recognise(path) is None
    assert recognise(NEGATED) is None
