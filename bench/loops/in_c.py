"""The workloads in C: native.c, compiled where there is a compiler, on the same inputs."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from loops.workload import Workload

SOURCE = Path(__file__).parents[1] / "native.c"
FLAGS = ("-O3", "-march=native", "-ffast-math", "-fPIC")
Run = Callable[[], list[Any]]


def compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@functools.cache
def library() -> ctypes.CDLL:
    """The workloads in C. Linked without -ffast-math: with it, loading would turn off subnormals in this process."""
    with tempfile.TemporaryDirectory() as folder:
        code, path = Path(folder) / "native.o", Path(folder) / "native.so"
        subprocess.run([str(compiler()), *FLAGS, "-c", str(SOURCE), "-o", str(code)], check=True)
        subprocess.run([str(compiler()), "-shared", str(code), "-o", str(path), "-lm"], check=True)
        return ctypes.CDLL(str(path))


def _call(name: str, *passed: Any) -> Callable[[], Any]:
    """A call with whole numbers as int64, floats as float, arrays by address; the arrays are kept."""
    function = getattr(library(), name)
    converted = [_argument(x) for x in passed]
    return lambda stored=passed: function(*converted)


def _argument(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, np.int32):
        return ctypes.c_int32(int(value))
    if isinstance(value, float | np.floating):
        return ctypes.c_float(float(value))
    return ctypes.c_int64(value) if isinstance(value, int | np.integer) else value


def runner(load: Workload) -> Run:
    """What runs a workload in C and gives the model's outputs; KeyError where it is not written in C."""
    call, results = FORMS[load.kind](load, load.feeds)

    def run() -> list[Any]:
        call()
        return results() if callable(results) else results

    return run


def _spec(load: Workload, x: Any) -> Any:
    last, values = np.empty((), np.int32), np.empty(load.iterations, np.int32)
    return _call("spec", load.iterations, np.int32(x["a"]), np.int32(x["b"]), last, values), [last, values]


def _newton(load: Workload, x: Any) -> Any:
    out = np.empty((), np.float32)
    return _call("newton", load.iterations, np.float32(x["a"]), np.float32(x["x0"]), out), [out]


def _collatz(load: Workload, x: Any) -> Any:
    out = np.empty(2, np.int64)
    return _call("collatz", load.iterations, int(x["first"]), out), lambda: list(out)


def _branches(load: Workload, x: Any) -> Any:
    out = np.empty(3, np.int64)
    return _call("branches", load.iterations, x["ops"], out), lambda: list(out)


def _words(load: Workload, x: Any) -> Any:
    words, target = [w.encode() for w in x["words"]], str(x["target"].item()).encode()
    out, lengths = np.empty((), np.int64), np.array([len(w) for w in words])
    passed = (ctypes.c_char_p * len(words))(*words)
    return _call("words", len(words), passed, lengths, ctypes.c_char_p(target), len(target), out), [out]


def _neurons(load: Workload, x: Any) -> Any:
    v, w = np.empty_like(x["v0"]), np.empty_like(x["w0"])
    rows = np.empty((load.iterations, v.size), np.float32) if load.plain["collects"] else None
    current = x["currents"] if "currents" in x else x["current"]
    stride = v.size if "currents" in x else 0
    call = _call("neurons", v.size, load.iterations, current, stride, v, w, rows)

    def run() -> None:
        v[:], w[:] = x["v0"], x["w0"]
        call()

    return run, [v, w] if rows is None else [v, w, rows]


def _selective(load: Workload, x: Any) -> Any:
    (t, d), n = x["xs"].shape, x["bs"].shape[1]
    h, ys = np.empty((d, n), np.float32), np.empty((t, d), np.float32)
    call = _call("selective", t, d, n, x["xs"], x["dts"], x["bs"], x["cs"], load.plain["decay"], h, ys)

    def run() -> None:
        h[:] = x["h0"]
        call()

    return run, [ys, h]


def _cdist(load: Workload, x: Any) -> Any:
    (n, d), m = x["xs"].shape, len(x["ys"])
    columns, out = np.empty((d, m), np.float32), np.empty((n, m), np.float32)
    return _call("cdist", n, m, d, x["xs"], x["ys"], columns, out), [out]


def _cumsum(load: Workload, x: Any) -> Any:
    out = np.empty_like(x["xs"])
    return _call("cumsum", *out.shape, x["s0"], x["xs"], out), [out]


def _knn(load: Workload, x: Any) -> Any:
    points, k = load.plain["points"], load.plain["k"]
    (m, d), n = points.shape, len(x["queries"])
    columns, row, out = (np.empty(shape, np.float32) for shape in ((d, m), m, (n, 1)))
    return _call("knn", n, m, d, k, x["queries"], points, load.plain["labels"], columns, row, out), [out]


def _pixels(load: Workload, x: Any) -> Any:
    out = np.empty(x["cr"].size, np.int64)
    return _call(load.kind, out.size, int(x["most"]), x["cr"], x["ci"], out), [out]


def _viterbi(load: Workload, x: Any) -> Any:
    t, s = x["scores"].shape
    p, best = np.empty(s, np.float32), np.empty(s, np.float32)
    pointers, path = np.empty((t, s), np.int32), np.empty(t, np.int64)
    call = _call("viterbi", t, s, load.plain["moves"], x["scores"], p, pointers, best, path)

    def run() -> None:
        p[:] = x["p0"]
        call()

    return run, [path, p]


def _levenshtein(load: Workload, x: Any) -> Any:
    out = np.empty(x["t"].size, np.int64)
    return _call("levenshtein", x["s"].size, x["t"].size, x["s"], x["t"], out), [out]


def _decoder(load: Workload, x: Any) -> Any:
    w, steps = load.plain, load.iterations
    vocabulary, d = w["table"].shape
    ks, vs = (np.empty((steps, d), np.float32) for _ in range(2))
    scores, logits, tokens = np.empty(steps, np.float32), np.empty(vocabulary, np.float32), np.empty(steps, np.int64)
    matrices = [w[name] for name in ("table", "wq", "wk", "wv", "wo", "out")]
    sizes = (steps, d, vocabulary, int(x["token0"]))
    return _call("decoder", *sizes, *matrices, w["scale"], ks, vs, scores, logits, tokens), [tokens, ks]


FORMS: dict[str, Callable[[Workload, Any], Any]] = {
    "spec": _spec,
    "newton": _newton,
    "collatz": _collatz,
    "branches": _branches,
    "words": _words,
    "neurons": _neurons,
    "selective": _selective,
    "cdist": _cdist,
    "cumsum": _cumsum,
    "knn": _knn,
    "mandelbrot": _pixels,
    "plane": _pixels,
    "viterbi": _viterbi,
    "levenshtein": _levenshtein,
    "decoder": _decoder,
}
