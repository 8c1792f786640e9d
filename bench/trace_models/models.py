"""Twelve models whose loops run long, what they are fed, and the value that is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser

import whorl

NEURON = Path(__file__).parents[2] / "examples" / "fitzhugh_nagumo.json"
HEADER = '<ir_version: 10, opset_import: ["" : 21]>'
COUNTED = """g (int64 n, TYPE x) => (TYPE y) { c = Constant <value = bool {1}> ()
    y = Loop <body = b (int64 i, bool k, TYPE s) => (bool h, TYPE t) { h = Identity (k) BODY }> (n, c, x) }"""
INNER = """t = Loop <body = inner (int64 j, bool p, TYPE u) => (bool q, TYPE v) {
    q = Identity (p) f = Cast <to = 1> (j) w = Sin (u) v = Add (w, f) }> (COUNT, c, s)"""
VECTOR = "s_in = Sin (s) half = Constant <value = float {0.5}> () m = Mul (s_in, half) t = Add (m, s)"
BRANCH = """two = Constant <value = int64 {2}> () zero = Constant <value = int64 {0}> () r = Mod (i, two)
    e = Equal (r, zero) t = If <then_branch = a () => (float[16] m) { m = Sin (s) },
    else_branch = o () => (float[16] w) { d = Add (s, s) w = Sin (d) }> (e)"""
EXIT = """g (int64 n, int64 x) => (int64 y) { c = Constant <value = bool {1}> ()
    y = Loop <body = b (int64 i, bool k, int64 s) => (bool h, int64 t) { h = Less (i, n) m = Mul (s, n)
        p = BitwiseXor (m, i) d = Constant <value = int64 {77}> () r = Mod (p, d) t = Add (r, i) }> ("", c, x) }"""
GROWING = """g (int64 n, float[g] x) => (float[h] y) { c = Constant <value = bool {1}> ()
    one = Constant <value = int64[1] {1}> ()
    y = Loop <body = b (int64 i, bool k, float[g] s) => (bool h, float[q] t) { h = Identity (k) e = Sin (s)
        m = ReduceSum <keepdims = 0> (e) w = Reshape (m, one) t = Concat <axis = 0> (s, w) }> (n, c, x) }"""
SEQUENCE = """g (int64 n, float[8] x) => (float[8] y) { c = Constant <value = bool {1}> () e = SequenceConstruct (x)
    z = Loop <body = b (int64 i, bool k, seq(float[8]) s) => (bool h, seq(float[8]) t) { h = Identity (k)
        l = SequenceAt (s, i) m = Sin (l) t = SequenceInsert (s, m) }> (n, c, e)
    last = Constant <value = int64 {-1}> () y = SequenceAt (z, last) }"""
SCAN = """g (float[n, 64] x, float[64] s0) => (float[64] s, float[n, 64] ys) {
    s, ys = Scan <num_scan_inputs = 1, body = b (float[64] h, float[64] r) => (float[64] t, float[64] o) {
        a = Tanh (r) m = Mul (a, h) t = Add (m, r) o = Tanh (t) }> (s0, x) }"""
PRODUCT = """g (int64 n, float[1, 128] x, float[128, 128] w) => (float[1, 128] y) { c = Constant <value = bool {1}> ()
    y = Loop <body = b (int64 i, bool k, float[1, 128] s) => (bool h, float[1, 128] t) { h = Identity (k)
        m = MatMul (s, w) t = Tanh (m) }> (n, c, x) }"""


@dataclass(frozen=True)
class Case:
    """A model, the value that is recorded, and feeds for `short` or `long` numbers of iterations."""

    name: str
    source: Callable[[Path], Any]
    value: str
    feeds: Callable[[int], Mapping[str, Any]]
    long: int
    short: int = 20


def onnx_text(text: str, type: str = "", body: str = "") -> Callable[[Path], Any]:
    filled = text.replace("BODY", body).replace("TYPE", type)
    return lambda folder: onnx.parser.parse_model(f"{HEADER} {filled}")


def as_ir(folder: Path) -> str:
    """The model of nested loops as OpenVINO IR."""
    path = folder / "nested.xml"
    whorl.save(nested("n")(folder), path)
    return str(path)


def nested(count: str) -> Callable[[Path], Any]:
    return onnx_text(COUNTED, "float[16]", INNER.replace("COUNT", count).replace("TYPE", "float[16]"))


def counted(*shape: int) -> Callable[[int], Mapping[str, Any]]:
    return lambda n: {"n": np.array(n), "x": np.ones(shape, np.float32)}


def of_product(n: int) -> Mapping[str, Any]:
    weights = np.random.default_rng(0).normal(0, 0.05, (128, 128)).astype(np.float32)
    return {"n": np.array(n), "x": np.ones((1, 128), np.float32), "w": weights}


def of_scan(n: int) -> Mapping[str, Any]:
    return {"x": np.ones((n, 64), np.float32), "s0": np.ones(64, np.float32)}


CASES = (
    Case("64 numbers", onnx_text(COUNTED, "float[64]", VECTOR), "m", counted(64), 1_000_000),
    Case("a number", onnx_text(COUNTED, "float", VECTOR), "m", counted(), 20_000_000),
    Case("nested loops of one length", nested("n"), "w", counted(16), 2_000),
    Case("nested loops of other lengths", nested("i"), "w", counted(16), 3_000),
    Case("a state that grows, a number", onnx_text(GROWING), "m", counted(1), 10_000),
    Case("a state that grows, all of it", onnx_text(GROWING), "s", counted(1), 10_000),
    Case("a branch", onnx_text(COUNTED, "float[16]", BRANCH), "then_branch/m", counted(16), 3_000_000),
    Case("an early exit", onnx_text(EXIT), "m", lambda n: {"n": np.array(n), "x": np.array(837799)}, 30_000_000),
    Case("a sequence", onnx_text(SEQUENCE), "m", counted(8), 500_000),
    Case("a Scan", onnx_text(SCAN), "m", of_scan, 500_000),
    Case("a product", onnx_text(PRODUCT), "m", of_product, 200_000),
    Case("OpenVINO IR", as_ir, "*/w", counted(16), 2_000),
    Case("MDF", lambda folder: str(NEURON), "Mul#2", lambda n: {"steps": np.array(n), "dt": np.array(0.1)}, 4_000_000),
)
