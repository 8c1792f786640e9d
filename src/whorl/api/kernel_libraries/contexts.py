"""Functions that kernels call while they run, and libraries while they register: inputs, outputs, parts, domains."""

from __future__ import annotations

import ctypes
import logging
from ctypes import c_char
from typing import Any

from whorl.api.kernel_libraries.interface import PART
from whorl.api.kernel_libraries.objects import Call, Domain, Inference, Registration, empty, hold, resolve
from whorl.errors import RunError

LOGGER = logging.getLogger("whorl")
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)


class Logger:
    """What libraries write messages to."""


def input_count(context: int, result: Any) -> None:
    """Of a call, or of a node whose types are query for."""
    result[0] = len(_reader(context).inputs)


def _reader(context: int) -> Call | Inference:
    try:
        return resolve(context, Call)
    except RunError:
        return resolve(context, Inference)


def output_count(context: int, result: Any) -> None:
    """`KernelContext_GetOutputCount`."""
    result[0] = len(resolve(context, Call).outputs)


def input(context: int, index: int, result: Any) -> None:
    """`KernelContext_GetInput`; null for one that the node does not have."""
    call = resolve(context, Call)
    value = call.inputs[index] if index < len(call.inputs) else None
    result[0] = None if value is None else call.handle(value)


def output(context: int, index: int, lengths: Any, rank: int, result: Any) -> None:
    """`KernelContext_GetOutput`."""
    call = resolve(context, Call)
    if index >= len(call.outputs):
        result[0] = None
        return
    value = call.outputs[index]
    shape = tuple(lengths[:rank])
    if value is None or value.array.shape != shape:
        value = empty(call.elements[index], shape)
    call.outputs[index] = value
    result[0] = call.handle(value)


def scratch(context: int, _: int, size: int, result: Any) -> None:
    """Memory that lasts as long as the call."""
    call = resolve(context, Call)
    call.scratch.append((c_char * max(size, 1))())
    result[0] = ctypes.addressof(call.scratch[-1])


def run_parts(_: int, function: int, count: int, __: int, data: int) -> None:
    """All parts of a kernel's work, one after the other: a session shares native code among cores, and not kernels."""
    part = PART(function)
    for number in range(count):
        part(data, number)


# ---- messages ----------------------------------------------------------------------------------------------------


def logger(_: int, result: Any) -> None:
    """`KernelInfo_GetLogger`, `KernelContext_GetLogger`."""
    result[0] = _LOGGER


_LOGGER = hold(Logger())


def log(_: int, severity: int, text: bytes, __: int, ___: int, ____: bytes) -> None:
    """`Logger_LogMessage`."""
    LOGGER.log(_LEVELS[min(severity, len(_LEVELS) - 1)], "%s", (text or b"").decode("utf-8", "replace"))


def severity(_: int, result: Any) -> None:
    """`Logger_GetLoggingSeverityLevel`."""
    result[0] = next((n for n, level in enumerate(_LEVELS) if LOGGER.isEnabledFor(level)), len(_LEVELS) - 1)


# ---- registration ------------------------------------------------------------------------------------------------


def create_domain(name: bytes, result: Any) -> None:
    """`CreateCustomOpDomain`."""
    result[0] = hold(Domain(name.decode()))


def add_op(domain: int, op: int) -> None:
    """`CustomOpDomain_Add`."""
    resolve(domain, Domain).ops.append(op)


def add_domain(options: int, domain: int) -> None:
    """`AddCustomOpDomain`."""
    resolve(options, Registration).domains.append(resolve(domain, Domain))


def ignore_setting(_: int, __: bytes, ___: bytes) -> None:
    """Settings of a session have no meaning for ops."""
