"""Writes docs/onnxruntime.md: every public name of onnxruntime, and what whorl has in its place."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import onnxruntime

import whorl

PAGE = Path(__file__).with_name("onnxruntime.md")
CLASSES = (
    "InferenceSession",
    "SessionOptions",
    "RunOptions",
    "OrtValue",
    "IOBinding",
    "OrtDevice",
    "NodeArg",
    "ModelMetadata",
)
GPU = "only the CPU runs models"
PLUGINS = "there are no execution providers to choose or to load"
SPARSE = "models run on dense tensors"
NO_CACHE = "compiled code is stored without being asked for; `whorl.compile` writes libraries"
INSIDE = "a part of onnxruntime's own bindings"
ABSENT = {
    "AdapterFormat": "there are no LoRA adapters",
    "LoraAdapter": "there are no LoRA adapters",
    "RunOptions.add_active_adapter": "there are no LoRA adapters",
    "ModelCompiler": NO_CACHE,
    "OrtCompileApiFlags": NO_CACHE,
    "OrtExternalInitializerInfo": NO_CACHE,
    "OrtEpContextData": NO_CACHE,
    "OrtEpContextDataBuffer": NO_CACHE,
    "OrtAllocatorType": "memory is NumPy's",
    "OrtArenaCfg": "memory is NumPy's",
    "OrtMemType": "memory is NumPy's",
    "OrtMemoryInfo": "memory is NumPy's",
    "OrtMemoryInfoDeviceType": "memory is NumPy's",
    "OrtDeviceMemoryType": "memory is NumPy's",
    "create_and_register_allocator": "memory is NumPy's",
    "create_and_register_allocator_v2": "memory is NumPy's",
    "InferenceSession.get_input_memory_infos": "memory is NumPy's",
    "InferenceSession.get_output_memory_infos": "memory is NumPy's",
    "InferenceSession.create_ortvalue_from_shape_and_type": "`OrtValue.ortvalue_from_shape_and_type` makes them",
    "OrtDeviceVendorId": GPU,
    "OrtSyncStream": GPU,
    "copy_tensors": GPU,
    "cuda_version": GPU,
    "preload_dlls": GPU,
    "print_debug_info": GPU,
    "InferenceSession.release_captured_graph": GPU,
    "OrtEpAssignedNode": PLUGINS,
    "OrtEpAssignedSubgraph": PLUGINS,
    "OrtEpDevice": PLUGINS,
    "OrtExecutionProviderDevicePolicy": PLUGINS,
    "OrtHardwareDevice": PLUGINS,
    "OrtHardwareDeviceType": PLUGINS,
    "get_ep_devices": PLUGINS,
    "register_execution_provider_library": PLUGINS,
    "unregister_execution_provider_library": PLUGINS,
    "InferenceSession.get_input_epdevices": PLUGINS,
    "InferenceSession.get_provider_graph_assignment_info": "`InferenceSession.explain` says how each node ran",
    "InferenceSession.set_ep_dynamic_options": PLUGINS,
    "InferenceSession.get_tuning_results": PLUGINS,
    "InferenceSession.set_tuning_results": PLUGINS,
    "SessionOptions.add_provider": PLUGINS,
    "SessionOptions.add_provider_for_devices": PLUGINS,
    "SessionOptions.has_providers": PLUGINS,
    "SessionOptions.set_provider_selection_policy": PLUGINS,
    "SessionOptions.set_provider_selection_policy_delegate": PLUGINS,
    "SessionOptions.clear_ep_context_data_read_func": PLUGINS,
    "SessionOptions.set_ep_context_data_read_func": PLUGINS,
    "OrtSparseFormat": SPARSE,
    "SparseTensor": SPARSE,
    "OrtValue.as_sparse_tensor": SPARSE,
    "OrtValue.ort_value_from_sparse_tensor": SPARSE,
    "SessionIOBinding": INSIDE,
    "IOBinding.get_outputs_as_ortvaluevector": INSIDE,
    "InferenceSession.run_with_ortvaluevector": INSIDE,
    "has_collective_ops": "there is one process",
    "set_global_thread_pool_sizes": "`SessionOptions.intra_op_num_threads` bounds each session",
    "SessionOptions.add_external_initializers_from_files_in_memory": "pass the model's bytes with its weights inside",
    "SessionOptions.add_free_dimension_override_by_denotation": "denotations of dims are not read; fix dims by name",
    "SessionOptions.set_load_cancellation_flag": "loading takes no longer than reading the file",
}
"""Public names that whorl does not have, and why."""
DIFFERS = {
    "get_build_info": "says what whorl is",
    "get_version_string": "the version of whorl",
    "get_available_providers": "the CPU only",
    "get_all_providers": "the CPU only",
    "set_seed": "acts on sessions that are there, too; the numbers are NumPy's",
    "set_default_logger_severity": "without effect: errors are raised, nothing is logged",
    "set_default_logger_verbosity": "without effect: errors are raised, nothing is logged",
    "enable_telemetry_events": "without effect: nothing is sent",
    "disable_telemetry_events": "without effect: nothing is sent",
    "InferenceSession.disable_fallback": "without effect: there is one provider",
    "InferenceSession.enable_fallback": "without effect: there is one provider",
    "InferenceSession.set_providers": "without effect but the same warnings",
    "InferenceSession.get_profiling_start_time_ns": "on the clock of `time.perf_counter_ns`",
    "InferenceSession.end_profiling": "events of the category `Node` are parts that ran at once, named by their nodes",
    "InferenceSession.run_async": "in a thread of Python",
    "InferenceSession.run_with_iobinding": "results are copied into bound memory",
    "ModelMetadata": "`version` is 0 where the file has none, as it says; onnxruntime gives the largest number",
    "SessionOptions.graph_optimization_level": "levels are whorl's own, and keep every bit",
    "SessionOptions.optimized_model_filepath": "the model that whorl runs",
    "SessionOptions.add_session_config_entry": "a warning names keys without effect",
    "RunOptions.add_run_config_entry": "a warning names keys, which have no effect",
    "SessionOptions.register_custom_ops_library": "makes the ops known to the whole process ([more](custom-ops.md))",
    "SessionOptions.add_initializer": "also of models that keep their weights inside",
    "RunOptions.only_execute_path_to_fetches": "without effect: every output is computed",
    "SessionOptions.inter_op_num_threads": "without effect: `intra_op_num_threads` bounds all threads",
    "SessionOptions.execution_mode": "without effect on results",
    "SessionOptions.execution_order": "without effect on results",
}
"""Public names that do something else than onnxruntime's, and what."""

