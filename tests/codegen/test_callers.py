"""Calls from machine code into Python: exceptions end the program and reach the caller."""

import ctypes

import pytest

from whorl.codegen import callers as cells
from whorl.runtime.compiled.context import RunContext


@pytest.fixture
def context():
    actual = RunContext()
    actual.set_callbacks(lambda number, address: number + address, lambda address, size: address + size)
    return actual


def poll(context):
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(context.block[cells.POLL])(context.address)


def run(context, number, address):
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    return function(context.block[cells.RUN])(context.address, number, address)


def raising(error):
    def function(*_):
        raise error

    return function


def test_poll_asks_once_a_period(context):
    calls = []
    context.set_check(lambda: calls.append(1))
    assert poll(context) > 0 and not calls
    context.block[cells.NEXT] = 0
    assert poll(context) > 0 and poll(context) > 0
    assert len(calls) == 1
    context.raise_error()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("no")])
def test_what_a_poll_raises_stops_the_program_and_is_raised(context, error):
    context.set_check(raising(error))
    context.block[cells.NEXT] = 0
    assert poll(context) == 0
    with pytest.raises(type(error)) as caught:
        context.raise_error()
    assert caught.value is error
    context.raise_error()


def test_poll_without_a_clock_always_asks(context):
    calls = []
    context.set_check(lambda: calls.append(1))
    context.block[cells.CLOCK] = 0
    assert poll(context) > 0 and poll(context) > 0
    assert len(calls) == 2


def test_op_gives_its_status_or_fails_with_the_exception(context):
    assert run(context, 2, 40) == 42
    context.set_callbacks(raising(KeyboardInterrupt()), raising(MemoryError()))
    assert run(context, 0, 0) == 1
    with pytest.raises(KeyboardInterrupt):
        context.raise_error()


def test_memory_is_an_address_or_none_with_the_exception(context):
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    grow = function(context.block[cells.GROW])
    assert grow(context.address, 40, 2) == 42
    context.set_callbacks(raising(MemoryError()), raising(MemoryError()))
    assert grow(context.address, 40, 2) is None
    with pytest.raises(MemoryError):
        context.raise_error()


def test_functions_of_a_context_are_different_ones_of_one_piece_of_code():
    addresses = cells.functions()
    assert len(set(addresses)) == len(cells.FUNCTIONS) and all(addresses)
    assert max(addresses) - min(addresses) < 1 << 16
