"""Loops over tensors: FitzHugh-Nagumo neurons, a selective state-space scan, scans that are maps, nests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from loops.workload import Make, Workload, count, floats, model, uniform

STEP, A, B, EPSILON = 0.05, 0.7, 0.8, 0.08
NEURON = """
    v2 = Mul (v, v)
    v3 = Mul (v2, v)
    cubic = Mul (v3, third)
    f0 = Sub (v, cubic)
    f1 = Sub (f0, w)
    f2 = Add (f1, current)
    f3 = Mul (f2, dt)
    v_out = Add (v, f3)
    g0 = Mul (w, b)
    g1 = Add (v, a)
    g2 = Sub (g1, g0)
    g3 = Mul (g2, slow)
    w_out = Add (w, g3)
"""
NEURON_LOOP = """fhn (int64 n, float[{n}] v0, float[{n}] w0, float[{n}] current)
  => (float[{n}] v_last, float[{n}] w_last{result}) {{
  yes = Constant <value = bool {{1}}> ()
  v_last, w_last{rows} = Loop (n, yes, v0, w0) <body = step (int64 i, bool on, float[{n}] v, float[{n}] w)
    => (bool more, float[{n}] v_out, float[{n}] w_out{row}) {{
    more = Identity (on)
{body}{copy}  }}>
}}"""
NEURON_SCAN = """fhn (float[{n}] v0, float[{n}] w0, float[{steps}, {n}] currents)
  => (float[{n}] v_last, float[{n}] w_last{result}) {{
  v_last, w_last{rows} = Scan (v0, w0, currents) <num_scan_inputs = 1, body = step (float[{n}] v, float[{n}] w,
    float[{n}] current) => (float[{n}] v_out, float[{n}] w_out{row}) {{
{body}{copy}  }}>
}}"""
SELECTIVE = """mamba (float[{d}, {n}] h0, float[{t}, {d}] xs, float[{t}, {d}] dts, float[{t}, {n}] bs,
  float[{t}, {n}] cs) => (float[{t}, {d}] ys, float[{d}, {n}] h_last) {{
  last = Constant <value = int64[1] {{1}}> ()
  h_last, ys = Scan (h0, xs, dts, bs, cs) <num_scan_inputs = 4, body = step (float[{d}, {n}] h, float[{d}] x,
    float[{d}] dt, float[{n}] bt, float[{n}] ct) => (float[{d}, {n}] h_out, float[{d}] y) {{
    dt_column = Unsqueeze (dt, last)
    exponent = Mul (dt_column, decay)
    kept = Exp (exponent)
    dx = Mul (dt, x)
    dx_column = Unsqueeze (dx, last)
    added = Mul (dx_column, bt)
    old = Mul (kept, h)
    h_out = Add (old, added)
    shown = Mul (h_out, ct)
    y = ReduceSum <keepdims = 0> (shown, last)
  }}>
}}"""
CDIST = """cdist (float[{n}, {d}] xs, float[{m}, {d}] ys) => (float[{n}, {m}] distances) {{
  y_last, distances = Scan (ys, xs) <num_scan_inputs = 1, body = step (float[{m}, {d}] y, float[{d}] x)
    => (float[{m}, {d}] y_out, float[{m}] row) {{
    y_out = Identity (y)
    gap = Sub (y, x)
    row = ReduceSumSquare <axes = [1], keepdims = 0> (gap)
  }}>
}}"""
CUMSUM = """cumsum (float[{d}] s0, float[{t}, {d}] xs) => (float[{t}, {d}] ys) {{
  s_last, ys = Scan (s0, xs) <num_scan_inputs = 1, body = step (float[{d}] s, float[{d}] x)
    => (float[{d}] s_out, float[{d}] y) {{
    s_out = Add (s, x)
    y = Identity (s_out)
  }}>
}}"""
KNN = """knn (float[{n}, {d}] queries) => (float[{n}, 1] predictions) {{
  how_many = Constant <value = int64[1] {{{k}}}> ()
  shape = Constant <value = int64[2] {{{n}, {k}}}> ()
  last = Constant <value = int64[1] {{1}}> ()
  same, squares = Scan (queries, points) <num_scan_inputs = 1, body = step (float[{n}, {d}] q, float[{d}] x)
    => (float[{n}, {d}] q_out, float[{n}] row) {{
    q_out = Identity (q)
    gap = Sub (q, x)
    row = ReduceSumSquare <axes = [1], keepdims = 0> (gap)
  }}>
  columns = Transpose <perm = [1, 0]> (squares)
  distances = Sqrt (columns)
  near, places = TopK <axis = 1, largest = 0> (distances, how_many)
  values = Gather <axis = 0> (labels, places)
  predictions = ReduceMean <axes = [1], keepdims = 1> (values)
}}"""
NAMES = {"third": 1 / 3, "dt": STEP, "a": A, "b": B, "slow": STEP * EPSILON}
CONSTANTS = {name: np.float32(value) for name, value in NAMES.items()}


def neurons(n: int, steps: int, collects: bool, form: str = "Loop") -> Workload:
    parts = {"n": n, "steps": steps, "body": NEURON, "result": "", "rows": "", "row": "", "copy": ""}
    if collects:
        parts |= {"result": f", float[{steps}, {n}] vs" if form == "Scan" else f", float[k, {n}] vs", "rows": ", vs"}
        parts |= {"row": f", float[{n}] v_row", "copy": "    v_row = Identity (v_out)\n"}
    current = uniform(2, 0.3, 0.6, n)
    feeds = {"v0": uniform(0, -1, 1, n), "w0": uniform(1, -0.5, 0.5, n)}
    if form == "Scan":
        feeds["currents"] = np.broadcast_to(current, (steps, n)).copy()
    else:
        feeds |= {"n": count(steps), "current": current}
    text = (NEURON_SCAN if form == "Scan" else NEURON_LOOP).format(**parts)
    limits = {"c": 1.5, "jax": 1.0}
    name = neurons_name(n, collects, form)
    return Workload(name, model(text, CONSTANTS), feeds, steps, "neurons", {"collects": collects}, limits, 2e-2)


def neurons_name(n: int, collects: bool, form: str) -> str:
    return f"W2 neurons n={n}{' collected' if collects else ''} as {form}"


def selective(t: int = 1000, d: int = 256, n: int = 16) -> Workload:
    decay = -np.exp(uniform(0, -1, 1, d, n))
    feeds = {"h0": np.zeros((d, n), np.float32), "xs": floats(1, t, d), "dts": uniform(2, 0.001, 0.1, t, d)}
    feeds |= {"bs": floats(3, t, n), "cs": floats(4, t, n)}
    data = model(SELECTIVE.format(t=t, d=d, n=n), {"decay": decay})
    return Workload("W2 selective scan", data, feeds, t, "selective", {"decay": decay}, {"c": 1.3, "jax": 1.0}, 1e-3)


def cdist(n: int = 1000, m: int = 1000, d: int = 16) -> Workload:
    feeds = {"xs": floats(0, n, d), "ys": floats(1, m, d)}
    return Workload(f"W6 cdist d={d}", model(CDIST.format(n=n, m=m, d=d)), feeds, n, "cdist", limits={"c": 1.5})


def cumsum(t: int, d: int) -> Workload:
    feeds = {"s0": np.zeros(d, np.float32), "xs": floats(0, t, d)}
    name = f"W6 cumsum {t}x{d}"
    return Workload(name, model(CUMSUM.format(t=t, d=d)), feeds, t, "cumsum", limits={"c": 1.5}, tolerance=1e-3)


def knn(n: int = 500, m: int = 1000, d: int = 8, k: int = 5) -> Workload:
    points = floats(0, m, d)
    labels = np.square(points).sum(1).astype(np.float32)
    data = model(KNN.format(n=n, d=d, k=k), {"points": points, "labels": labels})
    plain = {"points": points, "labels": labels, "k": k}
    return Workload("W6 knn", data, {"queries": floats(1, n, d)}, m, "knn", plain, {"c": 1.5})


def workloads() -> Iterator[tuple[str, Make]]:
    for n, steps in ((1, 1000), (64, 1000), (1024, 1000), (4096, 1000), (65536, 100), (1 << 20, 10)):
        for collects in (False, True):
            yield neurons_name(n, collects, "Loop"), lambda n=n, t=steps, c=collects: neurons(n, t, c)
    for n in (64, 1024):
        yield neurons_name(n, True, "Scan"), lambda n=n: neurons(n, 1000, True, "Scan")
    yield "W2 selective scan", selective
    yield "W6 cdist d=16", cdist
    yield "W6 cdist d=64", lambda: cdist(d=64)
    yield "W6 cumsum 1000x64", lambda: cumsum(1000, 64)
    yield "W6 cumsum 20000x4", lambda: cumsum(20_000, 4)
    yield "W6 knn", knn
