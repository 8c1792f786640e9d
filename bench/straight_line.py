"""How long does a straight-line model take, an image network or one layer of it?

Single convolutions, pools and a resize in the shapes that image networks have, then the networks that come with onnx's
backend tests, with weights drawn at random. whorl and onnxruntime run in turns on one thread; the results are compared
first. Target: at most twice what onnxruntime needs.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from measuring import US, Measurement, cpu, in_turns, report, use_one_thread

use_one_thread()

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import whorl

ROUNDS = 9
PEER = "onnxruntime"
TIMES = 2.0
"""How much longer than onnxruntime whorl may take."""
TOLERANCE = 1e-4
"""Of the largest element of a result."""
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
MODELS = (
    *("squeezenet", "shufflenet", "resnet50", "densenet121", "inception_v1", "inception_v2"),
    *("bvlc_alexnet", "zfnet512", "vgg19"),
)


@dataclass(frozen=True)
class Layer:
    """An op on an image [1, channels, side, side]; `filters` [features, depth, kernel, kernel] of a convolution."""

    op: str
    image: tuple[int, int]
    filters: tuple[int, int, int] | None = None
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def what(self) -> str:
        channels, side = self.image
        form = "" if self.filters is None else f", filters {list(self.filters)}"
        more = "".join(f", {name} {value}" for name, value in self.attributes.items())
        return f"{self.op} on {channels} x {side} x {side}{form}{more}"

    @property
    def shape(self) -> tuple[int, ...]:
        return 1, self.image[0], self.image[1], self.image[1]


def convolution(image: tuple[int, int], filters: tuple[int, int, int], stride: int = 1, group: int = 1) -> Layer:
    """A convolution that keeps the side, or divides it by the stride."""
    pad = filters[2] // 2
    attributes = {"strides": [stride] * 2, "pads": [pad] * 4, "group": group}
    return Layer("Conv", image, filters, attributes)


LAYERS = (
    convolution((3, 224), (64, 3, 7), stride=2),
    convolution((64, 56), (64, 64, 1)),
    convolution((64, 56), (64, 64, 3)),
    convolution((64, 56), (256, 64, 1)),
    convolution((256, 56), (512, 256, 1), stride=2),
    convolution((128, 56), (128, 128, 3), stride=2),
    convolution((128, 28), (128, 128, 3)),
    convolution((256, 14), (256, 256, 3)),
    convolution((512, 7), (512, 512, 3)),
    convolution((512, 7), (2048, 512, 1)),
    convolution((64, 55), (16, 64, 1)),
    convolution((16, 55), (64, 16, 3)),
    convolution((32, 112), (32, 1, 3), group=32),
    convolution((64, 112), (64, 1, 3), stride=2, group=64),
    convolution((512, 14), (512, 1, 3), group=512),
    Layer("MaxPool", (64, 112), None, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}),
    Layer("AveragePool", (256, 28), None, {"kernel_shape": [3, 3], "pads": [1] * 4}),
    Layer("GlobalAveragePool", (2048, 7)),
    Layer("Resize", (64, 56), None, {"mode": "nearest"}),
    Layer("Resize", (64, 56), None, {"mode": "linear"}),
)


def layer_model(layer: Layer) -> onnx.ModelProto:
    rng, tensors, inputs = np.random.default_rng(0), {}, ["x"]
    if layer.filters is not None:
        features, depth, kernel = layer.filters
        shape = (features, depth, kernel, kernel)
        scale = math.prod(shape[1:]) ** -0.5
        tensors = {"w": scale * rng.standard_normal(shape), "b": rng.standard_normal(features)}
        inputs += ["w", "b"]
    if layer.op == "Resize":
        tensors, inputs = {"scales": np.array([1, 1, 2, 2])}, ["x", "", "scales"]
    image = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, layer.shape)
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    node = helper.make_node(layer.op, inputs, ["y"], **layer.attributes)
    weights = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in tensors.items()]
    graph = helper.make_graph([node], "layer", [image], [result], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def network(name: str) -> onnx.ModelProto:
    """A network of the backend tests, drawn weights in the place of the nodes that make constant ones."""
    model, rng = onnx.load(LIGHT / f"light_{name}.onnx"), np.random.default_rng(0)
    graph = model.graph
    tensors = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    nodes = []
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            nodes.append(node)
            continue
        shape = tuple(tensors[node.input[0]].tolist())
        tensors[node.output[0]] = drawn(rng, shape)
    read = {name for node in nodes for name in node.input}
    inputs = [value for value in graph.input if value.name in read and value.name not in tensors]
    for remaining in (graph.node, graph.input, graph.initializer):
        del remaining[:]
    graph.node.extend(nodes)
    graph.input.extend(inputs)
    graph.initializer.extend(numpy_helper.from_array(array, key) for key, array in tensors.items() if key in read)
    return model


def drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Weights that keep the size of activations; positive numbers for what has one axis, variances among them."""
    if len(shape) < 2:
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    return (rng.standard_normal(shape) * math.sqrt(2 / math.prod(shape[1:]))).astype(np.float32)


def measured(what: str, model: onnx.ModelProto) -> Measurement:
    data, rng = model.SerializeToString(), np.random.default_rng(1)
    (passed,) = model.graph.input
    shape = [d.dim_value for d in passed.type.tensor_type.shape.dim]
    feeds = {passed.name: rng.standard_normal(shape).astype(np.float32)}
    start = time.perf_counter()
    run = partial(ours(data).run, None, feeds)
    result = run()[0]
    first = time.perf_counter() - start
    runs = {US: run, PEER: partial(theirs(data).run, None, feeds)}
    expected = runs[PEER]()[0]
    np.testing.assert_allclose(result, expected, rtol=0, atol=TOLERANCE * np.abs(expected).max(), err_msg=what)
    each = in_turns({name: partial(cpu, call) for name, call in runs.items()}, ROUNDS)
    milliseconds = {name: 1e3 * seconds for name, seconds in each.items()}
    return Measurement(f"{what} (first run after {first:.1f} s)", "ms", milliseconds, TIMES * milliseconds[PEER])


def ours(data: bytes) -> Any:
    options = whorl.SessionOptions()
    options.backend, options.intra_op_num_threads = "native", 1
    return whorl.InferenceSession(data, options)


def theirs(data: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def measurements() -> Sequence[Measurement]:
    layers = [measured(layer.what, layer_model(layer)) for layer in LAYERS]
    return layers + [measured(name, network(name)) for name in MODELS]


if __name__ == "__main__":
    onnxruntime.set_default_logger_severity(3)
    sys.exit(report((__doc__ or "").partition("\n")[0], measurements))
