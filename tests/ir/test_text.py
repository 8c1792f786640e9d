"""Programs in the text form that show every feature: each is read, and printed again as it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from ir.programs import PROGRAMS
from ir.structure import plain

import whorl
import whorl.ops
from whorl.ir import dims
from whorl.ir.constants import Constant
from whorl.ir.dtypes import BY_NAME
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.parse import parse_module, parse_region
from whorl.ir.text import format_attribute, format_dim, format_type, print_module, print_region
from whorl.ir.types import UNRANKED, MapType, OptionalType, SequenceType, TensorType

assert whorl.ops
DOCS = Path(__file__).parents[2] / "docs" / "text-form.md"


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_program_is_printed_as_it_was_read(text: str) -> None:
    text = text.removeprefix("\n")
    assert print_module(parse_module(text, check=False)) == text


@pytest.mark.parametrize("name", ["loop", "loop without outputs", "scan", "nested", "fields", "tensors", "sections"])
def test_program_agrees_with_inference(name: str) -> None:
    parse_module(PROGRAMS[name])


def test_program_runs_as_it_says() -> None:
    module = parse_module(PROGRAMS["loop"])
    actual = whorl.run(module, {"x": np.zeros((2, 4), np.float32), "n": np.array(3)})
    assert actual["y"].tolist() == [[3.0] * 4] * 2
    assert actual["ys"][:, 0, 0].tolist() == [1.0, 2.0, 3.0]


def test_docs_example_is_a_program() -> None:
    example = re.search(r"```\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    assert print_module(parse_module(example[1])) == example[1]


def test_comments_line_breaks_and_spaces_mean_nothing() -> None:
    text = """# a comment "with (brackets"
    main ( %x:float32[ N ] )
    { %y : float32[N]
        =   Add # of two
      ( %x , %x )   return y=%y }"""
    expected = "main(%x: float32[N]) {\n  %y: float32[N] = Add(%x, %x)\n  return y = %y\n}\n"
    assert print_module(parse_module(text)) == expected


def test_names_of_values_are_hints() -> None:
    names = parse_module(PROGRAMS["names"], check=False).main
    assert [v.name for v in names.arguments] == ["x", "12", "/b/x.0'", "input:0", ""]
    assert [node.outputs[0].name for node in names.nodes] == ['a "b" \\ c\n', "x", "x", "x~1"]


def test_quoted_and_bare_name_are_the_same_value() -> None:
    module = parse_module('main(%x: float32[]) {\n  return y = %"x"~0\n}')
    assert module.main.results == module.main.arguments


def test_nested_call_of_dims_is_normalized() -> None:
    (argument,) = parse_module("main(%x: float32[floor(4*N+2, 2), min(N, N+1)]) { return }").main.arguments
    assert argument.type == TensorType(BY_NAME["float32"], (dims.name("N") * 2 + 1, dims.name("N")))


def test_int_of_a_float_field_becomes_a_float() -> None:
    (node,) = parse_module("main(%x: float32[]) { %y: float32[] = LeakyRelu(%x) {alpha = 2} return }").main.nodes
    assert plain(node.op.alpha) == plain(2.0)


def test_tuple_of_one_needs_no_comma() -> None:
    (node,) = parse_module("main(%x: float32[N]) { %y: float32[N] = Transpose(%x) {perm = (0)} return }").main.nodes
    assert node.op.perm == (0,)


def test_constant_says_its_elements() -> None:
    (node,) = parse_module("main() { %c: int64[2] = Constant() {value = int64[2] <5 6>} return }").main.nodes
    assert node.outputs[0].known.tolist() == [5, 6]


def test_known_elements_are_read_in_their_shape() -> None:
    _, number, floats, either, empty = parse_module(PROGRAMS["known elements"], check=False).main.arguments
    assert number.known.shape == () and number.known[()] == 3
    assert floats.known.dtype == object and floats.known[0] == 0.5
    assert either.known[0] == dims.name("N") and either.known[1] is dims.UNKNOWN
    assert empty.known.shape == (0,)


def test_region_round_trips_by_itself() -> None:
    text = "body(%a: float32[N]) {\n  %b: float32[N] = Neg(%a)\n  return %b, %a\n}\n"
    assert print_region(parse_region(text)) == text


def test_elide_cuts_long_tensors_and_tuples() -> None:
    region, array = Region("main"), np.arange(6.0)
    node = Node(Constant(array), [])
    node.outputs = [Value("c", TensorType(array.dtype, (6,)), node, 0)]
    argument = region.add_argument("k", TensorType(BY_NAME["int64"], (6,)), np.arange(6).astype(object))
    cls = parse_module(PROGRAMS["fields"]).main.nodes[0].op.__class__
    conv = Node(cls(pads=(1,) * 6), [argument, argument])
    conv.outputs = [Value("y", TensorType(BY_NAME["float32"]), conv, 0)]
    region.nodes, region.results = [node, conv], []
    expected = (
        "main(%k: int64[6] {...}) {\n"
        "  %c: float64[6] = Constant() {value = float64[6] <...>}\n"
        "  %y: float32[*] = Conv(%k, %k) {pads = (...)}\n"
        "  return\n"
        "}\n"
    )
    assert print_module(Module(region), elide=4) == expected
    assert "<0.0 1.0" in print_module(Module(region), elide=6)


@dataclass(frozen=True)
class Late:
    """An array whose elements are fetched on demand."""

    shape = (2,)
    dtype = BY_NAME["int32"]

    def numpy(self) -> np.ndarray:
        return np.array([1, 2], np.int32)


def test_lazy_array_is_written_out() -> None:
    assert format_attribute(Late()) == "int32[2] <1 2>"


def test_value_without_a_text_is_refused() -> None:
    with pytest.raises(whorl.SaveError) as caught:
        format_attribute({1, 2})
    assert str(caught.value) == "the text form has no way to write a set"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (np.bool_(True), "True"),
        (-3, "-3"),
        (np.int64(3), "3"),
        (0.1, "0.1"),
        (np.float64(0.1), "0.1"),
        (-0.0, "-0.0"),
        (float("-inf"), "-inf"),
        ("a\t\u2028", '"a\\t\\u2028"'),
        ("\U0001f600\U000e0001", '"😀\\U000e0001"'),
        ((), "()"),
        ((1,), "(1,)"),
        ([1, 2.0], "(1, 2.0)"),
        (BY_NAME["string"], "string"),
        (SequenceType(TensorType(BY_NAME["int8"])), "seq(int8[*])"),
        ({"": 17, "a b": {}}, '{"" = 17, "a b" = {}}'),
        (np.zeros((2, 0), bool), "bool[2, 0] <>"),
        (np.array(0.1, np.float16), "float16[] <0.1>"),
        (np.array([1 / 3], np.float32), "float32[1] <0.33333334>"),
    ],
)
def test_attribute_is_written_so(value: object, text: str) -> None:
    assert format_attribute(value) == text


def test_types_and_dims_are_written_so() -> None:
    n, odd = dims.name("N"), dims.name("N-1")
    assert format_type(MapType(BY_NAME["string"], TensorType(BY_NAME["float32"], ()))) == "map(string, float32[])"
    assert format_type(OptionalType(TensorType(BY_NAME["float32"], UNRANKED))) == "optional(float32[*])"
    assert format_dim(n * 2 - odd * 3 - 4) == '2*N-3*"N-1"-4'
    assert format_dim(dims.call("max", odd, 0) * -1) == '-max(0, "N-1")'
    assert format_dim(dims.UNKNOWN) == "?"
