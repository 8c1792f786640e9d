"""Native sessions of small models, and what they have compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx_text import model

import whorl
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.partition import CompiledSubgraph

F32 = np.float32
SUM = model("main (float[n] x, float[n] y) => (float[n] z) { s = Add(x, y) z = Mul(s, x) }")
DOUBLED = model("""main (int64 n, float[3] x) => (float[3] y) {
    [double] y = Loop (n, "", x) <body = b (int64 i, bool go, float[3] h) => (bool on, float[3] next) {
        on = Identity(go)
        next = Add(h, h)
    }>
}""")


def ignore_progress(loop: str, done: int, total: int | None) -> None:
    """Where somebody is told of iterations, loops run on their own."""


ALONE: dict[str, Any] = {"progress": ignore_progress}


def session(proto: Any, backend: str = "native", **limits: Any) -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.backend = backend
    for name, value in limits.items():
        setattr(options, name, value)
    return whorl.InferenceSession(proto, options)


def both(proto: Any, feeds: dict[str, Any]) -> whorl.InferenceSession:
    """A native session that has given, twice, what the interpreter gives."""
    made = session(proto)
    for _ in range(2):
        for e, f in zip(session(proto, "interpreter").run(None, feeds), made.run(None, feeds), strict=True):
            np.testing.assert_allclose(*((f == e, True) if e.dtype == object else (f, e)), rtol=1e-6)
            assert (f.dtype, f.shape) == (e.dtype, e.shape)
    return made


def subgraph(made: whorl.InferenceSession) -> CompiledSubgraph:
    (part,) = made.plan.parts
    assert isinstance(part, CompiledSubgraph)
    return part


def launches(made: whorl.InferenceSession) -> int:
    return sum(isinstance(actual, Launch) for actual in subgraph(made).cache.programs.values())
