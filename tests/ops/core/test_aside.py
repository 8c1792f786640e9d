"""Long computations aside: their results and errors come back, and limits and signals do not wait for them."""

import threading
import time

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ir.types import TensorType
from whorl.ops.core import pieces, work
from whorl.ops.core.aside import run_aside
from whorl.ops.core.work import SMALL, Effort
from whorl.ops.elementwise.arithmetic import Neg
from whorl.ops.movement.filling import Range

F32 = np.dtype(np.float32)


def nothing() -> None:
    pass


def test_result_comes_back_from_another_thread():
    here = threading.get_ident()
    there, value = run_aside(lambda x: (threading.get_ident(), x + 1), (41,), nothing)
    assert there != here and value == 42


def test_error_comes_back():
    with pytest.raises(RunError, match=r"^no$"):
        run_aside(lambda: (_ for _ in ()).throw(RunError("no")), (), nothing)


def test_settings_of_numpy_hold_there():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        run_aside(lambda: np.ones(1) / np.zeros(1), (), nothing)


def test_check_that_raises_is_heard_at_once_and_ends_the_thread():
    ended = threading.Event()

    def endless() -> None:
        try:
            while True:
                time.sleep(0.001)
        finally:
            ended.set()

    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        run_aside(endless, (), check)
    assert ended.wait(10)


def test_computation_that_is_to_end_goes_on_for_itself():
    done, go_on = threading.Event(), threading.Event()

    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        run_aside(lambda: (go_on.wait(10), done.set()), (), check, ends=False)
    go_on.set()
    assert done.wait(10)


# ---- which ops run aside ---------------------------------------------------------------------------------------------


def threads_of(effort, inputs):
    """Whether a function of these inputs runs in this thread."""
    return effort.run(lambda *_: threading.get_ident(), inputs, nothing) == threading.get_ident()


def test_op_on_small_tensors_runs_where_it_is():
    assert threads_of(Effort(Neg(), [TensorType(F32, (4,))]), [np.zeros(4, F32)])


def test_op_on_a_large_tensor_runs_aside_until_it_was_quick(monkeypatch):
    monkeypatch.setattr(work, "QUICK", 60.0)
    effort, x = Effort(Neg(), [TensorType(F32, ("n",))]), np.zeros(1 << SMALL, F32)
    assert not threads_of(effort, [x])
    assert threads_of(effort, [x])
    assert not threads_of(effort, [np.zeros(1 << SMALL + 1, F32)])


def test_numbers_that_say_how_long_a_result_is_count():
    effort = Effort(Range(), [TensorType(F32, ("n",))])
    few, many, dense = ([np.float32(x) for x in case] for case in ((0, 9, 1), (0, 1e9, 1), (0, 1, 1e-30)))
    assert effort.is_quick([np.asarray(x) for x in few])
    assert not effort.is_quick([np.asarray(x) for x in many])
    assert not effort.is_quick([np.asarray(x) for x in dense])


# ---- products in pieces ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((30, 20), (20, 40)),
        ((5, 30, 20), (20, 40)),
        ((1, 3, 4, 7), (6, 1, 7, 9)),
        ((2, 3, 7), (2, 7, 50)),
        ((1, 100), (100, 300)),
        ((3, 7), (9, 7, 8)),
        ((100,), (100, 30)),
        ((0, 100), (100, 30)),
    ],
)
def test_product_in_pieces_is_the_product(monkeypatch, left, right):
    monkeypatch.setattr(pieces, "MOST", 100)
    rng = np.random.default_rng(0)
    a, b = rng.random(left), rng.random(right)
    np.testing.assert_allclose(pieces.matmul(a, b), a @ b)


def test_operands_that_do_not_fit_are_refused_as_numpy_does():
    with pytest.raises(ValueError, match="mismatch"):
        pieces.matmul(np.zeros((2, 3)), np.zeros((4, 2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_determinant_of_a_large_matrix_is_the_determinant(monkeypatch, dtype):
    monkeypatch.setattr(pieces, "LARGE", 4)
    monkeypatch.setattr(pieces, "COLUMNS", 7)
    rng = np.random.default_rng(0)
    for shape in ((4, 4), (3, 30, 30), (2, 1, 15, 15)):
        x = rng.standard_normal(shape).astype(dtype)
        found = pieces.determinants(x)
        assert found.dtype == dtype and found.shape == shape[:-2]
        np.testing.assert_allclose(found, np.linalg.det(x), rtol=1e-3 if dtype == np.float32 else 1e-9)
    singular = np.ones((5, 5), dtype)
    assert pieces.determinants(singular) == 0
    assert np.isnan(pieces.determinants(np.where(np.eye(5) > 0, np.nan, singular).astype(dtype)))
