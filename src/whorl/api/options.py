"""Options of sessions and runs, with onnxruntime's names; an option that does not exist is refused."""

from __future__ import annotations

import enum
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from whorl.errors import RunError
from whorl.formats.options import MAX_DEPTH, Compat, Condition
from whorl.ir.forking import import_whole
from whorl.runtime.limits import Progress

if TYPE_CHECKING:
    from whorl.api.ort_values import OrtValue


class GraphOptimizationLevel(enum.IntEnum):
    """How far a session optimises the model that it has read; outputs keep every bit, and errors their nodes.

    ORT_DISABLE_ALL runs the model as it was read. ORT_ENABLE_BASIC folds nodes of small constants, and lets loop bodies
    see which of the values that they capture are constant. From ORT_ENABLE_EXTENDED on, what is the same in every
    iteration and cannot fail is computed before its loop; ORT_ENABLE_LAYOUT and ORT_ENABLE_ALL add nothing.
    """

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """onnxruntime's modes; accepted so that its scripts run, without effect on results."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """onnxruntime's orders; accepted so that its scripts run, without effect on results."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


_HIDDEN = "_config", "free_dimensions", "initializers", "libraries"


class _Options:
    """The annotated names of the class are the options, with their defaults; any other name is an AttributeError."""

    def __init__(self) -> None:
        self.__dict__["_config"] = {}
        self.__dict__["free_dimensions"] = {}
        self.__dict__["initializers"] = {}
        self.__dict__["libraries"] = []

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in type(self).__annotations__:
            raise self._unknown(name)
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        raise self._unknown(name)

    def __repr__(self) -> str:
        chosen = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items() if k not in _HIDDEN)
        return f"{type(self).__name__}({chosen})"

    def _unknown(self, name: str) -> AttributeError:
        known = ", ".join(sorted(type(self).__annotations__))
        return AttributeError(f"{type(self).__name__} has no option {name!r}; choose from {known}")

    def _add(self, key: str, value: str, known: tuple[str, ...]) -> None:
        if key not in known:
            warnings.warn(f"configuration key {key!r} has no effect", stacklevel=3)
        self._config[key] = value

    def _get(self, key: str) -> str:
        if key not in self._config:
            raise RunError(f"configuration key {key!r} was not set")
        return self._config[key]


class SessionOptions(_Options):
    """How a session is made: whorl's own options, then onnxruntime's.

    Of onnxruntime's, these do something: `graph_optimization_level`; `optimized_model_filepath`, where the model that
    the session runs is written; and `enable_profiling` with `profile_file_prefix`: `InferenceSession.end_profiling`
    writes a Chrome trace of the runs; and `intra_op_num_threads`: threads that a run of native code may use, its
    caller's among them, 0 for one on every core that the process may use. Results have the same bits for any number.

    `max_iterations` of any one loop, `timeout` in seconds and `max_memory` in bytes bound every run; `max_depth` is for
    nested graphs. `progress(loop, done, total)` is called after every iteration of an outermost loop, or slice of one
    that runs natively. `backend` is "native" (the first run compiles), "auto" (in the background, while the interpreter
    serves) or "interpreter"; without it, that of the environment variable WHORL_BACKEND, else "native".
    `condition_when_omitted` and `compat` are explained at `whorl.LoadOptions`.
    """

    max_iterations: int | None = None
    timeout: float | None = None
    max_memory: int | None = None
    max_depth: int = MAX_DEPTH
    backend: str | None = None
    condition_when_omitted: Condition = "specification"
    compat: Compat = ""
    progress: Progress | None = None
    enable_cpu_mem_arena: bool = True
    enable_mem_pattern: bool = True
    enable_mem_reuse: bool = True
    enable_profiling: bool = False
    execution_mode: int = ExecutionMode.ORT_SEQUENTIAL
    execution_order: int = ExecutionOrder.DEFAULT
    graph_optimization_level: int = GraphOptimizationLevel.ORT_ENABLE_ALL
    inter_op_num_threads: int = 0
    intra_op_num_threads: int = 0
    log_severity_level: int = 2
    log_verbosity_level: int = 0
    logid: str = ""
    optimized_model_filepath: str = ""
    profile_file_prefix: str = "onnxruntime_profile_"
    use_deterministic_compute: bool = False
    use_per_session_threads: bool = True

    def add_session_config_entry(self, key: str, value: str) -> None:
        """onnxruntime's free-form settings: a warning names those that are not about threads or allocators."""
        self._add(key, value, _SESSION_KEYS)

    def add_free_dimension_override_by_name(self, dim_name: str, dim_value: int) -> None:
        """Fix a named length of the inputs; names that no input has are left alone."""
        self.free_dimensions[dim_name] = dim_value

    def add_initializer(self, name: str, ort_value: OrtValue) -> None:
        """Use a value in the place of the model's weights of a name, which have the same type."""
        self.initializers[name] = ort_value

    def add_external_initializers(self, names: Sequence[str], ort_values: Sequence[OrtValue]) -> None:
        """Use values in the place of the model's weights of these names."""
        self.initializers.update(zip(names, ort_values, strict=True))

    def register_custom_ops_library(self, path: str | os.PathLike[str]) -> None:
        """Load a library of onnxruntime's custom ops; this process then knows its ops. Errors: LoadError."""
        _load_library(path)
        self.libraries.append(os.path.abspath(path))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for path in self.libraries:
            _load_library(path)

    def get_session_config_entry(self, key: str) -> str:
        """The setting added before; RunError where there is none."""
        return self._get(key)


def _load_library(path: str | os.PathLike[str]) -> None:
    import_whole("whorl.api.kernel_libraries.libraries").load_library(path)


_SESSION_KEYS = (
    "session.disable_aot_function_inlining",
    "session.disable_prepacking",
    "session.dynamic_block_base",
    "session.force_spinning_stop",
    "session.inter_op.allow_spinning",
    "session.intra_op.allow_spinning",
    "session.intra_op_thread_affinities",
    "session.use_device_allocator_for_initializers",
    "session.use_env_allocators",
)


class RunOptions(_Options):
    """How one run goes. `terminate`, set to True by another thread, stops it with CancelledError.

    `max_iterations`, `timeout` and `max_memory` override the session's where they are not None. The others are
    onnxruntime's and change nothing: every output is computed, whichever are fetched.
    """

    max_iterations: int | None = None
    timeout: float | None = None
    max_memory: int | None = None
    terminate: bool = False
    log_severity_level: int = 2
    log_verbosity_level: int = 0
    logid: str = ""
    only_execute_path_to_fetches: bool = False

    def add_run_config_entry(self, key: str, value: str) -> None:
        """onnxruntime's free-form settings: none of them applies here, which a warning says."""
        self._add(key, value, ())

    def get_run_config_entry(self, key: str) -> str:
        """The setting added before; RunError where there is none."""
        return self._get(key)
