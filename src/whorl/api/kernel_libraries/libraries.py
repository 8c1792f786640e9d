"""Libraries of onnxruntime's custom ops: loaded into this process, and their ops registered."""

from __future__ import annotations

import ctypes
import os
from ctypes import c_void_p
from functools import partial
from typing import Any

import numpy as np

from whorl.api.kernel_libraries.failures import check_status
from whorl.api.kernel_libraries.objects import Registration, hold, release
from whorl.api.kernel_libraries.operators import Operator, Types, choose
from whorl.api.kernel_libraries.table import base
from whorl.errors import LoadError, RunError, TypeRuleError
from whorl.ir.definitions import DEFINITIONS, Definition
from whorl.ir.types import TensorType

ENTRY = "RegisterCustomOps"
_LOADED: dict[str, Any] = {}


def load_library(path: str | os.PathLike[str]) -> None:
    """Make the ops of a library known to everything that reads, checks or runs models in this process.

    Errors: LoadError where it is no library of custom ops.
    """
    file = os.path.realpath(path)
    try:
        library = ctypes.CDLL(file)
        entry = getattr(library, ENTRY)
    except OSError as error:
        raise LoadError(f"cannot load {os.fspath(path)!r}: {error}") from None
    except AttributeError:
        raise LoadError(
            f"{os.fspath(path)!r} has no {ENTRY}", fix="name a library of onnxruntime's custom ops"
        ) from None
    _LOADED[file] = library
    entry.restype, entry.argtypes = c_void_p, (c_void_p, c_void_p)
    registration = Registration()
    handle = hold(registration)
    try:
        check_status(entry(handle, ctypes.addressof(base())), os.path.basename(file))
    except RunError as error:
        raise LoadError(error.message) from None
    finally:
        release(handle)
    for domain in registration.domains:
        _register(domain.name, [Operator(address) for address in domain.ops])


def _register(domain: str, operators: list[Operator]) -> None:
    """Ops of one name, which differ in types, are one op of whorl's.

    They are taken for such as give other outputs every time, as onnxruntime takes ops of domains that it does not know,
    and that may run again.
    """
    names: dict[str, list[Operator]] = {}
    for operator in operators:
        if operator.is_for_cpu:
            names.setdefault(operator.name, []).append(operator)
    for name, group in names.items():
        infer, run = partial(_infer, group), partial(_run, group)
        DEFINITIONS[domain, name] = Definition(domain, name, infer, run, None, pure=False, repeatable=True)


def _infer(group: list[Operator], *types: Any, **attributes: Any) -> tuple[TensorType, ...]:
    for type in types:
        if type is not None and not isinstance(type, TensorType):
            raise TypeRuleError(f"{group[0].name} takes tensors, and an input is {type}")
    return tuple(choose(group, types).infer(types, attributes, _count(group)))


def _run(group: list[Operator], *arrays: np.ndarray | None, **attributes: Any) -> tuple[np.ndarray, ...]:
    types: Types = [None if x is None else TensorType(x.dtype, x.shape) for x in arrays]
    return tuple(choose(group, types).run(arrays, attributes, _count(group)))


def _count(group: list[Operator]) -> int:
    return max(len(operator.outputs) for operator in group)
