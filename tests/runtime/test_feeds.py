"""What may be fed for a declared type, and what each refusal says."""

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

import whorl
from whorl.ir.dims import name
from whorl.ir.dtypes import BY_NAME, STRING
from whorl.ir.types import MapType, OptionalType, SequenceType, TensorType
from whorl.runtime.feeds import are_strings, check_value

F32 = np.dtype(np.float32)


def tensor(dtype, *shape):
    return TensorType(BY_NAME[dtype], tuple(name(d) if isinstance(d, str) else d for d in shape))


def refusal(value, type):
    with pytest.raises(whorl.RunError) as caught:
        check_value(value, type, "input 'x'")
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "type", "expected"),
    [
        (3, tensor("int64"), np.int64(3)),
        (-1, tensor("int4"), ml_dtypes.int4(-1)),
        (2, tensor("float32"), np.float32(2)),
        (0.1, tensor("float32"), np.float32(0.1)),
        (0.1, tensor("bfloat16"), ml_dtypes.bfloat16(0.1)),
        (1 << 53, tensor("float64"), np.float64(1 << 53)),
        (float("inf"), tensor("float16"), np.float16("inf")),
        (1 + 2j, tensor("complex64"), np.complex64(1 + 2j)),
        (True, tensor("bool"), np.bool_(True)),
        ([], tensor("float32", 0), np.zeros(0, np.float32)),
        ([[1, 2], [3, 4]], tensor("uint8", 2, "n"), np.array([[1, 2], [3, 4]], np.uint8)),
        (range(3), tensor("int32", "n"), np.arange(3, dtype=np.int32)),
    ],
)
def test_python_numbers_take_the_declared_type(value, type, expected):
    array = check_value(value, type, "x")
    assert array.dtype == type.dtype and array.shape == np.shape(expected)
    assert np.array_equal(array, expected)


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (128, tensor("int8")),
        (-1, tensor("uint64")),
        (1 << 63, tensor("int64")),
        (8, tensor("int4")),
        ((1 << 53) + 1, tensor("float64")),
        ((1 << 24) + 1, tensor("float32")),
        (70000, tensor("float16")),
        (1e39, tensor("float32")),
    ],
)
def test_python_numbers_that_would_change_are_refused(value, type):
    text = refusal(value, type)
    assert text == f"input 'x' holds values that {type!s} cannot\n  fix: feed an array of the right type".replace(
        "[]", ""
    )


def convert(dtype):
    return f"convert it, for example with .astype({dtype!r})"


@pytest.mark.parametrize(
    ("value", "type", "problem", "fix"),
    [
        (np.zeros(3), tensor("float32", "n"), "float64[3], expected float32[n]", convert("float32")),
        (np.zeros(3, F32), tensor("float64", "n"), "float32[3], expected float64[n]", convert("float64")),
        (np.float64(1), tensor("float32"), "float64[], expected float32[]", convert("float32")),
        ([0.5], tensor("int64", 1), "float64[1], expected int64[1]", convert("int64")),
        (1, tensor("bool"), "int64[], expected bool[]", convert("bool")),
        ([True], tensor("float32", 1), "bool[1], expected float32[1]", convert("float32")),
        ("text", tensor("float32"), "string[], expected float32[]", convert("float32")),
        (np.zeros(2), tensor("string", 2), "float64[2], expected string[2]", "feed strings"),
        (np.zeros(2, "M8[s]"), tensor("int64", 2), "datetime64[s][2], expected int64[2]", convert("int64")),
        (None, tensor("float32"), "NoneType, expected float32[]", "feed a NumPy array"),
        (1 << 70, tensor("int64"), "int, expected int64[]", "feed a NumPy array"),
        (np.array([1, 2], object), tensor("int64", 2), "ndarray, expected int64[2]", "feed a NumPy array"),
    ],
)
def test_wrong_element_type_is_refused(value, type, problem, fix):
    assert refusal(value, type) == f"input 'x' is {problem}\n  fix: {fix}"


@pytest.mark.parametrize("shape", [(2,), (2, 4), (1, 2, 3)])
def test_wrong_rank_or_length_is_refused(shape):
    text = f"input 'x' has shape {list(shape)}, expected float32[n, 3]\n  fix: reshape the array"
    assert refusal(np.zeros(shape, np.float32), tensor("float32", "n", 3)) == text


def test_ragged_list_is_refused():
    assert refusal([[1], [2, 3]], tensor("int64", "n")).startswith("input 'x' is not an array: ")


