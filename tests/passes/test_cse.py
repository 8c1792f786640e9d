"""Equal nodes and constants become one; equal means the same bits."""

import numpy as np
import pytest
from passes.bits import optimized
from passes.programs import Case, check, read, report_of

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Module, Op, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.ml.labels import LabelEncoder

CSE = {"only": ("cse", "dce")}
CASES = {
    "equal_node_in_another_region_stays": Case(
        """main(%c: bool[], %x: float32[2]) {
  %e: float32[2] = Exp(%x)
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %e: float32[2] = Exp(%a)
    %f: float32[2] = Exp(%a)
    %s: float32[2] = Sub(%e, %f)
    return %s
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Exp(%a)
    return %e
  }
  %q: float32[2] = Add(%r, %e)
  return q = %q
}""",
        """main(%c: bool[], %x: float32[2]) {
  %e: float32[2] = Exp(%x)
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %e: float32[2] = Exp(%a)
    %s: float32[2] = Sub(%e, %e)
    return %s
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Exp(%a)
    return %e
  }
  %q: float32[2] = Add(%r, %e)
  return q = %q
}""",
        CSE,
    ),
    "order_of_operands_and_omitted_ones_count": Case(
        """main(%x: float32[2], %l: float32[], %h: float32[]) {
  %a: float32[2] = Sub(%x, %l)
  %b: float32[2] = Sub(%l, %x)
  %c: float32[2] = Clip(%x, %l)
  %d: float32[2] = Clip(%x, _, %l)
  %e: float32[2] = Clip(%x, %l, _)
  return a = %a, b = %b, c = %c, d = %d, e = %e
}""",
        """main(%x: float32[2], %l: float32[], %h: float32[]) {
  %a: float32[2] = Sub(%x, %l)
  %b: float32[2] = Sub(%l, %x)
  %c: float32[2] = Clip(%x, %l)
  %d: float32[2] = Clip(%x, _, %l)
  %e: float32[2] = Clip(%x, %l, _)
  return a = %a, b = %b, c = %c, d = %d, e = %e
}""",
        CSE,
    ),
    "same_elements_of_other_shape_or_type_are_others": Case(
        """main(%x: float32[2, 1]) {
  %a: float32[] = Constant() {value = float32[] <0.0>}
  %b: float32[1] = Constant() {value = float32[1] <0.0>}
  %c: float32[1] = Constant() {value = float32[1] <0.0>}
  %d: int32[1] = Constant() {value = int32[1] <0>}
  return a = %a, b = %b, c = %c, d = %d
}""",
        """main(%x: float32[2, 1]) {
  %a: float32[] = Constant() {value = float32[] <0.0>}
  %b: float32[1] = Constant() {value = float32[1] <0.0>}
  %d: int32[1] = Constant() {value = int32[1] <0>}
  return a = %a, b = %b, c = %b, d = %d
}""",
        CSE,
    ),
    "not_a_number_is_one_value": Case(
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <nan>}
  %b: float32[] = Constant() {value = float32[] <nan>}
  %c: float32[2] = Add(%x, %a)
  %d: float32[2] = Add(%x, %b)
  return c = %c, d = %d
}""",
        """main(%x: float32[2]) {
  %a: float32[] = Constant() {value = float32[] <nan>}
  %c: float32[2] = Add(%x, %a)
  return c = %c, d = %c
}""",
        CSE,
    ),
    "texts_are_compared_as_wholes": Case(
        """main(%x: string[2]) {
  %a: string[2] = Constant() {value = string[2] <"ab" "c">}
  %b: string[2] = Constant() {value = string[2] <"a" "bc">}
  %c: string[2] = Constant() {value = string[2] <"ab" "c">}
  %p: string[2] = StringConcat(%x, %a)
  %q: string[2] = StringConcat(%x, %b)
  %r: string[2] = StringConcat(%x, %c)
  return p = %p, q = %q, r = %r
}""",
        """main(%x: string[2]) {
  %a: string[2] = Constant() {value = string[2] <"ab" "c">}
  %b: string[2] = Constant() {value = string[2] <"a" "bc">}
  %p: string[2] = StringConcat(%x, %a)
  %q: string[2] = StringConcat(%x, %b)
  return p = %p, q = %q, r = %p
}""",
        CSE,
    ),
    "chain_of_equal_nodes_is_merged_in_one_walk": Case(
        """main(%x: float32[2]) {
  %a: float32[2] = Exp(%x)
  %b: float32[2] = Exp(%x)
  %c: float32[2] = Neg(%a)
  %d: float32[2] = Neg(%b)
  %e: float32[2] = Add(%c, %d)
  return e = %e
}""",
        """main(%x: float32[2]) {
  %a: float32[2] = Exp(%x)
  %c: float32[2] = Neg(%a)
  %e: float32[2] = Add(%c, %c)
  return e = %e
}""",
        CSE,
    ),
    "numbers_of_outputs_count": Case(
        """main(%x: float32[4]) {
  %a: float32[2], %b: float32[2] = Split(%x) {output_count = 2}
  %c: float32[1], %d: float32[1], %e: float32[1], %f: float32[1] = Split(%x) {output_count = 4}
  %g: float32[2], %h: float32[2] = Split(%x) {output_count = 2}
  return a = %a, d = %d, h = %h
}""",
        """main(%x: float32[4]) {
  %a: float32[2], %b: float32[2] = Split(%x) {output_count = 2}
  %c: float32[1], %d: float32[1], %e: float32[1], %f: float32[1] = Split(%x) {output_count = 4}
  return a = %a, d = %d, h = %b
}""",
        CSE,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)


def test_equal_nodes_and_constants_are_merged_but_not_zeros_of_other_sign():
    check(
        Case(
            """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <0 3>}
  %b: float32[2] = Constant() {value = float32[2] <0 3>}
  %c: float32[2] = Constant() {value = float32[2] <-0.0 3>}
  %p: float32[2] = Mod(%x, %a) {fmod = 1}
  %q: float32[2] = Mod(%x, %b) {fmod = 1}
  %r: float32[2] = Mod(%x, %c) {fmod = 1}
  return p = %p, q = %q, r = %r
}""",
            """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <0.0 3.0>}
  %c: float32[2] = Constant() {value = float32[2] <-0.0 3.0>}
  %p: float32[2] = Mod(%x, %a) {fmod = 1}
  %r: float32[2] = Mod(%x, %c) {fmod = 1}
  return p = %p, q = %p, r = %r
}""",
            {"only": ("cse", "dce")},
        )
    )


def test_attributes_that_compare_equal_but_print_otherwise_are_not_merged():
    module = optimized(
        read("""main(%x: float32[2]) {
  %a: float32[2] = LeakyRelu(%x) {alpha = 0.0}
  %b: float32[2] = LeakyRelu(%x) {alpha = -0.0}
  return a = %a, b = %b
}"""),
        only=("cse",),
    )
    assert len(module.main.nodes) == 2


def pair(first: Op, second: Op) -> Module:
    """A program that applies two ops to one vector of integers."""
    region = Region("main")
    build = Builder(region, Inference())
    x = region.add_argument("x", TensorType(INT64, (3,)))
    region.results = [build.add(first, x), build.add(second, x)]
    return Module(region, ["a", "b"])


def encoder(last: float) -> LabelEncoder:
    keys, values = np.arange(3), np.array([0.1, 0.2, last])
    return LabelEncoder(keys_tensor=keys, values_tensor=values, default_tensor=np.array([-1.0]))


@pytest.mark.parametrize(
    ("last", "nodes"), [(0.123456789012, 1), (0.123456789099, 2), (-0.0, 2)], ids=["same", "close", "sign"]
)
def test_tensors_in_attributes_are_compared_by_their_bits(last, nodes):
    other = 0.0 if last == 0 else 0.123456789012
    assert len(optimized(pair(encoder(last), encoder(other)), **CSE).main.nodes) == nodes


def test_long_tensors_in_attributes_are_compared_to_their_end():
    keys = np.arange(5000)
    values = keys.astype(np.float64)
    other = values.copy()
    other[2500] = -1
    default = np.array([-1.0])
    first, second = (LabelEncoder(keys_tensor=keys, values_tensor=v, default_tensor=default) for v in (values, other))
    assert len(optimized(pair(first, second), **CSE).main.nodes) == 2


def test_draws_are_never_merged():
    text = """main(%x: float32[2]) {
  %a: float32[2] = RandomNormalLike(%x)
  %b: float32[2] = RandomNormalLike(%x)
  return a = %a, b = %b
}"""
    assert not report_of(text, **CSE).edits["cse"]


def test_large_constants_that_differ_in_one_element_stay():
    region = Region("main")
    build = Builder(region, Inference())
    one = np.zeros(1 << 20, np.float32)
    other = one.copy()
    other[12345] = -0.0
    region.results = [build.constant(x) for x in (one, one.copy(), other)]
    merged = optimized(Module(region, ["a", "b", "c"]), only=("cse", "dce"))
    a, b, c = merged.main.results
    assert a is b and a is not c and len([n for n in merged.main.nodes if isinstance(n.op, Constant)]) == 2
