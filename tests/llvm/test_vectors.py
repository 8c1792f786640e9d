"""Vectors: masks, lanes and what is stored by them, on the host's registers."""

import ctypes
import math

import numpy as np
import pytest

from whorl.codegen.target import MachineCode, host
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.llvm.function import Function
from whorl.llvm.module import Machine, Module
from whorl.llvm.vectors import vectors_of


def run(write, *arrays: np.ndarray, number: int = 0) -> None:
    """A function over the addresses of arrays and a number."""
    module = Module(host())
    parameters = {f"p{n}": "ptr" for n in range(len(arrays))} | {"n": "i64"}
    f = Function(module, "@f", "void", parameters, "")
    write(f, vectors_of(arrays[0].dtype, host()), *(f[f"p{n}"] for n in range(len(arrays))))
    f.give()
    code = MachineCode(module, "f")
    types = [*[ctypes.c_void_p] * len(arrays), ctypes.c_int64]
    ctypes.CFUNCTYPE(None, *types)(code.address)(*(x.ctypes.data for x in arrays), number)


@pytest.mark.parametrize(("dtype", "text"), [(FLOAT32, "<8 x float>"), (FLOAT64, "<4 x double>")])
def test_lanes_fill_the_registers(dtype, text):
    assert vectors_of(dtype, Machine(32, True)).type == text


@pytest.mark.parametrize("left", [0, 1, 3, 100])
def test_store_part_writes_the_first_lanes_alone(left):
    lanes = host().vector_bytes // 4
    y = np.zeros(lanes, np.float32)
    run(lambda f, v, p: v.store_part(f, v.constant(f, 5.0), p, f.argument("n")), y, number=left)
    assert y.tolist() == [5.0] * min(left, lanes) + [0.0] * max(0, lanes - left)


def test_clamp_leaves_nan_and_takes_the_nearest_bound():
    lanes = host().vector_bytes // 4
    x = np.resize(np.array([math.nan, -9, 0.5, 9], np.float32), lanes)
    run(lambda f, v, p: v.store(f, v.clamp(f, v.load(f, p), v.constant(f, -1.0), v.constant(f, 1.0)), p), x)
    np.testing.assert_array_equal(x[:4], [math.nan, -1, 0.5, 1])


def test_larger_gives_the_second_where_one_is_nan():
    lanes = host().vector_bytes // 4
    a, b = np.full(lanes, math.nan, np.float32), np.arange(lanes, dtype=np.float32)
    run(lambda f, v, p, q: v.store(f, v.larger(f, v.load(f, p), v.load(f, q)), p), a, b)
    assert a.tolist() == b.tolist()


def test_gather_reads_the_lanes_of_the_mask():
    lanes = host().vector_bytes // 4
    y, x = np.zeros(lanes, np.float32), np.arange(100, dtype=np.float32)

    def write(f, v, p, q):
        indices = v.lane_numbers(f, 1, f.index(3))
        v.store(f, v.gather(f, q, indices, v.compare(f, "slt", indices, 8), v.constant(f, -1.0)), p)

    run(write, y, x)
    assert y.tolist() == [1 + 3 * n if 1 + 3 * n < 8 else -1 for n in range(lanes)]
