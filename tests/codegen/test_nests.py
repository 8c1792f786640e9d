"""Nests as lowering writes them become vectors: many arrays, short rows, reductions, places, functions, rows kept."""

from __future__ import annotations

import re

import pytest

from codegen.maps import V3, for_machine
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import TRUE, Buffer, Var
from whorl.ir.native.view import View
from whorl.kernel.optimise import optimise
from whorl.kernel.program import Program, Swap, While
from whorl.lowering.builder import KernelBuilder
from whorl.ops.movement.native_selection import select_best
from whorl.ops.reduce.native_reductions import find_extremes_by_rows, reduce_view

I, STOP, GO = Var(INT64, "i", False), Var(INT64, "stop", False), Var(BOOL, "go", False)


class Nest:
    """A loop to `stop` whose body is being written, with buffers for what it reads and writes."""

    def __init__(self) -> None:
        self.k = KernelBuilder()
        self.buffers: list[Buffer] = []
        self.loop = While([], self.k.apply("and", GO, self.k.compare("lt", I, STOP)))

    def buffer(self, *shape: int | None) -> Buffer:
        self.buffers.append(Buffer(f"b{len(self.buffers)}.in", FLOAT32, shape))
        return self.buffers[-1]

    def view(self, *shape: int) -> View:
        return self.k.view_of(self.buffer(*shape))

    def compiled(self) -> tuple[str, str]:
        """The optimised IR and the assembly."""
        self.loop.body += self.k.block
        with self.k.into(self.loop.body):
            self.k.assign(I, self.k.add(I, self.k.const(1)))
            self.k.assign(GO, TRUE)
        program = Program([I, STOP, GO], self.buffers, self.k.scratch, [self.loop])
        optimise(program)
        return for_machine(program, *V3)


def vector_operations(ir: str, operation: str, lanes: int = 8, kind: str = "float") -> int:
    return len(re.findall(rf"= {operation}[a-z ]* <{lanes} x {kind}>", ir))


def test_nest_over_many_arrays_becomes_vectors_without_checks() -> None:
    nest = Nest()
    k = nest.k
    passed = [nest.view(1000) for _ in range(40)]
    out = nest.buffer(1000)
    with k.nest((1000,)) as index:
        total = passed[0].at(index)
        for x in passed[1:]:
            total = k.add(total, x.at(index))
        k.store(out, index, total)
    ir, _ = nest.compiled()
    assert vector_operations(ir, "fadd") >= 39
    assert "vector.memcheck" not in ir


@pytest.mark.parametrize("length", [8, 16, 32, 64])
def test_short_row_becomes_vectors_not_single_numbers(length: int) -> None:
    nest = Nest()
    k, x, out = nest.k, nest.view(length), nest.buffer(length)
    with k.nest((length,)) as index:
        k.store(out, index, k.mul(x.at(index), x.at(index)))
    ir, _ = nest.compiled()
    assert vector_operations(ir, "fmul") and "fmul float" not in ir


@pytest.mark.parametrize("name", ["exp", "tanh", "sigmoid"])
def test_function_in_a_carried_value_and_a_collected_row_becomes_vectors(name: str) -> None:
    nest = Nest()
    k, now, after, out = nest.k, nest.buffer(100), nest.buffer(100), nest.buffer(None, 100)
    with k.nest((100,)) as index:
        value = k.let(k.apply(name, k.load(now, index)))
        k.store(after, index, value)
        k.store(out, (I, *index), value)
    k.block.append(Swap(now, after))
    ir, _ = nest.compiled()
    assert vector_operations(ir, "fmul") and not re.search(r"call [^@]*@(exp|tanh)f?\(", ir)


@pytest.mark.parametrize("how", ["sum", "max", "min", "mul"])
def test_reduction_of_rows_becomes_vectors(how: str) -> None:
    nest = Nest()
    x, out = nest.view(48, 40), nest.buffer(None, 40)
    actual = reduce_view(nest.k, x, (0,), how, keepdims=False)
    nest.k.fill(out, actual, (I,))
    ir, _ = nest.compiled()
    operation = {"sum": "fadd", "mul": "fmul"}.get(how, "(?:tail )?call nsz")
    assert vector_operations(ir, operation) >= 16


def test_reduction_of_short_lines_of_a_fixed_tensor_becomes_vectors() -> None:
    nest = Nest()
    k, x, row = nest.k, nest.view(1000, 16), nest.buffer(None, 16)
    out = nest.buffer(None, 1000)

    def square(index):
        gap = k.sub(x.at(index), k.load(row, (I, index[-1])))
        return k.mul(gap, gap)

    k.fill(out, reduce_view(k, k.view(FLOAT32, x.shape, square, 3), (1,), "sum", keepdims=False), (I,))
    ir, assembly = nest.compiled()
    assert vector_operations(ir, "fsub") >= 16
    assert assembly.count("vfmadd") >= 15


def test_reduction_of_one_long_line_becomes_vectors() -> None:
    nest = Nest()
    x, out = nest.view(1000), nest.buffer(None)
    total = reduce_view(nest.k, x, (0,), "sum", keepdims=False)
    nest.k.store(out, (I,), total.at(()))
    ir, _ = nest.compiled()
    assert vector_operations(ir, "fadd reassoc contract")


def test_locations_of_extremes_of_columns_become_vectors() -> None:
    nest = Nest()
    x, values = nest.view(32, 64), nest.buffer(None, 64)
    best, position = find_extremes_by_rows(nest.k, x, 0, largest=True)
    with nest.k.nest((64,)) as (j,):
        there = (nest.k.const(0), j)
        nest.k.store(values, (I, j), nest.k.add(best.at(there), nest.k.cast(position.at(there), FLOAT32)))
    ir, _ = nest.compiled()
    assert vector_operations(ir, "select") or re.search(r"select <8 x i1>", ir)
    assert "select i1" not in ir.split("vector.body")[1].split("br i1")[0]


def test_best_of_many_lines_become_vectors() -> None:
    nest = Nest()
    columns, out = nest.view(100, 64), nest.buffer(None, 64, 3)
    lines = nest.k.view(FLOAT32, (64, 100), lambda index: columns.at((index[1], index[0])), 1)
    values, _ = select_best(nest.k, lines, 1, 3, largest=False)
    nest.k.fill(out, values, (I,))
    ir, _ = nest.compiled()
    assert len(re.findall(r"select <8 x i1>", ir)) >= 8
