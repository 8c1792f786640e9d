"""`import whorl as ort`: scripts written for onnxruntime, and what both tell of the same models."""

import json

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnx_text import FOREVER, ROLLOUT, model

import whorl
import whorl as ort

F32 = np.float32


AFFINE = model("""
    affine (float[batch, 3] x, float[3, units] w) => (float[batch, units] y) { y = MatMul(x, w) }
""")


@pytest.fixture
def path(tmp_path):
    proto = onnx.ModelProto()
    proto.CopyFrom(AFFINE)
    proto.producer_name, proto.model_version, proto.domain = "tests", 7, "org.example"
    proto.doc_string, proto.graph.doc_string = "a layer", "x times w"
    helper.set_model_props(proto, {"labels": "a,b"})
    onnx.save(proto, tmp_path / "affine.onnx")
    return str(tmp_path / "affine.onnx")


def test_script_that_asks_for_names_shapes_and_types(path):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = 2
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    ort.set_default_logger_severity(3)
    session = ort.InferenceSession(
        path, sess_options=options, providers=["CUDAExecutionProvider", "CPUExecutionProvider"]
    )
    x, w = session.get_inputs()
    assert (x.name, x.shape, x.type) == ("x", ["batch", 3], "tensor(float)")
    shape = [size if isinstance(size, int) else 2 for size in x.shape]
    feeds = {x.name: np.ones(shape, F32), w.name: np.ones((3, 4), F32)}
    (label,) = [output.name for output in session.get_outputs()]
    assert session.run([label], feeds)[0].tolist() == [[3.0] * 4] * 2
    assert session.get_providers() == ["CPUExecutionProvider"]


def test_script_that_reads_the_metadata(path):
    meta = ort.InferenceSession(path).get_modelmeta()
    theirs = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).get_modelmeta()
    names = (
        "producer_name",
        "graph_name",
        "domain",
        "description",
        "graph_description",
        "version",
        "custom_metadata_map",
    )
    assert {name: getattr(meta, name) for name in names} == {name: getattr(theirs, name) for name in names}


def test_script_that_loads_bytes_and_protos(path):
    feeds = {"x": np.ones((1, 3), F32), "w": np.ones((3, 1), F32)}
    with open(path, "rb") as file:
        data = file.read()
    for source in (path, data, bytearray(data), memoryview(data), onnx.load(path), whorl.load(path)):
        assert ort.InferenceSession(source, None, ["CPUExecutionProvider"]).run(None, feeds) == [[[3.0]]]


def test_script_that_inspects_at_the_engine():
    assert ort.get_device() == "CPU"
    assert ort.get_available_providers() == ort.get_all_providers() == ["CPUExecutionProvider"]
    assert ort.__version__.startswith("0.")


def test_script_that_uses_a_session_as_context_manager(path):
    with ort.InferenceSession(path) as session:
        assert len(session.run(None, {"x": np.ones((1, 3), F32), "w": np.ones((3, 1), F32)})) == 1


@pytest.mark.parametrize(
    ("level", "ops"),
    [("ORT_DISABLE_ALL", ["Add", "Neg", "Neg", "Mul"]), ("ORT_ENABLE_BASIC", ["Neg", "Neg", "Mul"])],
)
def test_script_that_writes_the_model_it_runs_gets_what_the_level_makes(tmp_path, level, ops):
    foldable = model("""
        main (float[2] x) => (float[2] y) {
            one = Constant<value = float[2] {1, 1}> ()
            two = Add(one, one)
            minus = Neg(x)
            same = Neg(minus)
            y = Mul(same, two)
        }""")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel[level]
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    ort.InferenceSession(foldable, options)
    onnx.checker.check_model(options.optimized_model_filepath, full_check=True)
    written = onnx.load(options.optimized_model_filepath)
    assert [node.op_type for node in written.graph.node if node.op_type != "Constant"] == ops
    (y,) = ort.InferenceSession(written).run(None, {"x": np.array([1, 2], F32)})
    assert y.tolist() == [2, 4]


def declared(type, shape):
    return helper.make_tensor_value_info("x", type, shape)


VALUES = {
    "scalar": declared(TensorProto.FLOAT, []),
    "fixed": declared(TensorProto.DOUBLE, [2, 3]),
    "named": declared(TensorProto.INT64, ["n", "m", 4]),
    "unknown dim": declared(TensorProto.BOOL, [None, 2]),
    "no rank": declared(TensorProto.FLOAT16, None),
    "bfloat16": declared(TensorProto.BFLOAT16, [1]),
    "string": declared(TensorProto.STRING, ["n"]),
    "uint8": declared(TensorProto.UINT8, ["n"]),
    "float8": declared(TensorProto.FLOAT8E4M3FN, ["n"]),
}


def passing(info):
    """A model that returns its input."""
    out = onnx.ValueInfoProto()
    out.CopyFrom(info)
    out.name = "y"
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "pass", [info], [out])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()


@pytest.mark.parametrize("kind", VALUES)
def test_inputs_and_outputs_are_described_as_in_onnxruntime(kind):
    data = passing(VALUES[kind])
    ours, theirs = ort.InferenceSession(data), onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    for mine, other in ((ours.get_inputs(), theirs.get_inputs()), (ours.get_outputs(), theirs.get_outputs())):
        assert [(v.name, v.shape, v.type) for v in mine] == [(v.name, v.shape, v.type) for v in other]


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (helper.make_sequence_type_proto(VALUES["fixed"].type), "seq(tensor(double))"),
        (helper.make_optional_type_proto(VALUES["named"].type), "optional(tensor(int64))"),
        (helper.make_map_type_proto(TensorProto.INT64, VALUES["scalar"].type), "map(int64,tensor(float))"),
    ],
)
def test_types_that_are_not_tensors_are_spelled_as_in_onnxruntime(type, text):
    session = ort.InferenceSession(passing(helper.make_value_info("x", type)))
    assert session.get_inputs()[0].type == text