def test_array_of_another_byte_order_is_taken():
    array = check_value(np.array([1, 2], ">f4"), tensor("float32", 2), "x")
    assert array.dtype == F32 and array.dtype.isnative and array.tolist() == [1, 2]


def test_array_is_taken_without_a_copy():
    array = np.zeros((2, 3), np.float32)[:, ::2]
    assert check_value(array, tensor("float32", 2, 2), "x") is array


class DlPack:
    """A tensor of another library: dlpack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnOtherDevice(DlPack):
    def __dlpack__(self, **options):
        raise BufferError("the tensor lies on a GPU")


def test_dlpack_is_taken():
    assert check_value(DlPack(np.arange(3, dtype=np.float32)), tensor("float32", "n"), "x").tolist() == [0, 1, 2]


def test_dlpack_of_the_wrong_type_is_not_converted():
    assert refusal(DlPack(np.arange(3)), tensor("float32", "n")).startswith(
        "input 'x' is int64[3], expected float32[n]"
    )


def test_dlpack_that_numpy_cannot_read_is_refused():
    text = refusal(OnOtherDevice(np.zeros(1, np.float32)), tensor("float32", 1))
    cause = "the tensor lies on a GPU\n  fix: convert it to a NumPy array"
    assert text == f"input 'x' cannot be read as an array: {cause}"


class WithHint(DlPack):
    """A tensor as PyTorch has them: `__array__` and dlpack, both of which refuse."""

    def __init__(self, hint, error):
        super().__init__(np.zeros(1, np.float32))
        self.hint, self.error = hint, error

    def __array__(self, dtype=None, copy=None):
        raise self.error(self.hint)


@pytest.mark.parametrize(
    ("error", "message", "cause", "fix"),
    [
        (
            RuntimeError,
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
            "Can't call numpy() on Tensor that requires grad.",
            "use tensor.detach().numpy() instead",
        ),
        (
            TypeError,
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to the host first.",
            "can't convert cuda:0 device type tensor to numpy.",
            "use Tensor.cpu() to copy the tensor to the host first",
        ),
        (TypeError, "Got unsupported ScalarType BFloat16", "Got unsupported ScalarType BFloat16", "feed a NumPy array"),
    ],
)
def test_hint_of_another_library_is_the_fix(error, message, cause, fix):
    text = f"is not an array: {cause}\n  fix: {fix}"
    assert refusal(WithHint(message, error), tensor("float32", 1)) == f"input 'x' {text}"
    assert refusal([WithHint(message, error)], tensor("float32", 1)) == f"input 'x' {text}"


class ArrayLike:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.5, 2.5], np.float32)


def test_array_interface_is_taken():
    assert check_value(ArrayLike(), tensor("float32", 2), "x").tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "value",
    [
        ["ab", "ç"],
        ("ab", "ç"),
        np.array(["ab", "ç"]),
        np.array(["ab", "ç"], object),
        np.array([b"ab", "ç".encode()]),
        np.array([np.str_("ab"), "ç".encode()], object),
        np.array(["ab", "ç"], np.dtypes.StringDType()),
    ],
    ids=["list", "tuple", "U", "object", "bytes", "mixed", "StringDType"],
)
def test_text_is_taken_in_every_form(value):
    array = check_value(value, tensor("string", "n"), "x")
    assert array.dtype == STRING and array.tolist() == ["ab", "ç"]
    assert all(type(text) is str for text in array.flat)


def test_scalar_and_empty_text_are_taken():
    assert check_value("ab", tensor("string"), "x").tolist() == "ab"
    assert check_value([], tensor("string", 0), "x").dtype == STRING


def test_object_that_is_not_text_is_refused_with_its_location():
    text = refusal([["a", "b"], ["c", 4]], tensor("string", 2, 2))
    assert text == "input 'x' holds int at [1, 1], expected strings\n  fix: feed strings"


def test_sequences_are_lists_of_what_the_element_takes():
    items = check_value(([1, 2], np.zeros(3, np.float32)), SequenceType(tensor("float32", "n")), "x")
    assert [item.tolist() for item in items] == [[1, 2], [0, 0, 0]]


def test_wrong_item_of_a_sequence_is_named():
    text = refusal([np.zeros(1, np.float32), np.zeros(1)], SequenceType(tensor("float32", "n")))
    assert text.startswith("input 'x'[1] is float64[1], expected float32[n]")
    text = refusal(np.zeros(3), SequenceType(tensor("float32")))
    assert text == "input 'x' is float64[3], expected seq(float32[])\n  fix: feed a list of arrays"


def test_optional_takes_none_or_a_value():
    assert check_value(None, OptionalType(tensor("float32")), "x") is None
    assert check_value(2, OptionalType(tensor("float32")), "x") == 2


def test_map_takes_a_dictionary_of_its_kinds():
    type = MapType(BY_NAME["int64"], tensor("float32"))
    assert check_value({1: 2, np.int64(3): 0.5}, type, "x") == {1: 2.0, 3: 0.5}
    assert refusal({"a": 1}, type) == "input 'x' has the key 'a', expected map(int64, float32[])\n  fix: use int64 keys"
    assert refusal([1], type) == "input 'x' is list, expected map(int64, float32[])\n  fix: feed a dictionary"
    assert refusal({1: "a"}, type).startswith("input 'x'[1] is string[], expected float32[]")


# ---- the feeds together ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def session():
    """x and an optional y; w has a default."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    y = helper.make_value_info("y", helper.make_optional_type_proto(x.type))
    w = helper.make_tensor_value_info("w", TensorProto.FLOAT, ["n"])
    nodes = [
        helper.make_node("Add", ["x", "w"], ["sum"]),
        helper.make_node("OptionalHasElement", ["y"], ["has_y"]),
    ]
    default = helper.make_tensor("w", TensorProto.FLOAT, [2], [10, 20])
    outputs = [helper.make_value_info(name, helper.make_tensor_type_proto(kind, None)) for name, kind in OUTPUTS]
    graph = helper.make_graph(nodes, "main", [x, y, w], outputs, [default])
    return whorl.InferenceSession(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9))


