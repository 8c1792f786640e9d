"""Constants: every stored form, places that are unaligned or shared, and what lies outside the file."""

import numpy as np
import pytest
from formats.openvino.ir_text import constant, net, result

import whorl
from whorl.errors import LoadError
from whorl.formats.openvino.weights.read import StoredArray, Weights, weights_in
from whorl.formats.openvino.weights.read import constant as read
from whorl.formats.openvino.weights.stored_types import STORED
from whorl.ir.constants import as_array
from whorl.ir.elements.packed import Packed


def elements(name: str, data: bytes, *shape: int) -> np.ndarray:
    return as_array(read(Weights(data), 0, len(data), STORED[name], shape))


def test_strings_are_read():
    texts = ["a", "", "näh"]
    ends = np.cumsum([0, *(len(text.encode()) for text in texts)]).astype("<i4")
    data = np.array([3], "<i4").tobytes() + ends.tobytes() + "".join(texts).encode()
    assert elements("string", data, 3).tolist() == texts
    assert elements("string", b"", 0).tolist() == []


@pytest.mark.parametrize(
    "data",
    [b"", b"\x01", b"\x02\x00\x00\x00", b"\x01\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00a", b"\xff\xff\xff\xff" * 3],
)
def test_damaged_strings_are_refused(data):
    with pytest.raises(LoadError, match="OV406"):
        elements("string", data, 1)


def test_unaligned_constant_is_copied_to_an_aligned_array():
    value = read(Weights(b"\x00" + np.int64(77).tobytes()), 1, 8, STORED["i64"], ())
    assert value.numpy().flags.aligned and value.numpy() == 77


def test_constants_of_a_file_are_mapped_and_shared(tmp_path):
    (tmp_path / "m.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    weights = weights_in(tmp_path / "m.bin")
    a, b = (read(weights, 4, 8, STORED["f32"], (2,)) for _ in range(2))
    assert isinstance(a, StoredArray)
    x, y = a.numpy(), b.numpy()
    assert x.tolist() == [1, 2] and np.shares_memory(x, y) and not x.flags.writeable


def test_narrow_integers_stay_packed_until_they_are_read():
    assert isinstance(read(Weights(b"\x21"), 0, 1, STORED["u4"], (2,)), Packed)


def model(offset: object, size: object, shape: str = "2", element_type: str = "f32") -> bytes:
    return net([constant(0, offset, size, shape, element_type), result(1)], "0:0-1:0")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, 8), "OV401: the constant ends at byte 12 of weights that have 8"),
        ((0, 8, "3"), r"OV402: the constant has 8 bytes, f32\[3\] takes 12"),
        (("-1", 8), "OV501: offset is '-1', expected a number of bytes"),
        ((0, "9" * 30), "OV501: size is '99999"),
        ((0, 8, "2", "f33"), "OV404: element_type is 'f33'"),
        ((0, 8, "?"), r"OV405: the shape is '\?', a constant has a fixed one"),
        ((0, 8, "0,9223372036854775807"), "OV405"),
        ((0, 8, "9223372036854775808"), "OV405"),
        ((0, 8, "1048576,1048576,1048576"), "OV405"),
        ((0, 8, ",".join(["1"] * 65)), "OV405: the shape has 65 dims"),
        ((0, 8, "0,", "f32"), "OV405"),
    ],
)
def test_impossible_constant_is_refused(arguments, message):
    with pytest.raises(LoadError, match=message):
        whorl.load(model(*arguments), weights=bytes(8))


def test_missing_weights_are_refused(tmp_path):
    (tmp_path / "m.xml").write_bytes(model(0, 8))
    with pytest.raises(LoadError, match=r"Const 'const0' \(line 4\): OV107: the weights 'm.bin' are missing"):
        whorl.load(tmp_path / "m.xml")


def test_weights_that_change_are_refused(tmp_path):
    (tmp_path / "m.xml").write_bytes(model(0, 8))
    (tmp_path / "m.bin").write_bytes(bytes(8))
    module = whorl.load(tmp_path / "m.xml")
    (tmp_path / "m.bin").write_bytes(bytes(12))
    with pytest.raises(LoadError, match=r"OV107: the weights 'm\.bin' have changed since the model was read"):
        whorl.run(module, {})


def test_model_without_constants_needs_no_weights(tmp_path):
    (tmp_path / "m.xml").write_bytes(model(0, 0, "0"))
    assert whorl.run(tmp_path / "m.xml", {})["const0"].shape == (0,)


def test_bytes_past_the_shape_are_noted():
    (warning,) = whorl.load(model(0, 12), weights=bytes(12)).metadata["openvino"]["warnings"]
    assert str(warning) == "Const 'const0' (line 4): OV403: has 12 bytes, 8 are used"
