"""The C API of onnxruntime, as far as custom ops need it: a table of functions that only grows at its end."""

from __future__ import annotations

from enum import IntEnum

from whorl.llvm.function import Function
from whorl.llvm.value import Value

API_VERSION = 17
"""The oldest version of the API that a library runs with; newer ones have the same functions in the same slots."""
DOMAIN = "ai.whorl"
"""The domain of the ops."""
DOMAIN_VERSION = 1


class Slot(IntEnum):
    """Positions in `OrtApi`."""

    CREATE_STATUS = 0
    CREATE_CUSTOM_OP_DOMAIN = 26
    CUSTOM_OP_DOMAIN_ADD = 27
    ADD_CUSTOM_OP_DOMAIN = 28
    GET_TENSOR_MUTABLE_DATA = 51
    GET_DIMENSIONS_COUNT = 61
    GET_DIMENSIONS = 62
    GET_TENSOR_TYPE_AND_SHAPE = 65
    GET_INPUT = 90
    GET_OUTPUT = 91
    RELEASE_STATUS = 93
    RELEASE_TENSOR_TYPE_AND_SHAPE = 99
    RELEASE_CUSTOM_OP_DOMAIN = 101
    PARALLEL_FOR = 274


class Code(IntEnum):
    """`OrtErrorCode`."""

    FAIL = 1
    INVALID_ARGUMENT = 2
    RUNTIME_EXCEPTION = 6


MEMBERS = (
    *("CreateKernel", "GetName", "GetExecutionProviderType", "GetInputType", "GetInputTypeCount", "GetOutputType"),
    *("GetOutputTypeCount", "KernelCompute", "KernelDestroy", "GetInputCharacteristic", "GetOutputCharacteristic"),
    *("GetInputMemoryType", "GetVariadicInputMinArity", "GetVariadicInputHomogeneity", "GetVariadicOutputMinArity"),
    *("GetVariadicOutputHomogeneity", "CreateKernelV2", "KernelComputeV2", "InferOutputShapeFn", "GetStartVersion"),
    *("GetEndVersion", "GetMayInplace", "ReleaseMayInplace", "GetAliasMap", "ReleaseAliasMap"),
)
"""The functions of `OrtCustomOp` behind its version, in their order; null where an op leaves them out."""


def function_of(f: Function, api: Value, slot: Slot) -> Value:
    """A function of the API."""
    return f.load("ptr", f.offset(api, "ptr", int(slot)))


def call(f: Function, api: Value, slot: Slot, *arguments: Value) -> Value:
    """Call a function that gives a status, null where it succeeded."""
    return f.call_pointer(function_of(f, api, slot), "ptr", *arguments)
