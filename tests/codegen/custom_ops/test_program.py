"""A program in a kernel: outputs allocated by the runtime, failures with their text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from compilers import needs_linker
from onnx_text import model

from codegen.custom_ops.fake_runtime import FakeRuntime, LoadedOps
from codegen.library.samples import library
from whorl.api.ahead import library_of
from whorl.api.models import load_module
from whorl.codegen.custom_ops.interface import Code

pytestmark = needs_linker
X, START, COUNT = np.array([1, 2], np.float32), np.array([1, 2, 3], np.float32), np.array(4)


Kernel = Callable[[FakeRuntime], int | None]


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Kernel:
    return LoadedOps([library()], "Loop 'l'", tmp_path_factory.mktemp("sample")).kernel()


def kernel(text: str, title: str, folder: Path) -> Kernel:
    return LoadedOps([library_of(load_module(model(text)), "other", {}, {})], title, folder).kernel()


@pytest.mark.parametrize("count", [0, 1, 4, 1000])
def test_outputs_have_the_lengths_of_the_run(sample, count):
    runtime = FakeRuntime([X, START, np.array(count)], [np.float32, np.float32])
    assert sample(runtime) is None and not runtime.texts
    with np.errstate(over="ignore"):
        rows = [START * np.float32(2) ** np.float32(i) * 2 for i in range(count)]
    np.testing.assert_array_equal(runtime.outputs[0], np.array(rows, np.float32).reshape(count, 3))
    assert runtime.outputs[1].tolist() == [-1, -2]
    assert runtime.infos == 0


def test_status_of_the_allocator_is_passed_on(sample):
    runtime = FakeRuntime([X, START, COUNT], [np.float32, np.float32])
    runtime.fails_to_allocate = True
    assert sample(runtime) == 77


def test_failure_names_node_and_iterations(tmp_path):
    text = """main (float[4] x, int64 n) => (float y) {
        zero = Constant<value = float {0}> ()
        y = Loop (n, "", zero) <body = step (int64 i, bool go, float h) => (bool on, float h2) {
            on = Identity(go)
            [read] e = Gather(x, i)
            h2 = Add(h, e)
        }>
    }"""
    run = kernel(text, "Loop 'l'", tmp_path)
    runtime = FakeRuntime([np.ones(4, np.float32), np.array(4)], [np.float32])
    assert run(runtime) is None and runtime.outputs[0] == 4
    runtime = FakeRuntime([np.ones(4, np.float32), np.array(9)], [np.float32])
    assert run(runtime) == 1
    message = "Loop 'l': Gather 'read' in body of Loop (iteration 4): a value or a length is refused"
    assert runtime.texts == [(Code.RUNTIME_EXCEPTION, message)]


def test_memory_of_lengths_that_are_known_before_the_run(tmp_path):
    text = model("""main (float[n, m] x, int64 count) => (float[a] y, float[n, m] z) {
        zero = Constant<value = int64 {0}> ()
        z = Loop (count, "", x) <body = step (int64 i, bool go, float[n, m] h) => (bool on, float[n, m] h2) {
            on = Identity(go)
            t = CumSum(h, zero)
            h2 = Add(t, x)
        }>
        minus = Constant<value = int64[1] {-1}> ()
        double = Concat<axis = 0>(z, x)
        y = Reshape(double, minus)
    }""")
    program = library_of(load_module(text), "known", {}, {}, takes_lengths=True)
    assert not program.graph.grown and program.graph.arena.slots
    run = LoadedOps([program], "Loop", tmp_path).kernel()
    for n, m, count in ((3, 2, 0), (1, 1, 4), (200, 30, 2), (0, 5, 1)):
        x = np.arange(n * m, dtype=np.float32).reshape(n, m)
        runtime = FakeRuntime([x, np.array(count)], [np.float32, np.float32])
        assert run(runtime) is None
        z = x
        for _ in range(count):
            z = np.cumsum(z, 0) + x
        np.testing.assert_allclose(runtime.outputs[1], z, rtol=1e-5)
        np.testing.assert_array_equal(runtime.outputs[0], np.concatenate([runtime.outputs[1], x]).ravel())
