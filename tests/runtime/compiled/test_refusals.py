"""Faults of whorl's own while it lowers or compiles: the interpreter serves, and the fault can be found."""

import logging

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.debug import debug
from whorl.ops.elementwise.arithmetic import Neg
from whorl.runtime.compiled import program_cache

ALONE = "main (float[n] x) => (float[n] y) { a = Abs(x)\n b = Neg(a)\n y = Exp(b) }"
LOOPED = """main (int64 M, float[n] x) => (float[n] y) {
    y = Loop(M, , x) <body = b (int64 i, bool c, float[n] a) => (bool c2, float[n] z) { c2 = Identity(c)\n z = Neg(a) }>
}"""
X = np.float32([1, -2])


@pytest.fixture
def lenient(monkeypatch):
    """As users run it: no WHORL_DEBUG."""
    monkeypatch.delenv("WHORL_DEBUG")
    debug.cache_clear()
    yield
    monkeypatch.undo()
    debug.cache_clear()


@pytest.fixture
def faulty(monkeypatch):
    def fail(*_):
        raise KeyError("nobody foresaw this")

    monkeypatch.setattr(Neg, "lower", fail)


def native(text):
    options = whorl.SessionOptions()
    options.backend = "native"
    return whorl.InferenceSession(model(text), options)


@pytest.mark.usefixtures("lenient", "faulty")
def test_fault_of_a_node_leaves_that_node_to_the_interpreter(caplog):
    session = native(ALONE)
    with caplog.at_level(logging.WARNING, "whorl"):
        for _ in range(2):
            np.testing.assert_allclose(session.run(None, {"x": X})[0], np.exp(-np.abs(X)), rtol=1e-6)
    (verdict,) = [v for v in session.explain() if v.traceback]
    assert verdict.reason == "a fault of whorl's own: KeyError: 'nobody foresaw this'"
    assert verdict.traceback.startswith("Traceback") and "in fail" in verdict.traceback
    assert verdict.title == "Neg 'b'"
    (record,) = caplog.records
    assert record.exc_info[0] is KeyError and "is interpreted, because compiling it met" in record.message


@pytest.mark.usefixtures("lenient", "faulty")
def test_fault_inside_a_loop_leaves_the_loop_to_the_interpreter():
    session = native(LOOPED)
    np.testing.assert_array_equal(session.run(None, {"M": np.array(3), "x": X})[0], -X)
    assert any("KeyError" in verdict.reason for verdict in session.explain())


@pytest.mark.usefixtures("lenient")
def test_fault_of_the_compiler_leaves_everything_to_the_interpreter(monkeypatch):
    def fail(*_):
        raise RuntimeError("LLVM said no")

    monkeypatch.setattr(program_cache, "compile_graph", fail)
    session = native(ALONE)
    np.testing.assert_allclose(session.run(None, {"x": X})[0], np.exp(-np.abs(X)), rtol=1e-6)
    assert [v.reason for v in session.explain()] == ["a fault of whorl's own: RuntimeError: LLVM said no"]


@pytest.mark.usefixtures("faulty")
def test_fault_is_raised_where_the_debug_word_says_strict():
    with pytest.raises(KeyError, match="nobody foresaw this"):
        native(ALONE).run(None, {"x": X})
    with pytest.raises(KeyError, match="nobody foresaw this"):
        native(LOOPED).run(None, {"M": np.array(3), "x": X})
