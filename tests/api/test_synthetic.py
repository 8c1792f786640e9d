"""Random inputs that fit a model's declared types."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_text import model

import whorl
from whorl.api.differences import difference
from whorl.api.synthetic import synthetic_feeds


def text(*elements):
    return np.array(elements, object)


def test_random_feeds_fit_and_repeat():
    module = whorl.load(
        model("""
        main (float[n, m] a, int64[n] b, bool flag, string[2] text, int64 count, float16[m, 3] c, float d)
            => (float[n, m] y) <float d = {2}> { y = Add(a, d) }""")
    )
    feeds, again, other = (synthetic_feeds(module, seed, {"m": 5}) for seed in (1, 1, 2))
    assert {name: value.shape for name, value in feeds.items()} == {
        "a": (2, 5), "b": (2,), "flag": (), "text": (2,), "count": (), "c": (5, 3),
    }  # fmt: skip
    assert all(difference(feeds[name], again[name]) == "" for name in feeds)
    assert difference(feeds["a"], other["a"]) != ""
    assert 1 <= feeds["count"] < 5
    whorl.InferenceSession(module).run(None, feeds)


def test_random_feeds_of_sequences_and_optionals():
    element = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n"])
    x = helper.make_value_info("x", helper.make_sequence_type_proto(element))
    o = helper.make_value_info("o", helper.make_optional_type_proto(element))
    y = helper.make_tensor_value_info("y", TensorProto.INT64, [])
    graph = helper.make_graph([helper.make_node("SequenceLength", ["x"], ["y"])], "main", [x, o], [y])
    feeds = synthetic_feeds(whorl.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])))
    assert [item.shape for item in feeds["x"]] == [(2,)] * 3 and feeds["o"].shape == (2,)


@pytest.mark.parametrize("type", [TensorProto.INT4, TensorProto.UINT2, TensorProto.BFLOAT16, TensorProto.COMPLEX64])
def test_random_feeds_of_every_kind_of_number(type):
    x, y = (helper.make_tensor_value_info(name, type, ["n"]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "main", [x], [y])
    module = whorl.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)]))
    feeds = synthetic_feeds(module)
    assert difference(feeds["x"], whorl.run(module, feeds)["y"]) == ""


def test_random_feeds_of_no_elements_may_not_have_endless_axes():
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [0, 1 << 62]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "main", [x], [y])
    module = whorl.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
    with pytest.raises(whorl.WhorlError) as caught:
        synthetic_feeds(module)
    assert str(caught.value) == (
        "a value of [0, 4611686018427387904] is too large to be made up\n  fix: give the input, or lengths of dims"
    )


def test_type_for_which_nothing_can_be_made_up_is_refused():
    type = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    x, y = (helper.make_value_info(name, type) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "main", [x], [y])
    module = whorl.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
    with pytest.raises(whorl.RunError) as caught:
        synthetic_feeds(module)
    assert str(caught.value) == (
        "input 'x' is map(int64, float32[]), for which no value can be made up\n  fix: give it"
    )
