"""Long computations aside: their results and errors come back, and limits and signals do not wait for them."""

import threading
import time

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ops.core.aside import run_aside


def nothing() -> None:
    pass


def test_result_comes_back_from_another_thread():
    here = threading.get_ident()
    there, value = run_aside(lambda x: (threading.get_ident(), x + 1), (41,), nothing)
    assert there != here and value == 42


def test_error_comes_back():
    with pytest.raises(RunError, match=r"^no$"):
        run_aside(lambda: (_ for _ in ()).throw(RunError("no")), (), nothing)


def test_callers_thread_computes_where_no_other_is_to_be_had(monkeypatch):
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def too_long() -> None:
        raise TimeoutError

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert run_aside(threading.get_ident, (), nothing) == threading.get_ident()
    with pytest.raises(TimeoutError):
        run_aside(threading.get_ident, (), too_long)


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


# ---- products in pieces ----------------------------------------------------------------------------------------------
