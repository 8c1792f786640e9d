"""Nodes as kernels see them while they are made, and as types are inferred."""

import ctypes

import numpy as np
import pytest
from api.kernel_libraries.calling import answer, c_int, c_int64, c_size_t, c_void_p, call

from whorl.api.kernel_libraries.objects import Description, Inference, Tensor, TensorFact, hold, resolve
from whorl.errors import RunError

ATTRIBUTES = {"f": 1.5, "i": -3, "s": "né", "fs": (1.0, 2.0), "is": (1, 2, 3), "t": np.arange(3)}


@pytest.fixture
def node():
    return hold(Description("Op", ATTRIBUTES, [TensorFact(1, [2]), TensorFact(7, [])], [TensorFact(1)]))


def test_attributes_are_read_by_kind(node):
    assert answer(85, ctypes.c_float, node, b"f") == 1.5
    assert answer(86, c_int64, node, b"i") == -3
    with pytest.raises(RunError, match="No attribute with name 'missing' is defined"):
        answer(86, c_int64, node, b"missing")
    with pytest.raises(RunError, match=r"attribute 'f' is 1\.5"):
        answer(86, c_int64, node, b"f")
    assert resolve(answer(236, c_void_p, node, b"t", None), Tensor).value().tolist() == [0, 1, 2]


def test_texts_say_their_length_first(node):
    size = c_size_t(0)
    call(87, node, b"s", None, ctypes.byref(size))
    assert size.value == 4
    text = ctypes.create_string_buffer(size.value)
    call(87, node, b"s", ctypes.addressof(text), ctypes.byref(size))
    assert text.value == "né".encode()
    with pytest.raises(RunError, match="Result buffer is not large enough: 2 bytes for 4"):
        call(87, node, b"s", ctypes.addressof(text), ctypes.byref(c_size_t(2)))


def test_numbers_say_their_count_first(node):
    size = c_size_t(0)
    call(163, node, b"is", None, ctypes.byref(size))
    assert size.value == 3
    numbers = (c_int64 * 3)()
    call(163, node, b"is", numbers, ctypes.byref(size))
    assert list(numbers) == [1, 2, 3]
    floats = (ctypes.c_float * 2)()
    call(162, node, b"fs", floats, ctypes.byref(c_size_t(2)))
    assert list(floats) == [1, 2]
    with pytest.raises(RunError, match="Result buffer is not large enough: 1 numbers for 3"):
        call(163, node, b"is", numbers, ctypes.byref(c_size_t(1)))


def test_node_tells_its_values(node):
    assert (answer(230, c_size_t, node), answer(231, c_size_t, node)) == (2, 1)
    for slot, name in ((232, b"input1"), (244, b"Op")):
        text, size = ctypes.create_string_buffer(16), c_size_t(16)
        call(slot, node, *((1,) if slot == 232 else ()), ctypes.addressof(text), ctypes.byref(size))
        assert text.value == name and size.value == len(name) + 1
    assert resolve(answer(234, c_void_p, node, 1), TensorFact).element == 7
    constant, value = c_int(5), c_void_p(5)
    call(249, node, 0, ctypes.byref(constant), ctypes.byref(value))
    assert (constant.value, value.value) == (0, None)
    assert resolve(answer(217, c_void_p, node), Description).title == "Op"


def test_inference_reads_attributes_and_sets_types():
    query = Inference([TensorFact(1, [2, -1], ["", "n"])], ATTRIBUTES, 1)
    handle = hold(query)
    assert answer(267, c_size_t, handle) == 1
    info = answer(268, c_void_p, handle, 0)
    call(270, handle, 0, info)
    assert query.outputs[0] is not None and query.outputs[0].lengths == [2, -1]
    numbers, size = (c_int64 * 3)(), c_size_t()
    attribute = answer(269, c_void_p, handle, b"is")
    call(272, attribute, 2, ctypes.addressof(numbers), 24, ctypes.byref(size))
    assert list(numbers) == [1, 2, 3] and size.value == 24
    with pytest.raises(RunError, match="16 bytes are too few for an attribute of 24"):
        call(272, attribute, 2, ctypes.addressof(numbers), 16, ctypes.byref(size))
    with pytest.raises(RunError, match="there is no value 1 of 1"):
        answer(268, c_void_p, handle, 1)
