"""Calls from machine code into Python: exceptions end the program and reach the caller."""

import ctypes

import pytest

from whorl.codegen import callers as cells
from whorl.runtime.compiled.context import Caller


@pytest.fixture
def caller():
    found = Caller()
    found.serve(lambda number, address: number + address, lambda address, size: address + size)
    return found


def poll(caller):
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(caller.block[cells.POLL])(caller.address)


def run(caller, number, address):
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    return function(caller.block[cells.RUN])(caller.address, number, address)


def raising(error):
    def function(*_):
        raise error

    return function


def test_poll_asks_once_a_period(caller):
    calls = []
    caller.watch(lambda: calls.append(1))
    assert poll(caller) > 0 and not calls
    caller.block[cells.NEXT] = 0
    assert poll(caller) > 0 and poll(caller) > 0
    assert len(calls) == 1
    caller.raise_error()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("no")])
def test_what_a_poll_raises_stops_the_program_and_is_raised(caller, error):
    caller.watch(raising(error))
    caller.block[cells.NEXT] = 0
    assert poll(caller) == 0
    with pytest.raises(type(error)) as caught:
        caller.raise_error()
    assert caught.value is error
    caller.raise_error()


def test_poll_without_a_clock_always_asks(caller):
    calls = []
    caller.watch(lambda: calls.append(1))
    caller.block[cells.CLOCK] = 0
    assert poll(caller) > 0 and poll(caller) > 0
    assert len(calls) == 2


def test_op_gives_its_status_or_fails_with_the_exception(caller):
    assert run(caller, 2, 40) == 42
    caller.serve(raising(KeyboardInterrupt()), raising(MemoryError()))
    assert run(caller, 0, 0) == 1
    with pytest.raises(KeyboardInterrupt):
        caller.raise_error()


def test_memory_is_an_address_or_none_with_the_exception(caller):
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    grow = function(caller.block[cells.GROW])
    assert grow(caller.address, 40, 2) == 42
    caller.serve(raising(MemoryError()), raising(MemoryError()))
    assert grow(caller.address, 40, 2) is None
    with pytest.raises(MemoryError):
        caller.raise_error()
