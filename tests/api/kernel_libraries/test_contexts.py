"""Calls of kernels: inputs, outputs, parts, scratch memory, messages; and domains."""

import ctypes
import logging

import numpy as np
from api.kernel_libraries.calling import answer, c_int, c_int64, c_size_t, c_void_p, call

from whorl.api.kernel_libraries.interface import PART
from whorl.api.kernel_libraries.objects import Call, Domain, Registration, Tensor, hold, resolve

X = np.ones((2, 3), np.float32)


def test_call_gives_inputs_and_takes_outputs():
    made = Call([X, None], [1, 7])
    handle = made.handle(made)
    assert (answer(88, c_size_t, handle), answer(89, c_size_t, handle)) == (2, 2)
    assert resolve(answer(90, c_void_p, handle, 0), Tensor).array is X
    assert answer(90, c_void_p, handle, 1) is None and answer(90, c_void_p, handle, 7) is None
    lengths = (c_int64 * 1)(4)
    first = answer(91, c_void_p, handle, 1, lengths, 1)
    assert resolve(first, Tensor) is resolve(answer(91, c_void_p, handle, 1, lengths, 1), Tensor)
    assert answer(91, c_void_p, handle, 2, lengths, 1) is None
    assert made.outputs[0] is None and made.outputs[1] is not None and made.outputs[1].array.dtype == np.int64


def test_all_parts_run():
    seen = []
    call(274, None, ctypes.cast(PART(lambda data, k: seen.append((data, k))), c_void_p).value, 3, 0, 7)
    assert seen == [(7, 0), (7, 1), (7, 2)]


def test_scratch_memory_can_be_written():
    made = Call([], [])
    handle = made.handle(made)
    addresses = [answer(277, c_void_p, handle, None, size) for size in (0, 8)]
    ctypes.memset(addresses[1], 1, 8)
    assert len(set(addresses)) == 2


def test_messages_go_to_the_log(caplog):
    with caplog.at_level(logging.INFO, "whorl"):
        logger = answer(245, c_void_p, None)
        call(247, logger, 1, "fünf".encode(), None, 1, b"f")
        assert answer(248, c_int, logger) == 1
    assert [record.getMessage() for record in caplog.records] == ["fünf"]


def test_domains_hold_ops():
    registration = Registration()
    options = hold(registration)
    domain = answer(26, c_void_p, b"my.ops")
    call(27, domain, 1234)
    call(130, options, b"key", b"value")
    call(28, options, domain)
    assert [(each.name, each.ops) for each in registration.domains] == [("my.ops", [1234])]
    assert resolve(domain, Domain) is registration.domains[0]
