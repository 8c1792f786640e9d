"""Models of every kind that a page shows, and what they are run on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from deloop.exits import EXITS
from onnx_text import model
from traced_models import NESTED, X, traced_models

import whorl
from whorl.ir.graph import Module

MAMBA = model("""main (float[length, 8] decay, float[length, 8] driven, float[length, 8] c, float[8] h0)
    => (float[8] last, float[length, 1] rows) {
    axes = Constant<value = int64[1] {0}> () shape = Shape(decay) zero = Constant<value = int64 {0}> ()
    yes = Constant<value = bool {1}> () length = Gather(shape, zero)
    [scan] last, rows = Loop (length, yes, h0) <body = b (int64 i, bool k, float[8] h) => (bool go_on, float[8] h_next,
        float[1] row) {
        go_on = Identity(k) decay_step = Gather(decay, i) driven_step = Gather(driven, i) c_step = Gather(c, i)
        decayed = Mul(decay_step, h) h_next = Add(decayed, driven_step) product = Mul(h_next, c_step)
        row = ReduceSum(product, axes)
    }>
}""")
"""The state-space recurrence of a Mamba block."""
NAMES = "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "-->]]>&lt;\\u003c"
"""Names that would be markup, were they not text."""


def hostile() -> Module:
    """A model whose names try to get into the page."""
    module = whorl.load(NESTED)
    assert isinstance(module, Module)
    for node in module.nodes():
        node.name = node.name and NAMES[0]
        for k, value in enumerate(node.outputs):
            value.name = NAMES[1 + k % 2]
    return module


def chain(nodes: int) -> Module:
    """A loop whose body has so many nodes in a row, without names."""
    lines = [f"t{k + 1} = Tanh (t{k})" for k in range(nodes)]
    text = f"""main (int64 n, float x) => (float y) {{
    c = Constant<value = bool {{1}}> ()
    [layers] y = Loop (n, c, x) <body = a (int64 i, bool k, float t0) => (bool h, float t{nodes}) {{
        h = Identity(k) {" ".join(lines)}
    }}>
}}"""
    module = whorl.load(model(text))
    assert isinstance(module, Module)
    return module


def layered(nodes: int) -> Module:
    """The same with names such as `/layer3/block1/Tanh_7`."""
    module = chain(nodes)
    for k, node in enumerate(each for each in module.nodes() if each.op.name == "Tanh"):
        node.name = f"/layer{k // 250}/block{k % 250 // 50}/Tanh_{k % 50}"
    return module


def random_rows(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)


def explored_models(folder: Path) -> dict[str, tuple[Module, Mapping[str, Any]]]:
    """Each model with its inputs: those of traces, and larger ones."""
    beam, draw = EXITS["beam_search"], np.random.default_rng(1)
    logits = np.log(draw.dirichlet(np.full(9, 0.5), 9)).astype(np.float32)
    return traced_models(folder) | {
        "mamba": (
            _load(MAMBA),
            {name: random_rows(60, 8) for name in ("decay", "driven", "c")} | {"h0": X.repeat(3)[:8]},
        ),
        "beam search": (_load(model(beam.graph)), {"start": np.array([[1], [2]]), "logits": logits}),
        "hostile names": (hostile(), {"n": np.array(3), "x": X}),
        "NaN": (_load(NESTED), {"n": np.array(4), "x": np.array([1e20, 2, np.nan], np.float32)}),
    }


def _load(proto: Any) -> Module:
    module = whorl.load(proto)
    assert isinstance(module, Module)
    return module
