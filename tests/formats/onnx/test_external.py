"""Tensors whose bytes lie beside the model file: mapped, and only from inside its folder."""

import mmap
import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_text import refusal, run

import whorl
from whorl.errors import LoadError
from whorl.ir.constants import Constant, LazyArray

INT4 = TensorProto.INT4
BESIDE = "\n  fix: put the file beside the model"


def external(location: str | None, dims=(2,), data_type=TensorProto.FLOAT, **positions: str) -> TensorProto:
    """A tensor `w` whose bytes are in a file."""
    tensor = TensorProto(name="w", dims=dims, data_type=data_type, data_location=TensorProto.EXTERNAL)
    entries = positions if location is None else {"location": location, **positions}
    for key, text in entries.items():
        tensor.external_data.add(key=key, value=text)
    return tensor


def saved(folder: Path, tensor: TensorProto, name: str = "model.onnx") -> Path:
    """A model in a folder that gives the tensor back."""
    info = helper.make_tensor_value_info("y", tensor.data_type, None)
    graph = helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "main", [], [info], [tensor])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (folder / name).write_bytes(proto.SerializeToString())
    return folder / name


def constant_of(path: Path) -> LazyArray:
    """What the program of a model holds for its only constant."""
    (constant,) = [node.op for node in whorl.load(path).nodes() if isinstance(node.op, Constant)]
    return constant.value


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the floats 0 to 9 in a file, beside a file that is none of the model's business."""
    (tmp_path / "secret").write_bytes(bytes(8))
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "weights").write_bytes(np.arange(10, dtype=np.float32).tobytes())
    return tmp_path / "inside"


@pytest.mark.parametrize(
    ("positions", "expected"),
    [({}, [0, 1]), ({"offset": "8"}, [2, 3]), ({"offset": "32", "length": "8"}, [8, 9]), ({"length": "8"}, [0, 1])],
)
def test_part_of_a_file_is_read(folder, positions, expected):
    np.testing.assert_array_equal(run(saved(folder, external("weights", **positions))), [expected])


def test_bytes_are_mapped_and_not_copied(folder):
    base = constant_of(saved(folder, external("weights"))).numpy()
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap)


def test_file_beyond_one_page_is_read_from_an_odd_offset(folder):
    (folder / "weights").write_bytes(bytes(mmap.ALLOCATIONGRANULARITY + 3) + np.array([5, 6], np.float32).tobytes())
    positions = {"offset": str(mmap.ALLOCATIONGRANULARITY + 3)}
    np.testing.assert_array_equal(run(saved(folder, external("weights", **positions))), [[5, 6]])


def test_packed_elements_are_unpacked(folder):
    (folder / "weights").write_bytes(bytes([0xF1, 0x07]))
    np.testing.assert_array_equal(run(saved(folder, external("weights", [3], INT4)))[0].astype(np.int8), [1, -1, 7])


def test_no_elements_need_no_bytes(folder):
    (folder / "weights").write_bytes(b"")
    assert run(saved(folder, external("weights", [0, 3])))[0].shape == (0, 3)


def test_attribute_may_lie_beside_the_model(folder):
    node = helper.make_node("Constant", [], ["y"])
    node.attribute.append(onnx.AttributeProto(name="value", type=onnx.AttributeProto.TENSOR, t=external("weights")))
    info = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    proto = helper.make_model(helper.make_graph([node], "main", [], [info]), ir_version=10)
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    np.testing.assert_array_equal(run(folder / "model.onnx"), [[0, 1]])
    assert refusal(proto) == (
        "Constant 'y': attribute 'value' lies outside the model\n"
        "  fix: load the model by its path, so that its folder is known"
    )


def test_model_without_a_folder(folder):
    assert refusal(saved(folder, external("weights")).read_bytes()) == (
        "initializer 'w' lies outside the model\n  fix: load the model by its path, so that its folder is known"
    )


@pytest.mark.parametrize("location", ["../secret", "sub/../../secret", "/etc/hostname", ".", ".."])
def test_file_outside_the_folder(folder, location):
    assert refusal(saved(folder, external(location))) == (
        f"initializer 'w' lies in {location!r}, outside the model's folder\n  fix: put the file beside the model"
    )


def test_link_out_of_the_folder(folder):
    os.symlink(folder.parent / "secret", folder / "link")
    assert refusal(saved(folder, external("link"))) == (
        "initializer 'w' lies in 'link', outside the model's folder\n  fix: put the file beside the model"
    )


def test_linked_folder_out_of_the_folder(folder):
    os.symlink(folder.parent, folder / "up")
    assert refusal(saved(folder, external("up/secret"))) == (
        "initializer 'w' lies in 'up/secret', outside the model's folder\n  fix: put the file beside the model"
    )


def test_link_within_the_folder_is_followed(folder):
    os.symlink("weights", folder / "link")
    np.testing.assert_array_equal(run(saved(folder, external("link"))), [[0, 1]])


