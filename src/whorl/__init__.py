"""whorl: control flow in tensor graphs, read, checked, run and shown.

The public names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from typing import TYPE_CHECKING

from whorl.ir.forking import import_whole as _import_whole

if TYPE_CHECKING:
    from whorl import backend as backend
    from whorl import capi as capi
    from whorl.api.ahead import Compiled as Compiled
    from whorl.api.ahead import CompiledSession as CompiledSession
    from whorl.api.ahead import compile as compile
    from whorl.api.ahead import load_compiled as load_compiled
    from whorl.api.bindings import IOBinding as IOBinding
    from whorl.api.check import Problem as Problem
    from whorl.api.check import check as check
    from whorl.api.custom_ops import register_op as register_op
    from whorl.api.delooping import deloop as deloop
    from whorl.api.describe import describe as describe
    from whorl.api.embedding import Embedded as Embedded
    from whorl.api.embedding import EmbeddedRegion as EmbeddedRegion
    from whorl.api.embedding import embed as embed
    from whorl.api.exploring.exploring import explore as explore
    from whorl.api.exploring.page import Page as Page
    from whorl.api.extracting import Extracted as Extracted
    from whorl.api.extracting import extract as extract
    from whorl.api.functional import if_ as if_
    from whorl.api.functional import loop as loop
    from whorl.api.functional import scan as scan
    from whorl.api.models import Source as Source
    from whorl.api.models import load as load
    from whorl.api.models import run as run
    from whorl.api.models import save as save
    from whorl.api.onnxruntime_session import onnxruntime_session as onnxruntime_session
    from whorl.api.optimizing import optimize as optimize
    from whorl.api.options import ExecutionMode as ExecutionMode
    from whorl.api.options import ExecutionOrder as ExecutionOrder
    from whorl.api.options import GraphOptimizationLevel as GraphOptimizationLevel
    from whorl.api.options import RunOptions as RunOptions
    from whorl.api.options import SessionOptions as SessionOptions
    from whorl.api.ort_values import OrtDevice as OrtDevice
    from whorl.api.ort_values import OrtValue as OrtValue
    from whorl.api.region_libraries import CompiledRegion as CompiledRegion
    from whorl.api.region_libraries import compile_regions as compile_regions
    from whorl.api.session import InferenceSession as InferenceSession
    from whorl.api.session import disable_telemetry_events as disable_telemetry_events
    from whorl.api.session import enable_telemetry_events as enable_telemetry_events
    from whorl.api.session import get_all_providers as get_all_providers
    from whorl.api.session import get_available_providers as get_available_providers
    from whorl.api.session import get_build_info as get_build_info
    from whorl.api.session import get_device as get_device
    from whorl.api.session import get_version_string as get_version_string
    from whorl.api.session import set_default_logger_severity as set_default_logger_severity
    from whorl.api.session import set_default_logger_verbosity as set_default_logger_verbosity
    from whorl.api.session import set_seed as set_seed
    from whorl.api.stepping import to_loop as to_loop
    from whorl.api.stepping import to_step as to_step
    from whorl.api.sweeping import sweep as sweep
    from whorl.api.tracing.locating import Located as Located
    from whorl.api.tracing.locating import locate as locate
    from whorl.api.tracing.profiling import profile as profile
    from whorl.api.tracing.recording import trace as trace
    from whorl.api.tracing.spending import RunProfile as RunProfile
    from whorl.api.tracing.storage import load_trace as load_trace
    from whorl.api.tracing.storage import save_trace as save_trace
    from whorl.api.tracing.value_trace import ValueTrace as ValueTrace
    from whorl.api.tracing.watching import Watched as Watched
    from whorl.api.tracing.watching import watch as watch
    from whorl.api.vmapping import vmap as vmap
    from whorl.errors import CancelledError as CancelledError
    from whorl.errors import CompileError as CompileError
    from whorl.errors import DeloopError as DeloopError
    from whorl.errors import FeedError as FeedError
    from whorl.errors import IterationLimitError as IterationLimitError
    from whorl.errors import LimitError as LimitError
    from whorl.errors import LoadError as LoadError
    from whorl.errors import MemoryLimitError as MemoryLimitError
    from whorl.errors import RemovalError as RemovalError
    from whorl.errors import RunError as RunError
    from whorl.errors import SaveError as SaveError
    from whorl.errors import StepError as StepError
    from whorl.errors import TimeLimitError as TimeLimitError
    from whorl.errors import TypeRuleError as TypeRuleError
    from whorl.errors import UnsupportedError as UnsupportedError
    from whorl.errors import VerifyError as VerifyError
    from whorl.errors import VmapError as VmapError
    from whorl.errors import WhorlError as WhorlError
    from whorl.formats.mdf.model import MdfModel as MdfModel
    from whorl.formats.options import LoadOptions as LoadOptions
    from whorl.ir.graph import Module as Module
    from whorl.ir.types import TensorType as TensorType
    from whorl.mdf.simulation import Simulation as Simulation
    from whorl.passes.report import Report as Report
    from whorl.runtime.compiled.explain import Verdict as Verdict
    from whorl.runtime.interface import ModelMetadata as ModelMetadata
    from whorl.runtime.interface import NodeArg as NodeArg
    from whorl.runtime.limits import Limits as Limits
    from whorl.scoring.designs import Design as Design
    from whorl.scoring.designs import Range as Range
    from whorl.scoring.score import Scored as Scored
    from whorl.scoring.score import score as score
    from whorl.scoring.sweep import sweep_points as sweep_points

__version__ = "0.1.0"

_NAMES = {
    "whorl.api.ahead": (
        "Compiled",
        "CompiledSession",
        "compile",
        "load_compiled",
    ),
    "whorl.api.bindings": ("IOBinding",),
    "whorl.api.check": (
        "Problem",
        "check",
    ),
    "whorl.api.custom_ops": ("register_op",),
    "whorl.api.delooping": ("deloop",),
    "whorl.api.describe": ("describe",),
    "whorl.api.embedding": (
        "Embedded",
        "EmbeddedRegion",
        "embed",
    ),
    "whorl.api.exploring.exploring": ("explore",),
    "whorl.api.exploring.page": ("Page",),
    "whorl.api.extracting": (
        "Extracted",
        "extract",
    ),
    "whorl.api.functional": (
        "if_",
        "loop",
        "scan",
    ),
    "whorl.api.models": (
        "Source",
        "load",
        "run",
        "save",
    ),
    "whorl.api.onnxruntime_session": ("onnxruntime_session",),
    "whorl.api.optimizing": ("optimize",),
    "whorl.api.ort_values": (
        "OrtDevice",
        "OrtValue",
    ),
    "whorl.api.options": (
        "ExecutionMode",
        "ExecutionOrder",
        "GraphOptimizationLevel",
        "RunOptions",
        "SessionOptions",
    ),
    "whorl.api.region_libraries": (
        "CompiledRegion",
        "compile_regions",
    ),
    "whorl.api.session": (
        "InferenceSession",
        "get_all_providers",
        "disable_telemetry_events",
        "enable_telemetry_events",
        "get_available_providers",
        "get_build_info",
        "get_device",
        "get_version_string",
        "set_default_logger_severity",
        "set_default_logger_verbosity",
        "set_seed",
    ),
    "whorl.api.stepping": (
        "to_loop",
        "to_step",
    ),
    "whorl.api.sweeping": ("sweep",),
    "whorl.api.tracing.locating": (
        "Located",
        "locate",
    ),
    "whorl.api.tracing.profiling": ("profile",),
    "whorl.api.tracing.recording": ("trace",),
    "whorl.api.tracing.spending": ("RunProfile",),
    "whorl.api.tracing.storage": (
        "load_trace",
        "save_trace",
    ),
    "whorl.api.tracing.value_trace": ("ValueTrace",),
    "whorl.api.tracing.watching": (
        "Watched",
        "watch",
    ),
    "whorl.api.vmapping": ("vmap",),
    "whorl.errors": (
        "CancelledError",
        "CompileError",
        "DeloopError",
        "FeedError",
        "IterationLimitError",
        "LimitError",
        "LoadError",
        "MemoryLimitError",
        "RemovalError",
        "RunError",
        "SaveError",
        "StepError",
        "TimeLimitError",
        "TypeRuleError",
        "UnsupportedError",
        "VerifyError",
        "VmapError",
        "WhorlError",
    ),
    "whorl.formats.mdf.model": ("MdfModel",),
    "whorl.formats.options": ("LoadOptions",),
    "whorl.ir.graph": ("Module",),
    "whorl.ir.types": ("TensorType",),
    "whorl.mdf.simulation": ("Simulation",),
    "whorl.passes.report": ("Report",),
    "whorl.runtime.compiled.explain": ("Verdict",),
    "whorl.runtime.limits": ("Limits",),
    "whorl.runtime.interface": ("ModelMetadata", "NodeArg"),
    "whorl.scoring.designs": (
        "Design",
        "Range",
    ),
    "whorl.scoring.score": (
        "Scored",
        "score",
    ),
    "whorl.scoring.sweep": ("sweep_points",),
}
"""The public names by the module that defines them."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [*_HOMES, "backend", "capi"]  # pyright: ignore[reportUnsupportedDunderAll]


if not TYPE_CHECKING:  # a type checker would take every name for one of the package's

    def __getattr__(name: str) -> object:
        if name in ("backend", "capi"):
            return _import_whole(f"whorl.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'whorl' has no attribute {name!r}")
        value = getattr(_import_whole(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
