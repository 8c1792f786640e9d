"""Results that no program gives become copies, so that a call with feeds of a known signature goes straight to one."""

import numpy as np
from onnx_text import model

import whorl
from whorl.ir.constants import Constant
from whorl.ops.elementwise.arithmetic import Identity
from whorl.passes.session import prepare
from whorl.runtime.session import Session

TEXT = """main (float[n] x) => (float[n] y, float[n] again, float[n] same, float[2] c) {
    y = Neg (x)
    again = Identity (y)
    same = Identity (x)
    c = Constant <value = float[2] {1, 2}> ()
}"""


def prepared(text):
    module = whorl.load(model(text))
    prepare(module, 2, 0)
    return module


def test_inputs_constants_and_repeated_results_become_copies():
    module = whorl.load(model(TEXT))
    (x,), (y, *_, c) = module.main.arguments, module.main.results
    module.main.results = [y, y, x, c]
    prepare(module, 2, 0)
    assert len(set(module.main.results)) == 4
    assert [type(value.owner.op) is Identity for value in module.main.results] == [False, True, True, True]


def test_model_that_computes_nothing_is_unchanged():
    results = prepared("main () => (float[2] c) {c = Constant <value = float[2] {1, 2}> ()}").main.results
    assert isinstance(results[0].owner.op, Constant)


def test_call_with_copied_results_takes_the_fast_path():
    session, feeds = Session(prepared(TEXT)), {"x": np.arange(3, dtype=np.float32)}
    for _ in range(2):
        results = session.execute(None, feeds)
        assert [array.tolist() for array in results] == [[0, -1, -2], [0, -1, -2], [0, 1, 2], [1, 2]]
        for array in results:
            array[:] = 7
    assert feeds["x"].tolist() == [0, 1, 2] and session._fast_path.launches
