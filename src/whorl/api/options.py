"""Options of sessions and runs, with onnxruntime's names; an option that does not exist is refused."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from whorl.errors import RunError


class GraphOptimizationLevel(enum.IntEnum):
    """onnxruntime's levels; accepted so that its scripts run, without effect on results."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """onnxruntime's modes; accepted so that its scripts run, without effect on results."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class _Options:
    """Fields with defaults; setting any other name is an error."""

    _defaults: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self.__dict__.update(self._defaults)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "_config" and name not in self._defaults:
            known = ", ".join(sorted(self._defaults))
            raise AttributeError(f"{type(self).__name__} has no option {name!r}; choose from {known}")
        object.__setattr__(self, name, value)

    def _add_config(self, key: str, value: str, known: frozenset[str]) -> None:
        if key not in known:
            raise RunError(
                f"unknown configuration key {key!r}", fix=f"choose from {', '.join(sorted(known)) or 'none'}"
            )
        self._config[key] = value


class SessionOptions(_Options):
    """How a session is made.

    Of whorl: `max_iterations` of any loop, `timeout` in seconds, `max_memory` in bytes that the values of a run take,
    `max_depth` of nested graphs, `condition_when_omitted`, `progress(loop, done, total)`. The others are onnxruntime's:
    threads, arenas and graph optimisation do not change what whorl computes and are accepted as they are.
    """

    _defaults = {  # noqa: RUF012
        "max_iterations": None,
        "timeout": None,
        "max_memory": None,
        "max_depth": 64,
        "backend": None,
        "condition_when_omitted": "specification",
        "progress": None,
        "enable_cpu_mem_arena": True,
        "enable_mem_pattern": True,
        "enable_mem_reuse": True,
        "enable_profiling": False,
        "execution_mode": ExecutionMode.ORT_SEQUENTIAL,
        "execution_order": 0,
        "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
        "inter_op_num_threads": 0,
        "intra_op_num_threads": 0,
        "log_severity_level": 2,
        "log_verbosity_level": 0,
        "logid": "",
        "optimized_model_filepath": "",
        "profile_file_prefix": "onnxruntime_profile_",
        "use_deterministic_compute": False,
        "use_per_session_threads": True,
    }
    max_iterations: int | None
    timeout: float | None
    max_memory: int | None
    max_depth: int
    backend: str | None
    condition_when_omitted: str
    progress: Callable[[str, int, int | None], None] | None

    def add_session_config_entry(self, key: str, value: str) -> None:
        """onnxruntime's free-form settings: those about spinning, allocators and blocking are accepted, others refused."""
        self._add_config(key, value, _SESSION_KEYS)

    def get_session_config_entry(self, key: str) -> str:
        """The setting added before; RunError where there is none."""
        if key not in self._config:
            raise RunError(f"configuration key {key!r} was not set")
        return self._config[key]


_SESSION_KEYS = frozenset(
    (
        "session.intra_op.allow_spinning",
        "session.inter_op.allow_spinning",
        "session.use_env_allocators",
        "session.disable_prepacking",
        "session.dynamic_block_base",
    )
)


class RunOptions(_Options):
    """How one run goes. Setting `terminate` to True from another thread stops it with CancelledError.

    Of whorl: `max_iterations`, `timeout`, `max_memory`, which override the session's when they are not None.
    """

    _defaults = {  # noqa: RUF012
        "max_iterations": None,
        "timeout": None,
        "max_memory": None,
        "log_severity_level": 2,
        "log_verbosity_level": 0,
        "logid": "",
        "only_execute_path_to_fetches": False,
        "terminate": False,
    }
    max_iterations: int | None
    timeout: float | None
    max_memory: int | None
    terminate: bool

    def add_run_config_entry(self, key: str, value: str) -> None:
        """onnxruntime's free-form settings: none of them applies here, so any key is refused."""
        self._add_config(key, value, frozenset())
