"""Time limits of optimize, deloop and compile: an error with the name of the work, and nothing of it is left."""

import _thread
import signal
import sys
import threading

import pytest
from onnx_text import ROLLOUT, model

import whorl

FOLDED = model("""main () => (float[n, n] y) {
    shape = Constant<value = int64[2] {3000, 3000}> ()
    x = ConstantOfShape<value = float[1] {0.5}> (shape)
    s = Sin(x)
    a = MatMul(s, s)
    b = MatMul(a, s)
    y = MatMul(b, s)
}""")
UNROLLED = model("""main (float[4] x) => (float[4] y) {
    many = Constant<value = int64 {5000}> ()
    y = Loop (many, "", x) <body = step (int64 i, bool on, float[4] a) => (bool on_out, float[4] b) {
        on_out = Identity(on)
        b = Sin(a)
    }>
}""")
CHAIN = model(
    "main (float[4] x0) => (float[4] x900) {" + " ".join(f"x{k + 1} = Softmax(x{k})" for k in range(900)) + "}"
)


def text_of(call):
    with pytest.raises(whorl.TimeLimitError) as caught:
        call()
    return str(caught.value)


def test_optimize_ends_in_time():
    assert text_of(lambda: whorl.optimize(FOLDED, timeout=0.05)) == (
        "optimizing took longer than 0.05 s\n  fix: raise timeout"
    )


def test_deloop_ends_in_time():
    assert text_of(lambda: whorl.deloop(UNROLLED, max_iterations=5000, timeout=0.05)) == (
        "delooping took longer than 0.05 s\n  fix: raise timeout"
    )


def test_compile_ends_in_time_and_writes_nothing(tmp_path):
    assert text_of(lambda: whorl.compile(CHAIN, tmp_path / "chain.o", timeout=0.05)) == (
        "compiling took longer than 0.05 s\n  fix: raise timeout"
    )
    assert not list(tmp_path.iterdir())


def test_time_that_suffices_changes_nothing():
    assert sum(1 for _ in whorl.optimize(ROLLOUT, timeout=600.0).nodes()) > 1


def test_time_of_the_wrong_kind_is_refused():
    with pytest.raises(whorl.RunError) as caught:
        whorl.optimize(ROLLOUT, timeout=-1)
    assert str(caught.value) == "timeout is -1, expected a number of seconds that is not negative, or None"


@pytest.mark.skipif(sys.platform == "win32", reason="signals come to the process by another way")
def test_interrupt_from_the_keyboard_ends_optimize():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in range(100):
                whorl.optimize(FOLDED, timeout=60.0)
    finally:
        signal.signal(signal.SIGINT, before)
