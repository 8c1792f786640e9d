"""`IOBinding`: what it refuses; what it does is shown by scripts."""

import threading

import numpy as np
import pytest
from onnx_text import model

import whorl

MODEL = model("main (float[2] x) => (float[2] y) { y = Neg(x) }")


def test_unknown_name_is_refused():
    binding = whorl.InferenceSession(MODEL).io_binding()
    with pytest.raises(whorl.RunError) as caught:
        binding.bind_cpu_input("z", np.ones(2, np.float32))
    assert str(caught.value) == "the model has no input or output 'z'\n  fix: choose from x"


def test_memory_without_a_shape_is_refused():
    binding = whorl.InferenceSession(MODEL).io_binding()
    with pytest.raises(whorl.RunError) as caught:
        binding.bind_output("y", buffer_ptr=1)
    assert str(caught.value) == (
        "the memory of an output has no element type or shape\n  fix: pass element_type and shape"
    )


def test_failure_of_a_run_in_a_thread_reaches_the_callback():
    done, received = threading.Event(), []

    def receive(*arguments: object) -> None:
        received.append(arguments)
        done.set()

    whorl.InferenceSession(MODEL).run_async(None, {}, receive, 7)
    assert done.wait(30)
    assert received == [([], 7, "missing inputs: 'x' (float32[2])\n  fix: feed every input that has no default")]


def test_what_a_feed_raises_reaches_the_callback():
    class Broken:
        def __array__(self, *_: object, **options: object) -> np.ndarray:
            raise ZeroDivisionError("no elements")

    received, done = [], threading.Event()

    def receive(*arguments):
        received.append(arguments)
        done.set()

    whorl.InferenceSession(MODEL).run_async(None, {"x": Broken()}, receive, 7)
    assert done.wait(30)
    ((outputs, data, text),) = received
    assert (outputs, data) == ([], 7) and "no elements" in text
