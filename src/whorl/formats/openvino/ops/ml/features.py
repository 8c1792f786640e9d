"""The preparation of features written."""

from __future__ import annotations

import numpy as np

from whorl.formats.openvino.writing.exporter import rewritten
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.ml.features import Scaler


@rewritten(Scaler)
def scaler(op: Scaler, build: Builder, x: Value) -> Value:
    """(x - offset) * scale, in float64 where x is."""
    dtype = FLOAT64 if tensor(x).dtype == FLOAT64 else FLOAT32
    wide = x if tensor(x).dtype == dtype else build.add(Cast(to=dtype), x)
    offset, scale = _numbers(op.offset or (0.0,), dtype, build), _numbers(op.scale or (1.0,), dtype, build)
    scaled = build.add(Mul(), build.add(Sub(), wide, offset), scale)
    return scaled if dtype == FLOAT32 else build.add(Cast(to=FLOAT32), scaled)


def _numbers(values: tuple[float, ...], dtype: np.dtype, build: Builder) -> Value:
    """One number for all features without an axis, or one for each."""
    numbers = np.array(values, np.float32).astype(dtype)
    return build.constant(numbers if len(numbers) > 1 else numbers.reshape(()))
