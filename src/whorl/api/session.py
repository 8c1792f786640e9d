"""`InferenceSession`, with onnxruntime's interface."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from whorl.api.model_bytes import ModelBytes, recognise
from whorl.api.options import RunOptions, SessionOptions
from whorl.debug import debug
from whorl.errors import FeedError, LoadError, RunError
from whorl.ir.collector import collector_paused
from whorl.ir.definitions import DEFINITIONS
from whorl.ir.forking import import_whole
from whorl.ir.graph import Module
from whorl.runtime.backends import BACKENDS, choose_mode
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session
from whorl.runtime.trace import Trace

if TYPE_CHECKING:
    from whorl.api.bindings import IOBinding
    from whorl.api.models import Source
    from whorl.api.ort_values import OrtValue
    from whorl.api.tracing.value_trace import ValueTrace
    from whorl.runtime.compiled.prepared import PreparedSession
    from whorl.runtime.interface import ModelMetadata, NodeArg

PROVIDERS = ("CPUExecutionProvider",)
VERSION = "0.1.0"


class _TerminateFlag:
    """`RunOptions.terminate` seen as an event."""

    def __init__(self, options: RunOptions) -> None:
        self.options = options

    def is_set(self) -> bool:
        return bool(self.options.terminate)


class InferenceSession(Session):
    """A loaded model. Threads may run it at once; it can be pickled, survives fork, and is a context manager.

    Where the model has states, threads may still call everything, but one run follows the other. Pickling leaves out
    what the states are.

    `path_or_bytes`: a path, bytes, ModelProto or module. `providers` exists for onnxruntime's scripts: everything runs
    on the CPU, and a warning names other providers. Pickling keeps weights that lie beside the model
    file where they are. Errors: LoadError, UnsupportedError.
    """

    @collector_paused()
    def __init__(
        self,
        path_or_bytes: Source,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None,
    ) -> None:
        self._options = options = sess_options or SessionOptions()
        _check_options("sess_options", options, SessionOptions)
        if options.intra_op_num_threads < 0:
            raise RunError(
                f"intra_op_num_threads is {options.intra_op_num_threads!r}",
                fix="give a number of threads, or 0 for one on every core",
            )
        _check_providers(providers, provider_options)
        limits = Limits(options.max_iterations, options.timeout, options.max_memory, options.progress)
        model = recognise(path_or_bytes) if _may_be_prepared(options, limits) else None
        prepared = None if model is None else _prepared_session(model, options)
        if prepared is None or prepared.description is None:
            model = None
        # What was prepared serves those bytes, so a session loads them later, whatever becomes of the file.
        source = model.data if model is not None and model.is_whole else path_or_bytes
        if model is not None and isinstance(source, str | Path):
            source = Path(source).absolute()
        # A trace reads the model again: what it runs is not what the file calls it any more.
        self._source: Source | None = source
        load = partial(_load, source, options, limits.max_memory is not None, model)
        super().__init__(load, limits, options.backend, prepared=prepared, threads=options.intra_op_num_threads)
        if options.enable_profiling:
            self.record(Trace())

    def end_profiling(self) -> str:
        """Write what the runs so far did as a list of events, as onnxruntime does, and return the file's name.

        Nothing more is recorded.

        Errors: RunError unless the session was made with `enable_profiling`.
        """
        trace = self.recorded()
        if trace is None:
            raise RunError("nothing was recorded", fix="set SessionOptions.enable_profiling")
        path = f"{self._options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
        trace.write_events(path)
        return path

    def get_profiling_start_time_ns(self) -> int:
        """When recording began, on the clock of `time.perf_counter_ns`; 0 where nothing is recorded."""
        return 0 if self._trace is None else int(self._trace.begun * 1e9)

    def io_binding(self) -> IOBinding:
        """A new binding of inputs and outputs to memory."""
        return _bindings().IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Run on what is bound."""
        iobinding.run(run_options)

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """The outputs named (all where None) as values."""
        return _bindings().run_with_ort_values(self, output_names, input_dict_ort_values, run_options)

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Any], Any, str], None],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """Run in another thread, which then calls `callback(outputs, user_data, error)`; no error is an empty text."""
        _bindings().run_async(self, output_names, input_feed, callback, user_data, run_options)

    def disable_fallback(self) -> None:
        """Exists for onnxruntime's scripts: there is one provider."""

    def enable_fallback(self) -> None:
        """Exists for onnxruntime's scripts: there is one provider."""

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """The outputs named (all where None): arrays, lists for sequences, None for empty optionals.

        Feeds: arrays of the declared element type and shape, in any form that has `__array__` or `__dlpack__`; strings
        in any form; Python numbers and lists where nothing is lost. A named dim may differ between inputs.
        Errors: RunError names loop, iteration and node; LimitError and its kinds leave the session usable.
        """
        if run_options is None:
            return self.execute(output_names, input_feed)
        _check_options("run_options", run_options, RunOptions)
        names = "max_iterations", "timeout", "max_memory"
        own = {name: value for name in names if (value := getattr(run_options, name)) is not None}
        limits = replace(self.limits, **own)
        return self.execute(output_names, input_feed, limits, _TerminateFlag(run_options))

    def trace(
        self,
        input_feed: Mapping[str, Any],
        *,
        values: str | Sequence[str] = "*",
        every: int = 1,
        first: int | None = None,
        last: int | None = None,
        when: str = "",
        budget: int | None = None,
    ) -> ValueTrace:
        """Run the model once more, and record what happens in its loops and branches; `whorl.trace` says how.

        States begin anew. Names and paths are those of the model as it was read. Errors: RunError, LimitError.
        """
        recording = import_whole("whorl.api.tracing.recording")
        patterns = [values] if isinstance(values, str) else list(values)
        chosen = recording.Selection(values=patterns, every=every, first=first, last=last, when=when, budget=budget)
        run = partial(recording.run_once, limits=self.limits, mode=self.mode)
        module = self.module if self._source is None else _read(self._source, self._options)
        return recording.record(module, input_feed, chosen, run)

    def _repr_html_(self) -> str:
        """The page of the model as it was read, for notebooks."""
        module = self.module if self._source is None else _read(self._source, self._options)
        return import_whole("whorl.api.exploring.exploring").explore(module)._repr_html_()

    def get_state(self) -> dict[str, Any]:
        """A copy of what each state of the model is between runs; None for one that the next run computes anew."""
        return self.whole.states.get()

    def set_state(self, values: Mapping[str, Any]) -> None:
        """Set states by their names; of any length that their type leaves open. Errors: RunError."""
        self.whole.states.set(values)

    def reset_state(self, *names: str) -> None:
        """Let these states, all where none is named, begin anew in the next run. Errors: RunError."""
        self.whole.states.reset(*names)

    def get_inputs(self) -> list[NodeArg]:
        """The inputs that every run needs; states, which a session feeds itself, are not among them."""
        return _copies(self._interface.inputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs that have a default value."""
        return _copies(self._interface.overridable)

    def get_outputs(self) -> list[NodeArg]:
        """The outputs, with what inference found of their shapes; states are not among them."""
        return _copies(self._interface.outputs)

    def get_modelmeta(self) -> ModelMetadata:
        """The metadata of the file."""
        metadata = self._interface.metadata
        return replace(metadata, custom_metadata_map=dict(metadata.custom_metadata_map))

    def get_session_options(self) -> SessionOptions:
        """The options it was made with."""
        return self._options

    def get_providers(self) -> list[str]:
        """The CPU."""
        return list(PROVIDERS)

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Any = None) -> None:
        """Exists for onnxruntime's scripts: a warning names providers other than the CPU's."""
        _check_providers(providers, provider_options)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The CPU provider has none."""
        return {name: {} for name in PROVIDERS}

    def __enter__(self) -> InferenceSession:
        return self

    def __exit__(self, *exception: object) -> None:
        self.cancel()

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"options": self._options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._options, self._source = state["options"], None


def _bindings() -> ModuleType:
    return import_whole("whorl.api.bindings")


def _copies(arguments: Sequence[NodeArg]) -> list[NodeArg]:
    """As a caller may change them."""
    return [replace(each, shape=[*each.shape]) for each in arguments]


def _read(source: Source, options: SessionOptions) -> Module:
    """The module as the file has it."""
    load_options = import_whole("whorl.formats.options").LoadOptions
    chosen = load_options(options.condition_when_omitted, options.max_depth, options.compat)
    return import_whole("whorl.api.models").load_module(source, chosen)


def _load(source: Source, options: SessionOptions, has_memory_limit: bool, prepared: ModelBytes | None) -> Module:
    """The module that a session runs; what was `prepared` for some files is of no use beside others."""
    if prepared is not None and prepared.has_changed():
        reason = "the model or its weights have changed since the session was made"
        raise LoadError(f"{source}: {reason}", fix="make the session again")
    models, preparing = import_whole("whorl.api.models"), import_whole("whorl.api.preparing")
    module = _changed(_read(source, options), options)
    return preparing.prepare(
        module,
        options.graph_optimization_level,
        is_shared=isinstance(source, Module | models.HasModule),
        has_memory_limit=has_memory_limit,
        path=options.optimized_model_filepath,
    )


def _changed(module: Module, options: SessionOptions) -> Module:
    """The module with the lengths and initializers that the options say."""
    if not (options.free_dimensions or options.initializers):
        return module
    changes = import_whole("whorl.api.overrides")
    return changes.with_initializers(changes.with_lengths(module, options.free_dimensions), options.initializers)


def _may_be_prepared(options: SessionOptions, limits: Limits) -> bool:
    """Whether runs without limits go straight to native code, and nothing else is to be written or recorded."""
    if DEFINITIONS:
        return False  # What is registered may change, and the model says nothing of it.
    if options.free_dimensions or options.initializers:
        return False
    is_plain = not (options.optimized_model_filepath or options.enable_profiling or debug().needs_all_stages)
    return is_plain and limits == Limits() and choose_mode(options.backend, once=False) == BACKENDS["native"]


def _prepared_session(model: ModelBytes, options: SessionOptions) -> PreparedSession | None:
    """What was prepared for a model; None where nothing can be stored."""
    prepared = import_whole("whorl.runtime.compiled.prepared")
    chosen = options.condition_when_omitted, options.max_depth, options.compat, options.graph_optimization_level
    return prepared.open_session(model.data, chosen, model.files)


def _check_options(name: str, options: object, kind: type) -> None:
    if not isinstance(options, kind):
        raise RunError(f"{name} is {type(options).__name__}", fix=f"pass a whorl.{kind.__name__}")


def _check_providers(providers: Sequence[Any] | None, options: Sequence[Any] | None = None) -> None:
    """Refuse what is no list of providers, and warn of those that are not available."""
    if providers is not None and options is not None and len(providers) != len(options):
        raise FeedError("providers and provider_options differ in length", fix="give options for each provider")
    entries = [providers] if isinstance(providers, str) else providers or PROVIDERS
    for entry in entries:
        name = entry if isinstance(entry, str) else entry[0]
        if name not in PROVIDERS:
            warnings.warn(f"provider {name!r} is not available; {PROVIDERS[0]!r} runs the model", stacklevel=3)


def get_available_providers() -> list[str]:
    """The execution providers: the CPU."""
    return list(PROVIDERS)


get_all_providers = get_available_providers


def get_device() -> str:
    """The device everything runs on."""
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Exists for onnxruntime's scripts: whorl raises errors and logs nothing."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Exists for onnxruntime's scripts: whorl raises errors and logs nothing."""


def set_seed(seed: int) -> None:
    """From here on, random operators without a seed of their own draw the same numbers as after any other such call.

    Runs that several threads make at once share them out as they come.
    """
    import_whole("whorl.ops.random.seeds").SEEDS.start(seed)


def enable_telemetry_events() -> None:
    """Exists for onnxruntime's scripts: whorl sends nothing."""


def disable_telemetry_events() -> None:
    """Exists for onnxruntime's scripts: whorl sends nothing."""


def get_version_string() -> str:
    """The version of whorl."""
    return VERSION


def get_build_info() -> str:
    """What whorl is, in one line."""
    return f"whorl {VERSION}, Python"
