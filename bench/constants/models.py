"""The models of the constant propagation benchmark: each is one way in which constants cost memory or time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE = 4096
"""The side of the large square tensors, 64 MiB each."""
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node, value = helper.make_node, helper.make_tensor_value_info


def tensor(name: str, array: Any) -> TensorProto:
    """An initializer."""
    return numpy_helper.from_array(np.asarray(array), name)


def constant(name: str, array: Any) -> onnx.NodeProto:
    return node("Constant", [], [name], value=tensor(f"{name}_value", array))


def model(name: str, nodes: list, inputs: list, outputs: list, tensors: list) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, name, inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def expanded_chain(random: np.random.Generator) -> onnx.ModelProto:
    """a1: 40 operations on a matrix that Expand makes; what is left of it in the end is one number."""
    nodes = [node("Expand", ["seed", "shape"], ["x0"])]
    tensors = [tensor("seed", random.standard_normal((SIDE, 1)).astype(np.float32)), tensor("shape", [SIDE, SIDE])]
    for i in range(40):
        here, there, row = f"x{i}", f"x{i + 1}", f"v{i}"
        match i % 4:
            case 0:
                tensors.append(tensor(row, random.standard_normal(SIDE).astype(np.float32)))
                nodes.append(node("Add", [here, row], [there]))
            case 1:
                tensors.append(tensor(row, np.float32(0.97)))
                nodes.append(node("Mul", [here, row], [there]))
            case 2:
                nodes.append(node("Transpose", [here], [there], perm=[1, 0]))
            case 3:
                nodes.append(node("Neg", [here], [there]))
    nodes += [node("ReduceMean", ["x40"], ["mean"], keepdims=0), node("Add", ["inp", "mean"], ["out"])]
    return model("a1", nodes, [value("inp", FLOAT, [4])], [value("out", FLOAT, [4])], tensors)


def weight_chain(random: np.random.Generator) -> onnx.ModelProto:
    """a2: 40 operations with rows on one large weight, which stays large."""
    tensors = [tensor("x0", random.standard_normal((SIDE, SIDE)).astype(np.float32))]
    nodes = []
    for i in range(40):
        tensors.append(tensor(f"v{i}", (1 + 0.01 * random.standard_normal(SIDE)).astype(np.float32)))
        nodes.append(node("Mul" if i % 2 else "Add", [f"x{i}", f"v{i}"], [f"x{i + 1}"]))
    nodes.append(node("Add", ["inp", "x40"], ["out"]))
    return model("a2", nodes, [value("inp", FLOAT, [1, SIDE])], [value("out", FLOAT, [SIDE, SIDE])], tensors)


def transposed_weights(random: np.random.Generator) -> onnx.ModelProto:
    """a3: 16 large weights in a file of their own, all used transposed."""
    nodes, tensors, here = [], [], "inp"
    for i in range(16):
        weight = (random.standard_normal((SIDE, SIDE)) / SIDE**0.5).astype(np.float32)
        tensors.append(tensor(f"w{i}", weight))
        nodes += [node("Transpose", [f"w{i}"], [f"t{i}"], perm=[1, 0]), node("MatMul", [here, f"t{i}"], [f"y{i}"])]
        here = f"y{i}"
    nodes.append(node("Identity", [here], ["out"]))
    return model("a3", nodes, [value("inp", FLOAT, [1, SIDE])], [value("out", FLOAT, [1, SIDE])], tensors)


def small_nodes(random: np.random.Generator) -> onnx.ModelProto:
    """b: 20,000 nodes of four numbers in 200 branches."""
    tensors = [tensor("one", np.ones(4, np.float32)), tensor("axis", [0]), tensor("order", [3, 2, 1, 0])]
    nodes, ends = [], []
    for branch in range(200):
        first = here = f"c{branch}"
        tensors.append(tensor(first, random.standard_normal(4).astype(np.float32)))
        steps = [
            ("Add", "one"), ("Mul", first), ("Abs", ""), ("Sqrt", ""), ("Gather", "order"), ("Unsqueeze", "axis"),
            ("Squeeze", "axis"), ("Sub", "one"), ("Neg", ""), ("Max", first),
        ]  # fmt: skip
        for k in range(100):
            kind, other = steps[k % len(steps)]
            nodes.append(node(kind, [here, other] if other else [here], [f"b{branch}_{k}"]))
            here = f"b{branch}_{k}"
        ends.append(here)
    nodes.append(node("Sum", ["inp", *ends], ["out"]))
    return model("b", nodes, [value("inp", FLOAT, [4])], [value("out", FLOAT, [4])], tensors)


def _counting_body(name: str, kind: str) -> onnx.GraphProto:
    """A Loop body whose state is added to, or multiplied by, the iteration number."""
    nodes = [
        node("Cast", [f"{name}i"], [f"{name}f"], to=FLOAT),
        node(kind, [f"{name}s", f"{name}f"], [f"{name}t"]),
        node("Identity", [f"{name}c"], [f"{name}d"]),
    ]
    inputs = [value(f"{name}i", INT64, []), value(f"{name}c", BOOL, []), value(f"{name}s", FLOAT, [4])]
    return helper.make_graph(nodes, f"{name}body", inputs, [value(f"{name}d", BOOL, []), value(f"{name}t", FLOAT, [4])])


def _folding_body() -> onnx.GraphProto:
    """A Loop body with constants to fold, its own and outer ones, and an If whose condition is constant."""
    vector = [value("then_out", FLOAT, [4])]
    then = helper.make_graph(
        [constant("two", np.float32(2)), node("Mul", ["s1", "two"], ["then_out"])], "t", [], vector
    )
    other = helper.make_graph([node("Neg", ["s1"], ["else_out"])], "e", [], [value("else_out", FLOAT, [4])])
    nodes = [
        constant("k0", np.ones(4, np.float32)),
        constant("k1", np.full(4, 3, np.float32)),
        node("Add", ["k0", "k1"], ["k2"]),
        node("Sqrt", ["k2"], ["k3"]),
        node("Mul", ["k3", "outer"], ["k4"]),
        node("Exp", ["outer"], ["k5"]),
        node("Sub", ["k4", "k5"], ["k6"]),
        node("Add", ["s", "k6"], ["s1"]),
        constant("low", np.float32(1)),
        constant("high", np.float32(2)),
        node("Less", ["low", "high"], ["is_less"]),
        node("If", ["is_less"], ["s2"], then_branch=then, else_branch=other),
        node("Tanh", ["s2"], ["s3"]),
        node("Identity", ["go_on"], ["still"]),
        node("Identity", ["s3"], ["seen"]),
    ]
    inputs = [value("i", INT64, []), value("go_on", BOOL, []), value("s", FLOAT, [4])]
    outputs = [value("still", BOOL, []), value("s3", FLOAT, [4]), value("seen", FLOAT, [4])]
    return helper.make_graph(nodes, "body", inputs, outputs)


def control_flow(random: np.random.Generator) -> onnx.ModelProto:
    """c: bodies with constants, a constant condition, constant loops, loops of no and of one iteration."""
    then = helper.make_graph([node("Add", ["inp", "outer"], ["a"])], "t", [], [value("a", FLOAT, [4])])
    nothing = [node("MatMul", ["inp", "outer"], ["e0"]), node("Expand", ["e0", "four"], ["e"])]
    other = helper.make_graph(nothing, "e", [], [value("e", FLOAT, [4])])
    step = [node("Add", ["scan_s", "scan_x"], ["scan_t"]), node("Identity", ["scan_t"], ["scan_y"])]
    pair = [value("scan_s", FLOAT, [2]), value("scan_x", FLOAT, [2])]
    scan = helper.make_graph(step, "s", pair, [value("scan_t", FLOAT, [2]), value("scan_y", FLOAT, [2])])
    nodes = [
        node("Loop", ["ten", "yes", "inp"], ["l1", "l1_seen"], body=_folding_body()),
        constant("five", np.float32(5)),
        constant("less", np.float32(4)),
        node("Greater", ["five", "less"], ["condition"]),
        node("If", ["condition"], ["chosen"], then_branch=then, else_branch=other),
        node("Neg", ["chosen"], ["i1"]),
        node("Loop", ["ten", "yes", "outer"], ["counted"], body=_counting_body("l2_", "Add")),
        node("Add", ["inp", "counted"], ["l2"]),
        node("Loop", ["zero", "yes", "inp"], ["never"], body=_counting_body("l3_", "Add")),
        node("Abs", ["never"], ["l3"]),
        node("Loop", ["one", "yes", "inp"], ["once"], body=_counting_body("l4_", "Mul")),
        node("Abs", ["once"], ["l4"]),
        node("Scan", ["s0", "xs"], ["last", "all"], body=scan, num_scan_inputs=1),
        node("ReduceSum", ["all"], ["total"], keepdims=0),
        node("Add", ["inp", "total"], ["s1_out"]),
    ]
    arrays = {
        "outer": np.arange(4, dtype=np.float32), "ten": np.int64(10), "zero": np.int64(0), "one": np.int64(1),
        "yes": np.array(True), "four": np.array([4]), "s0": np.zeros(2, np.float32),
        "xs": np.arange(6, dtype=np.float32).reshape(3, 2),
    }  # fmt: skip
    names = {"l1": [4], "l1_seen": ["n", 4], "i1": [4], "l2": [4], "l3": [4], "l4": [4], "s1_out": [4]}
    outputs = [value(name, FLOAT, shape) for name, shape in names.items()]
    return model("c", nodes, [value("inp", FLOAT, [4])], outputs, [tensor(*entry) for entry in arrays.items()])


def shape_chains(batch: int | str) -> Callable[[np.random.Generator], onnx.ModelProto]:
    """d: 100 layers that reshape by lengths they ask for at run time, as exports of PyTorch do."""

    def build(random: np.random.Generator) -> onnx.ModelProto:
        tensors, nodes, here = [tensor(f"i{k}", np.int64(k)) for k in range(4)] + [tensor("axis", [0])], [], "x"
        for layer in range(100):
            nodes += _layer(f"l{layer}_", here)
            here = f"l{layer}_o"
        shape = [batch, 12, 64, 64]
        return model("d", nodes, [value("x", FLOAT, shape)], [value(here, FLOAT, shape)], tensors)

    return build


def _layer(p: str, here: str) -> list[onnx.NodeProto]:
    lengths = [("u0", "g0"), ("u1", "g1"), ("u2", "m"), ("u3", "g2"), ("u4", "g3")]
    return [
        node("Transpose", [here], [f"{p}t"], perm=[0, 2, 1, 3]),
        node("Shape", [f"{p}t"], [f"{p}s"]),
        *(node("Gather", [f"{p}s", f"i{k}"], [f"{p}g{k}"], axis=0) for k in range(4)),
        node("Mul", [f"{p}g2", f"{p}g3"], [f"{p}m"]),
        *(node("Unsqueeze", [p + source, "axis"], [p + name]) for name, source in lengths),
        node("Concat", [f"{p}u0", f"{p}u1", f"{p}u2"], [f"{p}c1"], axis=0),
        node("Reshape", [f"{p}t", f"{p}c1"], [f"{p}r1"]),
        node("Relu", [f"{p}r1"], [f"{p}a"]),
        node("Concat", [f"{p}u0", f"{p}u1", f"{p}u3", f"{p}u4"], [f"{p}c2"], axis=0),
        node("Reshape", [f"{p}a", f"{p}c2"], [f"{p}r2"]),
        node("Transpose", [f"{p}r2"], [f"{p}t2"], perm=[0, 2, 1, 3]),
        node("Sigmoid", [f"{p}t2"], [f"{p}o"]),
    ]


MODELS: dict[str, Callable[[np.random.Generator], onnx.ModelProto]] = {
    "a1": expanded_chain,
    "a2": weight_chain,
    "a3": transposed_weights,
    "b": small_nodes,
    "c": control_flow,
    "d_static": shape_chains(2),
    "d_dynamic": shape_chains("N"),
}


def write(name: str, folder: Path) -> Path:
    """Make one of the models in a folder of its own."""
    path = folder / name / "model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = MODELS[name](np.random.default_rng(0))
    if name == "a3":
        onnx.save(made, path, save_as_external_data=True, location="model.data", size_threshold=1024)
    else:
        onnx.save(made, path)
    return path


LARGE_SIDE, LARGE_COUNT = 16384, 6
"""Six weights of 1 GiB each."""


def write_large(folder: Path) -> Path:
    """A model with 6 GiB of weights in a file that is mostly a hole: transposed, cast to float16, reshaped."""
    folder.mkdir(parents=True, exist_ok=True)
    size, nodes, tensors = LARGE_SIDE * LARGE_SIDE * 4, [], []
    with (folder / "model.data").open("wb") as file:
        file.truncate(LARGE_COUNT * size)
        for i in range(LARGE_COUNT):
            for position in (0, 12345, LARGE_SIDE * 5000 + 77, LARGE_SIDE * LARGE_SIDE - 1):
                file.seek(i * size + 4 * position)
                file.write(np.float32(i + 1 + position % 7).tobytes())
            weight = TensorProto(name=f"w{i}", data_type=FLOAT, dims=[LARGE_SIDE, LARGE_SIDE])
            weight.data_location = TensorProto.EXTERNAL
            for key, text in (("location", "model.data"), ("offset", str(i * size)), ("length", str(size))):
                weight.external_data.add(key=key, value=text)
            tensors.append(weight)
            nodes += [
                node("Transpose", [f"w{i}"], [f"t{i}"], perm=[1, 0]),
                node("Cast", [f"t{i}"], [f"h{i}"], to=TensorProto.FLOAT16),
                node("Shape", [f"h{i}"], [f"s{i}"]),
                node("Gather", [f"s{i}", "zero"], [f"g{i}"], axis=0),
                node("Concat", [f"g{i}", "minus"], [f"c{i}"], axis=0),
                node("Reshape", [f"h{i}", f"c{i}"], [f"r{i}"]),
                node("Gather", [f"r{i}", "row"], [f"y{i}"], axis=0),
            ]
    tensors += [tensor("zero", [0]), tensor("minus", [-1])]
    outputs = [value(f"y{i}", TensorProto.FLOAT16, [1, LARGE_SIDE]) for i in range(LARGE_COUNT)]
    onnx.save(model("large", nodes, [value("row", INT64, [1])], outputs, tensors), folder / "model.onnx")
    return folder / "model.onnx"
