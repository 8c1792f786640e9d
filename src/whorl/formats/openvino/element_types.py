"""OpenVINO's names of element types: those of attributes (`f32`) and those of ports (`FP32`)."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.codes import problem
from whorl.ir.dtypes import BY_NAME, name_of

NAMES = {
    "bool": ("boolean", "BOOL"),
    "int4": ("i4", "I4"),
    "int8": ("i8", "I8"),
    "int16": ("i16", "I16"),
    "int32": ("i32", "I32"),
    "int64": ("i64", "I64"),
    "uint2": ("u2", "U2"),
    "uint4": ("u4", "U4"),
    "uint8": ("u8", "U8"),
    "uint16": ("u16", "U16"),
    "uint32": ("u32", "U32"),
    "uint64": ("u64", "U64"),
    "float4e2m1": ("f4e2m1", "F4E2M1"),
    "float8e4m3fn": ("f8e4m3", "F8E4M3"),
    "float8e5m2": ("f8e5m2", "F8E5M2"),
    "float8e8m0": ("f8e8m0", "F8E8M0"),
    "float16": ("f16", "FP16"),
    "bfloat16": ("bf16", "BF16"),
    "float32": ("f32", "FP32"),
    "float64": ("f64", "FP64"),
    "string": ("string", "STRING"),
}
"""The names that a hub type has in attributes and in ports."""
_BY_ATTRIBUTE = {names[0]: BY_NAME[hub] for hub, names in NAMES.items()}
_BY_PORT = {names[1]: BY_NAME[hub] for hub, names in NAMES.items()} | {
    "NF4": BY_NAME["float32"],
    "BIN": BY_NAME["uint8"],
    "U1": BY_NAME["uint8"],
    "U3": BY_NAME["uint8"],
    "U6": BY_NAME["uint8"],
}


def element_type(text: str, what: str) -> np.dtype:
    """The element type that an attribute names; case does not matter. Errors: LoadError OV404."""
    try:
        return _BY_ATTRIBUTE[text.strip().lower()]
    except KeyError:
        raise problem("OV404", f"{what} is {text[:40]!r}, which is no element type that can be computed with") from None


def port_type(text: str) -> np.dtype | None:
    """The element type that a port's precision names, by either kind of name; None for any other text."""
    return _BY_PORT.get(text) or _BY_ATTRIBUTE.get(text.lower())


def attribute_name(dtype: np.dtype) -> str:
    """`f32`. Errors: SaveError for what OpenVINO does not have."""
    return _names(dtype)[0]


def port_name(dtype: np.dtype) -> str:
    """`FP32`. Errors: SaveError for what OpenVINO does not have."""
    return _names(dtype)[1]


def _names(dtype: np.dtype) -> tuple[str, str]:
    try:
        return NAMES[name_of(dtype)]
    except KeyError:
        raise SaveError(f"OpenVINO has no element type {name_of(dtype)}", fix="insert a Cast") from None
