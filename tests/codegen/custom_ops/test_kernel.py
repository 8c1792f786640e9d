"""The kernel of a custom op: checks of lengths, outputs allocated by the runtime, failures with their text."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx_text import model

from codegen.custom_ops.fake_runtime import FakeRuntime, LoadedOps
from codegen.library.samples import library
from whorl.api.ahead import library_of
from whorl.api.models import load_module
from whorl.codegen.custom_ops.interface import Code

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
X, START, COUNT = np.array([1, 2], np.float32), np.array([1, 2, 3], np.float32), np.array(4)


Kernel = Callable[[FakeRuntime], int | None]


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Kernel:
    return LoadedOps(library(), "Loop 'l'", tmp_path_factory.mktemp("sample")).kernel()


def kernel(text: str, title: str, folder: Path) -> Kernel:
    return LoadedOps(library_of(load_module(model(text)), "other", {}, {}), title, folder).kernel()


@pytest.mark.parametrize("count", [0, 1, 4, 1000])
def test_outputs_have_the_lengths_of_the_run(sample, count):
    runtime = FakeRuntime([X, START, np.array(count)], [np.float32, np.float32])
    assert sample(runtime) is None and not runtime.texts
    with np.errstate(over="ignore"):
        rows = [START * np.float32(2) ** np.float32(i) * 2 for i in range(count)]
    np.testing.assert_array_equal(runtime.outputs[0], np.array(rows, np.float32).reshape(count, 3))
    assert runtime.outputs[1].tolist() == [-1, -2]
    assert runtime.infos == 0


def test_lengths_that_differ_from_the_declared_are_refused(sample):
    for inputs, text in (
        ([X, X, COUNT], "Loop 'l': input 'start' has length 2 at axis 0, not 3"),
        ([X, START, X], "Loop 'l': input 'count' has 1 axes, not 0"),
        ([COUNT, START, COUNT], "Loop 'l': input 'x' has 0 axes, not 1"),
    ):
        runtime = FakeRuntime(inputs, [np.float32, np.float32])
        assert sample(runtime) == 1
        assert runtime.texts == [(Code.INVALID_ARGUMENT, text)] and not runtime.outputs and runtime.infos == 0


def test_lengths_of_one_name_agree(tmp_path):
    text = "main (float[n] x, float[n] y) => (float[n] z) { z = Add(x, y) }"
    runtime = FakeRuntime([X, START], [np.float32])
    assert kernel(text, "100%", tmp_path)(runtime) == 1
    assert runtime.texts == [(Code.INVALID_ARGUMENT, "100%: length 'n' is 2 in input 'x' and 3 in 'y' at axis 0")]


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
