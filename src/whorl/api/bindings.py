"""Runs on values that a caller binds: `IOBinding`, and the calls of a session that take or give `OrtValue`."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from whorl.api.ort_values import CPU, OrtValue, dtype_of, require_cpu
from whorl.errors import RunError
from whorl.ir.suggestions import choose
from whorl.ir.types import type_of

if TYPE_CHECKING:
    from whorl.api.options import RunOptions
    from whorl.api.session import InferenceSession


class IOBinding:
    """Inputs and outputs of a session, bound to memory: a run reads those, and writes into these."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, OrtValue] = {}
        self._outputs: dict[str, OrtValue | None] = {}
        self._results: list[OrtValue] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: np.ndarray) -> None:
        """Bind an input to an array."""
        self._inputs[self._known(name, self._session.get_inputs())] = OrtValue(np.asarray(arr_on_cpu))

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """Bind an input to memory at an address."""
        require_cpu(device_type)
        self._inputs[self._known(name, self._session.get_inputs())] = _value_at(buffer_ptr, element_type, shape)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Bind an input to a value."""
        self._inputs[self._known(name, self._session.get_inputs())] = ortvalue

    def bind_output(
        self,
        name: str,
        device_type: str = CPU,
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Bind an output to memory at an address, or to whatever a run makes."""
        require_cpu(device_type)
        self._outputs[self._known(name, self._session.get_outputs())] = None
        if buffer_ptr is None:
            return
        if element_type is None or shape is None:
            raise RunError("the memory of an output has no element type or shape", fix="pass element_type and shape")
        self._outputs[name] = _value_at(buffer_ptr, element_type, shape)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Bind an output to a value, into which runs write."""
        self._outputs[self._known(name, self._session.get_outputs())] = ortvalue

    def _known(self, name: str, arguments: Sequence[Any]) -> str:
        names = [argument.name for argument in arguments]
        if name not in names:
            raise RunError(f"the model has no input or output {name!r}", fix=choose(name, names))
        return name

    def run(self, run_options: RunOptions | None) -> None:
        """Run the session on what is bound."""
        feeds = {name: value.numpy() for name, value in self._inputs.items()}
        results = self._session.run(list(self._outputs), feeds, run_options) if self._outputs else []
        for result, (name, bound) in zip(results, self._outputs.items(), strict=True):
            if bound is not None:
                _require_fit(name, result, bound)
        self._results = []
        for result, bound in zip(results, self._outputs.values(), strict=True):
            if bound is not None:
                bound.update_inplace(result)
            self._results.append(OrtValue(result) if bound is None else bound)

    def get_outputs(self) -> list[OrtValue]:
        """The outputs of the last run, in the order in which they were bound."""
        return list(self._results)

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs of the last run as arrays."""
        return [value.numpy() for value in self._results]

    def clear_binding_inputs(self) -> None:
        """Forget the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Forget the outputs."""
        self._outputs.clear()
        self._results = []

    def synchronize_inputs(self) -> None:
        """Exists for scripts: memory of the CPU needs no waiting."""

    def synchronize_outputs(self) -> None:
        """Exists for scripts: memory of the CPU needs no waiting."""


def _value_at(address: int, element_type: Any, shape: Sequence[int]) -> OrtValue:
    """A tensor in memory of the caller, who keeps it alive."""
    dtype = dtype_of(element_type)
    memory: Any = (ctypes.c_byte * (math.prod(shape) * dtype.itemsize)).from_address(address)
    return OrtValue(np.frombuffer(memory, dtype).reshape(shape))


def run_with_ort_values(
    session: InferenceSession, names: Sequence[str] | None, feeds: Mapping[str, OrtValue], options: RunOptions | None
) -> list[OrtValue]:
    """The outputs of a run as values."""
    return [OrtValue(y) for y in session.run(names, {name: x.numpy() for name, x in feeds.items()}, options)]


def run_async(
    session: InferenceSession,
    names: Sequence[str] | None,
    feeds: Mapping[str, Any],
    callback: Callable[[list[Any], Any, str], None],
    user_data: Any,
    options: RunOptions | None,
) -> None:
    """Run in a thread, which then calls back with the outputs and no text, or with no outputs and an error's text."""

    def run() -> None:
        try:
            results = session.run(names, feeds, options)
        except Exception as error:  # what a feed or an operator of the caller's raises, too: no one else hears of it
            callback([], user_data, str(error) or type(error).__name__)
        else:
            callback(results, user_data, "")

    threading.Thread(target=run, daemon=True).start()


def _require_fit(name: str, result: Any, bound: OrtValue) -> None:
    """Refuse a value that an output cannot be written into, before anything is written."""
    if type_of(result) != type_of(bound.numpy()):
        raise RunError(
            f"output {name!r} is {type_of(result)}, what it is bound to {type_of(bound.numpy())}",
            fix="bind memory of that type and shape, or the output without memory",
        )
