"""Functions of jax as models, by jax2onnx."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import jax
import numpy as np
from jax import export as jax_exporting
from jax2onnx import to_onnx

from exports.cases import Case
from exports.harness import Export, Feeds

OPSET = 26


def export_of(case: Case) -> Export:
    """The case as a model beside jax's own run. Where no dim is open, the shapes are three times the same."""
    function = case.make()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model = to_onnx(function, inputs_of(case), model_name=function.__name__, opset=OPSET)
    names = [value.name for value in model.graph.input]

    def draw(lengths: dict[str, int], rng: np.random.Generator) -> Feeds:
        return dict(zip(names, case.arrays(lengths, rng), strict=True))

    def expect(feeds: Feeds) -> list[Any]:
        return [np.asarray(leaf) for leaf in jax.tree.leaves(function(*map(jax.numpy.asarray, feeds.values())))]

    return Export(model, case.shapes, draw, expect, case.amplification)


def inputs_of(case: Case) -> list[jax.ShapeDtypeStruct]:
    """The arguments with symbols for open dims."""
    scope = jax_exporting.SymbolicScope()
    sample = case.arrays(dict.fromkeys(case.lengths, 2), np.random.default_rng(0))
    return [
        jax.ShapeDtypeStruct(
            tuple(
                jax_exporting.symbolic_shape(dim, scope=scope)[0] if isinstance(dim, str) else dim
                for dim in argument.dims
            ),
            array.dtype,
        )
        for argument, array in zip(case.arguments, sample, strict=True)
    ]
