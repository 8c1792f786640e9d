"""The workloads translated by hand for jax, which compiles a whole loop for fixed shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from loops.tensors import EPSILON, STEP, A, B
from loops.workload import Workload

Run = Callable[[], list[Any]]


def runner(load: Workload) -> Run:
    """What runs a workload compiled ahead of time, inputs on the device; KeyError where there is no translation."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    function, passed = FORMS[load.kind](load, jax)
    stored = jax.tree.map(jax.numpy.asarray, passed)
    compiled = jax.jit(function).lower(*stored).compile()
    return lambda: [np.asarray(x) for x in jax.block_until_ready(compiled(*stored))]


def _spec(load: Workload, jax: Any) -> Any:
    def run(n: Any, a: Any, b: Any) -> Any:
        def step(state: Any) -> Any:
            i, _, b, values = state
            return i + 1, a + b > a - b, a - b, values.at[i].set(b + b)

        start = (np.int64(0), np.bool_(True), b, jax.numpy.zeros(load.iterations, np.int32))
        return jax.lax.while_loop(lambda s: (s[0] < n) & s[1], step, start)[2:]

    return run, [load.feeds[name] for name in ("n", "a", "b")]


def _newton(load: Workload, jax: Any) -> Any:
    def run(n: Any, a: Any, x: Any) -> Any:
        def step(state: Any) -> Any:
            i, _, x = state
            x = (x + a / x) * np.float32(0.5)
            return i + 1, abs(x * x - a) > np.float32(-1), x

        start = (np.int64(0), np.bool_(True), x)
        return jax.lax.while_loop(lambda s: (s[0] < n) & s[1], step, start)[2:]

    return run, [load.feeds[name] for name in ("n", "a", "x0")]


