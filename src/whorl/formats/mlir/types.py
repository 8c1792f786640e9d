"""The types of MLIR's onnx dialect and those of the hub: their names, and how they are printed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import SaveError
from whorl.ir.dtypes import BY_NAME, COMPLEX, SIGNED, STRING, UNSIGNED, bits, name_of
from whorl.ir.types import AnyShape, MapType, OptionalType, SequenceType, TensorType, Type

_FLOATS = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "f8E4M3FN": "float8e4m3fn",
    "f8E4M3FNUZ": "float8e4m3fnuz",
    "f8E5M2": "float8e5m2",
    "f8E5M2FNUZ": "float8e5m2fnuz",
    "f8E8M0FNU": "float8e8m0",
    "f6E2M3FN": "float6e2m3",
    "f6E3M2FN": "float6e3m2",
    "f4E2M1FN": "float4e2m1",
}
TO_NAME: dict[np.dtype, str] = (
    {BY_NAME["bool"]: "i1", STRING: "!onnx.String"}
    | {dtype: f"i{bits(dtype)}" for dtype in SIGNED}
    | {dtype: f"ui{bits(dtype)}" for dtype in UNSIGNED}
    | {BY_NAME[hub]: text for text, hub in _FLOATS.items()}
    | {dtype: f"complex<f{bits(dtype) // 2}>" for dtype in COMPLEX}
)
"""Element types as MLIR writes them: integers are signless where ONNX's are signed."""
FROM_NAME: dict[str, np.dtype] = {text: dtype for dtype, text in TO_NAME.items()} | {
    f"si{bits(dtype)}": dtype for dtype in SIGNED
}


def element_text(dtype: np.dtype) -> str:
    """The name of an element type. Errors: SaveError for one that MLIR lacks."""
    if dtype not in TO_NAME:
        raise SaveError(f"MLIR has no name for the element type {name_of(dtype)}")
    return TO_NAME[dtype]


def type_text(type: Type | None) -> str:
    """A type as MLIR prints it: `tensor<?x3xf32>`, `!onnx.Seq<tensor<*xf32>>`; `none` for what is left out."""
    match type:
        case None:
            return "none"
        case TensorType():
            element = element_text(type.dtype)
            if isinstance(type.shape, AnyShape):
                return f"tensor<*x{element}>"
            return f"tensor<{''.join(f'{dim}x' if isinstance(dim, int) else '?x' for dim in type.shape)}{element}>"
        case SequenceType():
            return f"!onnx.Seq<{type_text(type.element)}>"
        case OptionalType():
            return f"!onnx.Opt<{type_text(type.element)}>"
        case MapType():
            return f"!onnx.Map<{element_text(type.key)}, {type_text(type.value)}>"


def types_text(types: Sequence[Type | None]) -> str:
    """The results of a function type: one type bare, others in brackets."""
    return type_text(types[0]) if len(types) == 1 else f"({', '.join(map(type_text, types))})"
