"""The function that runs a library: checks, memory, outputs that grow."""

import ctypes
import math

import numpy as np
import pytest

from codegen.library.samples import library
from whorl.codegen.library.ports import BAD_ARGUMENT
from whorl.codegen.library.text import library_module
from whorl.codegen.target import MachineCode, host


@pytest.fixture
def run():
    code = MachineCode(library_module(library(), host())[0], "sample_run")
    entry = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 5)(code.address)
    yield lambda *arguments: entry(*arguments)
    del code


class Grown(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 8)]


class Feeds:
    """The arguments of a run over x = [1, 2], start = [1, 2, 3] and 4 iterations."""

    def __init__(self) -> None:
        self.x, self.start, self.count = np.array([1, 2], np.float32), np.array([1, 2, 3], np.float32), np.array(4)
        self.seen, self.y, self.lengths = Grown(), Grown(), np.array([2], np.int64)
        self.inputs = (ctypes.c_void_p * 3)(*(a.ctypes.data for a in (self.x, self.start, self.count)))
        self.outputs = (ctypes.c_void_p * 2)(ctypes.addressof(self.seen), ctypes.addressof(self.y))


def test_output_that_grows_belongs_to_the_caller(run):
    feeds = Feeds()
    assert run(feeds.inputs, feeds.outputs, feeds.lengths.ctypes.data, None, None) == 0
    for grown, shape, expected in (
        (feeds.seen, (4, 3), [[2 * k * 2**i for k in (1, 2, 3)] for i in range(4)]),
        (feeds.y, (2,), [-1, -2]),
    ):
        assert tuple(grown.shape[: len(shape)]) == shape
        data = (ctypes.c_float * math.prod(shape)).from_address(grown.data)
        assert np.ctypeslib.as_array(data).reshape(shape).tolist() == expected
        ctypes.CDLL(None).free(ctypes.c_void_p(grown.data))


@pytest.mark.parametrize("missing", ["inputs", "an input", "outputs", "lengths", "a length"])
def test_null_pointer_or_negative_length_is_a_bad_argument(run, missing):
    feeds = Feeds()
    if missing == "an input":
        feeds.inputs[1] = None
    if missing == "a length":
        feeds.lengths[0] = -1
    tables = {"inputs": feeds.inputs, "outputs": feeds.outputs, "lengths": feeds.lengths.ctypes.data}
    passed = [None if name == missing else table for name, table in tables.items()]
    assert run(*passed, None, None) == BAD_ARGUMENT
