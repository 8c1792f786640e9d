"""The kernel of a custom op: checks of lengths, and the choice of the program that takes them."""

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
from whorl.codegen.library.lengths import has_conditions

pytestmark = needs_linker
X, START, COUNT = np.array([1, 2], np.float32), np.array([1, 2, 3], np.float32), np.array(4)


Kernel = Callable[[FakeRuntime], int | None]


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Kernel:
    return LoadedOps([library()], "Loop 'l'", tmp_path_factory.mktemp("sample")).kernel()


def kernel(text: str, title: str, folder: Path) -> Kernel:
    return LoadedOps([library_of(load_module(model(text)), "other", {}, {})], title, folder).kernel()


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


def test_program_that_is_not_made_for_the_lengths_leaves_them_to_the_next(tmp_path):
    text = model("main (float[n] x, float[m] y) => (float[k] z, float[n] w) { z = Add(x, y) w = Neg(x) }")
    module = load_module(text)
    programs = [library_of(module, "first", {}, {}, takes_lengths=True), library_of(module, "first_any", {}, {})]
    assert has_conditions(programs[0].graph) and not programs[0].graph.grown and programs[1].graph.grown
    run = LoadedOps(programs, "Add", tmp_path).kernel()
    runtime = FakeRuntime([X, X], [np.float32, np.float32])
    assert run(runtime) is None and runtime.outputs[0].tolist() == [2, 4]
    runtime = FakeRuntime([X, START], [np.float32, np.float32])
    assert run(runtime) == 1
    message = "Add: Add 'z': the lengths are others than this program can take"
    assert runtime.texts == [(Code.RUNTIME_EXCEPTION, message)]


def test_program_for_a_length_of_one_runs_where_that_broadcasts(tmp_path):
    text = model("main (float[n] x, float[m] y) => (float[k] z) { z = Add(x, y) }")
    module = load_module(text)
    programs = [
        library_of(module, "first", {}, {}, takes_lengths=True),
        library_of(module, "first_0", {"n": 1}, {}, takes_lengths=True),
        library_of(module, "first_any", {}, {}),
    ]
    run = LoadedOps(programs, "Add", tmp_path).kernel()
    for x, y, expected in ((X, X, [2, 4]), (X[:1], START, [2, 3, 4]), (X[:1], X[:1], [2]), (X[:1], X[:0], [])):
        runtime = FakeRuntime([x, y], [np.float32])
        assert run(runtime) is None and runtime.outputs[0].tolist() == expected
    assert run(FakeRuntime([START, X[:1]], [np.float32])) == 1


ROWS = """main (int64 n, float[m] x, float[q] y) => (float[k, m] rows, float[p] z) {
    last, rows, one = Loop (n, "", x) <
        body = step (int64 i, bool go, float[m] h) => (bool on, float[m] next, float[m] row, float same) {
            on = Identity(go)
            next = Add(h, h)
            row = Neg(next)
            same = ReduceSum<keepdims = 0>(h)
        }>
    z = Add(one, y)
}"""


def test_rows_that_a_trip_count_tells_are_written_where_onnxruntime_has_them(tmp_path):
    module = load_module(model(ROWS))
    programs = [
        library_of(module, "rows", {}, {}, takes_lengths=True),
        library_of(module, "rows_0", {"n0.": 1}, {}, takes_lengths=True),
        library_of(module, "rows_any", {}, {}),
    ]
    assert [port.count for port in programs[0].inputs] == ["n0.", "", ""]
    assert [program.inputs[0].count for program in programs[1:]] == [1, ""]
    assert [bool(program.graph.grown) for program in programs] == [False, False, True]
    run = LoadedOps(programs, "Loop", tmp_path).kernel()
    for n, y in ((3, START), (2, X), (1, START), (1, X[:1]), (0, X[:0]), (-5, X[:0])):
        runtime = FakeRuntime([np.array(n), X, y], [np.float32, np.float32])
        assert run(runtime) is None
        assert runtime.outputs[0].tolist() == [[-1.0 * 2 ** (k + 1), -2.0 * 2 ** (k + 1)] for k in range(max(n, 0))]
        assert runtime.outputs[1].tolist() == (3.0 * 2 ** np.arange(max(n, 0)) + y).tolist()


def test_rows_beyond_all_memory_are_refused(tmp_path):
    module = load_module(model(ROWS))
    programs = [library_of(module, "far", {}, {}, takes_lengths=True), library_of(module, "far_any", {}, {})]
    run = LoadedOps(programs, "Loop", tmp_path).kernel()
    for n in (1 << 58, (1 << 63) - 1):
        runtime = FakeRuntime([np.array(n), X, X], [np.float32, np.float32])
        assert run(runtime) == 1
        assert runtime.texts == [(Code.FAIL, "Loop: memory was refused")] and not runtime.outputs
