"""Constants out: bytes one after the other, equal ones once."""

import io

import numpy as np
import pytest

import whorl
from whorl.formats.openvino.document import Layer, Net
from whorl.formats.openvino.weights.write import write_constants
from whorl.formats.openvino.xml.read import read_xml
from whorl.ir.build import Builder
from whorl.ir.dtypes import BY_NAME, STRING
from whorl.ir.elements.base import Leaf
from whorl.ir.elements.mapped import mapped
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import Add, Identity

FLOAT32 = np.dtype(np.float32)


def written(module, path, **options) -> Net:
    """The net of the file that a module is written to."""
    whorl.save(module, path, **options)
    return read_xml(path.read_bytes(), 64)


def built(*constants: np.ndarray) -> Module:
    """x plus the constants, as y."""
    region = Region("main")
    build = Builder(region, Inference())
    value = region.add_argument("x", TensorType(FLOAT32, (constants[0].shape[0],)))
    for constant in constants:
        value = build.add(Add(), value, build.constant(constant))
    region.results = [value]
    return Module(region, ["y"])


def layers(net: Net, type: str):
    return [layer for layer in net.layers if layer.type == type]


def test_equal_weights_are_retained_once(tmp_path):
    weight = np.arange(4, dtype=np.float32)
    net = written(built(weight, weight.copy(), weight + 1), tmp_path / "m.xml")
    all_positions = [(layer.data["offset"], layer.data["size"]) for layer in layers(net, "Const")]
    assert all_positions == [("0", "16"), ("0", "16"), ("16", "16")]
    assert (tmp_path / "m.bin").read_bytes() == weight.tobytes() + (weight + 1).tobytes()


def test_elements_that_are_computed_as_they_are_read_are_written_block_by_block(tmp_path):
    sizes = []

    def double(block: np.ndarray) -> np.ndarray:
        sizes.append(block.size)
        return block * 2

    source = np.arange(1 << 20, dtype=np.float32)
    written(built(mapped(double, [Leaf(source)], FLOAT32, source.shape)), tmp_path / "m.xml")  # type: ignore[arg-type]
    assert max(sizes) < 1 << 18
    assert np.array_equal(np.fromfile(tmp_path / "m.bin", np.float32), source * 2)


@pytest.mark.parametrize(
    "dtype", ["int4", "uint4", "uint2", "float4e2m1", "bfloat16", "float8e4m3fn", "bool", "string"]
)
def test_constants_of_every_type_come_back(dtype, tmp_path):
    if BY_NAME[dtype] == STRING:
        value = np.array([["ab", ""], ["é", "xyz"]], object)
    else:
        value = np.array([[0, 1, 1], [1, 0, 1]]).astype(BY_NAME[dtype])
    region = Region("main")
    build = Builder(region, Inference())
    region.results = [build.add(Identity(), build.constant(value))]
    whorl.save(Module(region, ["y"]), tmp_path / "m.xml")
    settings = whorl.run(tmp_path / "m.xml", {})["y"]
    assert (settings.dtype, settings.tolist()) == (value.dtype, value.tolist())


def appended(*values: object) -> tuple[bytes, list[dict[str, str]]]:
    """The file of some constants, and where each lies."""
    layers = [Layer(k, "c", "Const", "opset1") for k, _ in enumerate(values)]
    file = io.BytesIO()
    write_constants(file, zip(layers, values, strict=True))  # type: ignore[arg-type]
    return file.getvalue(), [layer.data for layer in layers]


def test_repetition_is_cut_off_again_also_at_the_end() -> None:
    a, b = np.array([1, 2], np.int32), np.array([3], np.int8)
    data, positions = appended(a, b, a.copy(), b.view(np.uint8))
    assert data == a.tobytes() + b.tobytes()
    assert [(each["offset"], each["size"]) for each in positions] == [("0", "8"), ("8", "1"), ("0", "8"), ("8", "1")]


def test_constants_without_elements_take_no_bytes() -> None:
    data, positions = appended(np.zeros(0, np.float32), np.ones(1, np.int8), np.zeros((2, 0)))
    assert data == b"\x01"
    assert [each["size"] for each in positions] == ["0", "1", "0"]


def test_strings_have_a_number_ends_and_bytes() -> None:
    data, _ = appended(np.array(["ab", "", "é"], object))
    assert data == np.array([3, 0, 2, 2, 4], "<i4").tobytes() + b"ab\xc3\xa9"
