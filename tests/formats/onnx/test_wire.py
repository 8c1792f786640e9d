"""Models with large tensors: read without them, written block by block, and constants that nodes say in fewer bytes."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import whorl
from whorl.formats.onnx import saving, wire
from whorl.formats.onnx.files import load_onnx
from whorl.formats.onnx.saving import save_onnx, to_proto
from whorl.formats.options import LoadOptions
from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.dtypes import BY_NAME
from whorl.ir.elements.base import Leaf
from whorl.ir.elements.mapped import Mapped
from whorl.ir.elements.mapping import mapping_of
from whorl.ir.elements.packed import Packed, packed_bytes
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.kernels.aligned import CACHE_LINE

LARGE = np.arange(60_000, dtype=np.float32).reshape(200, 300)
MAPPED = LoadOptions(memory_map=True)


def constants_of(module: Module) -> list[object]:
    return [node.op.value for node in module.nodes() if isinstance(node.op, Constant)]


def nested() -> onnx.ModelProto:
    """A large initializer, one in a branch, one in a Constant node, and one of 4 bits."""
    inner = [numpy_helper.from_array(-LARGE, "inner")]
    then = helper.make_graph([helper.make_node("Identity", ["inner"], ["t"])], "t", [], [info("t")], inner)
    value = numpy_helper.from_array(2 * LARGE, "v")
    other = helper.make_graph([helper.make_node("Constant", [], ["e"], value=value)], "e", [], [info("e")])
    nodes = [
        helper.make_node("If", ["c"], ["chosen"], then_branch=then, else_branch=other),
        helper.make_node("Add", ["chosen", "weight"], ["sum"]),
        helper.make_node("Cast", ["narrow"], ["wide"], to=TensorProto.INT8),
    ]
    numbers = (np.arange(40_001) % 16 - 8).astype(np.int8).astype(BY_NAME["int4"])
    narrow = helper.make_tensor("narrow", TensorProto.INT4, [40_001], packed_bytes(numbers).tobytes(), raw=True)
    tensors = [numpy_helper.from_array(LARGE, "weight"), narrow]
    outputs = [info("sum"), helper.make_tensor_value_info("wide", TensorProto.INT8, [40_001])]
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    graph = helper.make_graph(nodes, "g", [condition], outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def info(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [200, 300])


def results(module: Module) -> list[np.ndarray]:
    session = whorl.InferenceSession(module)
    return [array for c in (True, False) for array in session.run(None, {"c": np.array(c)})]


def test_mapped_model_contains_no_copy_and_computes_the_same(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(nested(), path)
    module = load_onnx(path, MAPPED)
    bound = [value for value in constants_of(module) if isinstance(value, np.ndarray)]
    assert len(bound) == 3 and all(mapping_of(array) is not None for array in bound)
    assert sum(isinstance(value, Packed) for value in constants_of(module)) == 1
    for settings, expected in zip(results(module), results(whorl.load(path)), strict=True):
        np.testing.assert_array_equal(settings, expected)
    assert not wire.OWN_FILES


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.int8).data, None])
@pytest.mark.parametrize("more", range(4))
def test_large_tensors_in_memory_are_copied_once_to_cache_lines(
    tmp_path: Path, form: Callable[[bytes], bytes] | None, more: int
) -> None:
    proto = nested()
    proto.producer_name = "a tool"[:more]  # so that the tensors begin elsewhere
    data = proto.SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    module = load_onnx(path if form is None else form(data), LoadOptions())
    path.write_bytes(bytes(len(data)))
    large = [np.asarray(value) for value in constants_of(module) if isinstance(value, np.ndarray) and value.ndim == 2]
    assert sorted(int(array[0, 1]) for array in large) == [-1, 1, 2] and not wire.OWN_FILES
    for array in large:
        assert mapping_of(array) is None and not array.flags.writeable
        assert array.ctypes.data % CACHE_LINE == 0
        np.testing.assert_array_equal(array, array[0, 1] * LARGE)


def test_bytes_outside_large_tensors_are_all_others() -> None:
    proto = nested()
    data = proto.SerializeToString()
    outside = wire.outside_large_tensors(data)
    branches = {attribute.name: attribute.g for attribute in proto.graph.node[0].attribute}
    then, other = branches["then_branch"], branches["else_branch"]
    tensors = [*proto.graph.initializer, then.initializer[0], other.node[0].attribute[0].t]
    for tensor in tensors:
        assert tensor.raw_data in data and tensor.raw_data not in outside
    assert len(outside) == len(data) - sum(len(tensor.raw_data) - 1 for tensor in tensors)
    assert all(name in outside for name in (b"inner", b"weight", b"Identity", b"chosen"))


def test_damaged_model_is_outside_of_large_tensors_as_a_whole() -> None:
    data = nested().SerializeToString()[:-1]
    assert wire.outside_large_tensors(data) == data


@pytest.mark.parametrize("limit", [saving.EXTERNAL_LIMIT, 0])
def test_large_constants_are_written_block_by_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(saving, "EXTERNAL_LIMIT", limit)
    source, target = tmp_path / "model.onnx", tmp_path / "out.onnx"
    onnx.save(nested(), source)
    save_onnx(load_onnx(source, MAPPED), target)
    assert (tmp_path / "out.onnx.data").exists() == (limit == 0)
    onnx.checker.check_model(str(target))
    for settings, expected in zip(results(whorl.load(target)), results(whorl.load(source)), strict=True):
        np.testing.assert_array_equal(settings, expected)


def test_model_may_be_written_over_the_file_it_is_read_from(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(nested(), path)
    module = load_onnx(path, MAPPED)
    save_onnx(module, path)
    np.testing.assert_array_equal(results(module)[0], results(whorl.load(path))[0])


@pytest.mark.parametrize("cut", [100, 50_000, 300_000])
def test_truncated_file_is_refused_as_without_mapping(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(nested().SerializeToString()[:cut])
    messages = []
    for options in (MAPPED, LoadOptions()):
        with pytest.raises(whorl.LoadError) as caught:
            load_onnx(path, options)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


WAITING = Mapped(np.negative, [Leaf(LARGE)], LARGE.dtype, LARGE.shape)


def test_proto_of_waiting_elements_contains_them() -> None:
    region = Region()
    region.results = [Builder(region, Inference()).constant(WAITING)]
    (tensor,) = to_proto(Module(region, ["r"])).graph.initializer
    np.testing.assert_array_equal(numpy_helper.to_array(tensor), -LARGE)
