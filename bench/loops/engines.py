"""What runs a workload: whorl, its interpreter, onnxruntime, OpenVINO, jax and C, each on one thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from loops import in_c, in_jax
from loops.workload import Feeds, Workload

Run = Callable[[], list[Any]]


def _whorl(load: Workload, backend: str = "native") -> Run:
    import whorl

    options = whorl.SessionOptions()
    options.backend, options.intra_op_num_threads = backend, 1
    return partial(whorl.InferenceSession(load.model, options).run, None, dict(load.feeds))


def _onnxruntime(load: Workload) -> Run:
    """With its outputs bound, so that it copies none, except strings, which cannot be."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(load.model, options, providers=["CPUExecutionProvider"])
    if any(np.asarray(x).dtype == object for x in load.feeds.values()):
        return partial(session.run, None, dict(load.feeds))
    return bound(session, load.feeds)


def bound(session: Any, feeds: Feeds) -> Run:
    """A run of a session of onnxruntime with bound inputs and outputs."""
    binding, stored = session.io_binding(), {name: np.array(x, order="C") for name, x in feeds.items()}
    for name, array in stored.items():
        binding.bind_cpu_input(name, array)
    for output in session.get_outputs():
        binding.bind_output(output.name, "cpu")

    def run(stored: Any = stored) -> list[Any]:
        session.run_with_iobinding(binding)
        return binding.get_outputs()

    return run


def _openvino(load: Workload) -> Run:
    import openvino

    core = openvino.Core()
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": 1}
    request = core.compile_model(core.read_model(load.model), "CPU", settings).create_infer_request()
    count = len(request.model_outputs)

    def run() -> list[Any]:
        request.infer(dict(load.feeds), share_inputs=True, share_outputs=True)
        return [request.get_output_tensor(n).data for n in range(count)]

    return run


ENGINES: dict[str, Callable[[Workload], Run]] = {
    "whorl": _whorl,
    "interpreter": partial(_whorl, backend="interpreter"),
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
    "jax": in_jax.runner,
    "c": in_c.runner,
}
PEERS = ("onnxruntime", "openvino", "jax", "c")


def is_present(name: str) -> bool:
    """Whether an engine is installed; C where there is a compiler."""
    return in_c.compiler() is not None if name == "c" else find_spec(name) is not None


def arrays(results: list[Any]) -> list[np.ndarray]:
    """The outputs of any engine as arrays."""
    return [np.asarray(x.numpy() if hasattr(x, "numpy") else x) for x in results]
