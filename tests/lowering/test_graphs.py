"""Whole regions as one program: verified, interpreted, and compared with the interpreter of modules."""

import math

import numpy as np
import pytest

from lowering.graphs import check, lowered
from whorl.ir.parse import parse_module
from whorl.ir.types import Known, TensorType
from whorl.lowering.expressions import Unsupported
from whorl.lowering.folding import Folded
from whorl.lowering.graphs import lower_graph
from whorl.runtime.session import Session

CHAIN = """
main(%x: float32[N, 8], %s: float32[]) {
  %w: float32[8] = Constant() {value = float32[8] <1 2 3 4 5 6 7 8>}
  %a: float32[N, 8] = Mul(%x, %w)
  %b: float32[N, 8] = Add(%a, %s)
  %axes: int64[1] = Constant() {value = int64[1] <1>}
  %m: float32[N, 1] = ReduceMax(%b, %axes)
  %c: float32[N, 8] = Sub(%b, %m)
  %t: float32[8, N] = Transpose(%c)
  return c = %c, t = %t
}
"""
BRANCHED = """
main(%go: bool[], %x: float32[4]) {
  %y: float32[4] = If(%go, %x)
  then_branch(%u: float32[4]) {
    %k: float32[4] = Constant() {value = float32[4] <1 2 3 4>}
    %r: float32[4] = Add(%u, %k)
    return %r
  }
  else_branch(%v: float32[4]) {
    %n: float32[4] = Neg(%v)
    return %n
  }
  return y = %y
}
"""
LOOPED = """
main(%n: int64[], %x: float32[3]) {
  %y: float32[3], %ys: float32[k, 3] = Loop(%n, _, %x) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %go: bool[], %h: float32[3]) {
    %h2: float32[3] = Add(%h, %h)
    return %go, %h2, %h
  }
  return y = %y, ys = %ys
}
"""


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_straight_line_equals_the_interpreter(rows):
    x = np.arange(8 * rows, dtype=np.float32).reshape(rows, 8)
    graph = check(CHAIN, {"x": x, "s": np.array(0.5, np.float32)})
    assert [t.shape for t in graph.outputs] == [(rows, 8), (8, rows)]


def test_single_elements_are_numbers_and_other_constants_lie_in_memory():
    graph = lowered(CHAIN, {"x": np.zeros((2, 8), np.float32), "s": np.array(0.5, np.float32)})
    assert [c.shape for c in graph.arrays] == [(8,)]


@pytest.mark.parametrize("go", [True, False])
def test_branch_with_a_constant_inside_equals_the_interpreter(go):
    check(BRANCHED, {"go": np.array(go), "x": np.arange(4, dtype=np.float32)})


def test_loop_of_known_length_has_outputs_of_known_shape():
    graph = check(LOOPED, {"n": np.array(4), "x": np.ones(3, np.float32)}, known=("n",))
    assert graph.outputs[1].shape == (4, 3)
    assert not graph.grown


def test_loop_of_any_length_has_an_output_that_grows():
    graph = lowered(LOOPED, {"n": np.array(4), "x": np.ones(3, np.float32)})
    assert list(graph.grown) == [1]
    assert list(graph.grown[1].lengths) == [0]
    assert graph.program.scratch[graph.grown[1].scratch].grows


def test_loop_of_any_constant_length_is_part_of_the_program():
    text = LOOPED.replace("return y = %y, ys = %ys", "return y = %y").replace("main(%n: int64[], ", "main(")
    text = text.replace("  %y:", "  %n: int64[] = Constant() {value = int64[] <1073741824>}\n  %y:", 1)
    assert not lowered(text, {"x": np.ones(3, np.float32)}).may_fail


def test_matrix_is_laid_out_once_for_all_programs():
    text = """
    main(%x: float32[N, 64]) {
      %one: float32[] = Constant() {value = float32[] <1>}
      %shape: int64[2] = Constant() {value = int64[2] <64 64>}
      %w: float32[64, 64] = Expand(%one, %shape)
      %y: float32[N, 64] = MatMul(%x, %w)
      return y = %y
    }
    """
    region, folded = parse_module(text).main, Folded()
    graphs = [lower_graph(region, [Known(TensorType(np.dtype(np.float32), (n, 64)))], folded) for n in (4, 9)]
    assert graphs[0].constants[0] is graphs[1].constants[0]
    assert math.prod(graphs[0].constants[0].shape) >= 64 * 64


