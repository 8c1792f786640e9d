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


@pytest.mark.parametrize(
    ("bound", "shown"),
    [
        (np.zeros(3, np.float32), "float32[3]"),
        (np.zeros(2), "float64[2]"),
        (np.zeros((2, 1), np.float32), "float32[2, 1]"),
    ],
)
def test_memory_that_does_not_fit_is_refused_before_anything_is_written(bound: np.ndarray, shown: str) -> None:
    binding = whorl.InferenceSession(
        model("main (float[2] x) => (float[2] z, float[2] y) { z = Exp(x) y = Neg(x) }")
    ).io_binding()
    first = np.zeros(2, np.float32)
    binding.bind_cpu_input("x", np.ones(2, np.float32))
    binding.bind_output("z", element_type=np.float32, shape=(2,), buffer_ptr=first.ctypes.data)
    binding.bind_output("y", element_type=bound.dtype, shape=bound.shape, buffer_ptr=bound.ctypes.data)
    with pytest.raises(whorl.RunError) as caught:
        binding.run(None)
    assert str(caught.value) == (
        f"output 'y' is float32[2], what it is bound to {shown}\n"
        "  fix: bind memory of that type and shape, or the output without memory"
    )
    assert first.tolist() == [0, 0] and not bound.any()


def test_list_bound_to_a_tensor_is_refused() -> None:
    binding = whorl.InferenceSession(
        model("main (float[2] x) => (seq(float[2]) y) { y = SequenceConstruct(x) }")
    ).io_binding()
    binding.bind_cpu_input("x", np.ones(2, np.float32))
    binding.bind_ortvalue_output("y", whorl.OrtValue.ortvalue_from_numpy(np.zeros(2, np.float32)))
    with pytest.raises(whorl.RunError, match=r"output 'y' is seq\(float32\[2\]\), what it is bound to float32\[2\]"):
        binding.run(None)


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
