"""Functions about tensors and types that libraries call."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from whorl.api.kernel_libraries.objects import Tensor, TensorFact, empty, hold, resolve
from whorl.errors import RunError
from whorl.formats.onnx.dtypes import FROM_ONNX
from whorl.ir.dtypes import STRING

TENSOR = 1
"""`ONNXType` of tensors."""


# ---- tensors -----------------------------------------------------------------------------------------------------


def create_tensor(_: int, lengths: Any, rank: int, element: int, result: Any) -> None:
    """`CreateTensorAsOrtValue`."""
    result[0] = hold(empty(element, lengths[:rank]))


def create_tensor_over(_: int, data: int, size: int, lengths: Any, rank: int, element: int, result: Any) -> None:
    """A tensor over memory of the library's, which lets it live long enough."""
    shape, dtype = tuple(lengths[:rank]), FROM_ONNX.get(element)
    if dtype is None or dtype == STRING or math.prod(shape) * dtype.itemsize > size:
        raise RunError(f"{size} bytes are no tensor {shape} of element type {element}")
    memory = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(data)) if size else np.empty(0, np.uint8)
    result[0] = hold(Tensor(memory[: math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)))


def is_tensor(value: int, result: Any) -> None:
    """`IsTensor`."""
    resolve(value, Tensor)
    result[0] = 1


def has_value(_: int | None, result: Any) -> None:
    """`HasValue`."""
    result[0] = 1


def data(value: int, result: Any) -> None:
    """`GetTensorMutableData`."""
    tensor = resolve(value, Tensor)
    if tensor.is_text:
        raise RunError("the elements of a tensor of strings have no address")
    result[0] = tensor.array.ctypes.data


def type_of_tensor(value: int, result: Any) -> None:
    """`GetTensorTypeAndShape`, `GetTypeInfo`."""
    result[0] = hold(resolve(value, Tensor).fact)


def kind_of_value(value: int, result: Any) -> None:
    """`GetValueType`."""
    resolve(value, Tensor)
    result[0] = TENSOR


# ---- texts -------------------------------------------------------------------------------------------------------


def fill_texts(value: int, texts: Any, count: int) -> None:
    """`FillStringTensor`."""
    all_texts = resolve(value, Tensor).all_texts()
    if count != len(all_texts):
        raise RunError(f"{count} texts for a tensor of {len(all_texts)}")
    all_texts[:] = [text or b"" for text in texts[:count]]


def fill_text(value: int, text: bytes, index: int) -> None:
    """`FillStringTensorElement`."""
    resolve(value, Tensor).all_texts()[index] = text or b""


def text_buffer(value: int, index: int, size: int, result: Any) -> None:
    """Memory of a text that the library writes."""
    tensor = resolve(value, Tensor)
    tensor.all_texts()[index] = b""
    tensor.buffers[index] = ctypes.create_string_buffer(size + 1)
    result[0] = ctypes.addressof(tensor.buffers[index])


def length_of_texts(value: int, result: Any) -> None:
    """`GetStringTensorDataLength`."""
    result[0] = sum(map(len, resolve(value, Tensor).all_texts()))


def copy_texts(value: int, target: int, size: int, offsets: Any, count: int) -> None:
    """`GetStringTensorContent`."""
    texts = resolve(value, Tensor).all_texts()
    content = b"".join(texts)
    if size < len(content) or count < len(texts):
        raise RunError(f"{size} bytes and {count} offsets are too few for {len(content)} of {len(texts)} texts")
    ctypes.memmove(target, content, len(content))
    at = 0
    for index, text in enumerate(texts):
        offsets[index] = at
        at += len(text)


def length_of_text(value: int, index: int, result: Any) -> None:
    """`GetStringTensorElementLength`."""
    result[0] = len(resolve(value, Tensor).all_texts()[index])


def copy_text(value: int, size: int, index: int, target: int) -> None:
    """`GetStringTensorElement`."""
    text = resolve(value, Tensor).all_texts()[index]
    if size < len(text):
        raise RunError(f"{size} bytes are too few for a text of {len(text)}")
    ctypes.memmove(target, text, len(text))


# ---- types -------------------------------------------------------------------------------------------------------


def create_type(result: Any) -> None:
    """`CreateTensorTypeAndShapeInfo`."""
    result[0] = hold(TensorFact())


def tensor_type(type: int, result: Any) -> None:
    """The type of a tensor out of the type of a value: the same handle, which is released once."""
    resolve(type, TensorFact)
    result[0] = type


def kind_of_type(type: int, result: Any) -> None:
    """`GetOnnxTypeFromTypeInfo`."""
    resolve(type, TensorFact)
    result[0] = TENSOR


def set_element_type(type: int, element: int) -> None:
    """`SetTensorElementType`."""
    resolve(type, TensorFact).element = element


def set_lengths(type: int, lengths: Any, rank: int) -> None:
    """`SetDimensions`."""
    resolve(type, TensorFact).lengths = list(lengths[:rank])


def set_names_of_lengths(type: int, names: Any, rank: int) -> None:
    """`SetSymbolicDimensions`."""
    resolve(type, TensorFact).names = [(name or b"").decode("utf-8", "replace") for name in names[:rank]]


def element_type(type: int, result: Any) -> None:
    """`GetTensorElementType`."""
    result[0] = resolve(type, TensorFact).element


def rank(type: int, result: Any) -> None:
    """`GetDimensionsCount`."""
    result[0] = len(resolve(type, TensorFact).lengths)


def lengths(type: int, result: Any, count: int) -> None:
    """`GetDimensions`."""
    for index, length in enumerate(resolve(type, TensorFact).lengths[:count]):
        result[index] = length


def names_of_lengths(type: int, result: Any, count: int) -> None:
    """`GetSymbolicDimensions`."""
    fact = resolve(type, TensorFact)
    fact.texts = [name.encode() for name in fact.names]
    for index, _ in enumerate(fact.lengths[:count]):
        result[index] = fact.texts[index] if index < len(fact.texts) else b""


def element_count(type: int, result: Any) -> None:
    """`GetTensorShapeElementCount`."""
    result[0] = math.prod(resolve(type, TensorFact).lengths)
