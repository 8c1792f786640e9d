"""Constant in all its forms, and inputs that older versions of an op have as attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whorl.errors import LoadError, SaveError
from whorl.formats.onnx.exporting import NodeWriter
from whorl.formats.onnx.importing import OnnxNode, importer
from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.graph import Value
from whorl.ops.core.base import known_ints


def _string(text: str) -> np.ndarray:
    return np.array(text, dtype=object)


def _strings(texts: tuple[str, ...]) -> np.ndarray:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


FORMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda array: array,
    "sparse_value": lambda array: array,
    "value_float": lambda number: np.array(number, np.float32),
    "value_floats": lambda numbers: np.array(numbers, np.float32),
    "value_int": lambda number: np.array(number, np.int64),
    "value_ints": lambda numbers: np.array(numbers, np.int64),
    "value_string": _string,
    "value_strings": _strings,
}


@importer("Constant")
def constant(node: OnnxNode, build: Builder) -> list[Value]:
    """Exactly one attribute says the value."""
    names = [name for name in node.attributes if name in FORMS]
    if len(names) != 1 or len(node.attributes) != 1:
        shown = ", ".join(sorted(node.attributes)) or "none"
        raise LoadError(f"needs one attribute that says its value, has {shown}", node.title)
    value = FORMS[names[0]](node.attributes[names[0]])
    return build.add_many(Constant(value), [], node.outputs, name=node.name)


def fixed_ints(value: Value, what: str, since: int, write: NodeWriter) -> tuple[int, ...]:
    """The elements of an input that the target has as an attribute; SaveError where they depend on the run."""
    constant = write.constant_value(value)
    elements = known_ints(value) if constant is None else tuple(constant.reshape(-1).tolist())
    if elements is None:
        raise SaveError(f"the input {what!r} is computed at run time", fix=f"opset {since} or later can say it")
    return elements