def test_model_that_is_a_link_is_beside_its_link(folder):
    path = saved(folder, external("weights"))
    os.symlink(path, folder.parent / "link.onnx")
    text = "initializer 'w' lies in 'weights', which is missing\n  fix: put the file beside the model"
    assert refusal(folder.parent / "link.onnx") == text


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (external("nowhere"), f"initializer 'w' lies in 'nowhere', which is missing{BESIDE}"),
        (external("sub"), f"initializer 'w' lies in 'sub', which is missing{BESIDE}"),
        (external(None), "initializer 'w' does not say in which file it lies"),
        (external("a\0b"), "initializer 'w' lies in 'a\\x00b', which is no path: embedded null byte"),
        (external("a" * 300), f"initializer 'w' lies in '{'a' * 80}', which is no path: File name too long"),
        (external("loop"), "initializer 'w' lies in 'loop', which is no path: links form a loop"),
        (external("weights", [11]), "initializer 'w' ends at byte 44 of 'weights', which has 40"),
        (external("weights", offset="36"), "initializer 'w' ends at byte 44 of 'weights', which has 40"),
        (external("weights", length="12"), "initializer 'w' has 12 bytes outside, float32[2] takes 8"),
        (external("weights", offset="-4"), "initializer 'w' has the offset '-4', expected a number of bytes"),
        (external("weights", length="8.0"), "initializer 'w' has the length '8.0', expected a number of bytes"),
        (
            external("weights", offset="9" * 5000),
            f"initializer 'w' has the offset '{'9' * 32}', expected a number of bytes",
        ),
        (external("weights", [-1]), "initializer 'w' declares the impossible shape [-1]"),
        (external("weights", [1 << 40, 2]), "initializer 'w' declares the impossible shape [1099511627776, 2]"),
        (external("weights", [0, 1 << 60]), "initializer 'w' declares the impossible shape [0, 1152921504606846976]"),
        (
            external("weights", data_type=TensorProto.STRING),
            "initializer 'w' holds strings outside the model file, which ONNX does not allow",
        ),
    ],
)
def test_location_that_cannot_be(folder, tensor, message):
    (folder / "sub").mkdir()
    os.symlink("loop", folder / "loop")
    assert refusal(saved(folder, tensor)) == message


@pytest.mark.parametrize("dims", [[2], [2, 3], []])
@pytest.mark.parametrize("form", ["path", "bytes", "proto"])
def test_missing_file_is_not_needed_for_the_structure(folder, dims, form):
    path = saved(folder, external("nowhere", dims))
    source = {"path": path, "bytes": path.read_bytes(), "proto": onnx.load(path, load_external_data=False)}[form]
    described = whorl.describe(source)
    assert described["outputs"] == {"y": f"float32[{', '.join(map(str, dims))}]"}
    assert whorl.check(source) == []
    assert refusal(source).startswith("initializer 'w' lies ")


def test_location_that_is_not_text(folder):
    path = saved(folder, external("name_of_file"))
    path.write_bytes(path.read_bytes().replace(b"name_of_file", b"name_\xff\xfe_file"))
    assert refusal(path) == "initializer 'w' names its file in bytes that are not UTF-8\n  fix: the file is damaged"


@pytest.mark.parametrize(
    ("left", "message"),
    [(4, "its 4 bytes end before byte 16"), (0, "cannot mmap an empty file")],
)
def test_file_that_shrinks_before_it_is_mapped(folder, left, message):
    array = constant_of(saved(folder, external("weights", offset="8")))
    (folder / "weights").write_bytes(bytes(left))
    with pytest.raises(LoadError) as caught:
        array.numpy()
    assert str(caught.value) == f"external data 'weights' cannot be read: {message}"


def test_sparse_initializer_has_its_elements_itself(folder):
    sparse = onnx.SparseTensorProto(values=external("weights"), dims=[4])
    sparse.indices.CopyFrom(onnx.numpy_helper.from_array(np.array([0, 2]), "at"))
    path = saved(folder, TensorProto(name="v", dims=[1], data_type=1, float_data=[1]))
    proto = onnx.load(path)
    proto.graph.sparse_initializer.append(sparse)
    path.write_bytes(proto.SerializeToString())
    assert refusal(path) == (
        "sparse initializer 'w' lies in another file, which is not allowed here\n  fix: put its elements into this one"
    )


def test_tensor_of_a_file_is_one_array_while_somebody_uses_it(folder):
    path = saved(folder, external("weights"))
    array = constant_of(path).numpy()
    assert constant_of(path).numpy() is array
    assert constant_of(saved(folder, external("weights", offset="8"))).numpy() is not array


def test_tensor_of_a_file_that_changed_is_another_array(folder):
    path = saved(folder, external("weights"))
    first = constant_of(path).numpy()
    (folder / "new").write_bytes(np.full(10, 5, np.float32).tobytes())
    os.replace(folder / "new", folder / "weights")
    np.testing.assert_array_equal(first, [0, 1])
    np.testing.assert_array_equal(constant_of(path).numpy(), [5, 5])
