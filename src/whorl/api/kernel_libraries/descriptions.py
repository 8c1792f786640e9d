"""Functions about nodes that libraries call while they make kernels or infer types: attributes, types, names."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.api.kernel_libraries.objects import Description, Inference, Tensor, TensorFact, hold, resolve
from whorl.errors import RunError
from whorl.ir.constants import as_array
from whorl.ir.guards import is_list, is_tuple

_INTEGERS, _FLOATS, _TEXT = (1, 2), (3, 4), 5
"""`OrtOpAttrType`."""


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _wrong(name: bytes, value: object) -> RunError:
    return RunError(f"attribute {name.decode('utf-8', 'replace')!r} is {value!r}")


def float_attribute(node: int, name: bytes, result: Any) -> None:
    """`KernelInfoGetAttribute_float`."""
    value = resolve(node, Description).attribute(name)
    if not _is(value, float):
        raise _wrong(name, value)
    result[0] = value


def integer_attribute(node: int, name: bytes, result: Any) -> None:
    """`KernelInfoGetAttribute_int64`."""
    value = resolve(node, Description).attribute(name)
    if not _is(value, int):
        raise _wrong(name, value)
    result[0] = value


def text_attribute(node: int, name: bytes, target: int | None, size: Any) -> None:
    """`KernelInfoGetAttribute_string`."""
    value = resolve(node, Description).attribute(name)
    if not isinstance(value, str | bytes):
        raise _wrong(name, value)
    copy_terminated(value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value, target, size)


def copy_terminated(text: bytes, target: int | None, size: Any) -> None:
    """Copy a text and its end; without a target say how much that is. Errors: RunError where it is too much."""
    room = size[0]
    size[0] = len(text) + 1
    if target is None:
        return
    if room < len(text) + 1:
        raise RunError(f"Result buffer is not large enough: {room} bytes for {len(text) + 1}")
    ctypes.memmove(target, text + b"\0", len(text) + 1)


def _copy_numbers(name: bytes, values: Any, kind: type, target: Any, size: Any) -> None:
    if not (is_list(values) or is_tuple(values)) or not all(_is(value, kind) for value in values):
        raise _wrong(name, values)
    room = size[0]
    size[0] = len(values)
    if not target:
        return
    if room < len(values):
        raise RunError(f"Result buffer is not large enough: {room} numbers for {len(values)}")
    for index, value in enumerate(values):
        target[index] = value


def float_attributes(node: int, name: bytes, target: Any, size: Any) -> None:
    """`KernelInfoGetAttributeArray_float`."""
    _copy_numbers(name, resolve(node, Description).attribute(name), float, target, size)


def integer_attributes(node: int, name: bytes, target: Any, size: Any) -> None:
    """`KernelInfoGetAttributeArray_int64`."""
    _copy_numbers(name, resolve(node, Description).attribute(name), int, target, size)


def tensor_attribute(node: int, name: bytes, _: int, result: Any) -> None:
    """`KernelInfoGetAttribute_tensor`."""
    value = resolve(node, Description).attribute(name)
    if not hasattr(value, "dtype"):
        raise _wrong(name, value)
    result[0] = hold(Tensor(np.array(as_array(value))))


def input_count_of_node(node: int, result: Any) -> None:
    """`KernelInfo_GetInputCount`."""
    result[0] = len(resolve(node, Description).inputs)


def output_count_of_node(node: int, result: Any) -> None:
    """`KernelInfo_GetOutputCount`."""
    result[0] = len(resolve(node, Description).outputs)


def name_of_input(node: int, index: int, target: int | None, size: Any) -> None:
    """`KernelInfo_GetInputName`."""
    _check_index(index, resolve(node, Description).inputs)
    copy_terminated(f"input{index}".encode(), target, size)


def name_of_output(node: int, index: int, target: int | None, size: Any) -> None:
    """`KernelInfo_GetOutputName`."""
    _check_index(index, resolve(node, Description).outputs)
    copy_terminated(f"output{index}".encode(), target, size)


def _check_index(index: int, values: Sequence[object]) -> None:
    if index >= len(values):
        raise RunError(f"there is no value {index} of {len(values)}")


def type_of_input(node: int, index: int, result: Any) -> None:
    """`KernelInfo_GetInputTypeInfo`."""
    result[0] = hold(resolve(node, Description).inputs[index])


def type_of_output(node: int, index: int, result: Any) -> None:
    """`KernelInfo_GetOutputTypeInfo`."""
    result[0] = hold(resolve(node, Description).outputs[index])


def name_of_node(node: int, target: int | None, size: Any) -> None:
    """`KernelInfo_GetNodeName`."""
    copy_terminated(resolve(node, Description).title.encode(), target, size)


def constant_input(_: int, __: int, is_constant: Any, result: Any) -> None:
    """No input of a kernel is known when it is made."""
    is_constant[0] = 0
    result[0] = None


def copy_description(node: int, result: Any) -> None:
    """`CopyKernelInfo`."""
    result[0] = hold(resolve(node, Description))


# ---- inference ---------------------------------------------------------------------------------------------------


def type_of_fact(inference: int, index: int, result: Any) -> None:
    """`ShapeInferContext_GetInputTypeShape`."""
    query = resolve(inference, Inference)
    _check_index(index, query.inputs)
    query.handles.append(hold(query.inputs[index]))
    result[0] = query.handles[-1]


class Attribute:
    """An attribute of a node whose types are query for."""

    def __init__(self, value: Any) -> None:
        self.value = value


def attribute_of_node(inference: int, name: bytes, result: Any) -> None:
    """`ShapeInferContext_GetAttribute`."""
    query = resolve(inference, Inference)
    text = name.decode("utf-8", "replace")
    if text not in query.attributes:
        raise RunError(f"No attribute with name '{text}' is defined.")
    query.handles.append(hold(Attribute(query.attributes[text])))
    result[0] = query.handles[-1]


def set_type_of_result(inference: int, index: int, type: int) -> None:
    """`ShapeInferContext_SetOutputTypeShape`."""
    query, fact = resolve(inference, Inference), resolve(type, TensorFact)
    _check_index(index, query.outputs)
    query.outputs[index] = TensorFact(fact.element, fact.lengths, fact.names)


def read_attribute(attribute: int, kind: int, target: int, room: int, size: Any) -> None:
    """The bytes of an attribute, as `OrtOpAttrType` says what they are."""
    data = _bytes_of(resolve(attribute, Attribute).value, kind)
    size[0] = len(data)
    if room < len(data):
        raise RunError(f"{room} bytes are too few for an attribute of {len(data)}")
    ctypes.memmove(target, data, len(data))


def _bytes_of(value: Any, kind: int) -> bytes:
    if kind in _INTEGERS:
        return np.array(value, np.int64).tobytes()
    if kind in _FLOATS:
        return np.array(value, np.float32).tobytes()
    if kind != _TEXT:
        raise RunError(f"attributes of kind {kind} are not read here")
    return value.encode() if isinstance(value, str) else bytes(value)
