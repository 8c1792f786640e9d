"""whorl: control flow in tensor graphs, read, checked, run and shown.

The public names are loaded when they are first used, so that importing the package costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whorl import backend as backend
    from whorl.api import CompiledSession as CompiledSession
    from whorl.api import ExecutionMode as ExecutionMode
    from whorl.api import ExecutionOrder as ExecutionOrder
    from whorl.api import GraphOptimizationLevel as GraphOptimizationLevel
    from whorl.api import InferenceSession as InferenceSession
    from whorl.api import ModelMetadata as ModelMetadata
    from whorl.api import NodeArg as NodeArg
    from whorl.api import Problem as Problem
    from whorl.api import Report as Report
    from whorl.api import RunOptions as RunOptions
    from whorl.api import SessionOptions as SessionOptions
    from whorl.api import check as check
    from whorl.api import compile as compile
    from whorl.api import describe as describe
    from whorl.api import get_all_providers as get_all_providers
    from whorl.api import get_available_providers as get_available_providers
    from whorl.api import get_device as get_device
    from whorl.api import load as load
    from whorl.api import load_compiled as load_compiled
    from whorl.api import loop as loop
    from whorl.api import optimize as optimize
    from whorl.api import run as run
    from whorl.api import save as save
    from whorl.api import scan as scan
    from whorl.api import set_default_logger_severity as set_default_logger_severity
    from whorl.errors import CancelledError as CancelledError
    from whorl.errors import CompileError as CompileError
    from whorl.errors import IterationLimitError as IterationLimitError
    from whorl.errors import LimitError as LimitError
    from whorl.errors import LoadError as LoadError
    from whorl.errors import MemoryLimitError as MemoryLimitError
    from whorl.errors import RunError as RunError
    from whorl.errors import SaveError as SaveError
    from whorl.errors import TimeLimitError as TimeLimitError
    from whorl.errors import TypeRuleError as TypeRuleError
    from whorl.errors import UnsupportedError as UnsupportedError
    from whorl.errors import VerifyError as VerifyError
    from whorl.errors import WhorlError as WhorlError

__version__ = "0.1.0"

_API = (
    "CompiledSession",
    "ExecutionMode",
    "ExecutionOrder",
    "GraphOptimizationLevel",
    "InferenceSession",
    "ModelMetadata",
    "NodeArg",
    "Problem",
    "Report",
    "RunOptions",
    "SessionOptions",
    "check",
    "compile",
    "describe",
    "get_all_providers",
    "get_available_providers",
    "get_device",
    "load",
    "load_compiled",
    "loop",
    "optimize",
    "run",
    "save",
    "scan",
    "set_default_logger_severity",
)
_ERRORS = (
    "CancelledError",
    "CompileError",
    "IterationLimitError",
    "LimitError",
    "LoadError",
    "MemoryLimitError",
    "RunError",
    "SaveError",
    "TimeLimitError",
    "TypeRuleError",
    "UnsupportedError",
    "VerifyError",
    "WhorlError",
)
_HOMES = dict.fromkeys(_API, "whorl.api") | dict.fromkeys(_ERRORS, "whorl.errors")

__all__ = [*_API, *_ERRORS, "backend"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "backend":
        return importlib.import_module("whorl.backend")
    if name not in _HOMES:
        raise AttributeError(f"module 'whorl' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
