"""IR files of one loop or branch, what they are run with, and what they are refused with, for tests of the reader."""

from __future__ import annotations

import re

import numpy as np
import pytest
from formats.openvino.ir_text import constant, graph, layer, net, parameter, result

from whorl.errors import LoadError
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.runtime.session import Session

WEIGHTS = np.array([1, 2], np.float32).tobytes() + np.array([3], np.int64).tobytes() + b"\x01\x00"
TRUE = constant(20, 16, 1, "", "boolean")
BODY = (
    [parameter(0, "2,3"), parameter(1, "1,3"), layer(2, "Add", 2), result(3), result(4), TRUE, result(5)],
    "0:0-2:0 1:0-2:1 2:2-3:0 1:0-4:0 20:0-5:0",
)
"""Parameters 0 (a state) and 1 (a part), Results 3 (their sum), 4 (the part) and 5 (true)."""
STATE = {"external_port_id": 2, "internal_layer_id": 0}
PART = {"external_port_id": 3, "internal_layer_id": 1, "axis": 0}
FINAL = {"external_port_id": 4, "internal_layer_id": 3}
PARTS = {"external_port_id": 5, "internal_layer_id": 4, "axis": 0}
GOES_ON = {"external_port_id": -1, "internal_layer_id": 5, "purpose": "execution_condition"}
X = np.arange(12, dtype=np.float32).reshape(4, 3)
H = np.zeros((2, 3), np.float32)


def port_map(kind, *maps):
    return "".join(f"<{kind} {' '.join(f'{k}={chr(34)}{v}{chr(34)}' for k, v in each.items())}/>" for each in maps)


def looped(
    inputs=(STATE, PART),
    outputs=(FINAL, PARTS, GOES_ON),
    back=((3, 0),),
    body=BODY,
    trip=("", "i64"),
    condition=("", "boolean"),
    kind="Loop",
    shapes=("2,3", "?,3"),
    ports=("FP32", "FP32"),
    more=(),
):
    """A net of one loop: inputs n and go (for a Loop), h and x."""
    first = [parameter(0, *trip, name="n"), parameter(1, *condition, name="go")] if kind == "Loop" else []
    layers = [*first, parameter(2, shapes[0], name="h"), parameter(3, shapes[1], name="x"), *more]
    inside = (
        f"<port_map>{port_map('input', *inputs)}{port_map('output', *outputs)}</port_map><back_edges>"
        + "".join(f'<edge from-layer="{a}" to-layer="{b}"/>' for a, b in back)
        + f"</back_edges><body>{graph(*body)}</body>"
    )
    sources = [each for each in (0, 1, 2, 3) if kind == "Loop" or each > 1]
    sources += range(6, 6 + len(more))
    version = "opset5" if kind == "Loop" else "opset1"
    layers.append(layer(9, kind, len(sources), ports, version, inside, name="l"))
    connections = [f"{source}:0-9:{port}" for port, source in enumerate(sources)]
    for k in range(len(ports)):
        layers.append(result(10 + k))
        connections.append(f"9:{len(sources) + k}-{10 + k}:0")
    return net(layers, " ".join(connections))


def load(xml, compat=""):
    return load_ir(xml, IrOptions(compat), WEIGHTS)


def run(xml, compat="", **feeds):
    module = load(xml, compat)
    names = {value.name for value in module.main.arguments}
    passed = {"h": H, "x": X} | feeds
    return Session(module, backend="interpreter").execute(
        None, {k: np.asarray(v) for k, v in passed.items() if k in names}
    )


def refusal(xml):
    with pytest.raises(LoadError) as caught:
        load(xml)
    return re.sub(r"\(line \d+\)", "(line)", str(caught.value))


def warnings(xml):
    return [(code, message) for code, message, _ in load(xml).metadata["openvino"]["warnings"]]
