"""Functions of jax without control flow: slices, updates at indices, sorts, sums along axes, derivatives."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from exports.cases import Table, booleans, floats, integers, positions

TABLE = Table("jax2onnx")
function = TABLE.function
Array = jax.Array
I32 = "int32"


@function(floats("n", 4), n=(0, 3, 8))
def where(x: Array) -> Array:
    return jnp.where(x > 0, x, x * 0.1)


@function(floats(6, 4), integers(0, 6, dtype=I32))
def column_at(x: Array, i: Array) -> Array:
    return lax.dynamic_slice(x, (i, 0), (1, 4))


@function(floats(6, 4), integers(0, 4, dtype=I32), integers(0, 3, dtype=I32))
def dynamic_slice(x: Array, i: Array, j: Array) -> Array:
    return lax.dynamic_slice(x, (i, j), (3, 2))


@function(floats(6, 4), floats(2, 2), integers(-3, 9, dtype=I32))
def dynamic_update_slice(x: Array, y: Array, i: Array) -> Array:
    return lax.dynamic_update_slice(x, y, (i, 1))


@function(floats(6, 4), integers(0, 6, dtype=I32), floats(4))
def set_row(x: Array, i: Array, y: Array) -> Array:
    return x.at[i].set(y)


@function(floats(6, 4), positions(6, 3, dtype=I32), floats(3, 4))
def set_rows(x: Array, i: Array, y: Array) -> Array:
    return x.at[i].set(y)


@function(floats(6, 4), integers(0, 6, 5, dtype=I32), floats(5, 4))
def add_rows(x: Array, i: Array, y: Array) -> Array:
    return x.at[i].add(y)


@function(floats(6), integers(0, 6, 8, dtype=I32), floats(8))
def multiply_elements(x: Array, i: Array, y: Array) -> Array:
    return x.at[i].multiply(y)


@function(floats(6), integers(0, 6, 8, dtype=I32), floats(8))
def largest_elements(x: Array, i: Array, y: Array) -> Array:
    return x.at[i].max(y)


@function(floats(6, 4), integers(0, 4, dtype=I32))
def set_column(x: Array, k: Array) -> Array:
    return x.at[:, k].set(1.5) + x


@function(floats(6, 4))
def set_slice(x: Array) -> Array:
    return x.at[1:4, ::2].add(10.0)


@function(floats(6), booleans(6))
def set_at_mask(x: Array, mask: Array) -> Array:
    return x.at[jnp.where(mask, size=6, fill_value=6)[0]].set(0.0, mode="drop")


@function(floats("n", 5), integers(0, 5, 3, dtype=I32), n=(0, 3, 8))
def take(x: Array, i: Array) -> Array:
    return jnp.take(x, i, axis=1)


@function(floats(4, 5), integers(0, 5, 4, 2, dtype=I32))
def take_along_axis(x: Array, i: Array) -> Array:
    return jnp.take_along_axis(x, i, axis=1)


@function(floats("n", 5), n=(0, 3, 8))
def sort(x: Array) -> Array:
    return jnp.sort(x, axis=1)


@function(floats(7))
def argsort(x: Array) -> Array:
    return x[jnp.argsort(x)] * 2


@function(floats("n", 5), n=(0, 3, 8))
def cumulative_sum(x: Array) -> Array:
    return jnp.cumsum(x, axis=1)


@function(floats(6, 3))
def cumulative_product(x: Array) -> Array:
    return jnp.cumprod(x, axis=0)


@function(floats("n", 5))
def cumulative_maximum(x: Array) -> Array:
    return lax.cummax(x, axis=1)


@function(floats(4, 9))
def top_k(x: Array) -> tuple[Array, Array]:
    values, order = lax.top_k(x, 3)
    return values, order


@function(floats("n", 5), n=(1, 3, 8))
def softmax(x: Array) -> Array:
    return jax.nn.softmax(x, axis=-1) - jax.nn.gelu(x)


@function(integers(0, 6, "n", dtype=I32), n=(0, 3, 8))
def one_hot(x: Array) -> Array:
    return jax.nn.one_hot(x, 6)


@function(floats(8), integers(0, 3, 8, dtype=I32))
def segment_sum(x: Array, group: Array) -> Array:
    return jax.ops.segment_sum(x, group, num_segments=3)


@function(floats("n", 4), floats(4, 3), n=(0, 3, 8))
def einsum(x: Array, w: Array) -> Array:
    return jnp.einsum("ni,ij->jn", x, w)


@function(floats("n", 4), n=(0, 3, 8))
def vmap_of_dot(x: Array) -> Array:
    return jax.vmap(lambda row: jnp.sum(row * row) * row)(x)


@function(floats(5))
def grad_of_sum(x: Array) -> Array:
    return jax.grad(lambda x: jnp.sum(jnp.sin(x) * x**2))(x)


@function(floats(4))
def jacobian(x: Array) -> Array:
    return jax.jacfwd(lambda x: jnp.outer(x, jnp.tanh(x)).sum(axis=0))(x)


@function(floats("n", 4))
def roll_and_flip(x: Array) -> Array:
    return jnp.roll(x, 1, axis=1) + jnp.flip(x, axis=1)


@function(integers(-50, 50, 7, dtype=I32))
def integer_arithmetic(x: Array) -> tuple[Array, Array, Array]:
    return x // 7, x % 7, (x << 2) ^ 5


@function(floats(3, 5))
def arg_extremes(x: Array) -> tuple[Array, Array]:
    return jnp.argmax(x, axis=1), jnp.argmin(x, axis=0)
