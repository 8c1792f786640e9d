"""How long does a step of a recurrent network take, as a loop of MatMul or Gemm and gates, and as one operator?

whorl compiles the Scan, the Loop, or the RNN, GRU or LSTM to native code. The peer runs the same loop and its own fused
operator with the same weights, in turns, on one thread; all results are compared first. Targets: a part of
onnxruntime's loop, and no more than its fused operator needs.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from measuring import US, Measurement, cpu, in_turns, repeated, report, use_one_thread

use_one_thread()

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

import whorl

ROUNDS = 15
STEPS = 100
HEADER = '<ir_version: 9, opset_import: ["" : 18]>'
PEER = "onnxruntime"
WIDTHS, FORMS, LAYERS = ((128, 4.0), (512, 1.8), (1024, 3.8)), ("Scan", "op"), 3
LSTM = """
    p = MatMul (x, w)
    q = MatMul (h, r)
    s = Add (p, q)
    gates = Add (s, b)
    gi, go, gf, gc = Split <axis = 1, num_outputs = 4> (gates)
    i_open = Sigmoid (gi)
    o_open = Sigmoid (go)
    f_open = Sigmoid (gf)
    new = Tanh (gc)
    kept = Mul (f_open, c)
    added = Mul (i_open, new)
    c_out = Add (kept, added)
    shown = Tanh (c_out)
    h_out = Mul (o_open, shown)
"""
GRU = """
    p = Gemm <transB = 1> (x, wt, b)
    q = Gemm <transB = 1> (h, rt, rb)
    xz, xr, xn = Split <axis = 1, num_outputs = 3> (p)
    hz, hr, hn = Split <axis = 1, num_outputs = 3> (q)
    sz = Add (xz, hz)
    z = Sigmoid (sz)
    sr = Add (xr, hr)
    opened = Sigmoid (sr)
    inner = Mul (opened, hn)
    sn = Add (xn, inner)
    n = Tanh (sn)
    far = Sub (h, n)
    step = Mul (z, far)
    h_out = Add (n, step)
"""
RNN = """
    p = MatMul (x, w)
    q = MatMul (h, r)
    s = Add (p, q)
    gates = Add (s, b)
    h_out = Tanh (gates)
"""


@dataclass(frozen=True)
class Cell:
    """A kind of recurrent network: its gates, the body of a step, the fused operator."""

    gates: int
    body: str
    fused: str

    @property
    def has_memory(self) -> bool:
        return self.fused == "LSTM"


CELLS = {
    "LSTM": Cell(4, LSTM, "LSTM"),
    "GRU": Cell(3, GRU, "GRU"),
    "RNN": Cell(1, RNN, "RNN"),
}


@dataclass(frozen=True)
class Workload:
    """A network, batch and width; `times` is how many times faster than onnxruntime's loop it is to be."""

    kind: str
    batch: int
    width: int
    form: str = "Scan"
    times: float | None = None
    layers: int = 1

    @property
    def what(self) -> str:
        name = self.kind if self.layers == 1 else f"{self.layers} layers of {self.kind}"
        return f"a step of {STEPS}, {name} as {self.form}, batch {self.batch}, width {self.width}"


WORKLOADS = [
    *(Workload("LSTM", 1, width, form, times) for width, times in WIDTHS for form in ("Scan", "Loop", "op")),
    *(Workload("LSTM", 32, width, form, 1.0) for width in (128, 512, 1024) for form in ("Scan", "op")),
    *(Workload(kind, *size, form, 1.0) for kind in ("GRU", "RNN") for size in ((1, 128), (32, 512)) for form in FORMS),
    *(Workload("RNN", 1, width, "Scan", 1.0, LAYERS) for width in (128, 512)),
]