HEADER = """# For scripts written for onnxruntime

Generated by `docs/make_onnxruntime.py` from onnxruntime {version} and whorl; a test keeps it current.

`import whorl as ort` runs ordinary scripts unchanged. Exceptions have onnxruntime's names in
`ort.capi.onnxruntime_pybind11_state`; missing inputs are also a ValueError, and whatever fails in a model or a run is
also a RuntimeError. Providers other than the CPU's are warned of, and the CPU runs the model.
`tests/api/scripts.py` has scripts that the tests run with both.

| name | whorl | how, or why not |
|---|---|---|
"""


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole document."""
    return HEADER.format(version=".".join(onnxruntime.__version__.split(".")[:2])) + "".join(map(row, names()))


def names() -> list[str]:
    """The public names of the module, those of its classes behind them."""
    own = [name for name, value in vars(onnxruntime).items() if name[0] != "_" and not isinstance(value, ModuleType)]
    hidden = {"package_name", "version", "import_capi_exception"}
    members = [f"{each}.{name}" for each in CLASSES for name in dir(getattr(onnxruntime, each)) if name[0] != "_"]
    return sorted(set(own) - hidden) + members


def row(name: str) -> str:
    if name in ABSENT:
        return f"| `{name}` | absent | {ABSENT[name]} |\n"
    return f"| `{name}` | {'differs' if name in DIFFERS else 'same'} | {DIFFERS.get(name, '')} |\n"


def is_there(name: str) -> bool:
    """Whether whorl has a name."""
    kind, _, member = name.partition(".")
    if not hasattr(whorl, kind):
        return False
    value = getattr(whorl, kind)
    fields = {*dir(value), *getattr(value, "__annotations__", {}), *getattr(value, "__struct_fields__", ())}
    return not member or member in fields


if __name__ == "__main__":
    sys.exit(main())
