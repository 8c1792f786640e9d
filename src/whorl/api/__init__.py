"""What users call: load, save, run, sessions, and loops over plain arrays."""

from whorl.api.ahead import CompiledSession, compile, load_compiled
from whorl.api.check import Problem, check
from whorl.api.describe import describe
from whorl.api.functional import loop, scan
from whorl.api.models import load, run, save
from whorl.api.optimizing import optimize
from whorl.api.options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from whorl.api.session import (
    InferenceSession,
    ModelMetadata,
    get_all_providers,
    get_available_providers,
    get_device,
    set_default_logger_severity,
)
from whorl.passes.report import Report
from whorl.runtime.node_arg import NodeArg

__all__ = [
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
]
