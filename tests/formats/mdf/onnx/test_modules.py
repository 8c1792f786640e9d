"""ONNX to MDF to ONNX: the same names, types and open lengths, and the same numbers."""

import json

import numpy as np
import onnx
import pytest
from formats.mdf.onnx_models import TEXTS, feeds_of, model_of, parsed

import whorl

SUBGRAPHS = {
    "sequence carried by a loop": """net (float[N, 2] x, int64 n) => (float[M, K, 2] y, int64 count) {
        empty = SequenceEmpty()
        s = SequenceInsert(empty, x)
        grown = Loop(n, , s) <
            body = body (int64 i, bool go, seq(float[A, 2]) before) => (bool on, seq(float[A, 2]) after) {
            on = Identity(go)
            last = Constant<value_int = -1>()
            newest = SequenceAt(before, last)
            next = Add(newest, x)
            after = SequenceInsert(before, next)
        }>
        y = ConcatFromSequence<axis = 0, new_axis = 1>(grown)
        count = SequenceLength(grown)
    }""",
    "empty sequence carried by a loop": """net (int64 n) => (float[M, 2] y) {
        empty = SequenceEmpty()
        rows = Loop(n, , empty) <
            body = body (int64 i, bool go, seq(float[2]) before) => (bool on, seq(float[2]) after) {
            on = Identity(go)
            f = Cast<to = 1>(i)
            two = Constant<value_ints = [2]>()
            row = Expand(f, two)
            after = SequenceInsert(before, row)
        }>
        y = ConcatFromSequence<axis = 0, new_axis = 1>(rows)
    }""",
    "collected rows": """net (float[2] x, int64 n) => (float[2] last, float[R, 2] rows) {
        last, rows = Loop(n, , x) <body = body (int64 i, bool go, float[2] a) => (bool on, float[2] b, float[2] row) {
            on = Identity(go)
            half = Constant<value_float = 0.5>()
            b = Mul(a, half)
            row = Add(b, x)
        }>
    }""",
    "branches": """net (float[N] x, bool which) => (float[N] y) {
        y = If(which) <
            then_branch = one () => (float[N] a) { a = Neg(x) },
            else_branch = two () => (float[N] b) { b = Exp(x) }
        >
    }""",
    "double precision": """net (double[N] x) => (double[N] y, int32[2] whole) {
        third = Constant<value = double[1] {0.3333333333333333}>()
        y = Mul(x, third)
        whole = Constant<value = int32[2] {3, -4}>()
    }""",
    "small numbers": """net (uint8[N] x) => (float[N] y) {
        scale = Constant<value_float = 0.1>()
        zero = Constant<value = uint8 {128}>()
        y = DequantizeLinear(x, scale, zero)
    }""",
    "open lengths": """net (float[batch, 3, height, width] image, float[batch, other] more) => (float[batch, 3] y, z) {
        p = GlobalAveragePool(image)
        y = Flatten(p)
        z = Concat<axis = 1>(y, more)
    }""",
    "unused input": "net (float[N] x, int64[?] unused) => (float[N] y) { y = Neg(x) }",
}  # fmt: skip
LENGTHS = {"N": 3, "batch": 2, "height": 4, "width": 5, "other": 2}
ALL = {**TEXTS, **SUBGRAPHS}


def again(model, tmp_path):
    """The model by way of MDF."""
    whorl.save(model, tmp_path / "model.json")
    whorl.save(tmp_path / "model.json", tmp_path / "again.onnx")
    return onnx.load(tmp_path / "again.onnx")


def signature(infos):
    """Names, element types and lengths, each named length as it is called."""
    return {info.name: onnx.helper.printable_type(info.type) for info in infos}


def model_named(name):
    return model_of(ALL[name]) if name in TEXTS else parsed(ALL[name])


@pytest.mark.parametrize("name", ALL)
def test_model_comes_back_with_its_inputs_outputs_and_numbers(name, tmp_path):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    model = model_named(name)
    back = again(model, tmp_path)
    assert signature(back.graph.input) == signature(model.graph.input)
    assert [info.name for info in back.graph.output] == [info.name for info in model.graph.output]
    feeds = feeds_of(model, **LENGTHS)
    actual, expected = (
        ort.InferenceSession(each.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
        for each in (back, model)
    )
    for value, required in zip(actual, expected, strict=True):
        assert value.dtype == required.dtype
        np.testing.assert_allclose(value, required, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("lengths", [{}, {"batch": 1, "height": 1}, {"batch": 0, "width": 9}], ids=str)
def test_open_lengths_stay_open(lengths, tmp_path):
    back = again(parsed(SUBGRAPHS["open lengths"]), tmp_path)
    assert [
        [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim] for info in back.graph.input
    ] == [
        ["batch", 3, "height", "width"],
        ["batch", "other"],
    ]
    feeds = feeds_of(back, **{**LENGTHS, **lengths})
    actual, expected = (whorl.run(model, feeds) for model in (back, parsed(SUBGRAPHS["open lengths"])))
    for name, required in expected.items():
        np.testing.assert_allclose(actual[name], required, rtol=1e-6)


def changed(tmp_path, change):
    """The data of a written model, and what stands in the file after a change."""
    whorl.save(parsed("net (float[N] x) => (float[N] y) { y = Neg(x) }"), tmp_path / "model.json")
    data = json.loads((tmp_path / "model.json").read_text())
    change(data["ONNX Model"]["graphs"]["net"])
    (tmp_path / "model.json").write_text(json.dumps(data))
    return whorl.load(tmp_path / "model.json")


def test_graph_that_got_a_memory_is_a_model_over_time(tmp_path):
    def add_memory(graph):
        graph["nodes"]["Neg"]["parameters"]["count"] = {"default_initial_value": 0, "value": "count + 1"}

    module = changed(tmp_path, add_memory).module()
    assert [value.name for value in module.main.arguments] == ["steps", "Neg.x.input", "Neg.count.initial"]


def test_record_and_time_step_ask_for_the_model_over_time(tmp_path):
    model = changed(tmp_path, lambda graph: None)
    assert [value.name for value in model.module().main.arguments] == ["x"]
    assert [value.name for value in model.module(record=["Neg.y"]).main.arguments] == ["steps", "Neg.x.input"]
    assert [value.name for value in model.module(has_dt=True).main.arguments] == ["steps", "dt", "Neg.x.input"]


def test_graph_without_types_is_a_model_over_time(tmp_path):
    model = changed(tmp_path, lambda graph: graph["metadata"].pop("onnx_types"))
    assert [value.name for value in model.module().main.arguments] == ["steps", "Neg.x.input"]


def test_long_chain_of_nodes_needs_no_deep_recursion(tmp_path):
    nodes = [onnx.helper.make_node("Neg", [f"v{at}"], [f"v{at + 1}"]) for at in range(1500)]
    ends = [onnx.helper.make_tensor_value_info(name, 1, ["N"]) for name in ("v0", "v1500")]
    graph = onnx.helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    whorl.save(onnx.helper.make_model(graph), tmp_path / "chain.json")
    assert whorl.run(tmp_path / "chain.json", {"v0": np.ones(2, np.float32)})["v1500"].tolist() == [1, 1]
