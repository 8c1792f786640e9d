"""Consumers of values: which ops take a value first, and in how many nests it would be computed."""

import numpy as np
import pytest
from passes.programs import read

from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import Buffer, Expr, Load
from whorl.ir.native.view import View
from whorl.lowering.builder import MATERIALIZE_COST, REREAD_COST, KernelBuilder
from whorl.lowering.readers import MATERIALIZE_SHARED_COST, Readers

PROGRAM = read("""main(%x: float32[4], %y: float32[2]) {
  %once: float32[4] = Exp(%x)
  %chain: float32[4] = Neg(%once)
  %both: float32[4] = Abs(%x)
  %sum: float32[1] = ReduceSum(%both)
  %other: float32[4] = Softmax(%both)
  %text: float32[4] = Sqrt(%both)
  %last: float32[4] = Add(%chain, %x)
  %more: float32[4] = Mul(%last, %last)
  return last = %last, more = %more, sum = %sum, other = %other, text = %text
}""")
VALUES = {value.name: value for node in PROGRAM.main.nodes for value in node.outputs}
READERS = Readers.of(PROGRAM.main)


def view(cost: int, k: KernelBuilder, length: int = 4) -> tuple[View, Buffer]:
    buffer = Buffer("b", FLOAT32, (length,))
    return View(FLOAT32, (length,), lambda index: k.mul(k.load(buffer, index), k.const(2.0, FLOAT32)), cost), buffer


def test_ops_that_read_a_value_first_are_listed():
    names = [sorted(op.name for op in READERS.first.get(VALUES[name], [])) for name in ("once", "both", "last", "more")]
    assert names == [["Neg"], ["ReduceSum", "Softmax", "Sqrt"], ["Mul"], []]


def test_chain_of_elementwise_ops_ends_where_they_end():
    ends = {name: len(READERS.ends[VALUES[name]]) for name in ("once", "chain", "last", "both", "sum")}
    assert ends == {"once": 1, "chain": 1, "last": 1, "both": 3, "sum": 1}


@pytest.mark.parametrize(
    ("name", "cost", "stores"),
    [
        ("both", MATERIALIZE_SHARED_COST - 1, 0),
        ("both", MATERIALIZE_SHARED_COST, 1),
        ("once", MATERIALIZE_COST, 0),
        ("once", MATERIALIZE_COST + 1, 0),
        ("both", MATERIALIZE_COST + 1, 1),
    ],
)
def test_costly_value_of_several_nests_is_stored_in_memory(name, cost, stores):
    k = KernelBuilder()
    READERS.materialise(VALUES[name], view(cost, k)[0], k)
    assert len(k.block) == stores


def test_value_of_one_nest_is_computed_once_for_each_element_there():
    k = KernelBuilder()
    source, _ = view(MATERIALIZE_COST, k)
    cached = READERS.materialise(VALUES["once"], source, k)
    with k.nest((4,)) as index:
        first, second = cached.at(index), cached.at(index)
        assert first is second and len(k.block) == 1
    with k.nest((4,)) as index:
        assert cached.at(index) is not first


@pytest.mark.parametrize("length", [0, 1])
def test_value_of_at_most_one_element_is_a_register(length):
    k = KernelBuilder()
    result = READERS.materialise(VALUES["both"], view(MATERIALIZE_COST + 1, k, length)[0], k)
    assert not k.scratch and (length == 0 or not isinstance(result.at((k.const(0),)), Load))


def test_value_in_memory_remains_there():
    k = KernelBuilder()
    in_memory = k.view_of(Buffer("b", FLOAT32, (4,)))
    assert READERS.materialise(VALUES["both"], in_memory, k) is in_memory and not k.block
    assert isinstance(in_memory.at((k.const(0),)), Expr) and np.dtype(np.float32) == in_memory.dtype


def test_value_of_several_larger_tensors_is_stored_in_memory():
    program = read("""main(%x: float32[4, 1], %y: float32[4, 3], %z: float32[4, 1]) {
      %column: float32[4, 1] = Exp(%x)
      %wide: float32[4, 3] = Mul(%column, %y)
      %wider: float32[4, 3] = Add(%column, %wide)
      %same: float32[4, 1] = Exp(%z)
      %once: float32[4, 3] = Add(%same, %wider)
      %other: float32[4, 1] = Neg(%same)
      return once = %once, other = %other
    }""")
    values = {value.name: value for node in program.main.nodes for value in node.outputs}
    readers = Readers.of(program.main)
    assert [readers.broadcasts[values[name]] for name in ("column", "same", "wide")] == [2, 1, 0]
    k = KernelBuilder()
    readers.materialise(values["column"], view(REREAD_COST, k)[0], k)
    assert not k.block
    readers.materialise(values["column"], view(REREAD_COST + 1, k)[0], k)
    assert len(k.block) == 1