IN_BRANCH = """
main(%c: bool[], %x: float32[N, 64]) {
  %one: float32[] = Constant() {value = float32[] <1>}
  %shape: int64[2] = Constant() {value = int64[2] <32 64>}
  %y: float32[N, 64] = If(%c, %x, %one, %shape)
  then_branch(%x: float32[N, 64], %one: float32[], %shape: int64[2]) {
    %half: float32[32, 64] = Expand(%one, %shape)
    %other: float32[32, 64] = Exp(%half)
    %w: float32[64, 64] = Concat(%half, %other) {axis = 0}
    %y: float32[N, 64] = MatMul(%x, %w)
    return %y
  }
  else_branch(%x: float32[N, 64], %one: float32[], %shape: int64[2]) {
    return %x
  }
  return y = %y
}
"""


def test_matrix_of_a_branch_is_laid_out_before_all_runs():
    x = np.linspace(-1, 1, 3 * 64, dtype=np.float32).reshape(3, 64)
    graph = lowered(IN_BRANCH, {"c": np.array(True), "x": x})
    assert "exp" not in str(graph.program)
    assert max(math.prod(array.shape) for array in graph.arrays) >= 64 * 64
    for taken in (True, False):
        check(IN_BRANCH, {"c": np.array(taken), "x": x})


def test_node_of_a_branch_that_fails_on_constants_is_left_to_the_run():
    text = """
    main(%c: bool[], %x: int64[3]) {
      %none: int64[3] = Constant() {value = int64[3] <0 0 0>}
      %y: int64[3] = If(%c, %x, %none)
      then_branch(%x: int64[3], %none: int64[3]) {
        %d: int64[3] = Mod(%none, %none)
        return %d
      }
      else_branch(%x: int64[3], %none: int64[3]) {
        return %x
      }
      return y = %y
    }
    """
    check(text, {"c": np.array(False), "x": np.arange(3)})


def test_matrix_that_a_loop_reads_in_panels_alone_is_laid_out_before_all_runs():
    text = """
    main(%n: int64[], %x: float32[2, 64]) {
      %one: float32[] = Constant() {value = float32[] <0.01>}
      %shape: int64[2] = Constant() {value = int64[2] <32 64>}
      %half: float32[32, 64] = Expand(%one, %shape)
      %other: float32[32, 64] = Exp(%half)
      %w: float32[64, 64] = Concat(%half, %other) {axis = 0}
      %y: float32[2, 64] = Loop(%n, _, %x, %w) {carried = 1}
      body(%i: int64[], %go: bool[], %h: float32[2, 64], %w: float32[64, 64]) {
        %p: float32[2, 64] = MatMul(%h, %w)
        %t: float32[2, 64] = Tanh(%p)
        return %go, %t
      }
      return y = %y
    }
    """
    graph = lowered(text, {"n": np.array(3), "x": np.ones((2, 64), np.float32)})
    assert not any(b.shape == (64, 64) for b in graph.program.scratch)
    assert max(math.prod(array.shape) for array in graph.arrays) >= 64 * 64


def test_node_that_no_one_reads_is_left_out():
    text = """
    main(%x: float32[3]) {
      %unread: float32[3] = Exp(%x)
      %y: float32[3] = Neg(%x)
      return y = %y
    }
    """
    assert "exp" not in str(check(text, {"x": np.arange(3, dtype=np.float32)}).program)


def test_two_outputs_that_are_one_value_have_their_own_memory():
    text = """
    main(%x: float32[3]) {
      %y: float32[3] = Neg(%x)
      return y = %y, again = %y, given = %x
    }
    """
    graph = check(text, {"x": np.arange(3, dtype=np.float32)})
    assert len({id(b) for b in graph.program.buffers}) == 4


def test_refusal_names_the_node_of_the_region():
    text = """
    main(%x: float32[3]) {
      %a: float32[3] = Neg(%x)
      %s: seq(float32[3]) = SequenceConstruct(%a)
      %zero: int64[] = Constant() {value = int64[] <0>}
      %b: string[3] = Cast(%a) {to = string}
      return b = %b
    }
    """
    region = parse_module(text).main
    with pytest.raises(Unsupported) as caught:
        lower_graph(region, [Known(TensorType(np.dtype(np.float32), (3,)))])
    assert caught.value.node is region.nodes[3]


CHOSEN = """
main(%x: float32[5, 2], %m: bool[6]) {
  %n: int64[1, N] = NonZero(%m)
  %z: int64[1] = Constant() {value = int64[1] <0>}
  %i: int64[N] = Squeeze(%n, %z)
  %y: float32[N, 2] = Gather(%x, %i)
  %w: float32[N, 2] = Add(%y, %y)
  return w = %w
}
"""


@pytest.mark.parametrize("flags", [[1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0]])
def test_indices_whose_number_only_the_run_knows(flags):
    feeds = {"x": np.arange(10, dtype=np.float32).reshape(5, 2), "m": np.array(flags, bool)}
    native, interpreter = (Session(parse_module(CHOSEN), backend=name) for name in ("native", "interpreter"))
    np.testing.assert_array_equal(native.execute(None, feeds)[0], interpreter.execute(None, feeds)[0])
