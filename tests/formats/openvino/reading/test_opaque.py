"""Layers of unknown types: one opaque node each."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of

import whorl
from whorl.errors import LoadError


def strange(outputs: tuple[str, ...], **data: object) -> bytes:
    layers = [parameter(0, "2", name="x"), layer(1, "Strange", 1, outputs, "mine", "", "s", **data), result(2)]
    return net(layers, "0:0-1:0 1:1-2:0")


def test_layer_is_a_node_of_the_types_that_its_ports_declare() -> None:
    text = program_of(strange(("FP32:a,b:2,-1", "I64"), k=1))
    assert '%a: float32[2, a.1], %s.1: int64[*] = OpaqueLayer "s" (%x)' in text
    assert 'type = "Strange", version = "mine"' in text


def test_output_without_a_type_is_refused() -> None:
    with pytest.raises(LoadError) as caught:
        program_of(strange(("FP32", "dynamic")))
    assert str(caught.value).startswith(
        "Strange 's' (line 5): OV404: its type is not known, and output 1 declares no element type"
    )


def test_run_is_refused_by_name() -> None:
    module = whorl.load(strange(("FP32",)))
    with pytest.raises(whorl.WhorlError, match="Strange"):
        whorl.run(module, {"x": np.ones(2, np.float32)})
