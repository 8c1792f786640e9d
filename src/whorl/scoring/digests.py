"""Digests of models and values: texts that change when any element does, on which the restart of a run depends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from msgspec import Struct

from whorl.ir.constants import FixedArray, LazyArray, as_array, blocks
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Module
from whorl.ir.guards import is_dict, is_dtype, is_list, is_tuple
from whorl.ir.text import print_module

if TYPE_CHECKING:
    from whorl.formats.mdf.model import MdfModel

_SHOWN = 8
"""Elements of constants in the text of a module; all of them are digested beside it."""


def digest_module(module: Module) -> str:
    """Of a module: its text, and all elements of what its operators have."""
    digest = hashlib.sha256(print_module(module, _SHOWN).encode())
    _add(digest, module.defaults)
    for node in module.nodes():
        _add(digest, node.op)
    return digest.hexdigest()


def digest_simulated(model: MdfModel) -> str:
    """Of an MDF model, with the arrays that lie in files beside it, and how it is simulated."""
    return digest_value((model.document, model.inputs, model.precision, model.integrator))


def digest_value(value: Any) -> str:
    """Of arrays, numbers and texts, and of lists, tuples, dicts and records of them."""
    digest = hashlib.sha256()
    _add(digest, value)
    return digest.hexdigest()


def _add(digest: Any, value: Any) -> None:
    """Add a value with its kind and length, so that no two that differ add the same bytes.

    The text of an array would be rounded and shortened, and that of a lazy one need not tell its elements.
    """
    if is_dict(value):
        _add_all(digest, "dict", [item for pair in value.items() for item in pair])
    elif is_list(value) or is_tuple(value):
        _add_all(digest, "list", value)
    elif isinstance(value, Struct):
        _add_all(digest, type(value).__qualname__, [getattr(value, name) for name in value.__struct_fields__])
    elif is_dataclass(value) and not isinstance(value, type):
        _add_all(digest, type(value).__qualname__, [getattr(value, field.name) for field in fields(value)])
    elif _is_lazy(value):
        _add_array(digest, value)
    elif hasattr(value, "__array__"):
        _add_array(digest, np.asarray(value))
    else:
        _add_bytes(digest, type(value).__qualname__, repr(value).encode())


def _add_all(digest: Any, kind: str, items: Iterable[Any]) -> None:
    items = list(items)
    _add_bytes(digest, kind, str(len(items)).encode())
    for item in items:
        _add(digest, item)


def _add_array(digest: Any, array: FixedArray) -> None:
    _add_bytes(digest, str(array.dtype), str(tuple(array.shape)).encode())
    if array.dtype == STRING:
        _add(digest, as_array(array).tolist())
        return
    for block in blocks(array):
        digest.update(block.tobytes())


def _is_lazy(value: object) -> TypeGuard[LazyArray]:
    return hasattr(value, "numpy") and is_dtype(getattr(value, "dtype", None))


def _add_bytes(digest: Any, kind: str, data: bytes) -> None:
    digest.update(f"{kind} {len(data)}\n".encode())
    digest.update(data)