def _collatz(load: Workload, jax: Any) -> Any:
    def run(n: Any, first: Any) -> Any:
        def step(_: Any, state: Any) -> Any:
            return jax.lax.cond(
                state[0] % 2 == 0, lambda x, odd: (x // 2, odd), lambda x, odd: (3 * x + 1, odd + 1), *state
            )

        return jax.lax.fori_loop(0, n, step, (first, np.int64(0)))

    return run, [load.feeds["n"], load.feeds["first"]]


def _branches(load: Workload, jax: Any) -> Any:
    def run(ops: Any) -> Any:
        ways = [
            lambda t, d, m: (t, d + 1, jax.numpy.maximum(m, d + 1)),
            lambda t, d, m: (t, jax.numpy.maximum(d - 1, 0), m),
            lambda t, d, m: (t + 1, d, m),
        ]
        zero = np.int64(0)
        return jax.lax.scan(lambda s, op: (jax.lax.switch(op, ways, *s), None), (zero, zero, zero), ops)[0]

    return run, [load.feeds["ops"]]


def _neurons(load: Workload, jax: Any) -> Any:
    third, dt, a, b, slow = (np.float32(x) for x in (1 / 3, STEP, A, B, STEP * EPSILON))
    collects, scans = load.plain["collects"], "currents" in load.feeds

    def step(v: Any, w: Any, current: Any) -> Any:
        return v + dt * (v - v * v * v * third - w + current), w + slow * (v + a - b * w)

    def run(v: Any, w: Any, current: Any, n: Any) -> Any:
        if not scans and not collects:
            return jax.lax.fori_loop(0, n, lambda _, s: step(*s, current), (v, w))

        def scanned(state: Any, row: Any) -> Any:
            state = step(*state, row if scans else current)
            return state, state[0]

        (v, w), rows = jax.lax.scan(scanned, (v, w), current if scans else None, length=load.iterations)
        return v, w, rows

    current = load.feeds["currents" if scans else "current"]
    return run, [load.feeds["v0"], load.feeds["w0"], current, np.int64(load.iterations)]


def _selective(load: Workload, jax: Any) -> Any:
    def run(h: Any, xs: Any, dts: Any, bs: Any, cs: Any, decay: Any) -> Any:
        def step(h: Any, row: Any) -> Any:
            x, dt, b, c = row
            h = jax.numpy.exp(dt[:, None] * decay) * h + (dt * x)[:, None] * b
            return h, (h * c).sum(1)

        h, ys = jax.lax.scan(step, h, (xs, dts, bs, cs))
        return ys, h

    return run, [*(load.feeds[name] for name in ("h0", "xs", "dts", "bs", "cs")), load.plain["decay"]]


def _cdist(load: Workload, jax: Any) -> Any:
    def run(xs: Any, ys: Any) -> Any:
        return (jax.vmap(lambda x: ((ys - x) ** 2).sum(1))(xs),)

    return run, [load.feeds["xs"], load.feeds["ys"]]


def _cumsum(load: Workload, jax: Any) -> Any:
    def run(s: Any, xs: Any) -> Any:
        return (jax.lax.scan(lambda s, x: (s + x, s + x), s, xs)[1],)

    return run, [load.feeds["s0"], load.feeds["xs"]]


def _knn(load: Workload, jax: Any) -> Any:
    def run(queries: Any, points: Any, labels: Any) -> Any:
        squares = jax.vmap(lambda q: ((points - q) ** 2).sum(1))(queries)
        return (labels[jax.lax.top_k(-squares, load.plain["k"])[1]].mean(1, keepdims=True),)

    return run, [load.feeds["queries"], load.plain["points"], load.plain["labels"]]


def _mandelbrot(load: Workload, jax: Any) -> Any:
    def run(cr: Any, ci: Any, most: Any) -> Any:
        def pixel(x: Any, y: Any) -> Any:
            def step(state: Any) -> Any:
                a, b, k, _ = state
                a, b = a * a - b * b + x, 2 * a * b + y
                return a, b, k + 1, a * a + b * b <= 4

            start = (np.float32(0), np.float32(0), np.int64(0), np.bool_(True))
            return jax.lax.while_loop(lambda s: (s[2] < most) & s[3], step, start)[2]

        return (jax.vmap(pixel)(cr, ci),)

    return run, [load.feeds[name] for name in ("cr", "ci", "most")]


def _plane(load: Workload, jax: Any) -> Any:
    def run(cr: Any, ci: Any, most: Any) -> Any:
        def step(_: Any, state: Any) -> Any:
            a, b, k = state
            inside = a * a + b * b <= 4
            na, nb = a * a - b * b + cr, 2 * a * b + ci
            return jax.numpy.where(inside, na, a), jax.numpy.where(inside, nb, b), k + inside

        zero = jax.numpy.zeros_like(cr)
        return jax.lax.fori_loop(0, most, step, (zero, zero, zero.astype(np.int64)))[2:]

    return run, [load.feeds[name] for name in ("cr", "ci", "most")]


def _viterbi(load: Workload, jax: Any) -> Any:
    def run(p: Any, scores: Any, moves: Any) -> Any:
        def forward(p: Any, e: Any) -> Any:
            s = p[:, None] + moves
            return s.max(0) + e, s.argmax(0)

        p, pointers = jax.lax.scan(forward, p, scores)
        _, path = jax.lax.scan(lambda k, row: (row[k], k), p.argmax(), pointers, reverse=True)
        return path, p

    return run, [load.feeds["p0"], load.feeds["scores"], load.plain["moves"]]


def _levenshtein(load: Workload, jax: Any) -> Any:
    def run(s: Any, t: Any, row: Any, diagonal: Any) -> Any:
        def line(state: Any, letter: Any) -> Any:
            up, diagonal, left = state

            def cell(left: Any, passed: Any) -> Any:
                u, d, other = passed
                left = jax.numpy.minimum(d + (letter != other), jax.numpy.minimum(u, left) + 1)
                return left, left

            row = jax.lax.scan(cell, left + 1, (up, diagonal, t))[1]
            return (row, jax.numpy.concatenate([(left + 1)[None], row[:-1]]), left + 1), None

        return (jax.lax.scan(line, (row, diagonal, np.int64(0)), s)[0][0],)

    return run, [load.feeds[name] for name in ("s", "t", "row0", "diagonal0")]


def _tanh_layer(jax: Any, xs: Any, h: Any, w: Any) -> Any:
    products = xs @ w["w"] + w["b"]

    def step(h: Any, x: Any) -> Any:
        h = jax.numpy.tanh(x + h @ w["r"])
        return h, h

    return jax.lax.scan(step, h, products)[1]


def _rnn(load: Workload, jax: Any) -> Any:
    def run(xs: Any, h: Any, w: Any) -> Any:
        return (_tanh_layer(jax, xs, h, w),)

    return run, [load.feeds["xs"], load.feeds["h0"], load.plain]


def _stack(load: Workload, jax: Any) -> Any:
    def run(xs: Any, h: Any, layers: Any) -> Any:
        for w in layers:
            xs = _tanh_layer(jax, xs, h, w)
        return (xs,)

    return run, [load.feeds["xs"], load.feeds["h0"], load.plain["layers"]]


def _lstm(load: Workload, jax: Any) -> Any:
    def run(xs: Any, h: Any, c: Any, w: Any) -> Any:
        products = xs @ w["w"] + w["b"]

        def step(state: Any, x: Any) -> Any:
            h, c = state
            i, o, f, new = jax.numpy.split(x + h @ w["r"], 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jax.numpy.tanh(new)
            h = jax.nn.sigmoid(o) * jax.numpy.tanh(c)
            return (h, c), h

        return (jax.lax.scan(step, (h, c), products)[1],)

    return run, [*(load.feeds[name] for name in ("xs", "h0", "c0")), load.plain]


FORMS: dict[str, Callable[[Workload, Any], Any]] = {
    "spec": _spec,
    "newton": _newton,
    "collatz": _collatz,
    "branches": _branches,
    "neurons": _neurons,
    "selective": _selective,
    "cdist": _cdist,
    "cumsum": _cumsum,
    "knn": _knn,
    "mandelbrot": _mandelbrot,
    "plane": _plane,
    "viterbi": _viterbi,
    "levenshtein": _levenshtein,
    "lstm": _lstm,
    "rnn": _rnn,
    "stack": _stack,
}
