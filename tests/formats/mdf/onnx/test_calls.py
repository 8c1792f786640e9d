"""`onnx::*` functions as files call them: what is an input, what an attribute, and in which precision they compute."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from whorl.errors import LoadError
from whorl.formats.mdf.onnx.calls import call_named
from whorl.formats.mdf.onnx.operators import find_schema, spread_arguments
from whorl.formats.onnx.attributes import attribute_value

PAIR = np.array([1.0, 2.0])
CALLS = {
    "two inputs": ("Add", {"A": PAIR, "B": 1.0}, "AB", [2.0, 3.0]),
    "scalars have one axis": ("Add", {"A": 1, "B": 2.5}, "AB", [3.5]),
    "attribute of the node": ("Concat", {"inputs": PAIR, "arg": PAIR, "axis": 0}, ["inputs", "arg"], [1, 2, 1, 2]),
    "truth values of numbers": ("And", {"A": PAIR - 1, "B": True}, "AB", [False, True]),
    "one input": ("Not", {"X": np.array([0.0, 3.0])}, "X", [True, False]),
    "list as attribute": ("Transpose", {"data": PAIR[None], "perm": [1, 0]}, ["data"], [[1.0], [2.0]]),
    "axes as an input": ("ReduceSum", {"data": PAIR[None], "axes": [1], "keepdims": 0}, ["data"], [3.0]),
    "axes as an attribute": ("ReduceMean", {"data": PAIR[None], "axes": [1], "keepdims": 0}, ["data"], [1.5]),
    "numbers as inputs": ("Clip", {"input": PAIR, "min": 1.5, "max": 3}, ["input"], [1.5, 2.0]),
    "blank input": ("Clip", {"input": PAIR, "min": "", "max": 1}, ["input", "min", "max"], [1.0, 1.0]),
    "no input": ("RandomNormal", {"shape": [0]}, [], []),
    "constant": ("Constant", {"value": 3.5}, [], 3.5),
    "tensor attribute": ("ConstantOfShape", {"input": [2], "value": 4.0}, ["input"], [4.0, 4.0]),
    "several of one name": ("Sum", {"data_0": PAIR, "b": 1, "c": PAIR}, ["data_0", "b", "c"], [3.0, 5.0]),
    "old operator": ("Upsample", {"X": PAIR.reshape(1, 1, 1, 2), "scales": [1.0, 1, 1, 2]}, ["X", "scales"],
                     [[[[1.0, 1, 2, 2]]]]),
    "newer operator": ("Gelu", {"X": np.zeros(1)}, ["X"], [0.0]),
}  # fmt: skip


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("case", CALLS)
def test_names_of_a_node_become_inputs_and_attributes(case, precision):
    name, names, args, expected = CALLS[case]
    actual = call_named(f"onnx::{name}", names, dict.fromkeys(args, "somewhere"), precision)
    np.testing.assert_array_equal(actual, expected)


def test_parts_of_a_list_may_be_expressions():
    spread = spread_arguments("onnx::Sum", {"data_0": "['/A/x.1', 2 * b, [1.0, c], 3]"})
    assert [*spread.values()] == ["/A/x.1", "2 * b", "[1.0, c]", "3"]


def test_several_results_are_a_tuple():
    values, positions = call_named("onnx::TopK", {"X": np.array([3.0, 1, 2]), "K": [2]}, {"X": "x"}, "float64")
    assert (values.tolist(), positions.tolist(), values.dtype, positions.dtype) == (
        [3, 2],
        [0, 2],
        np.float64,
        np.int64,
    )


def test_float64_is_retained_unless_the_reference_is_imitated():
    third = {"A": np.array([1.0]), "B": np.array([3.0])}
    exact = call_named("onnx::Div", third, {}, "float64")
    rounded = call_named("onnx::Div", third, {}, "float32")
    assert (exact.dtype, rounded.dtype) == (np.float64, np.float64)
    assert exact == 1 / 3
    assert rounded == np.float64(np.float32(1) / np.float32(3))


@pytest.mark.parametrize(
    ("name", "names", "args", "message"),
    [
        ("onnx::Nope", {}, {}, "there is no function 'onnx::Nope'"),
        ("onnx::Add", {"A": 1}, {}, "onnx::Add lacks its argument 'B'"),
        (
            "onnx::Exp",
            {"input": 1, "q": 2},
            {"q": "q"},
            "onnx::Exp has no argument 'q'\n  fix: its arguments are input",
        ),
        ("onnx::Softmax", {"input": PAIR, "axis": "last"}, {}, "onnx::Softmax: axis is last, expected INT"),
        ("onnx::MatMul", {"A": np.ones((2, 3)), "B": np.ones((2, 3))}, {}, "onnx::MatMul"),
    ],
)
def test_wrong_calls_are_refused(name, names, args, message):
    with pytest.raises(LoadError) as raised:
        call_named(name, names, args, "float64")
    assert message in str(raised.value)


def shared_cases():
    """onnx's own examples of single operators, in a version that MDF has."""
    for case in load_model_tests(kind="node"):
        nodes = case.model.graph.node
        version = next((each.version for each in case.model.opset_import if not each.domain), 1)
        schema = find_schema(f"onnx::{nodes[0].op_type}") if len(nodes) == 1 and not nodes[0].domain else None
        has_graph = any(attribute.type in (5, 10) for node in nodes for attribute in node.attribute)
        if schema is None or has_graph or not onnx.defs.has(schema.name, version, ""):
            continue
        if schema.since_version == onnx.defs.get_schema(schema.name, version, "").since_version:
            yield case, nodes[0], schema


def array(value):
    match value:
        case onnx.TensorProto():
            return array(numpy_helper.to_array(value))
        case onnx.SequenceProto():
            return numpy_helper.to_list(value)
        case onnx.OptionalProto():
            return numpy_helper.to_optional(value)
        case np.ndarray():
            return value.astype(object) if value.dtype.kind in "US" else value
    return value


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators_give_what_onnx_says():
    ran = set()
    for case, node, schema in shared_cases():
        inputs, expected = case.data_sets[0]
        passed = dict(zip([info.name for info in case.model.graph.input], map(array, inputs), strict=True))
        args = {
            (schema.inputs[k].name if k < len(schema.inputs) else f"{schema.inputs[-1].name}_{k}"): name
            for k, name in enumerate(node.input)
            if name
        }
        names = {key: passed[name] for key, name in args.items()}
        names |= {attribute.name: attribute_value(attribute, None) for attribute in node.attribute}
        actual = call_named(f"onnx::{node.op_type}", names, args, "given")
        results = list(actual) if isinstance(actual, tuple) else [actual]
        required = [k for k, name in enumerate(node.output) if name]
        for k, value in zip(required, map(array, expected), strict=True):
            if isinstance(value, np.ndarray) and value.dtype != object and "random" not in case.name:
                assert results[k].shape == value.shape, case.name
                if "bernoulli" not in case.name:
                    both = (np.asarray(each).astype(float) for each in (results[k], value))
                    np.testing.assert_allclose(*both, rtol=1e-3, atol=1e-5, err_msg=case.name)
        ran.add(node.op_type)
    assert len(ran) > 90
