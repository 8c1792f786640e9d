"""How files are read and written: one frozen record each, which every format takes and heeds as far as it applies."""

from __future__ import annotations

import os
from typing import Literal, TypedDict, get_args

from msgspec import Struct

from whorl.errors import LoadError

MAX_DEPTH = 64
"""Nested graphs a model may have unless the caller allows more."""
Condition = Literal["specification", "honour"]
Compat = Literal["", "openvino-cpu"]
Precision = Literal["float64", "float32"]
Integrator = Literal["euler", "rk4", "exponential", "adaptive"]
Weights = str | os.PathLike[str] | bytes | None


class LoadOptions(Struct, frozen=True):
    """How a model is read.

    `condition_when_omitted` (ONNX, MLIR): "specification" ignores the condition that the body of a Loop without a
    condition input computes, "honour" stops there as onnxruntime and OpenVINO do. `max_depth`: nested graphs and
    function calls allowed. `compat` (OpenVINO IR): "openvino-cpu" imitates OpenVINO's CPU plugin where the
    documentation says otherwise. `weights` (OpenVINO IR): the bytes of the `.bin`, or its path if it is not beside the
    `.xml`. `precision` (MDF): what functions of ONNX compute in. `integrator` (MDF): how
    parameters with a time derivative go over a time step. `needs_weights` (ONNX): a missing weights file is an
    error at once, else only where its tensors are read. `memory_map` (ONNX): large tensors stay in the model file,
    which must not change as long as the module lives. Errors: LoadError for a value that an option does not have.
    """

    condition_when_omitted: Condition = "specification"
    max_depth: int = MAX_DEPTH
    compat: Compat = ""
    weights: Weights = None
    precision: Precision = "float64"
    integrator: Integrator = "euler"
    needs_weights: bool = True
    memory_map: bool = False

    def __post_init__(self) -> None:
        if self.condition_when_omitted not in get_args(Condition):
            raise LoadError(
                f"condition_when_omitted is {self.condition_when_omitted!r}", fix="use 'specification' or 'honour'"
            )
        if not isinstance(self.max_depth, int) or self.max_depth < 1:
            raise LoadError(f"max_depth is {self.max_depth!r}, expected a whole number of 1 or more")
        if self.compat not in get_args(Compat):
            raise LoadError(f"there is no compat {self.compat!r}", fix="use 'openvino-cpu', or leave it out")
        if self.precision not in get_args(Precision):
            raise LoadError(f"precision is {self.precision!r}", fix="use 'float64' or 'float32'")
        if self.integrator not in get_args(Integrator):
            fix = "use 'euler', 'rk4', 'exponential' or 'adaptive'"
            raise LoadError(f"there is no integrator {self.integrator!r}", fix=fix)


class LoadKeywords(TypedDict, total=False):
    """The fields of `LoadOptions` as keyword arguments, which override those of `options` where both are passed."""

    condition_when_omitted: Condition
    max_depth: int
    compat: Compat
    weights: Weights
    precision: Precision
    integrator: Integrator
    needs_weights: bool
    memory_map: bool


class SaveOptions(Struct, frozen=True):
    """How a model is written. `opset` (ONNX): the version of ai.onnx; None for the model's own or the lowest above it
    that can express it. `compress_to_fp16` (OpenVINO IR): float32 weights are stored as float16.
    """

    opset: int | None = None
    compress_to_fp16: bool = False
