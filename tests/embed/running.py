"""Sessions of onnxruntime over models with embedded loops."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import onnxruntime

import whorl

_NUMBERS = itertools.count()


def embedded_session(model: Any, folder: Path, **options: Any) -> tuple[Any, whorl.Embedded]:
    """A session over an embedded model, whose library has a name of its own, and what was embedded."""
    made = whorl.embed(model, folder / f"embedded{next(_NUMBERS)}.onnx", **options)
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    if made.library:
        settings.register_custom_ops_library(made.library)
    return onnxruntime.InferenceSession(made.model, settings), made


def plain_session(model: Any) -> Any:
    """A session over the model as it is."""
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    return onnxruntime.InferenceSession(model, settings)
