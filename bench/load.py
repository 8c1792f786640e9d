"""How much CPU do loading, inferring and verifying a model of 20,000 nodes cost?

The model is 2,000 blocks of ten nodes over inputs with named dims: a matrix product with its own weights, shape
arithmetic that inference has to follow, and in every tenth block a Loop. Loading infers; verifying infers once more.
onnx does the same in two calls: the checker, and shape inference. onnxruntime makes a session, without optimising.
"""

from __future__ import annotations

import sys
from functools import partial

from measuring import Measurement, cpu, in_turns, report, use_one_thread

use_one_thread()

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

import whorl
from whorl.ir.verify import verify

BLOCKS, WIDTH, ROUNDS = 2000, 8, 3
HEADER = '<ir_version: 10, opset_import: ["" : 21]>'
PLAIN = """
  p{k} = MatMul (x{k}, w{k})
  q{k} = Tanh (p{k})
  s{k} = Shape (q{k})
  n{k} = Gather <axis = 0> (s{k}, zero)
  m{k} = Unsqueeze (n{k}, zeros)
  t{k} = Concat <axis = 0> (m{k}, rest)
  r{k} = Reshape (q{k}, t{k})
  u{k} = Transpose <perm = [0, 2, 1]> (r{k})
  f{k} = Flatten (u{k})
  x{next} = Add (x{k}, f{k})
"""
LOOPED = """
  p{k} = MatMul (x{k}, w{k})
  x{next} = Loop (three, , p{k}) <body = body{k} (int64 i{k}, bool c{k}, float[N, 8] h{k}) => (bool d{k}, g{k}) {{
    d{k} = Identity (c{k})
    a{k} = Tanh (h{k})
    b{k} = MatMul (a{k}, w{k})
    e{k} = Add (b{k}, h{k})
    o{k} = Sigmoid (e{k})
    j{k} = Mul (o{k}, h{k})
    l{k} = Sub (j{k}, a{k})
    g{k} = Tanh (l{k})
  }}>
"""


def model() -> onnx.ModelProto:
    """2,000 blocks of ten nodes, the nodes of loop bodies counted."""
    blocks = "".join((LOOPED if k % 10 == 9 else PLAIN).format(k=k, next=k + 1) for k in range(BLOCKS))
    graph = f"many (float[N, {WIDTH}] x0) => (float[N, {WIDTH}] x{BLOCKS}) {{{blocks}}}"
    made = onnx.parser.parse_model(HEADER + graph)
    random = np.random.default_rng(0)
    weights = {f"w{k}": random.normal(0, 0.1, (WIDTH, WIDTH)).astype(np.float32) for k in range(BLOCKS)}
    numbers = {"zero": 0, "zeros": [0], "rest": [2, WIDTH // 2], "three": 3}
    constants = weights | {name: np.array(value, np.int64) for name, value in numbers.items()}
    made.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    return made


def verified(data: bytes) -> None:
    verify(whorl.load(data))


def checked(data: bytes) -> None:
    onnx.checker.check_model(data)
    onnx.shape_inference.infer_shapes(data, strict_mode=True)


def session(data: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def assert_equal(data: bytes) -> None:
    """The loaded model has 20,000 nodes, exact types, and the results that onnxruntime has."""
    loaded = whorl.load(data)
    computing = sum(1 for node in loaded.nodes() if node.op.name != "Constant")
    assert computing == 10 * BLOCKS, computing
    assert str(loaded.main.results[0].type) == f"float32[N, {WIDTH}]"
    feeds = {"x0": np.random.default_rng(1).normal(size=(3, WIDTH)).astype(np.float32)}
    (actual,), (expected,) = whorl.run(loaded, feeds).values(), session(data).run(None, feeds)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def measure() -> list[Measurement]:
    data = model().SerializeToString()
    assert_equal(data)
    works = {
        "whorl": partial(verified, data),
        "onnx": partial(checked, data),
        "onnxruntime": partial(session, data),
    }
    medians = in_turns({name: partial(cpu, work) for name, work in works.items()}, ROUNDS)
    return [Measurement("load, infer and verify 20,000 nodes", "s of CPU", medians, target=4)]


if __name__ == "__main__":
    sys.exit(report(__doc__.partition("\n")[0], measure))
