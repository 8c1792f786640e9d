"""What regions of a model take in onnxruntime as they are and as custom ops, in one run of some inputs."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.api.options import SessionOptions
from whorl.api.regions import Regions
from whorl.api.session import InferenceSession
from whorl.errors import CompileError
from whorl.formats.onnx.cutting import Cut
from whorl.formats.onnx.protos import ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto

_ROUNDS = 7
_ROUND_NS = 2_000_000
_MOST = 1000
_LOG_NOTHING = 4


class Measured(Struct, frozen=True):
    """Iterations of a region's loops in one run, None without loops, and the time of a run as it was and embedded."""

    iterations: int | None
    before_ns: float
    after_ns: float


class Onnxruntime:
    """The package of that name. Errors: CompileError where it is not installed, or refuses a model."""

    def __init__(self) -> None:
        try:
            self.package: Any = importlib.import_module("onnxruntime")
        except ImportError:
            raise CompileError(
                "onnxruntime is not installed", fix="pip install onnxruntime, or do not measure"
            ) from None
        bound = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
        names = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NotImplemented", "RuntimeException")
        self.refusals = (ValueError, *(getattr(bound, name) for name in names))

    def session(self, model: ModelProto, folder: Path | None, library: Path | None = None) -> Any:
        """A session over a model, whose files are in a folder."""
        options = self.package.SessionOptions()
        options.log_severity_level = _LOG_NOTHING
        if folder is not None:
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
        if library is not None:
            options.register_custom_ops_library(str(library))
        return self._try(
            lambda: self.package.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        )

    def run(self, session: Any, names: Sequence[str] | None, feeds: Mapping[str, Any]) -> list[Any]:
        """The outputs."""
        return self._try(lambda: session.run(names, dict(feeds)))

    def _try(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except self.refusals as error:
            raise CompileError(f"the model does not run in onnxruntime: {error}", fix="choose other inputs") from None


def measure_regions(
    parts: Regions,
    made: Sequence[tuple[Cut, NodeProto]],
    domain: tuple[str, int],
    library: Path,
    inputs: Mapping[str, Any],
) -> list[Measured]:
    """What each region takes where the model runs on the inputs. Errors: CompileError."""
    runtime = Onnxruntime()
    values = _border_values(runtime, parts, made, inputs)
    return [_measure(runtime, parts, cut, node, domain, library, values) for cut, node in made]


def _border_values(
    runtime: Onnxruntime, parts: Regions, made: Sequence[tuple[Cut, NodeProto]], inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """The values that regions read, in a run of the whole model."""
    constants = parts.values.constants
    values = dict(inputs) | {name: constants[name]() for cut, _ in made for name in cut.inputs if name in constants}
    model = ModelProto()
    model.CopyFrom(parts.proto)
    known = {output.name for output in model.graph.output}
    names = sorted({name for cut, _ in made for name in cut.inputs} - values.keys())
    model.graph.output.extend(ValueInfoProto(name=name) for name in names if name not in known)
    results = runtime.run(runtime.session(model, parts.folder), names, inputs) if names else []
    return values | dict(zip(names, results, strict=True))


def _measure(
    runtime: Onnxruntime,
    parts: Regions,
    cut: Cut,
    node: NodeProto,
    domain: tuple[str, int],
    library: Path,
    values: Mapping[str, Any],
) -> Measured:
    before = parts.model_of(cut)
    after = ModelProto()
    after.CopyFrom(before)
    del after.graph.node[:]
    after.graph.node.append(node)
    after.opset_import.append(OperatorSetIdProto(domain=domain[0], version=domain[1]))
    feeds = {each.name: np.asarray(values[each.name]) for each in before.graph.input}
    own = {name for name in node.input if name in feeds}
    for each in [each for each in after.graph.input if each.name not in own]:
        after.graph.input.remove(each)
    sessions = runtime.session(before, parts.folder), runtime.session(after, None, library)
    runs = [lambda: runtime.run(sessions[0], None, feeds)]
    runs.append(lambda: runtime.run(sessions[1], None, {name: feeds[name] for name in own}))
    plain, embedded = _times(runs)
    return Measured(_count_iterations(before, cut, feeds), plain, embedded)


def _times(runs: Sequence[Callable[[], object]]) -> list[float]:
    """The time of each in its fastest round, in turns, in nanoseconds: other processes only make rounds longer."""
    for run in runs:
        run()
    counts = [max(1, min(_MOST, int(_ROUND_NS / max(_time(run, 1), 1)))) for run in runs]
    samples: list[list[float]] = [[] for _ in runs]
    for _ in range(_ROUNDS):
        for run, count, each in zip(runs, counts, samples, strict=True):
            each.append(_time(run, count))
    return list(map(min, samples))


def _time(run: Callable[[], object], count: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(count):
        run()
    return (time.perf_counter_ns() - start) / count


def _count_iterations(model: ModelProto, cut: Cut, feeds: Mapping[str, Any]) -> int | None:
    """The iterations of a region's outermost loops in one run."""
    done: dict[str, int] = {}
    options = SessionOptions()
    options.condition_when_omitted, options.progress = "honour", lambda loop, count, _: done.update({loop: count})
    InferenceSession(model.SerializeToString(), options).run(None, dict(feeds))
    return sum(done.values()) if done or cut.node.op_type != "If" else None
