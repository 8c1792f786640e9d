"""Functions and networks of torch as models: by the dynamo exporter, by tracing and by scripting."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import torch
from torch import nn

from exports.cases import Case
from exports.harness import Export, Feeds

OPSET = 18
EXAMPLE = 5
"""The length of open dims while exporting: dynamo takes 0 and 1 for what never changes."""


class Wrapper(nn.Module):
    """A function as a module, which is what the exporters take."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def export_of(case: Case, exporter: str) -> Export:
    """The case as a model beside torch's own eager run."""
    torch.manual_seed(0)
    made = case.make()
    module = made.eval() if isinstance(made, nn.Module) else Wrapper(made)
    example = tensors(case, dict.fromkeys(case.lengths, EXAMPLE), np.random.default_rng(99))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), _silence():
        warnings.simplefilter("ignore")
        model = EXPORTERS[exporter](made, module, example, case)
    names = [value.name for value in model.graph.input]

    def draw(lengths: dict[str, int], rng: np.random.Generator) -> Feeds:
        return dict(zip(names, case.arrays(lengths, rng), strict=True))

    def expect(feeds: Feeds) -> list[Any]:
        with torch.no_grad():
            return flatten(module(*(torch.from_numpy(np.array(value)) for value in feeds.values())))

    return Export(model, case.shapes, draw, expect, case.amplification)


def tensors(case: Case, lengths: dict[str, int], rng: np.random.Generator) -> list[torch.Tensor]:
    return [torch.from_numpy(array) for array in case.arrays(lengths, rng)]


def flatten(value: Any) -> list[Any]:
    """The results in the order of the model's outputs; a list of torch's is a sequence."""
    if isinstance(value, tuple):
        return [part for element in value for part in flatten(element)]
    if isinstance(value, list):
        return [[element.numpy() for element in value]]
    return [value.numpy() if isinstance(value, torch.Tensor) else np.array(value)]


def _by_dynamo(made: Any, module: nn.Module, example: list[torch.Tensor], case: Case) -> onnx.ModelProto:
    open_dims = tuple(
        {k: torch.export.Dim.DYNAMIC for k, d in enumerate(a.dims) if isinstance(d, str)} for a in case.arguments
    )
    shapes = (open_dims,) if isinstance(module, Wrapper) else open_dims
    program = torch.onnx.export(
        module, tuple(example), dynamo=True, dynamic_shapes=shapes, opset_version=OPSET, verbose=False
    )
    assert program is not None
    return program.model_proto


def _by_tracing(made: Any, module: nn.Module, example: list[torch.Tensor], case: Case) -> onnx.ModelProto:
    return _by_torchscript(module, example, case)


def _by_scripting(made: Any, module: nn.Module, example: list[torch.Tensor], case: Case) -> onnx.ModelProto:
    return _by_torchscript(torch.jit.script(made), example, case)


def _by_torchscript(module: Any, example: list[torch.Tensor], case: Case) -> onnx.ModelProto:
    names = [f"x{k}" for k in range(len(example))]
    axes = {
        name: {k: d for k, d in enumerate(a.dims) if isinstance(d, str)}
        for name, a in zip(names, case.arguments, strict=True)
    }
    file = io.BytesIO()
    torch.onnx.export(
        module, tuple(example), file, dynamo=False, input_names=names, dynamic_axes=axes, opset_version=OPSET
    )
    return onnx.load_from_string(file.getvalue())


EXPORTERS = {"dynamo": _by_dynamo, "trace": _by_tracing, "script": _by_scripting}


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """No log of the exporters."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
