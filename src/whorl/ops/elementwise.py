"""Arithmetic of two operands, element by element."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whorl.ops.base import Elementwise


@dataclass(frozen=True)
class Add(Elementwise):
    """x + y; integers wrap. Source: ONNX Add-14."""

    symbolic = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x + y


@dataclass(frozen=True)
class LeakyRelu(Elementwise):
    """x where x >= 0, else alpha * x. Source: ONNX LeakyRelu-16."""

    alpha: float = 0.01

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.where(x >= 0, x, x.dtype.type(self.alpha) * x)
