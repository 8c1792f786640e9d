"""Layers of unknown types written back."""

import numpy as np

import whorl
from whorl.formats.openvino.document import Net
from whorl.formats.openvino.xml.read import read_xml
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.core.opaque import OpaqueLayer

FLOAT32 = np.dtype(np.float32)


def written(module, path, **options) -> Net:
    """The net of the file that a module is written to."""
    whorl.save(module, path, **options)
    return read_xml(path.read_bytes(), 64)


def layers(net: Net, type: str):
    return [layer for layer in net.layers if layer.type == type]


def test_a_layer_of_unknown_type_is_written_as_it_was(tmp_path):
    region = Region("main")
    build = Builder(region, Inference())
    type = TensorType(FLOAT32, (2,))
    op = OpaqueLayer("Novel", "extension", (("alpha", "0.5"),), (type, type), (("note.version", "0"),), (("p",), ()))
    x = region.add_argument("x", type)
    region.results = build.add_many(op, [x], ["p", "q"], name="novel")
    net = written(Module(region, ["p", "q"]), tmp_path / "m.xml")
    (layer,) = layers(net, "Novel")
    assert (layer.version, layer.data, layer.rt_info) == ("extension", {"alpha": "0.5"}, {"note.version": "0"})
    assert [port.names for port in layer.outputs] == [("p",), ("q",)]
