"""Constants that nodes say in fewer bytes."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import whorl
from whorl.formats.onnx.saving import save_onnx, to_proto
from whorl.ir.build import Builder
from whorl.ir.constants import as_array
from whorl.ir.elements.base import Leaf
from whorl.ir.elements.mapped import Mapped
from whorl.ir.elements.views import tiled
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference

LARGE = np.arange(60_000, dtype=np.float32).reshape(200, 300)


def saved_constant(value: object, path: Path) -> onnx.ModelProto:
    """A model whose result is a constant, read back."""
    region = Region()
    region.results = [Builder(region, Inference()).constant(value)]
    save_onnx(Module(region, ["r"]), path)
    proto = onnx.load(path)
    onnx.checker.check_model(proto, full_check=True)
    (settings,) = whorl.InferenceSession(path).run(None, {})
    expected = as_array(value)  # type: ignore[arg-type]
    assert settings.dtype == expected.dtype and settings.shape == expected.shape
    assert settings.tolist() == expected.tolist()
    return proto


WAITING = Mapped(np.negative, [Leaf(LARGE)], LARGE.dtype, LARGE.shape)
REPEATED = Leaf(np.broadcast_to(np.arange(300, dtype=np.float32), (200, 300)))
RECIPES = {
    "one element": (np.broadcast_to(np.float32(7), (200, 300)), ["Expand"]),
    "a row": (REPEATED, ["Expand"]),
    "tiles": (tiled(Leaf(LARGE[:2, :2]), (300, 20)), ["Expand", "Reshape"]),
    "steps": (np.arange(100_000, -100_000, -3), ["Range"]),
    "other numbers": (np.arange(100_000) ** 2, []),
    "few elements": (np.broadcast_to(np.float32(7), (20, 3)), []),
    "elements that are computed": (WAITING, []),
    "text": (np.broadcast_to(np.array("a", object), (5000,)), ["Expand"]),
}


@pytest.mark.parametrize("name", RECIPES)
def test_constant_is_written_as_nodes_where_that_is_smaller(name: str, tmp_path: Path) -> None:
    value, kinds = RECIPES[name]
    path = tmp_path / "model.onnx"
    proto = saved_constant(value, path)
    assert [node.op_type for node in proto.graph.node if node.op_type != "Identity"] == kinds
    assert not kinds or path.stat().st_size < 4096


@pytest.mark.parametrize(
    ("numbers", "kinds"),
    [
        (np.arange(0, 20_000, 2, dtype=np.int16), ["Range"]),
        (np.arange(20_000, 0, -2, dtype=np.int32), ["Range"]),
        (np.arange(-32768, 32767 + 1).astype(np.int16), []),
        (np.arange(10_000, dtype=np.uint32), []),
        (np.arange(10_000, dtype=np.float32), []),
        (np.concatenate([np.arange(9_000), [8_999]]), []),
        (np.arange(10_000).reshape(100, 100), []),
    ],
    ids=["short", "falling", "limit beyond the type", "unsigned", "floats", "one other", "matrix"],
)
def test_numbers_in_steps_are_a_range_where_it_has_their_type(numbers, kinds, tmp_path: Path) -> None:
    proto = saved_constant(numbers, tmp_path / "model.onnx")
    assert [node.op_type for node in proto.graph.node if node.op_type != "Identity"] == kinds


@pytest.mark.parametrize(("opset", "kinds"), [(7, []), (8, ["Expand"]), (13, ["Expand"])])
def test_elements_that_repeat_need_the_opset_of_expand(opset, kinds) -> None:
    region = Region()
    region.results = [Builder(region, Inference()).constant(np.broadcast_to(np.float32(7), (200, 300)))]
    proto = to_proto(Module(region, ["r"]), opset)
    assert [node.op_type for node in proto.graph.node if node.op_type != "Identity"] == kinds
