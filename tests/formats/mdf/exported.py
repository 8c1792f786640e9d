"""Models as modeci_mdf's PyTorch exporter writes them: a node an operator, weights as ports that nothing feeds."""

from __future__ import annotations

from typing import Any

import onnx
from formats.mdf.onnx_models import numbers


class Exported:
    """Writes a file node by node; names of inputs are ids of ports, numbers and lists become constants.

    `is_old`: as versions before 0.4.4 wrote it, where a function has the id `onnx::Conv_1`, and a port names several
    results without saying which.
    """

    def __init__(self, is_old: bool = False) -> None:
        self.is_old = is_old
        self.nodes: dict[str, Any] = {}
        self.edges: dict[str, Any] = {}
        self.weights: dict[str, Any] = {}

    def weight(self, id: str, *shape: int) -> str:
        self.weights[id] = numbers(id, shape)
        return id

    def add(
        self, op: str, *inputs: Any, shape: tuple[int, ...] = (), number: int | None = None, **attributes: Any
    ) -> str:
        """A node, and the id of its first output: a number with a line before it, as node ids of TorchScript are."""
        schema, port = onnx.defs.get_schema(op, 15), f"_{len(self.nodes) + 10}"
        id, function = f"{op}{port}", f"onnx::{op}_1" if self.is_old else f"onnx_{op}_1"
        ports = [name for name in inputs if isinstance(name, str)]
        constants = {f"{port}_{at}": value for at, value in enumerate(inputs) if not isinstance(value, str)}
        ids = [value if isinstance(value, str) else f"{port}_{at}" for at, value in enumerate(inputs)]
        is_list = bool(schema.inputs) and schema.inputs[0].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
        formal = [each.name for each in schema.inputs]
        args = {formal[0]: str(ids)} if is_list else dict(zip(formal, ids, strict=False))
        values, has_several = {**constants, **attributes}, len(schema.outputs) > 1 and not self.is_old
        self.nodes[id] = {
            "input_ports": {name: self.port(name) for name in ports},
            "parameters": {
                **{name: {"value": value} for name, value in values.items()},
                function: {"function": f"onnx::{op}", "args": args},
            },
            "output_ports": {port: {"value": f"{function}[0]" if has_several else function}},
        }
        for name in ports:
            senders = [sender for sender, node in self.nodes.items() if name in node["output_ports"]]
            for sender in senders:
                ends = {"sender": sender, "sender_port": name, "receiver": id, "receiver_port": name}
                self.edges[f"{sender}_{id}"] = ends
        return port

    def port(self, id: str) -> dict[str, Any]:
        return {"shape": list(self.weights[id].shape), "type": "Tensor"} if id in self.weights else {"type": "Tensor"}

    def data(self) -> dict[str, Any]:
        graphs = {"CNNGraph": {"nodes": self.nodes, "edges": self.edges}}
        return {"CNN": {"format": "ModECI MDF v0.4", "graphs": graphs, "onnx_opset_version": 15}}


def convolution_net(is_old: bool = False) -> Exported:
    """Conv, normalisation, pooling, and the way to a flat array that exporters take: Shape, Gather, Concat, Reshape."""
    net = Exported(is_old)
    conv = {"dilations": [1, 1], "group": 1, "pads": [1, 1, 1, 1], "strides": [1, 1], "kernel_shape": [3, 3]}
    pool = {"ceil_mode": 0, "kernel_shape": [2, 2], "pads": [0, 0, 0, 0], "strides": [2, 2]}
    image = net.weight("input1", 1, 2, 6, 6)
    first = net.add("Conv", image, net.weight("conv1_weight", 4, 2, 3, 3), net.weight("conv1_bias", 4), **conv)
    scales = [net.weight(f"bn_{part}", 4) for part in ("weight", "bias", "running_mean", "running_variance")]
    normal = net.add("BatchNormalization", first, *scales, epsilon=1e-05, momentum=0.9, training_mode=0)
    small = net.add("MaxPool", net.add("Relu", normal), **pool)
    padded = net.add("Pad", small, net.add("Constant", value=[0, 0, 1, 1, 0, 0, 1, 1]), mode="constant")
    mean = net.add("AveragePool", padded, **pool)
    count = net.add("Gather", net.add("Shape", mean), net.add("Constant", value=0), axis=0)
    lengths = [net.add("Unsqueeze", each, [0]) for each in (count, net.add("Constant", value=-1))]
    flat = net.add("Reshape", mean, net.add("Concat", *lengths, axis=0))
    net.add("Gemm", flat, net.weight("fc_weight", 3, 16), net.weight("fc_bias", 3), alpha=1.0, beta=1.0, transB=1)
    return net


def inception(is_old: bool = False) -> Exported:
    """Branches that a Concat with a list of ports joins, and one with a port and a parameter."""
    net = Exported(is_old)
    conv = {"dilations": [1, 1], "group": 1, "pads": [0, 0, 0, 0], "strides": [1, 1], "kernel_shape": [1, 1]}
    image = net.weight("input1", 1, 3, 4, 4)
    branches = [net.add("Conv", image, net.weight(f"branch{at}_weight", at, 3, 1, 1), **conv) for at in (1, 2)]
    slope = net.weight("onnx_PRelu_387", 2, 1, 1)
    combined = net.add("Concat", branches[0], net.add("PRelu", branches[1], slope), image, axis=1)
    mean = net.add("GlobalAveragePool", combined)
    net.add("Concat", net.add("Flatten", mean, axis=1), [[0.5, -0.5]], axis=1)
    return net


MODELS = {"convolution net": convolution_net, "inception": inception}
