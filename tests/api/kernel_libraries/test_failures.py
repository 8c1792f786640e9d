"""Statuses in both directions."""

import ctypes

import pytest
from api.kernel_libraries.calling import c_char_p, c_int, c_void_p, function

from whorl.api.kernel_libraries.failures import check_status, refuse, text_of, with_status
from whorl.errors import RunError


def test_status_of_a_library_becomes_an_error():
    status = function(0, c_void_p, c_int, c_char_p)(2, "zu groß".encode())
    assert function(1, c_int, c_void_p)(status) == 2
    assert ctypes.string_at(function(2, c_void_p, c_void_p)(status)).decode() == "zu groß"
    with pytest.raises(RunError, match="Op: zu groß"):
        check_status(status, "Op")
    check_status(None, "Op")


def test_exception_becomes_a_status():
    def fail() -> None:
        raise KeyError("x")

    status = with_status(fail)()
    assert status is not None and ctypes.string_at(text_of(status) or 0) == b"'x'"
    assert with_status(lambda: None)() is None


def test_function_that_is_not_here_says_so():
    with pytest.raises(RunError, match="whorl has no function 400 of onnxruntime's C API"):
        check_status(refuse(400)(), "Op")
