"""Ordinary scripts for onnxruntime: each prints what it found, and knows nothing but `ort`, `np` and `folder`."""

from __future__ import annotations

MODELS = {
    "affine": "main (float[n, 3] x, float[3] b) => (float[n, 3] y) { y = Add(x, b) }",
    "weights": "main (float[n, 2] x) => (float[n, 2] y) <float[2] w = {2, 3}> { y = Mul(x, w) }",
    "two": "main (float[2] x) => (float[2] y, int64[1] s) { y = Neg(x) s = Shape(x) }",
    "sequence": "main (float[n] x) => (seq(float[m]) y) { y = SequenceConstruct(x, x) }",
    "loop": """main (int64 n, float s) => (float y) {
        on = Constant<value = bool {1}> ()
        y = Loop (n, on, s) <body = step (int64 i, bool go, float a) => (bool more, float b) {
            more = Identity(go) b = Add(a, a) }>
    }""",
    "strings": "main (string[n] x) => (string[n] y) { y = Identity(x) }",
}

SCRIPTS = {
    "names_and_run": """
session = ort.InferenceSession(path("affine"), providers=["CPUExecutionProvider"])
print([(i.name, i.type, i.shape) for i in session.get_inputs()])
print([(o.name, o.type) for o in session.get_outputs()])
print(session.run(None, {"x": np.ones((2, 3), np.float32), "b": np.arange(3, dtype=np.float32)}))
""",
    "some_outputs": """
session = ort.InferenceSession(open(path("two"), "rb").read())
print([y.tolist() for y in session.run(["s"], {"x": np.ones(2, np.float32)})])
""",
    "ort_values": """
value = ort.OrtValue.ortvalue_from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
print(value.shape(), value.data_type(), value.element_type(), value.device_name(), value.is_tensor())
print(value.has_value(), value.tensor_size_in_bytes(), value.is_tensor_sequence(), value.is_sparse_tensor())
value.update_inplace(np.ones((2, 3), np.float32))
print(value.numpy().tolist(), np.asarray(value).sum())
empty = ort.OrtValue.ortvalue_from_shape_and_type([2, 2], np.int64)
print(empty.shape(), empty.data_type())
""",
    "run_with_ort_values": """
session = ort.InferenceSession(path("affine"))
feeds = {"x": np.ones((1, 3), np.float32), "b": np.ones(3, np.float32)}
values = {name: ort.OrtValue.ortvalue_from_numpy(array, "cpu", 0) for name, array in feeds.items()}
(y,) = session.run_with_ort_values(["y"], values)
print(y.numpy().tolist(), y.shape())
""",
    "io_binding": """
session = ort.InferenceSession(path("affine"))
binding = session.io_binding()
binding.bind_cpu_input("x", np.ones((2, 3), np.float32))
binding.bind_cpu_input("b", np.ones(3, np.float32))
binding.bind_output("y")
session.run_with_iobinding(binding)
print([y.tolist() for y in binding.copy_outputs_to_cpu()], [y.shape() for y in binding.get_outputs()])
""",
    "io_binding_of_memory": """
session = ort.InferenceSession(path("affine"))
x, b, y = np.ones((2, 3), np.float32), np.ones(3, np.float32), np.zeros((2, 3), np.float32)
binding = session.io_binding()
binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
binding.bind_ortvalue_input("b", ort.OrtValue.ortvalue_from_numpy(b))
binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
for _ in range(3):
    binding.synchronize_inputs()
    session.run_with_iobinding(binding)
    binding.synchronize_outputs()
    x += y
print(y.tolist())
""",
    "io_binding_of_values": """
session = ort.InferenceSession(path("weights"))
out = ort.OrtValue.ortvalue_from_shape_and_type([1, 2], np.float32, "cpu", 0)
binding = session.io_binding()
binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(np.ones((1, 2), np.float32)))
binding.bind_ortvalue_output("y", out)
session.run_with_iobinding(binding)
print(out.numpy().tolist())
binding.clear_binding_inputs()
binding.clear_binding_outputs()
print(len(binding.get_outputs()))
""",
    "threads": """
from concurrent.futures import ThreadPoolExecutor
options = ort.SessionOptions()
options.intra_op_num_threads = 1
options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
session = ort.InferenceSession(path("loop"), options)
with ThreadPoolExecutor(4) as pool:
    feeds = [{"n": np.array(k), "s": np.array(1, np.float32)} for k in range(8)]
    print([float(y) for (y,) in pool.map(lambda feed: session.run(None, feed), feeds)])
""",
    "profiling": """
import json
options = ort.SessionOptions()
options.enable_profiling = True
options.profile_file_prefix = folder + "/profile"
session = ort.InferenceSession(path("weights"), options)
session.run(None, {"x": np.ones((1, 2), np.float32)})
file = session.end_profiling()
events = json.load(open(file))
nodes = [e for e in events if e["cat"] == "Node" and e["name"].endswith("_kernel_time")]
print(type(events).__name__, [e["args"]["op_name"] for e in nodes], all(e["dur"] >= 0 for e in nodes))
""",
    "metadata": """
meta = ort.InferenceSession(path("affine")).get_modelmeta()
print(meta.graph_name, meta.domain, meta.custom_metadata_map, meta.description)
""",
    "run_async": """
import threading
done, found = threading.Event(), []
def receive(results, data, error):
    found.append((results[0].tolist(), data, error))
    done.set()
session = ort.InferenceSession(path("weights"))
session.run_async(None, {"x": np.ones((1, 2), np.float32)}, receive, "data")
done.wait(30)
print(found)
""",
    "sequences": """
(y,) = ort.InferenceSession(path("sequence")).run(None, {"x": np.ones(2, np.float32)})
print(type(y).__name__, [item.tolist() for item in y])
""",
    "fallback": """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    session = ort.InferenceSession(path("weights"), providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
print(session.get_providers(), [w.category.__name__ for w in caught])
print("CPUExecutionProvider" in ort.get_available_providers(), ort.get_device())
""",
    "free_dimensions": """
options = ort.SessionOptions()
options.add_free_dimension_override_by_name("n", 4)
session = ort.InferenceSession(path("weights"), options)
print([i.shape for i in session.get_inputs()])
print(session.run(None, {"x": np.ones((4, 2), np.float32)})[0].tolist())
""",
    "exceptions": """
session = ort.InferenceSession(path("affine"))
try:
    session.run(None, {"x": np.ones((1, 3), np.float32)})
except ValueError as error:
    print("missing", type(error).__name__ != "")
for x in (np.ones((1, 3), np.float64), np.ones((1, 4), np.float32)):
    try:
        session.run(None, {"x": x, "b": np.ones(3, np.float32)})
    except ort.capi.onnxruntime_pybind11_state.InvalidArgument:
        print("invalid")
try:
    ort.InferenceSession(folder + "/nowhere.onnx")
except ort.capi.onnxruntime_pybind11_state.NoSuchFile:
    print("no such file")
""",
    "settings": """
ort.set_default_logger_severity(3)
ort.set_default_logger_verbosity(0)
ort.disable_telemetry_events()
options = ort.SessionOptions()
options.add_session_config_entry("session.intra_op.allow_spinning", "0")
options.log_severity_level = 3
run = ort.RunOptions()
run.log_severity_level = 3
session = ort.InferenceSession(path("strings"), sess_options=options)
print(session.run(["y"], {"x": np.array(["a", "b"], object)}, run)[0].tolist())
print(options.get_session_config_entry("session.intra_op.allow_spinning"))
print(bool(ort.get_version_string()), bool(ort.get_build_info()))
""",
    "initializers": """
options = ort.SessionOptions()
value = ort.OrtValue.ortvalue_from_numpy(np.array([5, 7], np.float32))
options.add_initializer("w", value)
session = ort.InferenceSession(path("weights"), options)
print(session.run(None, {"x": np.ones((1, 2), np.float32)})[0].tolist())
""",
}
