"""Kernels prefetch nothing beyond their operands: where no page is, that takes many times as long as the kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from kernels.convolution.operands import arrays_of
from kernels.layouts import LAYOUTS
from kernels.runs import ENTRY, draw, machine
from whorl.codegen.routines import define_routine
from whorl.codegen.target import MachineCode
from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import Buffer, index_const
from whorl.kernel.program import Call
from whorl.kernels.convolution import tile
from whorl.kernels.product import llvm as product
from whorl.kernels.product.layout import pack_matrix
from whorl.llvm import vectors
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Machine, Module
from whorl.llvm.routine import NO_POLLS, PARTS
from whorl.llvm.value import Value

WIDTHS = [16, 32, 64]


@pytest.fixture
def prefetched(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[int]]:
    """The addresses that kernels prefetch, which they tell Python instead."""
    addresses: set[int] = set()
    tell = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(addresses.add)
    number = ctypes.cast(tell, ctypes.c_void_p).value

    def prefetch(f: Function, pointer: Value) -> None:
        f.run_pointer(Value(f, "ptr", f"inttoptr (i64 {number} to ptr)"), pointer)

    for module in (vectors, tile, product):
        monkeypatch.setattr(module, "prefetch", prefetch)
    yield addresses
    assert tell


def run_alone(kernel: str, arrays: Sequence[np.ndarray], numbers: Sequence[int], target: Machine) -> None:
    """Run a kernel's routine, written anew: that of other programs knows nothing of the addresses."""
    module = Module(target, Effort.ROUTINES)
    buffers = [(Buffer(f"b{n}", x.dtype, (x.size,)), (index_const(0),)) for n, x in enumerate(arrays)]
    routine = define_routine(Call(kernel, buffers, tuple(numbers)), module)
    f = Function(module, "@run", "i64", {"cells": "ptr"}, "", "")
    pointers = [f.load("ptr", f.offset(f["cells"], "ptr", n)) for n in range(len(arrays))]
    f.give(f.call(routine, "i64", *pointers, *map(f.index, [*numbers, 0, PARTS]), *NO_POLLS))
    code = MachineCode(module, "run")
    cells = np.array([x.ctypes.data for x in arrays])
    assert ENTRY(code.address)(cells.ctypes.data) != 0


def are_inside(addresses: set[int], arrays: Sequence[np.ndarray]) -> bool:
    ranges = [range(x.ctypes.data, x.ctypes.data + x.nbytes) for x in arrays]
    return all(any(address in part for part in ranges) for address in addresses)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rows", [1, 3, 7, 96])
@pytest.mark.parametrize(("inner", "columns", "panel"), [(3, 33, 64), (100, 64, 64), (40, 200, 64), (70, 40, 32)])
def test_products_prefetch_their_weights(
    prefetched: set[int], width: int, rows: int, inner: int, columns: int, panel: int
) -> None:
    packed = pack_matrix(draw(FLOAT32, inner * columns).reshape(inner, columns), panel)
    arrays = [np.zeros(rows * columns, FLOAT32), draw(FLOAT32, rows * inner), packed.reshape(-1)]
    run_alone("packed_matmul", arrays, (rows, inner, columns, panel), machine(width))
    last_panel = arrays[2].ctypes.data + (columns - 1) // panel * panel * inner * 4
    assert are_inside(prefetched, arrays[2:])
    assert max(prefetched) >= last_panel


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("features", [1, 7, 12, 29, 60])
def test_convolutions_prefetch_what_they_read_and_where_they_write(
    prefetched: set[int], width: int, layout: str, features: int
) -> None:
    name, arrays, numbers = arrays_of(LAYOUTS[layout], features, FLOAT32)
    run_alone(name, arrays, numbers, machine(width))
    result, image, _, filters, _, _, *added = arrays
    assert are_inside(prefetched, [result, image, filters, *added])
    assert not are_inside(prefetched, [result, image, *added])