OUTPUTS = ("sum", TensorProto.FLOAT), ("has_y", TensorProto.BOOL)
X = np.ones(2, np.float32)


def test_optional_and_overridable_inputs_may_be_left_out(session):
    total, has_y = session.run(None, {"x": X})
    assert total.tolist() == [11, 21] and not has_y
    total, has_y = session.run(None, {"x": X, "y": X, "w": X})
    assert total.tolist() == [2, 2] and has_y


def test_overridable_input_is_listed_apart(session):
    assert [value.name for value in session.get_inputs()] == ["x", "y"]
    assert [value.name for value in session.get_overridable_initializers()] == ["w"]


@pytest.mark.parametrize(
    ("feeds", "text"),
    [
        ({}, "missing inputs: 'x' (float32[n])\n  fix: feed every input that has no default"),
        ({"x": X, "z": X}, "the model has no input 'z'\n  fix: choose from x, y, w"),
        ([X], "the feeds are list, expected a dictionary\n  fix: write {name: array}"),
    ],
)
def test_wrong_feeds_are_refused(session, feeds, text):
    with pytest.raises(whorl.RunError) as caught:
        session.run(None, feeds)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["product"], "the model has no output 'product'\n  fix: choose from sum, has_y"),
        ("sum", "the output names are 'sum', expected a list\n  fix: write ['sum']"),
    ],
)
def test_wrong_output_names_are_refused(session, names, text):
    with pytest.raises(whorl.RunError) as caught:
        session.run(names, {"x": X})
    assert str(caught.value) == text


def test_outputs_come_in_the_order_requested_for(session):
    has_y, total, again = session.run(["has_y", "sum", "sum"], {"x": X})
    assert not has_y and total.tolist() == again.tolist() == [11, 21] and total is not again
    assert len(session.run([], {"x": X})) == 2


def test_one_dim_name_may_stand_for_two_lengths():
    """The IR specification gives a name one length; models that exporters merged break it, and engines run them."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy")
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Concat", ["x", "y"], ["z"], axis=0)], "main", [x, y], [z])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9)
    assert whorl.run(proto, {"x": X, "y": np.zeros(3, np.float32)})["z"].shape == (5,)


def test_strings_of_derived_classes_are_none() -> None:
    own = type("Own", (str,), {})("c")
    for values in ([], ["a"], ["a", ""], ["a", "b", "c", "d"]):
        array = np.array(values, object)
        assert are_strings(array) and are_strings(array[::-2]) and are_strings(array.reshape(-1, 1).T)
    assert are_strings(np.array("a", object))
    for value in (b"a", None, own, 1, ["a"]):
        array = np.array(["a", "a", "a"], object)
        array[1] = value
        assert not are_strings(array)
