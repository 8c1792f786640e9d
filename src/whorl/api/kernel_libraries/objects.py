"""What libraries have handles of: tensors, types, attributes, descriptions of nodes, contexts of calls, statuses."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from whorl.errors import RunError
from whorl.formats.onnx.dtypes import FROM_ONNX, TO_ONNX
from whorl.ir.dtypes import STRING

Kind = TypeVar("Kind")
_NUMBERS = itertools.count(16, 16)
_LIVE: dict[int, Any] = {}


def hold(value: object) -> int:
    """A handle of an object, which lives until it is released."""
    number = next(_NUMBERS)
    _LIVE[number] = value
    return number


def release(handle: int | None) -> None:
    """Forget a handle; null is none."""
    if handle is not None:
        _LIVE.pop(handle, None)


def resolve(handle: int | None, kind: type[Kind]) -> Kind:
    """The object of a handle. Errors: RunError for what is none, or no longer."""
    value = _LIVE.get(handle or 0)
    if not isinstance(value, kind):
        raise RunError(f"{handle} is no handle of a {kind.__name__}")
    return value


class TensorFact:
    """An element type, by ONNX's number, and lengths; -1 for those that are not known, with their names."""

    def __init__(self, element: int = 0, lengths: Sequence[int] = (), names: Sequence[str] = ()) -> None:
        self.element, self.lengths, self.names = element, list(lengths), list(names)
        self.texts: list[bytes] = []


class Tensor:
    """A tensor of a call. Texts are bytes while a library has them; buffers that it writes to become such."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.is_text = array.dtype == STRING
        self.texts = [_encode(text) for text in array.reshape(-1)] if self.is_text else []
        self.buffers: dict[int, Any] = {}

    @property
    def fact(self) -> TensorFact:
        """Its type."""
        return TensorFact(TO_ONNX[self.array.dtype], self.array.shape)

    def all_texts(self) -> list[bytes]:
        """The texts. Errors: RunError where the tensor has numbers."""
        if not self.is_text:
            raise RunError(f"a tensor of {self.array.dtype} has no texts")
        for index, buffer in self.buffers.items():
            self.texts[index] = buffer.raw[: len(buffer) - 1]
        self.buffers.clear()
        return self.texts

    def value(self) -> np.ndarray:
        """The array, with the texts that were written."""
        if not self.is_text:
            return self.array
        texts = [text.decode("utf-8", "surrogateescape") for text in self.all_texts()]
        array = np.empty(len(texts), object)
        array[:] = texts
        return array.reshape(self.array.shape)


def empty(element: int, lengths: Sequence[int]) -> Tensor:
    """A tensor to be written. Errors: RunError for lengths or elements that there are none of."""
    if element not in FROM_ONNX:
        raise RunError(f"element type {element} is none of ONNX's")
    if any(n < 0 for n in lengths):
        raise RunError(f"a tensor has no lengths {tuple(lengths)}")
    dtype = FROM_ONNX[element]
    return Tensor(np.full(tuple(lengths), "", object) if dtype == STRING else np.empty(tuple(lengths), dtype))


def _encode(text: object) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape")


class Description:
    """A node as its kernel is made: attributes, types of what it reads and gives."""

    def __init__(
        self, title: str, attributes: Mapping[str, Any], inputs: Sequence[TensorFact], outputs: Sequence[TensorFact]
    ) -> None:
        self.title, self.attributes, self.inputs, self.outputs = title, dict(attributes), inputs, outputs

    def attribute(self, name: bytes | None) -> Any:
        """An attribute. Errors: RunError where the node has none of the name."""
        text = (name or b"").decode("utf-8", "replace")
        if text not in self.attributes:
            raise RunError(f"No attribute with name '{text}' is defined.")
        return self.attributes[text]


class Call:
    """One call of a kernel: its inputs (None for omitted ones), and its outputs once it asks for them."""

    def __init__(self, inputs: Sequence[np.ndarray | None], elements: Sequence[int]) -> None:
        self.inputs = [None if x is None else Tensor(x) for x in inputs]
        self.elements = elements
        self.outputs: list[Tensor | None] = [None] * len(elements)
        self.handles: list[int] = []
        self.scratch: list[Any] = []

    def handle(self, value: object) -> int:
        """A handle that lasts as long as the call."""
        self.handles.append(hold(value))
        return self.handles[-1]

    def close(self) -> None:
        """Release what the call has handles of."""
        for handle in self.handles:
            release(handle)


class Inference:
    """A node whose types are query for: those of its inputs, its attributes, and the results that were set."""

    def __init__(self, inputs: Sequence[TensorFact], attributes: Mapping[str, Any], count: int) -> None:
        self.inputs, self.attributes = inputs, attributes
        self.outputs: list[TensorFact | None] = [None] * count
        self.handles: list[int] = []


class Domain:
    """Ops of a domain, by the addresses of their tables."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ops: list[int] = []


class Registration:
    """The session options that a library adds domains to."""

    def __init__(self) -> None:
        self.domains: list[Domain] = []


class Status:
    """A failure: its code, and its text as C has it."""

    def __init__(self, code: int, text: bytes) -> None:
        self.code = code
        self.text = ctypes.create_string_buffer(text)


class Memory:
    """A kind of memory: the CPU's, whatever its name."""

    def __init__(self, name: bytes = b"Cpu") -> None:
        self.name = name
