"""Lengths that a run computes: forms as `dims.evaluate` has them, what programs are not made for, where scratch is."""

import ctypes

import numpy as np
import pytest

from codegen.library.samples import library
from whorl.codegen.library.lengths import LengthsOfRun, are_too_large, fits, has_conditions, lay_out
from whorl.codegen.target import MachineCode, host
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.lowering.arena import Arena

N, M = dims.name("n"), dims.name("m")
FORMS: list[Dim] = [
    7,
    2 * N - 3,
    N * M + 1,
    dims.call("floor", N - 5, 3),
    dims.call("mod", N - 5, 3),
    dims.call("floor", 3 - N, M + 1),
    dims.call("min", N, M, 4),
    dims.call("max", N - 4, 0),
    dims.call("less", N, M),
    dims.call("equal", N, M),
]


def compiled(write) -> object:
    """A function of n, m and an array of results; `write` is given it, and the lengths."""
    module = Module(host())
    f = Function(module, "@lengths", "i64", {"n": "i64", "m": "i64", "out": "ptr"}, "")
    lengths = LengthsOfRun(f, {"n": f.argument("n"), "m": f.argument("m")})
    f.give(write(f, lengths))
    code = MachineCode(module, "lengths")
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(code.address)
    return lambda n, m, out=None: (function(n, m, None if out is None else out.ctypes.data), code)[0]


def test_numbers_equal_the_forms():
    def write(f, lengths):
        for k, form in enumerate(FORMS):
            f.store(lengths.number(form), f.offset(f["out"], "i64", k))
        return f.index(0)

    run, out = compiled(write), np.zeros(len(FORMS), np.int64)
    for n, m in ((0, 0), (1, 5), (2, 2), (7, 3), (100, 1)):
        run(n, m, out)
        assert out.tolist() == [dims.evaluate(form, {"n": n, "m": m}) for form in FORMS]


def test_program_fits_where_lengths_agree_are_positive_and_divide():
    class Graph:
        agreeing = ((N, M),)
        positive = (N - 1,)
        forms = (dims.call("floor", N, M - 4),)

    run = compiled(lambda f, lengths: f.convert("zext", fits(lengths, Graph()), "i64"))
    assert [run(n, m) for n, m in ((2, 2), (2, 3), (1, 1), (4, 4), (5, 5))] == [1, 0, 0, 0, 1]
    assert has_conditions(Graph()) and not has_conditions(library().graph)


def test_memory_beyond_any_machine_is_too_large():
    class Graph:
        arena = Arena(0, (0,), ((N * M * 4,),), ((0, 0),))
        forms = (dims.call("min", N, 1 << 62),)

    run = compiled(lambda f, lengths: f.convert("zext", are_too_large(lengths, Graph()), "i64"))
    assert [run(n, m) for n, m in ((1000, 1000), (1 << 40, 1 << 30), (1 << 33, 1 << 33))] == [0, 1, 1]


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 3), (50, 2)])
def test_scratch_lies_where_the_arena_has_it(n, m):
    arena = Arena(128, (0, 64, 0, 0, 0), ((4 * N, 8 * M), (4 * N,)), ((2, 0), (3, 1), (4, 0)))

    def write(f, lengths):
        size, offsets = lay_out(lengths, arena)
        for k, offset in enumerate(offsets):
            f.store(offset, f.offset(f["out"], "i64", k))
        return size

    out = np.zeros(5, np.int64)
    size = compiled(write)(n, m, out)
    assert (size, tuple(out)) == arena.allocate({"n": n, "m": m})
