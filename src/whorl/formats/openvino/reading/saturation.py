"""Integers of 8 bits as OpenVINO's CPU plugin has them (compat "openvino-cpu"): computed wide, cut to their range.

What the plugin fuses where shapes are open it cuts once, at the end; here each layer cuts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import BY_NAME, FLOAT32, INT64, is_float
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.elementwise.arithmetic import Max, Min
from whorl.ops.elementwise.casting import Cast

SHORT = frozenset(BY_NAME[name] for name in ("int8", "uint8"))
WIDE = dict.fromkeys(("abs", "add", "matmul", "multiply", "negative", "reduceprod", "reducesum", "subtract"), INT64) | {
    "power": FLOAT32
}
"""The types of layers that saturate, and what they compute in here; Power as there, since a power may be any."""


def saturated_type(layer_type: str, inputs: Sequence[Value], destination: str) -> np.dtype | None:
    """The type to whose range the output of a layer is cut; None where the plugin cuts nothing.

    A Convert of floats cuts where a length is open, and keeps the low bits where the shape is fixed.
    """
    types = [value.type for value in inputs if isinstance(value.type, TensorType)]
    if layer_type in WIDE:
        return next((type.dtype for type in types if type.dtype in SHORT), None)
    short = {"i8": BY_NAME["int8"], "u8": BY_NAME["uint8"]}.get(destination.strip().lower())
    if layer_type != "convert" or short is None or not types or not is_float(types[0].dtype):
        return None
    shape = types[0].shape
    return short if isinstance(shape, AnyShape) or not all(isinstance(dim, int) for dim in shape) else None


def widen(layer_type: str, inputs: Sequence[Value], short: np.dtype, build: Builder) -> list[Value]:
    """The inputs of a layer as it computes with them: those of the short type wide, and floats to convert in range."""
    if layer_type == "convert":
        return [cut(inputs[0], short, build)]
    wide = WIDE[layer_type]
    return [
        build.add(Cast(to=wide), value, name=value.name)
        if isinstance(value.type, TensorType) and value.type.dtype == short
        else value
        for value in inputs
    ]


def narrow(value: Value, short: np.dtype, name: str, build: Builder) -> Value:
    """A wide result in the short type, which has its ends instead of what is beyond them."""
    if isinstance(value.type, TensorType) and value.type.dtype == short:
        return value
    return build.add(Cast(to=short), cut(value, short, build), name=name)


def cut(value: Value, short: np.dtype, build: Builder) -> Value:
    """The numbers of a value, or the end of a short type's range that is next to them."""
    assert isinstance(value.type, TensorType)
    low, high = (build.constant(np.array(end, value.type.dtype)) for end in _range(short))
    return build.add(Min(), build.add(Max(), value, low), high)


def _range(short: np.dtype) -> tuple[int, int]:
    limits = np.iinfo(short)
    return int(limits.min), int(limits.max)
