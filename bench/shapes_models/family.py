"""What a family is: one model, and the inputs of all its calls, each of a shape of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from shapes_models.engines import model_path

HEADER = '<ir_version: 8, opset_import: ["" : 17]>'
Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Call:
    """The inputs of one call, and what they are called in tables."""

    label: str
    feeds: Arrays


@dataclass(frozen=True)
class Family:
    """A model and its calls. `tolerance`: of the largest element of a result, and of each element.

    `at_most`: the part of onnxruntime's time that a steady call may take, `memory`: of its peak memory.
    """

    name: str
    write: Callable[[Path], None]
    calls: tuple[Call, ...]
    tolerance: float = 1e-4
    at_most: float = 1.15
    memory: float = 2.0

    def quick(self) -> Family:
        """The same with few of its calls, the first and the last among them."""
        count = min(5, len(self.calls))
        positions = sorted({round(k * (len(self.calls) - 1) / max(count - 1, 1)) for k in range(count)})
        return replace(self, calls=tuple(self.calls[k] for k in positions))

    def export(self, folder: Path) -> None:
        """Write the model and the calls into a folder, for processes that import no onnx."""
        self.write(model_path(folder))
        arrays = {f"{k}/{name}": array for k, call in enumerate(self.calls) for name, array in call.feeds.items()}
        np.savez(folder / "calls.npz", **arrays)  # pyright: ignore[reportArgumentType]
        settings = {"labels": [call.label for call in self.calls], "tolerance": self.tolerance}
        (folder / "calls.json").write_text(json.dumps(settings))


def write_text(text: str, weights: Arrays, path: Path) -> None:
    """Write a model from ONNX's text, with weights as initializers."""
    onnx.save(parse(text, weights), path)


def parse(text: str, weights: Arrays) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f"{HEADER} {text}")
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    return model


def normal(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def draw_weights(seed: int, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Weights of unit gain, drawn at random: their scale is that of their first axis."""
    return {
        name: normal(seed + k, *shape, scale=shape[0] ** -0.5 if len(shape) > 1 else 0.1)
        for k, (name, shape) in enumerate(shapes.items())
    }


def integers(values: Mapping[str, int | Iterable[int]]) -> dict[str, np.ndarray]:
    """Constants of shapes, axes and positions."""
    return {name: np.array(value, np.int64) for name, value in values.items()}
