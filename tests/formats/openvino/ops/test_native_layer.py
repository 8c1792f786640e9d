"""A layer of OpenVINO's among hub nodes."""

import numpy as np
from formats.openvino.net_text import shown

from whorl.formats.openvino.ops.native_layer import NativeLayer
from whorl.formats.openvino.saving import write_net
from whorl.ir.build import Builder
from whorl.ir.graph import REGISTRY, Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType

PAIR = TensorType(np.dtype(np.float32), (2,))


def test_layer_is_written_with_its_inputs_attributes_and_outputs() -> None:
    region = Region()
    x = region.add_argument("x", PAIR)
    layer = NativeLayer("TopK", 11, (PAIR, PAIR.with_dtype(np.dtype(np.int64))), (("axis", 0), ("stable", True)))
    region.results = list(Builder(region, Inference()).add_many(layer, [x, x], ["values", "indices"]))
    net, _ = write_net(Module(region, ["v", "i"]))
    assert shown(net) == [
        "Parameter-1() shape=2 element_type=f32",
        "TopK-11(0, 0) axis=0 stable=true",
        "Result-1(1)",
        "Result-1(1.1)",
    ]


def test_layer_is_no_op_that_a_program_may_name() -> None:
    assert "NativeLayer" not in REGISTRY
