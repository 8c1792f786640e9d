"""Recurrent cells in scans of jax."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from exports.cases import Table, floats
from jax import lax

TABLE = Table("jax2onnx")
Array = jax.Array
RNG = np.random.default_rng(0)
W, R, B = (RNG.standard_normal(shape).astype(np.float32) for shape in ((3, 16), (4, 16), (16,)))
BOTH = RNG.standard_normal((7, 16)).astype(np.float32)


def memory(gates: Array, c: Array) -> tuple[tuple[Array, Array], Array]:
    """h and c of the gates i, f, g, o."""
    i, f, g, o = jnp.split(gates, 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


@TABLE.function(floats("n", 2, 3))
def lstm(x: Array) -> Array:
    return lax.scan(lambda s, v: memory(v @ W + s[0] @ R + B, s[1]), (jnp.zeros((2, 4)), jnp.zeros((2, 4))), x)[1]


@TABLE.function(floats("n", 3))
def lstm_of_one_matrix(x: Array) -> Array:
    def step(s: tuple[Array, Array], v: Array) -> tuple[tuple[Array, Array], Array]:
        return memory(jnp.concatenate([v, s[0]]) @ BOTH + B, s[1])

    return lax.scan(step, (jnp.zeros(4), jnp.zeros(4)), x)[1]


@TABLE.function(floats("n", 2, 3))
def gru(x: Array) -> Array:
    def step(h: Array, v: Array) -> tuple[Array, Array]:
        near, far = v @ W[:, :12], h @ R[:, :12] + B[:12]
        r, z = jax.nn.sigmoid(near[:, :4] + far[:, :4]), jax.nn.sigmoid(near[:, 4:8] + far[:, 4:8])
        h = (1 - z) * jnp.tanh(near[:, 8:] + r * far[:, 8:]) + z * h
        return h, h

    return lax.scan(step, jnp.zeros((2, 4)), x)[1]
