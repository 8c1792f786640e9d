"""Initializers: constants, defaults of inputs, sparse ones; what is refused, with whole messages."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_text import model, refusal, run

import whorl

X = np.array([1, 2], np.float32)
ONES = numpy_helper.from_array(np.ones(2, np.float32), "w")
TWOS = numpy_helper.from_array(np.full(2, 2, np.float32), "w")


def test_initializer_may_be_repeated_but_not_changed():
    source = model("main () => (float[2] y) { y = Neg(w) }")
    source.graph.initializer.extend([ONES, ONES])
    np.testing.assert_array_equal(run(source), [[-1, -1]])
    source.graph.initializer.append(TWOS)
    assert refusal(source) == "initializer 'w' is given twice, with different values\n  fix: rename one of them"


def with_initializer(ir_version: int, tensor: TensorProto = TWOS, declared: str = "float[2] w") -> onnx.ModelProto:
    source = model(f"main (float[2] x, {declared}) => (float[2] y) {{ y = Add(x, w) }}")
    source.ir_version = ir_version
    source.graph.initializer.append(tensor)
    return source


def test_initializers_that_are_inputs_are_constants_in_ir_version_3():
    module = whorl.load(with_initializer(3))
    assert ([argument.name for argument in module.main.arguments], module.defaults) == (["x"], {})
    np.testing.assert_array_equal(run(with_initializer(3), x=X), [[3, 4]])


def test_initializers_that_are_inputs_are_defaults_from_ir_version_4():
    np.testing.assert_array_equal(run(with_initializer(4), x=X), [[3, 4]])
    np.testing.assert_array_equal(run(with_initializer(4), x=X, w=X), [[2, 4]])


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("float[3] w", "input 'w' is declared float32[3], its default is float32[2]"),
        ("float w", "input 'w' is declared float32[], its default is float32[2]"),
        ("double[2] w", "input 'w' is declared float64[2], its default is float32[2]"),
        ("seq(float[2]) w", "input 'w' is declared seq(float32[2]), its default is float32[2]"),
    ],
)
def test_default_must_be_what_the_input_takes(declared, message):
    assert refusal(with_initializer(10, declared=declared)) == f"{message}\n  fix: correct the declaration"


@pytest.mark.parametrize("declared", ["float[N] w", "float[] w"])
def test_default_of_an_input_with_open_dims(declared):
    np.testing.assert_array_equal(run(with_initializer(10, declared=declared), x=X), [[3, 4]])


def sparse_model(values, indices, shape) -> onnx.ModelProto:
    dtype = TensorProto.STRING if values.dtype == object else TensorProto.FLOAT
    info = helper.make_tensor_value_info("y", dtype, None)
    tensor = helper.make_sparse_tensor(
        numpy_helper.from_array(values, "w"), numpy_helper.from_array(np.array(indices, np.int64), "at"), shape
    )
    node = helper.make_node("Identity", ["w"], ["y"])
    graph = helper.make_graph([node], "main", [], [info], sparse_initializer=[tensor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("indices", [[1, 5], [[0, 1], [1, 2]]])
def test_sparse_initializer_is_written_out(indices):
    np.testing.assert_array_equal(run(sparse_model(X, indices, [2, 3])), [[[0, 1, 0], [0, 0, 2]]])


def test_sparse_initializer_of_strings_has_empty_ones_elsewhere():
    assert run(sparse_model(np.array(["a"], object), [1], [3]))[0].tolist() == ["", "a", ""]


@pytest.mark.parametrize(
    ("values", "indices", "message"),
    [
        (X, [0], "sparse initializer 'w' has 2 values and 1 indices"),
        (X, [0, 6], "sparse initializer 'w' has an index outside its shape [2, 3]"),
        (X, [-1, 0], "sparse initializer 'w' has an index outside its shape [2, 3]"),
        (X, [[0, 0], [1, 3]], "sparse initializer 'w' has an index outside its shape [2, 3]"),
        (X, [[0], [1]], "sparse initializer 'w' has indices of shape [2, 1] for a tensor of rank 2"),
        (X, [[[0, 1]]], "sparse initializer 'w' has indices int64[1, 1, 2], expected int64[n] or int64[n, rank]"),
    ],
)
def test_sparse_initializer_that_contradicts_itself(values, indices, message):
    assert refusal(sparse_model(values, indices, [2, 3])) == message


def test_sparse_initializer_beyond_the_memory():
    message = refusal(sparse_model(X, [0, 1], [1 << 20, 1 << 20]))
    assert message.startswith("sparse initializer 'w' is too large to be written out: Unable to allocate 4.00 TiB")
