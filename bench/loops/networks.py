"""Recurrent networks as loops: cells, three layers in a row, a greedy decoder whose cache grows; models of a corpus."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx

from loops.workload import Make, Workload, count, floats, model

CELLS = {
    "LSTM": """    p = MatMul (x, w)
    q = MatMul (h, r)
    s = Add (p, q)
    g = Add (s, b)
    gi, go, gf, gc = Split <axis = 1> (g)
    i = Sigmoid (gi)
    o = Sigmoid (go)
    f = Sigmoid (gf)
    new = Tanh (gc)
    kept = Mul (f, c)
    added = Mul (i, new)
    c_out = Add (kept, added)
    shown = Tanh (c_out)
    h_out = Mul (o, shown)
""",
    "RNN": """    p = MatMul (x, w)
    q = MatMul (h, r)
    s = Add (p, q)
    g = Add (s, b)
    h_out = Tanh (g)
""",
}
GATES = {"LSTM": 4, "RNN": 1}
DECODER = """decoder (int64 n, int64 token0, float[p, {d}] k0, float[p2, {d}] v0)
  => (int64[n2] tokens, float[q, {d}] k_last) {{
  first = Constant <value = int64[1] {{0}}> ()
  yes = Constant <value = bool {{1}}> ()
  t_last, k_last, v_last, tokens = Loop (n, yes, token0, k0, v0) <body = step (int64 i, bool on, int64 token,
    float[a, {d}] k, float[b, {d}] v) => (bool more, int64 chosen, float[a2, {d}] k_out, float[b2, {d}] v_out,
    int64 shown) {{
    more = Identity (on)
    e = Gather <axis = 0> (table, token)
    x = Unsqueeze (e, first)
    q = MatMul (x, wq)
    k_new = MatMul (x, wk)
    v_new = MatMul (x, wv)
    k_out = Concat <axis = 0> (k, k_new)
    v_out = Concat <axis = 0> (v, v_new)
    columns = Transpose <perm = [1, 0]> (k_out)
    s0 = MatMul (q, columns)
    s1 = Mul (s0, scale)
    p = Softmax <axis = 1> (s1)
    context = MatMul (p, v_out)
    o0 = MatMul (context, wo)
    o1 = Add (o0, x)
    logits = MatMul (o1, out)
    best = ArgMax <axis = 1, keepdims = 0> (logits)
    chosen = Squeeze (best, first)
    shown = Identity (chosen)
  }}>
}}"""
SEQUENCES = (
    ("float[p, {d}] k0, float[p2, {d}] v0", ""),
    ("int64 token0, )", "int64 token0)"),
    ("  t_last,", "  ks0 = SequenceEmpty <dtype = 1> ()\n  vs0 = SequenceEmpty <dtype = 1> ()\n  t_last,"),
    ("k_last, v_last, tokens = Loop (n, yes, token0, k0, v0)", "ks, vs, tokens = Loop (n, yes, token0, ks0, vs0)"),
    ("float[a, {d}] k, float[b, {d}] v)", "seq(float[1, {d}]) k, seq(float[1, {d}]) v)"),
    ("float[a2, {d}] k_out, float[b2, {d}] v_out", "seq(float[1, {d}]) k_seq, seq(float[1, {d}]) v_seq"),
    ("k_out = Concat <axis = 0> (k, k_new)", "k_seq = SequenceInsert (k, k_new)"),
    ("v_out = Concat <axis = 0> (v, v_new)", "v_seq = SequenceInsert (v, v_new)"),
    ("    columns =", "    k_out = ConcatFromSequence <axis = 0> (k_seq)\n    columns ="),
    ("    context =", "    v_out = ConcatFromSequence <axis = 0> (v_seq)\n    context ="),
    ("\n  }}>\n}}", "\n  }}>\n  k_last = ConcatFromSequence <axis = 0> (ks)\n}}"),
)
"""What makes the decoder keep its cache in sequences."""


def weights(kind: str, width: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng, scale = np.random.default_rng(seed), width**-0.5
    shapes = {"w": (width, GATES[kind] * width), "r": (width, GATES[kind] * width), "b": (GATES[kind] * width,)}
    return {name: rng.uniform(-scale, scale, shape).astype(np.float32) for name, shape in shapes.items()}


def cell(kind: str, batch: int, width: int, steps: int = 100) -> Workload:
    state, has_memory = f"float[{batch}, {width}]", kind == "LSTM"
    more, passed, last = (f", {state} c", ", c0", ", c_last") if has_memory else ("", "", "")
    text = f"""cell (float[{steps}, {batch}, {width}] xs, {state} h0{more.replace(" c", " c0")})
  => (float[{steps}, {batch}, {width}] ys) {{
  h_last{last}, ys = Scan (h0{passed}, xs) <num_scan_inputs = 1, body = step ({state} h{more}, {state} x)
    => ({state} h_out{f", {state} c_out" if has_memory else ""}, {state} y) {{
{CELLS[kind]}    y = Identity (h_out)
  }}>
}}"""
    tensors = weights(kind, width)
    names = ("h0", "c0") if has_memory else ("h0",)
    feeds = {"xs": floats(1, steps, batch, width)} | {name: np.zeros((batch, width), np.float32) for name in names}
    name = f"W3 {kind} batch={batch} width={width}"
    return Workload(name, model(text, tensors), feeds, steps, kind.lower(), tensors, {"onnxruntime": 1, "jax": 1}, 5e-3)


def stack(width: int, layers: int = 3, batch: int = 1, steps: int = 100) -> Workload:
    state, tensors, lines, passed = f"float[{batch}, {width}]", {}, [], []
    for n in range(layers):
        own = weights("RNN", width, 10 + n)
        passed.append(own)
        tensors |= {f"{name}{n}": value for name, value in own.items()}
        body = CELLS["RNN"]
        for name, value in (("w", "x"), ("r", "h"), ("b", "s")):
            body = body.replace(f"({value}, {name})", f"({value}, {name}{n})")
        source, target = f"y{n - 1}" if n else "xs", f"y{n}" if n < layers - 1 else "ys"
        lines.append(f"""  h{n}_last, {target} = Scan (h0, {source}) <num_scan_inputs = 1,
    body = step{n} ({state} h, {state} x) => ({state} h_out, {state} y) {{
{body}    y = Identity (h_out)
  }}>""")
    head = f"stack (float[{steps}, {batch}, {width}] xs, {state} h0) => (float[{steps}, {batch}, {width}] ys)"
    data = model(f"{head} {{\n" + "\n".join(lines) + "\n}", tensors)
    feeds = {"xs": floats(1, steps, batch, width), "h0": np.zeros((batch, width), np.float32)}
    name = f"W4 {layers} RNN layers width={width}"
    return Workload(name, data, feeds, steps * layers, "stack", {"layers": passed}, {"jax": 1}, 5e-3)


def decoder(steps: int, form: str, d: int = 64, vocabulary: int = 256, seed: int = 4) -> Workload:
    """Greedy decoding: by the weights of some other seeds two tokens tie but for rounding, and engines go apart."""
    rng, scale = np.random.default_rng(seed), d**-0.5
    tensors = {n: (rng.standard_normal((d, d)) * scale).astype(np.float32) for n in ("wq", "wk", "wv", "wo")}
    tensors["table"] = rng.standard_normal((vocabulary, d)).astype(np.float32)
    tensors["out"] = (rng.standard_normal((d, vocabulary)) * scale).astype(np.float32)
    tensors["scale"] = np.float32(scale)
    feeds = {"n": count(steps), "token0": count(7)}
    text = DECODER
    if form == "sequence":
        for old, new in SEQUENCES:
            text = text.replace(old, new)
    else:
        feeds |= {name: np.zeros((0, d), np.float32) for name in ("k0", "v0")}
    data = model(text.format(d=d), tensors)
    return Workload(f"W5 decoder {form} {steps}", data, feeds, steps, "decoder", tensors, {"c": 1.3}, 1e-2)


def corpus() -> Iterator[tuple[str, Make]]:
    """Models with loops in the folder that WHORL_CORPUS names, with random inputs where all shapes are known."""
    folder = os.environ.get("WHORL_CORPUS")
    for path in sorted(Path(folder).rglob("*.onnx")) if folder else ():
        yield f"W9 {path.stem}", lambda path=path: from_file(path)


def from_file(path: Path) -> Workload:
    actual = onnx.load(str(path))
    passed = {tensor.name for tensor in actual.graph.initializer}
    rng = np.random.default_rng(0)
    feeds = {v.name: _drawn(v, rng) for v in actual.graph.input if v.name not in passed}
    return Workload(f"W9 {path.stem}", actual.SerializeToString(), feeds, 1, "corpus", limits={"onnxruntime": 1})


def _drawn(value: onnx.ValueInfoProto, rng: np.random.Generator) -> np.ndarray:
    """A random tensor of a declared type; lengths that are not known are 1."""
    tensor = value.type.tensor_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    shape = [max(1, d.dim_value) for d in tensor.shape.dim]
    return rng.standard_normal(shape).astype(dtype) if dtype.kind == "f" else np.ones(shape, dtype)


def workloads() -> Iterator[tuple[str, Make]]:
    for kind, batch, width in (("LSTM", 1, 128), ("LSTM", 1, 512), ("LSTM", 32, 128), ("RNN", 1, 128)):
        yield f"W3 {kind} batch={batch} width={width}", lambda k=kind, b=batch, w=width: cell(k, b, w)
    for width in (128, 512):
        yield f"W4 3 RNN layers width={width}", lambda width=width: stack(width)
    for form, steps in (("concat", 1000), ("sequence", 1000), ("concat", 4000)):
        yield f"W5 decoder {form} {steps}", lambda form=form, steps=steps: decoder(steps, form)
    yield from corpus()