def test_unknown_dims_of_outputs_are_none():
    proto = model(
        "main (float[n] x) => (int64[r, k] where, int64[r, k] count) { where = NonZero(x) count = NonZero(where) }"
    )
    proto.graph.output[1].type.tensor_type.shape.dim[1].ClearField("dim_param")
    where, count = ort.InferenceSession(proto).get_outputs()
    assert (where.shape, count.shape) == ([1, "k"], [2, None])


@pytest.mark.parametrize(
    "text",
    ["ab", ["ab", "ç", ""], np.array([["ab"], ["ç"]]), np.array(["a", "b"], object)],
    ids=["scalar", "list", "U", "object"],
)
def test_strings_go_in_and_come_out(text):
    session = ort.InferenceSession(passing(declared(TensorProto.STRING, None)))
    (same,) = session.run(None, {"x": text})
    assert same.dtype == object and same.tolist() == np.asarray(text).tolist()


def test_sequences_and_optionals_go_in_and_come_out():
    sequence = ort.InferenceSession(
        passing(helper.make_value_info("x", helper.make_sequence_type_proto(VALUES["fixed"].type)))
    )
    items = [np.ones((2, 3)), np.zeros((2, 3))]
    (same,) = sequence.run(None, {"x": items})
    assert isinstance(same, list) and all(np.array_equal(a, b) for a, b in zip(same, items, strict=True))
    assert sequence.run(None, {"x": []}) == [[]]
    optional = ort.InferenceSession(
        passing(helper.make_value_info("x", helper.make_optional_type_proto(VALUES["scalar"].type)))
    )
    assert optional.run(None, {"x": None}) == optional.run(None, {}) == [None]
    assert optional.run(None, {"x": F32(2)}) == [2]


def test_types_numpy_lacks_go_in_and_come_out():
    session = ort.InferenceSession(passing(VALUES["bfloat16"]))
    (same,) = session.run(None, {"x": np.array([1.5], ml_dtypes.bfloat16)})
    assert same.dtype == ml_dtypes.bfloat16 and same.tolist() == [1.5]


def _with(**values):
    options = ort.SessionOptions()
    for name, value in values.items():
        setattr(options, name, value)
    return options


def test_provider_with_options_is_accepted():
    session = ort.InferenceSession(ROLLOUT, providers=[("CPUExecutionProvider", {"arena_extend_strategy": "x"})])
    session.set_providers("CPUExecutionProvider")
    assert session.get_provider_options() == {"CPUExecutionProvider": {}}


def test_omitted_condition_follows_the_option():
    proto = model("""
        main (float x) => (float y) {
            three = Constant<value = int64 {3}> ()
            y = Loop (three, "", x) <body = step (int64 i, bool on, float a) => (bool on_out, float b) {
                on_out = Constant<value = bool {0}> ()
                b = Add(a, a)
            }>
        }""")
    x = np.array(1, F32)
    assert ort.InferenceSession(proto).run(None, {"x": x}) == [8]
    assert ort.InferenceSession(proto, _with(condition_when_omitted="honour")).run(None, {"x": x}) == [2]
    with pytest.raises(whorl.LoadError) as caught:
        ort.InferenceSession(proto, _with(condition_when_omitted="ignore"))
    assert str(caught.value) == "condition_when_omitted is 'ignore'\n  fix: use 'specification' or 'honour'"


def test_run_options_are_for_one_run():
    session, options = ort.InferenceSession(FOREVER), ort.RunOptions()
    options.max_iterations, options.terminate = 3, False
    with pytest.raises(whorl.IterationLimitError):
        session.run(None, {"start": 1.0}, options)
    options.terminate = True
    with pytest.raises(whorl.CancelledError):
        session.run(None, {"start": 1.0}, run_options=options)


def test_profile_is_written_when_requested(tmp_path):
    options = _with(enable_profiling=True, profile_file_prefix=f"{tmp_path}/profile", backend="interpreter")
    session = ort.InferenceSession(ROLLOUT, options)
    session.run(None, {"count": np.array(3), "table": np.zeros(12, np.float32)})
    path = session.end_profiling()
    assert path.startswith(f"{tmp_path}/profile_") and path.endswith(".json")
    with open(path) as file:
        events = json.load(file)
    assert [e["args"]["iteration"] for e in events if e["name"] == "iteration"] == [0, 1, 2]
    with pytest.raises(whorl.RunError, match="nothing was recorded"):
        session.end_profiling()


def test_short_sum_has_the_same_bits_at_every_level():
    distances = model("""main (double[n, 5] x, double[120, 5] rows) => (double[n, 5] last, double[120, n] y) {
        scale = Constant <value = double {1.5}> ()
        scaled = Div (x, scale)
        last, y = Scan (scaled, rows) <num_scan_inputs = 1, body = each (double[n, 5] h, double[5] row)
          => (double[n, 5] next, double[n] total) {
            axis = Constant <value = int64[1] {1}> ()
            next = Identity (h)
            gap = Sub (h, row)
            total = ReduceSumSquare <keepdims = 0> (gap, axis)
        }>
    }""")
    draw = np.random.default_rng(0).standard_normal
    feeds = {"x": draw((1, 5)), "rows": draw((120, 5))}
    bits = set()
    for level in ("ORT_ENABLE_ALL", "ORT_DISABLE_ALL"):
        options = whorl.SessionOptions()
        options.graph_optimization_level = whorl.GraphOptimizationLevel[level]
        bits.add(whorl.InferenceSession(distances, options).run(["y"], feeds)[0].tobytes())
    assert len(bits) == 1
