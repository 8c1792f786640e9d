"""A library of a model that grows an output, may fail, and takes a length."""

from __future__ import annotations

import numpy as np
import onnx
from onnx_text import model

from whorl.api.ahead import library_of
from whorl.api.models import load_module
from whorl.codegen.library.ports import LARGE, Library


def library(name: str = "sample") -> Library:
    """Inputs x [n], start [3] and count; outputs seen [m, 3] and y [n], whose lengths only the run knows."""
    text = """
        main (float[n] x, float[3] start, int64 count) => (float[m, 3] seen, float[n] y) {
            last, seen = Loop (count, "", start) <
                body = step (int64 i, bool go, float[3] h) => (bool on, float[3] a, float[3] b) {
                    on = Identity(go)
                    a = Add(h, h)
                    b = Identity(a)
                }>
            y = Neg(x)
        }"""
    return library_of(load_module(model(text)), name, {}, {})


def with_constant(count: int = LARGE) -> Library:
    """y = x + a constant of so many float32."""
    made = model(f"main (float[{count}] x) => (float[{count}] y) {{ y = Add(x, c) }}")
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(count, dtype=np.float32), "c"))
    return library_of(load_module(made), "sample", {}, {})
