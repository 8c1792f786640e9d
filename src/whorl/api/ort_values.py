"""Values and devices as onnxruntime has them: `OrtValue`, `OrtDevice`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.formats.onnx.dtypes import TO_ONNX, from_onnx
from whorl.ir.types import type_of, type_string
from whorl.runtime.values import is_array, is_sequence

CPU = "cpu"
_DEVICE_TYPE = 0
_DLPACK_CPU = 1


def require_cpu(device_type: str) -> None:
    """Refuse any device but the CPU."""
    if device_type.lower() != CPU:
        raise RunError(f"there is no device {device_type!r}", fix="use 'cpu'")


def dtype_of(element_type: Any) -> np.dtype:
    """An element type from a NumPy type, or from onnx's number of it."""
    return from_onnx(int(element_type), "element type") if isinstance(element_type, int) else np.dtype(element_type)


class OrtDevice:
    """The CPU."""

    def __init__(self, device_id: int = 0) -> None:
        self._id = device_id

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> OrtDevice:  # noqa: ARG004
        """The device of a name. Errors: RunError for any but the CPU."""
        require_cpu(ort_device_name)
        return OrtDevice(device_id)

    def device_id(self) -> int:
        """The number of the device."""
        return self._id

    def device_type(self) -> int:
        """0, onnxruntime's number of the CPU."""
        return _DEVICE_TYPE

    def device_vendor_id(self) -> int:
        """0: no vendor."""
        return 0

    def device_mem_type(self) -> int:
        """0: the default memory."""
        return 0


class OrtValue:
    """A value of a run: a tensor, which shares the memory of the array that it was made of, a sequence, or none."""

    def __init__(self, value: Any) -> None:
        self._value = value

    # ---- making ----------------------------------------------------------------------------------------------------

    @classmethod
    def ortvalue_from_numpy(
        cls, numpy_obj: np.ndarray, /, device_type: str = CPU, device_id: int = 0, vendor_id: int = -1
    ) -> OrtValue:
        """The array itself, made contiguous if need be."""
        require_cpu(device_type)
        return cls(np.asarray(numpy_obj, order="C"))

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(cls, data: np.ndarray, /, onnx_element_type: int) -> OrtValue:
        """The bits of an array as elements of another type of the same width."""
        return cls(np.ascontiguousarray(data).view(dtype_of(onnx_element_type)))

    @classmethod
    def ortvalue_from_shape_and_type(
        cls,
        shape: Sequence[int],
        element_type: Any = np.float32,
        device_type: str = CPU,
        device_id: int = 0,
        vendor_id: int = -1,
    ) -> OrtValue:
        """A tensor for outputs; its elements are 0."""
        require_cpu(device_type)
        return cls(np.zeros(shape, dtype_of(element_type)))

    @classmethod
    def from_dlpack(cls, data: Any, /) -> OrtValue:
        """What has `__dlpack__`, without a copy."""
        return cls(np.from_dlpack(data))

    # ---- asking ----------------------------------------------------------------------------------------------------

    def _array(self) -> np.ndarray:
        value = self._value
        if not is_array(value):
            raise RunError(f"the value is {self.data_type()}", fix="only tensors have elements")
        return value

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._array().ctypes.data

    def device_name(self) -> str:
        """The CPU."""
        return CPU

    def shape(self) -> list[int]:
        """The lengths of the axes."""
        return list(self._array().shape)

    def data_type(self) -> str:
        """The type as `tensor(float)`."""
        return type_string(type_of(self._value))

    def element_type(self) -> int:
        """onnx's number of the element type."""
        return int(TO_ONNX[self._array().dtype])

    def tensor_size_in_bytes(self) -> int:
        """The bytes of the elements."""
        return self._array().nbytes

    def has_value(self) -> bool:
        """Whether there is a value, as an optional may lack."""
        return self._value is not None

    def is_tensor(self) -> bool:
        """Whether the value is a tensor."""
        return is_array(self._value)

    def is_sparse_tensor(self) -> bool:
        """False: whorl runs dense tensors."""
        return False

    def is_tensor_sequence(self) -> bool:
        """Whether the value is a sequence of tensors."""
        value = self._value
        return is_sequence(value) and all(map(is_array, value))

    def numpy(self) -> Any:
        """The array; of a sequence the list."""
        return self._value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self._array() if dtype is None else self._array().astype(dtype, copy=False)
        return array.copy() if copy else array

    def __dlpack__(self, *, stream: Any = None) -> Any:
        return self._array().__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_CPU, 0

    def update_inplace(self, data: np.ndarray) -> None:
        """Write the elements of an array of the same type and shape into this one's memory."""
        array, target = np.asarray(data), self._array()
        if type_of(array) != type_of(target):
            message = f"the array is {type_of(array)}, the value {type_of(target)}"
            raise RunError(message, fix="give both one type and shape")
        np.copyto(target, array)
