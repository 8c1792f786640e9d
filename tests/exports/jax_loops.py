"""Functions of jax with loops and branches."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from exports.cases import Table, floats, integers

TABLE = Table("jax2onnx")
function = TABLE.function
Array = jax.Array
I32 = "int32"


@function(floats("n", 4), n=(0, 3, 8))
def fori_loop_over_columns(a: Array) -> Array:
    def body(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        a, total = state
        return a, total * 0.5 + a[:, k]

    return lax.fori_loop(0, 4, body, (a, a[:, 0] * 0))[1]


@function(floats(5, 5))
def fori_loop_over_columns_of_fixed_length(a: Array) -> Array:
    def body(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        a, total = state
        return a, total + a[:, k] * a[k, :]

    return lax.fori_loop(0, 5, body, (a, jnp.zeros(5)))[1]


@function(floats(6, 4))
def fori_loop_captures(a: Array) -> Array:
    return lax.fori_loop(0, 4, lambda k, total: total + a[:, k], jnp.zeros(6))


@function(floats(6, 4))
def fori_loop_sets_columns(a: Array) -> Array:
    return lax.fori_loop(0, 4, lambda k, a: a.at[:, k].set(a[:, k] * k), a)


@function(floats(8))
def fori_loop_reads_what_it_wrote(a: Array) -> Array:
    return lax.fori_loop(1, 8, lambda k, a: a.at[k].set(a[k - 1] + a[k]), a)


@function(floats(8))
def fori_loop_swaps(a: Array) -> Array:
    def body(k: Array, a: Array) -> Array:
        first, last = a[k], a[7 - k]
        return a.at[k].set(last).at[7 - k].set(first)

    return lax.fori_loop(0, 4, body, a)


@function(floats(5, 3))
def fori_loop_updates_slices(a: Array) -> Array:
    def body(k: Array, a: Array) -> Array:
        row = lax.dynamic_slice(a, (k, 0), (1, 3))
        return lax.dynamic_update_slice(a, row * 2 + k, (4 - k, 0))

    return lax.fori_loop(0, 5, body, a)


@function(floats(4, 4))
def fori_loop_nested(a: Array) -> Array:
    def inner(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        j, a = state
        return j, a.at[i, j].add(a[j, i])

    return lax.fori_loop(0, 4, lambda j, a: lax.fori_loop(0, 4, inner, (j, a))[1], a)


@function(floats("n", 3))
def fori_loop_squares(x: Array) -> Array:
    return lax.fori_loop(0, 6, lambda k, x: jnp.sin(x) + k * 0.1, x)


@function(floats(4))
def while_loop(x: Array) -> Array:
    return lax.while_loop(lambda x: jnp.sum(jnp.abs(x)) > 1, lambda x: x * 0.7, x)


@function(floats(4), integers(0, 9, dtype=I32))
def while_loop_counts(x: Array, n: Array) -> tuple[Array, Array]:
    def body(state: tuple[Array, Array]) -> tuple[Array, Array]:
        i, x = state
        return i + 1, x * 0.5 + i

    return lax.while_loop(lambda state: state[0] < n, body, (jnp.int32(0), x))


@function(floats(9))
def while_loop_finds(x: Array) -> Array:
    def go_on(state: tuple[Array, Array]) -> Array:
        i, x = state
        return (i < 9) & (x[jnp.minimum(i, 8)] < 0.5)

    return lax.while_loop(go_on, lambda state: (state[0] + 1, state[1]), (jnp.int32(0), x))[0]


@function(floats(5))
def while_loop_newton(x: Array) -> Array:
    a = jnp.abs(x) + 0.5

    def body(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        i, root, a = state
        return i + 1, 0.5 * (root + a / root), a

    return lax.while_loop(lambda state: state[0] < 8, body, (jnp.int32(0), a, a))[1]


@function(integers(1, 60, dtype=I32), integers(1, 60, dtype=I32))
def while_loop_of_integers(a: Array, b: Array) -> Array:
    return lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b))[0]


@function(floats("n", 4))
def scan(x: Array) -> tuple[Array, Array]:
    def body(total: Array, row: Array) -> tuple[Array, Array]:
        total = total * 0.5 + row
        return total, total * 2

    return lax.scan(body, jnp.zeros(4), x)


@function(floats(6, 4))
def scan_reverse(x: Array) -> tuple[Array, Array]:
    def body(total: Array, row: Array) -> tuple[Array, Array]:
        return jnp.tanh(total + row), total

    return lax.scan(body, jnp.ones(4), x, reverse=True)


@function(floats(6, 4), floats(4, 4))
def scan_of_rnn(x: Array, w: Array) -> Array:
    def body(state: Array, row: Array) -> tuple[Array, Array]:
        state = jnp.tanh(w @ state + row)
        return state, state

    return lax.scan(body, jnp.zeros(4), x)[1]


@function(floats(5, 4))
def scan_without_inputs(x: Array) -> tuple[Array, Array]:
    return lax.scan(lambda x, _: (x * 0.9, x.sum(axis=0)), x, None, length=5)


@function(floats(6, 4), floats(6))
def scan_of_two(x: Array, y: Array) -> tuple[Array, Array]:
    def body(total: Array, pair: tuple[Array, Array]) -> tuple[Array, Array]:
        row, factor = pair
        return total + row * factor, total.max()

    return lax.scan(body, jnp.zeros(4), (x, y))


@function(floats(4, 3, 2))
def scan_in_scan(x: Array) -> tuple[Array, Array]:
    def inner(total: Array, row: Array) -> tuple[Array, Array]:
        return total + row, total * row

    return lax.scan(lambda total, rows: lax.scan(inner, total, rows), jnp.zeros(2), x)


@function(floats(6, 4))
def scan_updates_at_index(x: Array) -> tuple[Array, Array]:
    def body(state: tuple[Array, Array], row: Array) -> tuple[tuple[Array, Array], Array]:
        i, table = state
        return (i + 1, table.at[i % 3].add(row)), table.sum()

    (_, table), sums = lax.scan(body, (jnp.int32(0), jnp.zeros((3, 4))), x)
    return table, sums


@function(floats("n", 4))
def cond(x: Array) -> Array:
    return lax.cond(jnp.sum(x) > 0, lambda x: x + 1, lambda x: x * 2, x)


@function(floats(4))
def cond_in_fori_loop(x: Array) -> Array:
    def body(k: Array, x: Array) -> Array:
        return lax.cond(x[k] > 0, lambda x: x * 0.5, lambda x: x + 1.0, x)

    return lax.fori_loop(0, 4, body, x)


@function(integers(-1, 5, dtype=I32), floats(4))
def switch(i: Array, x: Array) -> Array:
    return lax.switch(i, [lambda x: x + 1, lambda x: x * 2, lambda x: -x, jnp.sin], x)


@function(integers(-1, 3, dtype=I32), floats(4))
def cond_of_three(i: Array, x: Array) -> Array:
    return lax.cond(i < 0, lambda x: -x, lambda x: lax.cond(i < 1, lambda x: x + 1, jnp.sin, x), x)


@function(floats(5))
def associative_scan(x: Array) -> Array:
    return lax.associative_scan(jnp.add, x)


@function(floats("n", 4))
def map_over_rows(x: Array) -> Array:
    return lax.map(lambda row: jnp.cumsum(row) * row[0], x)


@function(floats(3, 4))
def vmap_of_fori_loop(x: Array) -> Array:
    return jax.vmap(lambda row: lax.fori_loop(0, 3, lambda k, y: y * 0.5 + row[k], row))(x)


@function(floats(3, 4))
def vmap_of_while_loop(x: Array) -> Array:
    return jax.vmap(lambda row: lax.while_loop(lambda y: jnp.abs(y).sum() > 1, lambda y: y * 0.6, row))(x)


@function(floats(3, 4))
def vmap_of_scan(x: Array) -> Array:
    return jax.vmap(lambda row: lax.scan(lambda a, b: (a + b, a * b), 0.0, row)[1])(x)


@function(floats(4))
def grad_of_fori_loop(x: Array) -> Array:
    return jax.grad(lambda x: lax.fori_loop(0, 3, lambda k, y: jnp.sin(y) * 1.5, x).sum())(x)


@function(floats(5, 3))
def derivative_of_scan(x: Array) -> Array:
    def rows(x: Array) -> Array:
        return lax.scan(lambda a, row: (jnp.tanh(a + row), a * row), jnp.zeros(3), x)[1]

    return jax.jvp(rows, (x,), (jnp.ones_like(x),))[1]


@function(floats(5, 3))
def grad_of_scan(x: Array) -> Array:
    def total(x: Array) -> Array:
        return lax.scan(lambda a, row: (jnp.tanh(a + row), None), jnp.zeros(3), x)[0].sum()

    return jax.grad(total)(x)


@function(floats(4, 4))
def power_iteration(a: Array) -> Array:
    def body(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        a, v = state
        w = a @ v
        return a, w / jnp.linalg.norm(w)

    return lax.fori_loop(0, 4, body, (a @ a.T + jnp.eye(4), jnp.ones(4)))[1]


@function(floats(4, 4), amplification=64)
def elimination(a: Array) -> Array:
    """Gauss without pivots: reads and writes of rows in one loop."""

    def body(k: Array, a: Array) -> Array:
        factors = jnp.where(jnp.arange(4) > k, a[:, k] / a[k, k], 0.0)
        return a - factors[:, None] * a[k, :][None, :]

    return lax.fori_loop(0, 3, body, a + 4 * jnp.eye(4))
