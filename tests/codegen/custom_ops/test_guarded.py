"""Kernels touch nothing behind inputs and outputs: each ends at a page that ends the process when it is touched."""

import ctypes
import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compilers import needs_linker
from onnx_text import model

from codegen.custom_ops.fake_runtime import FakeRuntime, LoadedOps
from whorl.api.ahead import library_of
from whorl.api.models import load_module

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="memory is protected by mprotect"),
    needs_linker,
]
TESTS = Path(__file__).parents[2]
TEXT = """main (float[n, m] x, float[m, k] w, float[k] b, int64 count)
    => (float[r, n, k] rows, float[n, k] last, float[a] all) {
    zero = MatMul(x, w)
    minus = Constant<value = int64[1] {-1}> ()
    last, rows = Loop (count, "", zero) <
        body = step (int64 i, bool go, float[n, k] h) => (bool on, float[n, k] h2, float[n, k] row) {
            on = Identity(go)
            s = Add(h, b)
            h2 = Tanh(s)
            t = MatMul(x, w)
            row = Add(h2, t)
        }>
    all = Reshape(rows, minus)
}"""
SHAPES = 60


class GuardedRuntime(FakeRuntime):
    """A runtime whose arrays end where memory ends."""

    def allocate(self, array: np.ndarray) -> np.ndarray:
        pages = -(-array.nbytes // mmap.PAGESIZE)
        memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
        end = np.frombuffer(memory, np.uint8).ctypes.data + pages * mmap.PAGESIZE
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(end), mmap.PAGESIZE, 0) == 0
        start = pages * mmap.PAGESIZE - array.nbytes
        result = np.frombuffer(memory, array.dtype, array.size, start).reshape(array.shape)
        result[...] = array
        return result


def run_shapes(folder: Path) -> None:
    module, rng = load_module(model(TEXT)), np.random.default_rng(0)
    programs = [library_of(module, "first", {}, {}, takes_lengths=True), library_of(module, "first_any", {}, {})]
    for chosen in (programs, programs[1:]):
        run = LoadedOps(chosen, "Loop", folder).kernel()
        for _ in range(SHAPES):
            n, m, k = (int(rng.integers(0, 40)) for _ in range(3))
            count = int(rng.integers(0, 6))
            runtime = GuardedRuntime([], [np.float32] * 3)
            arrays = rng.random((n, m), np.float32), rng.random((m, k), np.float32), rng.random(k, np.float32)
            runtime.inputs = [runtime.allocate(array) for array in (*arrays, np.array(count))]
            assert run(runtime) is None, runtime.texts
            x, w, b = arrays
            h, rows = x @ w, []
            for _ in range(count):
                h = np.tanh(h + b)
                rows.append(h + x @ w)
            np.testing.assert_allclose(runtime.outputs[1], h, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(runtime.outputs[0], np.array(rows).reshape(count, n, k), rtol=1e-4, atol=1e-5)
            assert runtime.outputs[2].shape == (count * n * k,)


def test_shapes_of_all_kinds_under_guard_pages(tmp_path):
    code = f"from codegen.custom_ops.test_guarded import *; run_shapes(Path({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
