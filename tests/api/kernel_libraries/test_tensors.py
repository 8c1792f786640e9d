"""Tensors and types as libraries see them."""

import ctypes

import numpy as np
import pytest
from api.kernel_libraries.calling import answer, c_char_p, c_int, c_int64, c_size_t, c_void_p, call

from whorl.api.kernel_libraries.objects import Tensor, TensorFact, hold, resolve
from whorl.errors import RunError


def test_numbers_have_an_address_and_a_type():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = hold(Tensor(array))
    address = answer(51, c_void_p, value)
    assert ctypes.cast(address, ctypes.POINTER(ctypes.c_float))[5] == 5
    assert answer(50, c_int, value) == answer(67, c_int, value) == answer(192, c_int, value) == 1
    info = answer(65, c_void_p, value)
    assert (answer(60, c_int, info), answer(61, c_size_t, info), answer(64, c_size_t, info)) == (1, 2, 6)
    lengths = (c_int64 * 2)()
    call(62, info, lengths, 2)
    assert list(lengths) == [2, 3]
    assert answer(56, c_int, info) == 1 and answer(55, c_void_p, info) == info


def test_texts_are_read_at_once_and_one_by_one():
    value = hold(Tensor(np.array(["ab", "", "é"], object)))
    assert answer(53, c_size_t, value) == 4
    content, offsets = ctypes.create_string_buffer(4), (c_size_t * 3)()
    call(54, value, ctypes.addressof(content), 4, offsets, 3)
    assert content.raw == "abé".encode() and list(offsets) == [0, 2, 2]
    assert answer(127, c_size_t, value, 2) == 2
    call(128, value, 2, 2, ctypes.addressof(content))
    assert content.raw[:2] == "é".encode()
    with pytest.raises(RunError, match="3 bytes and 3 offsets are too few for 4 of 3 texts"):
        call(54, value, ctypes.addressof(content), 3, offsets, 3)
    with pytest.raises(RunError, match="1 bytes are too few for a text of 2"):
        call(128, value, 1, 2, ctypes.addressof(content))
    with pytest.raises(RunError, match="the elements of a tensor of strings have no address"):
        answer(51, c_void_p, value)


def test_texts_are_written_in_three_ways():
    value = answer(48, c_void_p, None, (c_int64 * 1)(3), 1, 8)
    call(52, value, (c_char_p * 3)(b"a", b"b", b"c"), 3)
    call(129, value, b"dd", 1)
    address = answer(252, c_void_p, value, 2, 4)
    ctypes.memmove(address, b"eeee", 4)
    assert resolve(value, Tensor).value().tolist() == ["a", "dd", "eeee"]
    with pytest.raises(RunError, match="2 texts for a tensor of 3"):
        call(52, value, (c_char_p * 2)(b"a", b"b"), 2)


def test_tensor_over_memory_shares_it():
    memory = (ctypes.c_float * 4)(1, 2, 3, 4)
    value = answer(49, c_void_p, None, ctypes.addressof(memory), 16, (c_int64 * 2)(2, 2), 2, 1)
    memory[3] = 9
    assert resolve(value, Tensor).value().tolist() == [[1, 2], [3, 9]]
    with pytest.raises(RunError, match=r"16 bytes are no tensor \(5,\) of element type 1"):
        answer(49, c_void_p, None, ctypes.addressof(memory), 16, (c_int64 * 1)(5), 1, 1)


def test_types_are_made_step_by_step():
    info = answer(57, c_void_p)
    call(58, info, 7)
    call(59, info, (c_int64 * 2)(-1, 3), 2)
    call(271, info, (c_char_p * 2)(b"n", b""), 2)
    fact = resolve(info, TensorFact)
    assert (fact.element, fact.lengths, fact.names) == (7, [-1, 3], ["n", ""])
    names = (c_char_p * 2)()
    call(63, info, names, 2)
    assert list(names) == [b"n", b""]
