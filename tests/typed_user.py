"""A user's script for a strict type checker: every kind of value that the public API takes or returns, annotated."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import onnx

import whorl


def load_models(path: Path, proto: onnx.ModelProto, data: bytes) -> list[whorl.Module]:
    options = whorl.LoadOptions(condition_when_omitted="honour", max_depth=8, compat="openvino-cpu")
    loaded = whorl.load(path, options, weights=b"")
    assert_type(loaded, whorl.Module | whorl.MdfModel)
    module = loaded.module() if isinstance(loaded, whorl.MdfModel) else loaded
    assert_type(module, whorl.Module)
    assert_type(whorl.load(proto), whorl.Module)
    assert_type(whorl.load(proto.graph), whorl.Module)
    assert_type(whorl.load(module, max_depth=3), whorl.Module)
    return [module, whorl.load(proto), whorl.optimize(data, options=options), whorl.deloop(module, dims={"n": 2})]


def map_models(source: whorl.Source) -> list[whorl.Module]:
    axes: dict[str, int | None] = {"x": 0, "w": None}
    return [whorl.vmap(source), whorl.vmap(source, -1, name="rows"), whorl.vmap(source, axes, out_axes={"y": 1})]


def repeat_models(step: whorl.Source) -> list[whorl.Module]:
    loop = whorl.to_loop(step, carry={"h": "h_next"}, scan=["x"], collect={"y": 1}, steps="frames")
    return [loop, whorl.to_loop(step, scan={"x": 1}, max_depth=3), whorl.to_step(loop)]


def run_values(session: whorl.InferenceSession, x: np.ndarray) -> list[whorl.OrtValue]:
    value = whorl.OrtValue.ortvalue_from_numpy(x)
    binding: whorl.IOBinding = session.io_binding()
    binding.bind_ortvalue_input("x", value)
    binding.bind_output("y", "cpu", whorl.OrtDevice.make("cpu", 0).device_id())
    session.run_with_iobinding(binding)
    whorl.set_default_logger_verbosity(0)
    whorl.enable_telemetry_events()
    whorl.disable_telemetry_events()
    print(whorl.get_version_string(), whorl.get_build_info(), whorl.capi.onnxruntime_pybind11_state.Fail)
    return session.run_with_ort_values(["y"], {"x": value})


def double_type(x: whorl.TensorType) -> whorl.TensorType:
    return x


def register() -> None:
    whorl.register_op("my.ops", "Double", run=np.add, infer=double_type, pure=True)


def save_models(source: whorl.Source, folder: Path) -> None:
    whorl.save(source, folder / "m.onnx", opset=21)
    whorl.save(source, os.fspath(folder / "m.xml"), compress_to_fp16=True)


def run_session(source: whorl.Source, inputs: Mapping[str, np.ndarray]) -> dict[str, list[int | str | None]]:
    options = whorl.SessionOptions()
    options.max_iterations, options.timeout, options.condition_when_omitted = 100, 0.5, "honour"
    options.graph_optimization_level = whorl.GraphOptimizationLevel.ORT_DISABLE_ALL
    with whorl.InferenceSession(source, options, providers=["CPUExecutionProvider"]) as session:
        bounds = whorl.RunOptions()
        bounds.terminate = False
        outputs: list[Any] = session.run(["y"], inputs, bounds)
        last: np.ndarray = outputs[0]
        state: dict[str, Any] = session.get_state()
        session.set_state(state)
        metadata: whorl.ModelMetadata = session.get_modelmeta()
        arguments: list[whorl.NodeArg] = session.get_inputs()
        verdicts: list[whorl.Verdict] = session.explain()
    print(last.shape, metadata.custom_metadata_map, [verdict.reason for verdict in verdicts])
    return {argument.name: argument.shape for argument in arguments}


def inspect(source: whorl.Source) -> list[str]:
    problems: list[whorl.Problem] = whorl.check(source)
    description: dict[str, Any] = whorl.describe(source)
    report = whorl.Report()
    module: whorl.Module = whorl.optimize(source, only=["dce"], report=report)
    types = {value.name: value.type for value in module.main.arguments}
    print(description["ops"], report.nodes_before, report.edits.most_common(), types)
    return [f"{problem.where}: {problem.message}" for problem in problems]


def compile_library(source: whorl.Source, folder: Path) -> list[np.ndarray]:
    compiled: whorl.Compiled = whorl.compile(source, folder / "m.so", dims={"n": 3}, inputs={"k": 2})
    session: whorl.CompiledSession = whorl.load_compiled(folder / "m.so")
    names: list[str] = [port.name for port in compiled.inputs]
    return session.run(None, {name: np.zeros(3) for name in names})


def simulate(path: str) -> dict[str, np.ndarray]:
    model = whorl.load(path, precision="float32", integrator="rk4")
    if not isinstance(model, whorl.MdfModel):
        raise TypeError(path)
    first: whorl.Simulation = model.simulate(10, 0.1, record=["N.x"], initial={"N.x": 1.0}, batch=3)
    later = model.simulate(10, 0.1, state=first.state)
    assert_type(later, whorl.Simulation)
    rates: np.ndarray = later.window(1.5).spikes("N.x", above=0.0).rates(0.1)
    print(rates, later.to_pandas(), later.plot("x.png"), model.plot())
    table = whorl.sweep(model, {"N.a": np.linspace(0, 1, 3)}, steps=5, measure=peak)
    print(table)
    return {name: rows[-1] for name, rows in later.items()} | {"time": later.times}


def peak(simulation: whorl.Simulation) -> dict[str, float]:
    return {name: float(rows.max()) for name, rows in simulation.items()}


def recorded(path: str) -> whorl.ValueTrace:
    actual = whorl.trace(path, {"x": np.zeros(3)}, values="*", every=2)
    actual.plot("h").savefig("trace.svg")
    whorl.save_trace(actual, "trace.npz")
    return whorl.load_trace("trace.npz")


def draw_page(path: str, folder: Path) -> str:
    page: whorl.Page = whorl.explore(path, {"x": np.zeros(3)}, values=["*"], title="a model", costs=True, other=path)
    page.save(folder / "page.html")
    whorl.explore(path, trace=whorl.load_trace("trace.npz")).save("page.html")
    return page.html


def tables(path: str, out: str) -> list[int]:
    actual = whorl.score(path, {"x": np.zeros((3, 2), np.float32)}, columns={"x": "x"}, on_error="null")
    print(actual)
    scored: whorl.Scored = whorl.score(path, "rows.parquet", out, on="dask", workers=2, keep=["id"])
    design = whorl.Design(grid={"x": [0.0, 1.0]}, random={"y": whorl.Range(0, 1)}, points=4, method="sobol")
    swept: whorl.Scored = whorl.sweep_points(path, design, out, steps=5, last=True)
    return [scored.rows, scored.failed, scored.parts, swept.skipped]


def show_watched(watched: whorl.Watched) -> None:
    print(watched.loops, watched.condition, *watched.values)


def look_inside(path: str, out: str) -> list[str]:
    extracted: whorl.Extracted = whorl.extract(path, "steps", at=0, inputs={"x": 1})
    located: whorl.Located | None = whorl.locate(path, {"x": 1}, "isnan(x)")
    profile: whorl.RunProfile = whorl.profile(path, {"x": 1}, backend="native")
    print(profile.lines(), [spent.share for spent in profile.nodes])
    whorl.watch(path, {"x": 1}, ["x", "isnan(x)"], show_watched, every=2)
    embedded: whorl.Embedded = whorl.embed(path, out, keep=["steps"], weights="model", inputs={"x": np.ones(3)})
    times: list[float] = [region.measured.after_ns for region in embedded.regions if region.measured]
    print(times)
    regions: Sequence[whorl.EmbeddedRegion] = embedded.regions
    compiled: Sequence[whorl.CompiledRegion] = whorl.compile_regions(path, out, target="aarch64-linux-gnu")
    print([region.library or region.reason for region in compiled])
    session = whorl.onnxruntime_session(path, providers=["CPUExecutionProvider"])
    print(extracted, session, [region.reason for region in regions])
    return [embedded.model, embedded.library, "" if located is None else located.node]


def count_down(start: int) -> list[Any]:
    body: Callable[..., Any] = lambda step, on, state: (state > 1, state - 1)  # noqa: E731
    (left,) = whorl.loop(None, True, np.int64(start), body=body, max_iterations=100)
    totals = whorl.scan(np.int64(0), np.arange(3), body=lambda total, x: (total + x, total), num_scan_inputs=1)
    return [left, *totals, *whorl.if_(True, then_branch=lambda: np.ones(2), else_branch=lambda: np.zeros(2))]


def use_like_onnxruntime(proto: onnx.ModelProto) -> tuple[Any, ...]:
    options = whorl.SessionOptions()
    options.execution_mode, options.execution_order = whorl.ExecutionMode.ORT_PARALLEL, whorl.ExecutionOrder.DEFAULT
    whorl.set_default_logger_severity(3)
    options.register_custom_ops_library(Path("libmy_ops.so"))
    whorl.set_seed(7)
    providers: list[str] = whorl.get_all_providers() + whorl.get_available_providers()
    prepared = whorl.backend.prepare(proto, device=whorl.get_device())
    print(providers, options, whorl.run(proto, {"x": 1})["y"])
    return prepared.run([1])


def is_stopped_by_a_limit(call: Callable[[], object], limits: whorl.Limits) -> bool:
    progress: Callable[[str, int, int | None], None] | None = limits.progress
    try:
        call()
    except whorl.IterationLimitError:
        return True
    except whorl.WhorlError as error:
        print(error.message, error.where, error.fix, progress)
    return False


if __name__ == "__main__":
    print(count_down(3))