def weights(cell: Cell, width: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng, scale = np.random.default_rng(seed), width**-0.5
    columns = cell.gates * width
    shapes = {"w": (width, columns), "r": (width, columns), "b": (columns,), "rb": (columns,)}
    actual = {name: rng.uniform(-scale, scale, shape).astype(np.float32) for name, shape in shapes.items()}
    if cell.fused != "GRU":
        actual["rb"][:] = 0
    return actual | {"wt": actual["w"].T.copy(), "rt": actual["r"].T.copy()}


def loop_text(load: Workload) -> str:
    cell, state = CELLS[load.kind], f"float[{load.batch}, {load.width}]"
    more, passed = (f", {state} c", ", c0") if cell.has_memory else ("", "")
    last = ", c_last" if cell.has_memory else ""
    typed = f", {state} c_out" if cell.has_memory else ""
    head = f"recurrent (float[{STEPS}, {load.batch}, {load.width}] xs, {state} h0{more.replace(' c', ' c0')})"
    end = f"=> (float[{STEPS}, {load.batch}, {load.width}] ys)"
    body = f"{cell.body}    y = Identity (h_out)\n"
    results = f"({state} h_out{typed}, {state} y)"
    if load.form == "Scan":
        return f"""{head} {end} {{
  h_last{last}, ys = Scan <num_scan_inputs = 1, body = step ({state} h{more}, {state} x) => {results} {{
{body}  }}> (h0{passed}, xs)
}}"""
    return f"""{head} {end} {{
  yes = Constant <value = bool {{1}}> ()
  steps = Constant <value = int64 {{{STEPS}}}> ()
  h_last{last}, ys = Loop <body = step (int64 i, bool still, {state} h{more}) => (bool on, {results[1:]} {{
    on = Identity (still)
    x = Gather <axis = 0> (xs, i)
{body}  }}> (steps, yes, h0{passed})
}}"""


def stacked_text(load: Workload) -> str:
    """Layers one after the other, each a Scan over what the one before gave."""
    state, body = f"float[{load.batch}, {load.width}]", RNN
    layers = ""
    for n in range(load.layers):
        own = body.replace(", w)", f", w{n})").replace(", r)", f", r{n})").replace(", b)", f", b{n})")
        source = "xs" if n == 0 else f"ys{n - 1}"
        target = "ys" if n == load.layers - 1 else f"ys{n}"
        signature = f"({state} h, {state} x) => ({state} h_out, {state} y)"
        layers += f"""  last{n}, {target} = Scan <num_scan_inputs = 1, body = step {signature} {{
{own}    y = Identity (h_out)
  }}> (h0, {source})
"""
    rows = f"float[{STEPS}, {load.batch}, {load.width}]"
    return f"stacked ({rows} xs, {state} h0) => ({rows} ys) {{\n{layers}}}"


def fused_text(load: Workload) -> str:
    cell, state = CELLS[load.kind], f"float[{load.batch}, {load.width}]"
    more, passed = (f", {state} c0", ", c1") if cell.has_memory else ("", "")
    rule = ", linear_before_reset = 1" if load.kind == "GRU" else ""
    return f"""fused (float[{STEPS}, {load.batch}, {load.width}] xs, {state} h0{more}) => (float[m, n, k] ys) {{
  first = Constant <value = int64[1] {{0}}> ()
  second = Constant <value = int64[1] {{1}}> ()
  h1 = Unsqueeze (h0, first)
  {"c1 = Unsqueeze (c0, first)" if cell.has_memory else ""}
  y = {cell.fused} <hidden_size = {load.width}{rule}> (xs, fw, fr, fb, , h1{passed})
  ys = Squeeze (y, second)
}}"""


def model(text: str, tensors: Mapping[str, np.ndarray]) -> bytes:
    """A model with the tensors that its text mentions as initializers."""
    actual = onnx.parser.parse_model(f"{HEADER} {text}")
    actual.graph.initializer.extend(
        numpy_helper.from_array(array, name)
        for name, array in tensors.items()
        if f" {name}," in text or f" {name})" in text
    )
    return actual.SerializeToString()


def measured(load: Workload) -> Measurement:
    cell, rng = CELLS[load.kind], np.random.default_rng(1)
    feeds = {"xs": rng.standard_normal((STEPS, load.batch, load.width)).astype(np.float32)}
    names = ("h0", "c0") if cell.has_memory else ("h0",)
    feeds |= {name: np.zeros((load.batch, load.width), np.float32) for name in names}
    models = models_of(load)
    runs = {US: partial(ours(models[load.form]).run, None, feeds)}
    runs |= {f"{PEER} {form}": partial(theirs(data).run, None, feeds) for form, data in models.items()}
    results = {name: run()[0] for name, run in runs.items()}
    for name, result in results.items():
        np.testing.assert_allclose(results[US], result, rtol=1e-3, atol=1e-5, err_msg=name)
    seconds = in_turns({name: repeated(partial(cpu, run)) for name, run in runs.items()}, ROUNDS)
    each = {name: 1e6 * value / (STEPS * load.layers) for name, value in seconds.items()}
    loops = [value for name, value in each.items() if name not in (US, f"{PEER} op")]
    target = min([value / (load.times or 1.0) for value in loops] + [each.get(f"{PEER} op", math.inf)])
    return Measurement(load.what, "us", each, target)


def models_of(load: Workload) -> dict[str, bytes]:
    """The network in the form that whorl runs, and in that of the fused operator."""
    cell = CELLS[load.kind]
    if load.layers > 1:
        tensors = {
            f"{name}{n}": array for n in range(load.layers) for name, array in weights(cell, load.width, n).items()
        }
        return {load.form: model(stacked_text(load), tensors)}
    tensors = weights(cell, load.width)
    tensors |= {"fw": tensors["wt"][None], "fr": tensors["rt"][None]}
    tensors["fb"] = np.concatenate([tensors["b"], tensors["rb"]])[None]
    form = "Scan" if load.form == "op" else load.form
    return {form: model(loop_text(replace(load, form=form)), tensors), "op": model(fused_text(load), tensors)}


def ours(data: bytes) -> Any:
    options = whorl.SessionOptions()
    options.backend, options.intra_op_num_threads = "native", 1
    return whorl.InferenceSession(data, options)


def theirs(data: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


if __name__ == "__main__":
    onnxruntime.set_default_logger_severity(3)
    sys.exit(report((__doc__ or "").partition("\n")[0], lambda: [measured(load) for load in WORKLOADS]))
